//! One readable layout for expressions: spaces are set, long conditions are broken one clause a line.
//!
//! In: text. Out: text of the same tokens and comments, which parses to the same tree; that is checked. Spelling of
//! numbers, strings, names and operators is kept. A part whose comments are where no line can be broken stays as it
//! is.

use crate::error::SyntaxError;
use crate::syntax::expr::{Expr, Node, NodeId, Tree};
use crate::syntax::lexer::{Lexer, Token};
use crate::syntax::operator::BinaryOp;
use crate::syntax::parse::{ParseOptions, parse_expr};
use crate::syntax::token::Mark;

/// The width and the start of lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measure {
    /// Columns of a line.
    pub width: usize,
    /// Spaces before every line but the first.
    pub indent: usize,
    /// Columns that are taken already on the first line.
    pub taken: usize,
}

impl Default for Measure {
    fn default() -> Self {
        Measure { width: 100, indent: 0, taken: 0 }
    }
}

/// Spaces of one more level.
const INDENT: usize = 4;
/// Deepest level at which lines are broken.
const MAX_LEVELS: usize = 40;

/// Lays out an expression.
///
/// # Errors
/// The text is no expression.
///
/// ```
/// use classmate::internal::syntax::layout::{Measure, layout};
/// use classmate::ParseOptions;
/// let measure = Measure { width: 30, ..Measure::default() };
/// let text = layout(b"Memory>=1024&&(Cpus>2||x)&&OpSys==\"LINUX\"", &ParseOptions::default(), measure)?;
/// assert_eq!(text, b"Memory >= 1024\n&& (Cpus > 2 || x)\n&& OpSys == \"LINUX\"");
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn layout(source: &[u8], options: &ParseOptions, measure: Measure) -> Result<Vec<u8>, SyntaxError> {
    let options = ParseOptions { places: true, ..options.clone() };
    let expr = parse_expr(source, &options)?;
    let pieces = pieces(source, &options)?;
    let mut writer =
        LayoutWriter { source, tree: expr.tree(), pieces: &pieces, measure, out: Vec::new(), column: measure.taken };
    let whole = 0..pieces.len();
    writer.around(expr.root(), whole);
    let written = writer.out;
    let same = |again: &Expr| expr.same_as(again) && comments(source, &pieces) == commented(&written, &options);
    match parse_expr(&written, &options) {
        Ok(again) if same(&again) => Ok(written),
        // Never change what is meant, whatever the text.
        _ => Ok(source.trim_ascii().to_vec()),
    }
}

/// A token or a comment, and its place.
struct Piece {
    start: usize,
    end: usize,
    kind: PieceKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PieceKind {
    Token,
    /// An operator between operands, or `=`, `?`, `:`.
    Infix,
    Prefix,
    /// `.` behind an operand.
    Dot,
    /// `.` before a name at the root.
    Root,
    Number,
    Comma,
    /// The bracket of a call or a subscript, or a parenthesis.
    Open,
    Close,
    /// The bracket of a list or an ad.
    OpenList,
    CloseList,
    /// `/* … */`
    Block,
    /// `// …`
    Line,
}

fn pieces(source: &[u8], options: &ParseOptions) -> Result<Vec<Piece>, SyntaxError> {
    let mut found: Vec<Piece> = Vec::new();
    let mut lists: Vec<bool> = Vec::new();
    let mut operand = false;
    let mut at = 0;
    for token in Lexer::new(source, options) {
        let (start, token, end) = token?;
        between(source, at, start, &mut found);
        at = end;
        let kind =
            match &token {
                Token::Literal(_) if source[start].is_ascii_digit() || source[end - 1].is_ascii_digit() => {
                    PieceKind::Number
                }
                Token::Literal(_) | Token::Name(_) => PieceKind::Token,
                Token::Binary(_)
                | Token::Mark(Mark::Default | Mark::LateDefault | Mark::Question | Mark::Colon | Mark::Assign) => {
                    PieceKind::Infix
                }
                Token::Mark(Mark::Plus | Mark::Minus) if operand => PieceKind::Infix,
                Token::Mark(Mark::Plus | Mark::Minus) | Token::Prefix(_) => PieceKind::Prefix,
                Token::Mark(Mark::Dot) if operand => PieceKind::Dot,
                Token::Mark(Mark::Dot) => PieceKind::Root,
                Token::Mark(Mark::Comma | Mark::Semicolon) => PieceKind::Comma,
                Token::Mark(Mark::OpenParen) => {
                    lists.push(false);
                    PieceKind::Open
                }
                Token::Mark(Mark::OpenBracket | Mark::OpenBrace) => {
                    let list = !operand || matches!(token, Token::Mark(Mark::OpenBrace));
                    lists.push(list);
                    if list { PieceKind::OpenList } else { PieceKind::Open }
                }
                Token::Mark(Mark::CloseParen | Mark::CloseBracket | Mark::CloseBrace) => {
                    if lists.pop().unwrap_or(false) { PieceKind::CloseList } else { PieceKind::Close }
                }
            };
        operand = matches!(kind, PieceKind::Token | PieceKind::Number | PieceKind::Close | PieceKind::CloseList);
        found.push(Piece { start, end, kind });
    }
    let end = memchr::memchr(0, source).unwrap_or(source.len());
    between(source, at, end, &mut found);
    Ok(found)
}

/// The comments between two tokens.
fn between(source: &[u8], from: usize, to: usize, found: &mut Vec<Piece>) {
    let mut at = from;
    while at + 1 < to {
        let rest = &source[at..to];
        if rest.starts_with(b"//") {
            let end = memchr::memchr(b'\n', rest).map_or(to, |end| at + end);
            let text = source[at..end].trim_ascii_end().len();
            found.push(Piece { start: at, end: at + text, kind: PieceKind::Line });
            at = end;
        } else if rest.starts_with(b"/*") {
            let end = memchr::memmem::find(&rest[2..], b"*/").map_or(to, |end| at + end + 4);
            found.push(Piece { start: at, end, kind: PieceKind::Block });
            at = end;
        } else {
            at += 1;
        }
    }
}

fn comments(source: &[u8], pieces: &[Piece]) -> Vec<Vec<u8>> {
    let comments = pieces.iter().filter(|piece| matches!(piece.kind, PieceKind::Block | PieceKind::Line));
    comments.map(|piece| source[piece.start..piece.end].to_vec()).collect()
}

fn commented(text: &[u8], options: &ParseOptions) -> Vec<Vec<u8>> {
    pieces(text, options).map(|pieces| comments(text, &pieces)).unwrap_or_default()
}

struct LayoutWriter<'s> {
    source: &'s [u8],
    tree: &'s Tree,
    pieces: &'s [Piece],
    measure: Measure,
    out: Vec<u8>,
    column: usize,
}

type Range = std::ops::Range<usize>;

impl LayoutWriter<'_> {
    fn text(&self, piece: usize) -> &[u8] {
        &self.source[self.pieces[piece].start..self.pieces[piece].end]
    }

    fn put(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
        self.column = match memchr::memrchr(b'\n', text) {
            Some(at) => text.len() - at - 1,
            None => self.column + text.len(),
        };
    }

    fn line(&mut self, level: usize) {
        while self.out.last() == Some(&b' ') {
            self.out.pop();
        }
        self.out.push(b'\n');
        let spaces = self.measure.indent + level;
        self.out.resize(self.out.len() + spaces, b' ');
        self.column = spaces;
    }

    /// The pieces of a node, its comments inside included.
    fn range(&self, id: NodeId) -> Range {
        let Some(span) = self.tree.span(id) else { return 0..0 };
        let first = self.pieces.partition_point(|piece| piece.start < span.start as usize);
        let last = self.pieces.partition_point(|piece| piece.start < span.end as usize);
        first..last
    }

    /// The whole expression with what precedes and follows it.
    fn around(&mut self, root: NodeId, whole: Range) {
        let inner = self.range(root);
        for at in whole.start..inner.start {
            let text = self.text(at).to_vec();
            self.put(&text);
            if self.pieces[at].kind == PieceKind::Line { self.line(0) } else { self.put(b" ") }
        }
        self.node(root, 0, 0);
        for at in inner.end..whole.end {
            self.put(b" ");
            let text = self.text(at).to_vec();
            self.put(&text);
        }
    }

    /// The pieces on one line, if none ends a line.
    fn flat(&self, range: Range) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let mut last: Option<PieceKind> = None;
        for at in range {
            let piece = &self.pieces[at];
            let text = self.text(at);
            if piece.kind == PieceKind::Line
                || (memchr::memchr(b'\n', text).is_some() && piece.kind == PieceKind::Block)
            {
                return None;
            }
            let begins_number = text.first().is_some_and(u8::is_ascii_digit)
                || (text.len() > 1 && text[0] == b'.' && text[1].is_ascii_digit());
            let space = match (last, piece.kind) {
                (None, _) => false,
                (Some(PieceKind::Infix | PieceKind::Comma | PieceKind::Block), _)
                | (_, PieceKind::Infix | PieceKind::Block) => true,
                // A sign apart from its number stays apart: together they would be one number.
                (Some(PieceKind::Prefix), PieceKind::Number) => begins_number,
                (Some(PieceKind::OpenList), PieceKind::CloseList) => false,
                (Some(PieceKind::OpenList), _) | (_, PieceKind::CloseList) => true,
                // `1 .a` is a selection, `1.a` is nothing.
                (Some(PieceKind::Number), PieceKind::Dot) => true,
                _ => false,
            };
            if space {
                out.push(b' ');
            }
            out.extend_from_slice(text);
            last = Some(piece.kind);
        }
        Some(out)
    }

    /// Writes a node at a level; `behind` columns follow it on its last line.
    fn node(&mut self, id: NodeId, level: usize, behind: usize) {
        let range = self.range(id);
        let flat = self.flat(range.clone());
        if let Some(flat) = &flat
            && (self.column + flat.len() + behind <= self.measure.width || level / INDENT > MAX_LEVELS)
        {
            self.put(flat);
            return;
        }
        let kept = self.out.len();
        let column = self.column;
        if level / INDENT <= MAX_LEVELS && self.broken(id, &range, level) {
            return;
        }
        self.out.truncate(kept);
        self.column = column;
        let text = match flat {
            Some(flat) => flat,
            // As it is.
            None => self.tree.span(id).map(|span| self.source[span.range()].to_vec()).unwrap_or_default(),
        };
        self.put(&text);
    }

    /// Writes a node over several lines; false if it cannot be broken.
    fn broken(&mut self, id: NodeId, range: &Range, level: usize) -> bool {
        match *self.tree.node(id) {
            Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) => self.chain(op, id, level),
            Node::Paren(inner) => {
                let content = self.range(inner);
                if content.is_empty() {
                    return false;
                }
                self.put(b"(");
                self.line(level + INDENT);
                self.before(range.start + 1..content.start, level + INDENT);
                self.node(inner, level + INDENT, 0);
                self.after(content.end..range.end - 1, level + INDENT);
                self.line(level);
                self.put(b")");
                true
            }
            Node::Call(call) => {
                let arguments = self.tree.run(self.tree.calls[call as usize].arguments).to_vec();
                self.elements(range, &arguments, 2, level)
            }
            Node::List(run) => {
                let elements = self.tree.run(run).to_vec();
                self.elements(range, &elements, 1, level)
            }
            Node::Ad(run) => {
                let mut values: Vec<NodeId> = self.tree.ad(run).iter().map(|(_, value)| *value).collect();
                values.sort_unstable();
                self.elements(range, &values, 1, level)
            }
            Node::Conditional { condition, yes, no } => {
                let (one, two, three) = (self.range(condition), self.range(yes), self.range(no));
                if two.start != one.end + 1 || three.start != two.end + 1 {
                    return false;
                }
                self.node(condition, level, 0);
                for (sign, part) in [(b"? ", yes), (b": ", no)] {
                    self.line(level + INDENT);
                    self.put(sign);
                    self.node(part, level + INDENT + 2, 0);
                }
                true
            }
            Node::Unary(_, operand) => {
                let inner = self.range(operand);
                let Some(sign) = self.flat(range.start..inner.start) else { return false };
                if inner.start != range.start + 1 || self.pieces[inner.start].kind == PieceKind::Number {
                    return false;
                }
                self.put(&sign);
                self.node(operand, level, 0);
                true
            }
            _ => false,
        }
    }

    /// `a && b && …`, one operand a line.
    fn chain(&mut self, op: BinaryOp, id: NodeId, level: usize) -> bool {
        let mut end = None;
        for operand in self.tree.operands(op, id) {
            let range = self.range(operand);
            if let Some(end) = end {
                // Comments on both sides of the operator.
                let gap: Vec<usize> = (end..range.start).collect();
                let Some(sign) = gap.iter().copied().find(|at| self.pieces[*at].kind == PieceKind::Infix) else {
                    return false;
                };
                self.after(end..sign, level);
                let behind: Vec<usize> = gap.into_iter().filter(|at| *at > sign).collect();
                for at in behind {
                    self.comment(at, level);
                }
                self.line(level);
                let text = self.text(sign).to_vec();
                self.put(&text);
                self.put(b" ");
            }
            self.node(operand, level + 3, 0);
            end = Some(range.end);
        }
        true
    }

    /// A comment: on a line of its own, if it was, otherwise behind what was written last.
    fn comment(&mut self, at: usize, level: usize) {
        let start = self.pieces[at].start;
        let line = memchr::memrchr(b'\n', &self.source[..start]).map_or(0, |newline| newline + 1);
        let alone = self.source[line..start].iter().all(u8::is_ascii_whitespace) && line > 0;
        // Nothing may follow a comment that ends its line.
        let ended = at > 0 && self.pieces[at - 1].kind == PieceKind::Line;
        if alone || ended {
            self.line(level);
        } else {
            self.put(b" ");
        }
        let text = self.text(at).to_vec();
        self.put(&text);
    }

    fn after(&mut self, range: Range, level: usize) {
        for at in range {
            self.comment(at, level);
        }
    }

    /// Comments before a node that begins a line.
    fn before(&mut self, range: Range, level: usize) {
        for at in range {
            let text = self.text(at).to_vec();
            self.put(&text);
            self.line(level);
        }
    }

    /// Arguments, elements or attributes, one a line; `open` pieces precede the first. Only without comments
    /// between them.
    fn elements(&mut self, range: &Range, elements: &[NodeId], open: usize, level: usize) -> bool {
        if elements.is_empty() {
            return false;
        }
        let mut at = range.start;
        let Some(head) = self.flat(at..at + open) else { return false };
        at += open;
        self.put(&head);
        for (number, element) in elements.iter().enumerate() {
            let inner = self.range(*element);
            let Some(name) = self.flat(at..inner.start).filter(|_| !self.has_comment(at..inner.start)) else {
                return false;
            };
            // The text before it: a separator, then for an attribute its name and `=`.
            let (separator, name) = match name.first() {
                Some(b',' | b';') => name.split_at(1),
                _ => name.split_at(0),
            };
            self.put(separator);
            self.line(level + INDENT);
            let name = name.trim_ascii();
            if !name.is_empty() {
                self.put(name);
                self.put(b" ");
            }
            let more = usize::from(number + 1 < elements.len());
            self.node(*element, level + INDENT, more);
            at = inner.end;
        }
        let Some(tail) = self.flat(at..range.end).filter(|_| !self.has_comment(at..range.end)) else { return false };
        let (separator, close) = tail.split_at(tail.len() - 1);
        self.put(separator.trim_ascii());
        self.line(level);
        self.put(close);
        true
    }

    fn has_comment(&self, range: Range) -> bool {
        self.pieces[range].iter().any(|piece| matches!(piece.kind, PieceKind::Block | PieceKind::Line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid(text: &str, width: usize) -> String {
        let measure = Measure { width, ..Measure::default() };
        let once = layout(text.as_bytes(), &ParseOptions::default(), measure).unwrap();
        let twice = layout(&once, &ParseOptions::default(), measure).unwrap();
        assert_eq!(String::from_utf8_lossy(&once), String::from_utf8_lossy(&twice), "the second time");
        String::from_utf8(once).unwrap()
    }

    #[test]
    fn spaces_are_set_and_spelling_is_kept() {
        for (text, expected) in [
            ("a  &&b||!c", "a && b || !c"),
            ("f( a,b ) [ 1 ] . c", "f(a, b)[1].c"),
            ("{1,2}", "{ 1, 2 }"),
            ("[a=1;b=2;]", "[ a = 1; b = 2; ]"),
            ("x?y:z", "x ? y : z"),
            ("x?:y", "x ?: y"),
            ("- 5+-5 - -5", "- 5 + -5 - -5"),
            ("-a*- -b", "-a * --b"),
            ("TRUE =?= 1.50", "TRUE =?= 1.50"),
            ("1 .a", "1 .a"),
            (".a.b", ".a.b"),
            ("a /* why */ +b", "a /* why */ + b"),
            ("\"x\"   \"y\"", "\"x\"   \"y\""),
            ("'a b'.c is 2", "'a b'.c is 2"),
        ] {
            assert_eq!(laid(text, 80), expected);
        }
    }

    #[test]
    fn long_conditions_take_one_clause_a_line() {
        assert_eq!(
            laid("aaaa > 1 && (bbbb > 2 || cccc > 3) && ifThenElse(dddd, eeee, ffff)", 24),
            "aaaa > 1\n&& (\n       bbbb > 2\n       || cccc > 3\n   )\n&& ifThenElse(\n       dddd,\n       eeee,\n       ffff\n   )"
        );
        assert_eq!(laid("[aaaa = 1; bbbb = 2]", 10), "[\n    aaaa = 1;\n    bbbb = 2\n]");
    }

    #[test]
    fn comments_are_kept_where_they_are() {
        assert_eq!(laid("a // one\n && b /* two */ && c", 80), "a // one\n&& b /* two */\n&& c");
        assert_eq!(laid("a &&\n  // of b\n  b", 80), "a\n// of b\n&& b");
        assert_eq!(laid("// first\na", 80), "// first\na");
        assert_eq!(laid("f(a, // x\n b)", 80), "f(a, // x\n b)");
    }
}
