//! Conditions as lists of instructions, for expressions that are evaluated again and again.
//!
//! In: the tree of an expression. Out: its parts without logic in the order in which they are evaluated, each with its
//! steps and levels, and the places to go on at when the logic around them is decided.

use crate::name::{Key, Name, known};
use crate::syntax::expr::{CallSite, Node, NodeId, Tree, base_of};
use crate::syntax::literal::Literal;
use crate::syntax::operator::{BinaryOp, UnaryOp};
use crate::syntax::view::View;

/// A condition as a list of instructions.
#[derive(Debug)]
pub(crate) struct CompiledCondition {
    pub(crate) instructions: Box<[Instruction]>,
    /// Levels of its deepest part.
    pub(crate) levels: u32,
    /// The meaning of `MY` and `TARGET` that is required.
    pub(crate) sides: Sides,
}

/// The uses of `MY` and `TARGET` in a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sides {
    /// There are none.
    Unused,
    /// They mean the sides of a match, unless the expression's own ad has attributes of these names.
    Used,
    /// They mean the sides of a match: the expression's own ad has no attributes of these names.
    Certain,
}

#[derive(Debug)]
pub(crate) enum Instruction {
    /// Sets the truth to that of a part without logic.
    Part(ConditionPart),
    /// Goes on at the instruction if the truth decides the logic; otherwise keeps it.
    Decide { op: BinaryOp, end: u32 },
    /// Joins the truth that was kept with the present one.
    Join(BinaryOp),
    /// Negates the truth.
    Negate,
}

/// A part without logic.
#[derive(Debug)]
pub(crate) struct ConditionPart {
    pub(crate) node: NodeId,
    /// Steps of the part and of what is around it, as far as they are not counted before.
    pub(crate) steps: u32,
    /// Levels around the part.
    pub(crate) level: u32,
    pub(crate) form: Form,
}

#[derive(Debug)]
pub(crate) enum Form {
    /// `first ?: second`
    Default(OperandPlace, OperandPlace),
    /// Any other operator but logic.
    Operator(BinaryOp, OperandPlace, OperandPlace),
    /// An attribute alone.
    Attribute(OperandPlace),
    /// A function that tests the type of its only argument.
    TypeTest(fn(&Literal) -> bool, OperandPlace),
    /// Anything else.
    Other,
}

/// An operand as it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OperandPlace {
    /// A constant.
    Literal(NodeId),
    /// A name without a scope.
    Unscoped(Key),
    /// A name without a scope that the expression's own ad lacks.
    Opposite(Key),
    /// `MY.name`
    Mine(Key),
    /// `TARGET.name`
    Theirs(Key),
    /// Anything else.
    Other,
}

impl OperandPlace {
    /// The steps it takes where it is a constant.
    pub(crate) fn steps(self) -> u32 {
        if matches!(self, OperandPlace::Mine(_) | OperandPlace::Theirs(_)) { 2 } else { 1 }
    }

    fn of(tree: &Tree, id: NodeId) -> Self {
        let is_plain = |name: &Name| !known::is_known(name.key());
        match tree.node(id) {
            Node::Literal(_) => OperandPlace::Literal(id),
            Node::Attr(name) if is_plain(name) => OperandPlace::Unscoped(name.key()),
            Node::Select(name) if is_plain(name) => match tree.node(base_of(id)) {
                Node::Attr(side) if side.key() == known::MY => OperandPlace::Mine(name.key()),
                Node::Attr(side) if side.key() == known::TARGET => OperandPlace::Theirs(name.key()),
                _ => OperandPlace::Other,
            },
            _ => OperandPlace::Other,
        }
    }
}

/// Maximum number of truths that are kept at a time; conditions that keep more are not compiled.
pub(crate) const MAX_KEPT: usize = 16;

/// Maximum number of nodes of an expression that is compiled.
const MAX_NODES: usize = 20_000;

/// Maximum number of levels of an expression that is compiled: the compiler calls itself once for each.
const MAX_LEVELS: u32 = 100;

struct Compiler<'t> {
    tree: &'t Tree,
    own: Option<&'t OwnAd<'t>>,
    instructions: Vec<Instruction>,
    /// Steps that the next part counts.
    steps: u32,
    levels: u32,
    kept: usize,
    sides: Sides,
    /// The sides, once they are used.
    used_sides: Sides,
}

/// Tells of names if the only ad that an expression is evaluated in has them.
pub(crate) type OwnAd<'a> = dyn Fn(Key) -> bool + 'a;

impl Compiler<'_> {
    /// Adds the instructions of a node; none if it is too deep.
    fn condition(&mut self, id: NodeId, level: u32) -> Option<()> {
        self.steps += 1;
        self.levels = self.levels.max(level + 1);
        if level > MAX_LEVELS {
            return None;
        }
        let tree = self.tree;
        match tree.node(id) {
            Node::Paren(inner) => self.condition(*inner, level + 1),
            Node::Unary(UnaryOp::Not, operand) => {
                self.condition(*operand, level + 1)?;
                self.instructions.push(Instruction::Negate);
                Some(())
            }
            Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                self.condition(*left, level + 1)?;
                let at = self.instructions.len();
                self.instructions.push(Instruction::Decide { op: *op, end: 0 });
                self.kept += 1;
                if self.kept > MAX_KEPT {
                    return None;
                }
                self.condition(*right, level + 1)?;
                self.kept -= 1;
                self.instructions.push(Instruction::Join(*op));
                self.instructions[at] = Instruction::Decide { op: *op, end: self.instructions.len() as u32 };
                Some(())
            }
            node => {
                let form = match node {
                    Node::Binary(BinaryOp::Default, first, second) => {
                        Form::Default(self.place(*first), self.place(*second))
                    }
                    Node::Binary(op, left, right) => Form::Operator(*op, self.place(*left), self.place(*right)),
                    Node::Attr(_) | Node::Select(_) => Form::Attribute(self.place(id)),
                    Node::Call(call) => self.call(tree.calls[*call as usize]),
                    _ => Form::Other,
                };
                let steps = std::mem::take(&mut self.steps);
                self.instructions.push(Instruction::Part(ConditionPart { node: id, steps, level, form }));
                Some(())
            }
        }
    }

    fn call(&mut self, site: CallSite) -> Form {
        match (type_test(site.name), self.tree.run(site.arguments)) {
            (Some(test), [argument]) => Form::TypeTest(test, self.place(*argument)),
            _ => Form::Other,
        }
    }

    fn place(&mut self, id: NodeId) -> OperandPlace {
        let place = OperandPlace::of(self.tree, id);
        match (place, self.own) {
            // What is left of them in a folded ad are expressions.
            (OperandPlace::Unscoped(key), Some(own)) => {
                if own(key) {
                    OperandPlace::Other
                } else {
                    OperandPlace::Opposite(key)
                }
            }
            (OperandPlace::Mine(_) | OperandPlace::Theirs(_), _) => {
                self.sides = self.used_sides;
                place
            }
            _ => place,
        }
    }
}

impl CompiledCondition {
    /// Compiles an expression whose value is always true, false, undefined or an error; none for others and for those
    /// that are too large. With an own ad, the expression is never to be evaluated in another one, and its attributes that the
    /// expression refers to are expressions.
    pub(crate) fn new(tree: &Tree, own: Option<&OwnAd<'_>>) -> Option<Self> {
        if tree.nodes.is_empty() || tree.nodes.len() > MAX_NODES || !is_condition(tree, tree.root()) {
            return None;
        }
        let is_certain = own.is_some_and(|own| !own(known::MY) && !own(known::TARGET));
        let mut compiler = Compiler {
            tree,
            own,
            instructions: Vec::new(),
            steps: 0,
            levels: 0,
            kept: 0,
            sides: Sides::Unused,
            used_sides: if is_certain { Sides::Certain } else { Sides::Used },
        };
        compiler.condition(tree.root(), 0)?;
        let Compiler { instructions, levels, sides, .. } = compiler;
        Some(CompiledCondition { instructions: instructions.into_boxed_slice(), levels, sides })
    }
}

/// The test that a function makes of a constant, if it tests for undefined or errors.
pub(crate) fn type_test(function: Name) -> Option<fn(&Literal) -> bool> {
    match function.folded() {
        b"isundefined" => Some(|literal| matches!(literal, Literal::Undefined)),
        b"iserror" => Some(|literal| matches!(literal, Literal::Error)),
        _ => None,
    }
}

/// Tests whether the value of a part is always true, false, undefined or an error.
pub(crate) fn is_condition(tree: &Tree, id: NodeId) -> bool {
    matches!(tree.view(tree.bare(id)), View::Not(_) | View::Logic { .. } | View::Compare { .. })
}
