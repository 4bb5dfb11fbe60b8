//! The nesting of a text, counted as the reference's recursive parser counts.
//!
//! In: tokens in their order. Out: whether more than 500 of the productions Expr, Unary and Postfix would be open
//! at once (`docs/reference/classad-language.md` 12). Knows nothing of trees; a text with wrong syntax is left to the
//! parser.

use crate::semantics::{Semantics, VersionRule};
use crate::syntax::lexer::Token;
use crate::syntax::token::Mark;

/// The productions that are counted, and how many may be open at once.
#[derive(Clone, Copy)]
struct NestingRule {
    limit: usize,
    /// Productions of an operand: Unary and Postfix.
    operand: usize,
    /// 1 if prefix operators and right operands of `?:` count.
    prefix: usize,
}

const NOW: NestingRule = NestingRule { limit: 500, operand: 2, prefix: 1 };
/// Only Expr is counted.
const OLD: NestingRule = NestingRule { limit: 1000, operand: 0, prefix: 0 };

impl Default for NestingRule {
    fn default() -> Self {
        NOW
    }
}

/// The open levels in one pair of brackets, beyond those around it.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Productions open around the bracket.
    outside: usize,
    /// 1 if an Expr is open in the bracket.
    expr: usize,
    /// Conditionals whose branches are being read: each holds one Expr open.
    branches: usize,
    /// Marks in `questions` that belong to outer brackets.
    questions: usize,
    /// Prefix operators before the current operand.
    prefixes: usize,
    /// Right operands of `?:`, each a Postfix.
    defaults: usize,
}

impl Level {
    fn open(&self) -> usize {
        self.outside + self.expr + self.branches + self.prefixes + self.defaults
    }
}

/// Follows the tokens of one expression.
#[derive(Default)]
pub struct Nesting {
    level: Level,
    outer: Vec<Level>,
    /// `branches` at each `?` whose `:` has not come yet.
    questions: Vec<usize>,
    in_operand: bool,
    rule: NestingRule,
}

impl Nesting {
    /// Counting from the beginning of an expression.
    pub fn new(semantics: Semantics) -> Self {
        let level = Level { expr: 1, ..Level::default() };
        let rule = if semantics.is_old(VersionRule::DepthParser) { OLD } else { NOW };
        Nesting { level, rule, ..Nesting::default() }
    }

    /// Simultaneously open productions that are still accepted.
    pub fn limit(&self) -> usize {
        self.rule.limit
    }

    /// Takes the next token; false when it nests too deeply.
    pub fn accept(&mut self, token: &Token) -> bool {
        match token {
            Token::Literal(_) | Token::Name(_) => return self.operand(),
            Token::Mark(Mark::Plus | Mark::Minus) | Token::Prefix(_) if !self.in_operand => {
                self.level.prefixes += self.rule.prefix;
                return self.level.open() <= self.rule.limit;
            }
            Token::Binary(_) | Token::Prefix(_) | Token::Mark(Mark::Plus | Mark::Minus | Mark::Assign) => {
                self.end_operand();
            }
            Token::Mark(Mark::Default) => {
                self.level.defaults += self.rule.prefix;
                self.in_operand = false;
            }
            Token::Mark(Mark::LateDefault) => {
                self.end_operand();
                self.level.branches += 1;
            }
            Token::Mark(Mark::Dot) if !self.in_operand => return self.operand(),
            Token::Mark(Mark::Dot) => {}
            Token::Mark(Mark::Question) => {
                self.end_operand();
                self.questions.push(self.level.branches);
                self.level.branches += 1;
            }
            Token::Mark(Mark::Colon) => {
                self.end_operand();
                if self.questions.len() > self.level.questions
                    && let Some(branches) = self.questions.pop()
                {
                    self.level.branches = branches + 1;
                }
            }
            Token::Mark(Mark::Comma | Mark::Semicolon) => {
                self.end_operand();
                self.questions.truncate(self.level.questions);
                self.level.branches = 0;
            }
            Token::Mark(Mark::OpenParen | Mark::OpenBracket | Mark::OpenBrace) => {
                // Inside an operand: its Unary and Postfix are open too.
                let fits = self.operand();
                let outside = self.level.open() + self.rule.operand;
                self.outer.push(self.level);
                self.level = Level { outside, expr: 1, questions: self.questions.len(), ..Level::default() };
                self.in_operand = false;
                return fits;
            }
            Token::Mark(Mark::CloseParen | Mark::CloseBracket | Mark::CloseBrace) => {
                self.questions.truncate(self.level.questions);
                self.level = self.outer.pop().unwrap_or_default();
                self.in_operand = true;
            }
        }
        true
    }

    fn operand(&mut self) -> bool {
        self.in_operand = true;
        self.level.open() + self.rule.operand <= self.rule.limit
    }

    fn end_operand(&mut self) {
        self.in_operand = false;
        self.level.prefixes = 0;
        self.level.defaults = 0;
    }
}
