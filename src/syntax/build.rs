//! Grows the node table while the parser recognises an expression.
//!
//! Operators of all levels come flat from the grammar, `a + b * c < d`; the precedence is settled here with a
//! stack of operators that wait for their right operand.

use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::name::Name;
use crate::semantics::VersionRule;
use crate::span::Span;
use crate::syntax::expr::{CallSite, Expr, Node, NodeId, Run, Tree, copy_into};
use crate::syntax::literal::Literal;
use crate::syntax::operator::{BinaryOp, UnaryOp};
use crate::syntax::parse::{Mode, ParseOptions};
use crate::syntax::time::{Zone, parse_abs, parse_rel};

/// A run of operands and operators whose precedence is not settled yet.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    /// Length of the operator stack below this chain.
    base: usize,
    /// The operand read last.
    last: NodeId,
}

/// Builds one [`Tree`].
pub struct Builder<'o> {
    options: &'o ParseOptions,
    tree: Tree,
    waiting: Vec<(BinaryOp, NodeId)>,
    elements: Vec<NodeId>,
    bindings: Vec<(Name, NodeId)>,
    /// The last default of the lowest precedence.
    late: Option<NodeId>,
}

impl<'o> Builder<'o> {
    /// An empty builder.
    pub fn new(options: &'o ParseOptions) -> Self {
        Builder {
            options,
            tree: Tree { semantics: options.semantics.alone(), ..Tree::default() },
            waiting: Vec::new(),
            elements: Vec::new(),
            bindings: Vec::new(),
            late: None,
        }
    }

    /// The finished tree; its last node is the root.
    pub fn finish(self) -> Tree {
        self.tree
    }

    /// Adds a node at `start..end`.
    pub fn push(&mut self, start: usize, node: Node, end: usize) -> NodeId {
        self.tree.nodes.push(node);
        if self.options.places {
            self.tree.spans.push(Span::new(start, end));
        }
        (self.tree.nodes.len() - 1) as NodeId
    }

    /// Adds a copy of another expression.
    pub fn graft(&mut self, expr: &Expr) -> NodeId {
        let root = copy_into(&mut self.tree, expr.tree(), expr.root());
        self.tree.semantics = self.options.semantics.alone();
        root
    }

    fn push_around(&mut self, node: Node, first: NodeId, last: NodeId) -> NodeId {
        self.tree.nodes.push(node);
        if self.options.places {
            let span = self.tree.spans[first as usize].to(self.tree.spans[last as usize]);
            self.tree.spans.push(span);
        }
        (self.tree.nodes.len() - 1) as NodeId
    }

    /// Begins a chain with its first operand.
    pub fn begin(&mut self, operand: NodeId) -> Chain {
        Chain { base: self.waiting.len(), last: operand }
    }

    /// Adds an operator and its right operand to a chain.
    ///
    /// The operand's nodes come after those of all waiting operands, so operators that bind at least as
    /// tightly were settled by [`Builder::settle`] before it was read.
    pub fn extend(&mut self, chain: Chain, operand: NodeId) -> Chain {
        Chain { base: chain.base, last: operand }
    }

    /// Settles what binds at least as tightly as `op` on its left, and lets `op` wait for its right operand.
    pub fn settle(&mut self, chain: Chain, op: BinaryOp) -> Chain {
        let left = self.reduce(chain, op.precedence());
        self.waiting.push((op, left));
        chain
    }

    fn reduce(&mut self, chain: Chain, precedence: u8) -> NodeId {
        let mut last = chain.last;
        while self.waiting.len() > chain.base
            && let Some(&(op, left)) = self.waiting.last()
            && op.precedence() >= precedence
        {
            self.waiting.pop();
            last = self.push_around(Node::Binary(op, left, last), left, last);
        }
        last
    }

    /// Ends a chain.
    pub fn end(&mut self, chain: Chain) -> NodeId {
        self.reduce(chain, 0)
    }

    /// `left ?: right`
    pub fn default(&mut self, left: NodeId, right: NodeId) -> NodeId {
        self.push_around(Node::Binary(BinaryOp::Default, left, right), left, right)
    }

    /// `left ?: right` where it has the lowest precedence.
    pub fn late_default(&mut self, left: NodeId, right: NodeId) -> NodeId {
        let node = self.default(left, right);
        self.late = Some(node);
        node
    }

    /// Tests whether the expression so far is a conditional, or a default of the lowest precedence.
    pub fn is_conditional(&self) -> bool {
        self.late == Some(self.tree.root()) || matches!(self.tree.node(self.tree.root()), Node::Conditional { .. })
    }

    /// A prefix operator.
    pub fn unary(&mut self, start: usize, op: UnaryOp, operand: NodeId, end: usize) -> NodeId {
        self.push(start, Node::Unary(op, operand), end)
    }

    /// The start of the list of elements that is read next.
    pub fn mark(&self) -> usize {
        self.elements.len()
    }

    /// Adds an element to the list that is being read.
    pub fn element(&mut self, element: NodeId) {
        self.elements.push(element);
    }

    fn run_since(&mut self, mark: usize) -> Run {
        let run = Run { first: self.tree.children.len() as u32, len: (self.elements.len() - mark) as u32 };
        self.tree.children.extend(self.elements.drain(mark..));
        run
    }

    /// A list of the elements since `mark`.
    pub fn list(&mut self, start: usize, mark: usize, end: usize) -> NodeId {
        let run = self.run_since(mark);
        self.push(start, Node::List(run), end)
    }

    /// A call with the arguments since `mark`.
    ///
    /// `absTime` and `relTime` of one string become constants here, as in the reference
    /// (`docs/reference/classad-language.md` 3.5).
    ///
    /// # Errors
    /// That string is not a time.
    pub fn call(&mut self, start: usize, name: Name, mark: usize, end: usize) -> Result<NodeId, SyntaxError> {
        if let [argument] = self.elements[mark..]
            && argument as usize + 1 == self.tree.nodes.len()
            && let Node::Literal(Literal::Str(text)) = self.tree.node(argument)
            && let Some(read) = time_reader(name)
        {
            let read = match read(text, &self.options.zone) {
                Some(Literal::RelTime(seconds)) if self.options.semantics.is_old(VersionRule::ReltimeLiteral) => {
                    Some(Literal::OldRelTime(seconds))
                }
                None if self.options.semantics.is_old(VersionRule::TimeLiteralBad) => Some(Literal::Error),
                other => other,
            };
            let Some(literal) = read else {
                let shown = String::from_utf8_lossy(text).into_owned();
                return Err(SyntaxError::new(SyntaxErrorKind::BadTime(shown), Span::new(start, end)));
            };
            self.elements.truncate(mark);
            self.tree.nodes.pop();
            self.tree.spans.pop();
            return Ok(self.push(start, Node::Literal(literal), end));
        }
        let arguments = self.run_since(mark);
        self.tree.calls.push(CallSite { name, arguments });
        let call = (self.tree.calls.len() - 1) as u32;
        Ok(self.push(start, Node::Call(call), end))
    }

    /// A `;` between arguments, which only HTCondor mode accepts.
    ///
    /// # Errors
    /// In strict mode.
    pub fn semicolon(&self, start: usize, end: usize) -> Result<(), SyntaxError> {
        match self.options.mode {
            Mode::HTCondor => Ok(()),
            Mode::Strict => Err(SyntaxError::new(SyntaxErrorKind::SemicolonInArguments, Span::new(start, end))),
        }
    }

    /// The start of the attributes of the ad that is read next.
    pub fn bindings(&self) -> usize {
        self.bindings.len()
    }

    /// Adds an attribute to the ad that is being read.
    ///
    /// # Errors
    /// An empty name.
    pub fn bind(&mut self, start: usize, name: Name, value: NodeId, end: usize) -> Result<(), SyntaxError> {
        if name.as_bytes().is_empty() {
            return Err(SyntaxError::new(SyntaxErrorKind::EmptyName, Span::new(start, end)));
        }
        self.bindings.push((name, value));
        Ok(())
    }

    /// An ad of the attributes since `mark`: of a repeated name the first spelling and the last value stay.
    pub fn ad(&mut self, start: usize, mark: usize, end: usize) -> NodeId {
        let first = self.tree.attributes.len();
        // The sort is stable, so equal names stay in the order of the text.
        self.bindings[mark..].sort_by(|(a, _), (b, _)| a.listing_order(*b));
        for (name, value) in self.bindings.drain(mark..) {
            match self.tree.attributes[first..].last_mut() {
                Some((known, last)) if *known == name => *last = value,
                _ => self.tree.attributes.push((name, value)),
            }
        }
        let run = Run { first: first as u32, len: (self.tree.attributes.len() - first) as u32 };
        self.push(start, Node::Ad(run), end)
    }
}

/// Reads the text of a time literal.
type TimeReader = fn(&[u8], &Zone) -> Option<Literal>;

/// The reader of the text of a time literal, if the function makes one.
fn time_reader(name: Name) -> Option<TimeReader> {
    match name.folded() {
        b"abstime" => Some(|text, zone| parse_abs(text, zone).map(Literal::AbsTime)),
        b"reltime" => Some(|text, _| parse_rel(text).map(Literal::RelTime)),
        _ => None,
    }
}
