//! The builtin functions: one table of facts, one file a family.
//!
//! Functions evaluate their own arguments, so that some can leave them alone (`ifThenElse`, `unparse`); most take
//! them in order with [`Call::argument`].

pub mod account;
pub mod arguments;
pub mod check;
pub mod context;
pub mod control;
pub mod convert;
mod dialect;
pub mod documentation;
pub mod environment;
pub mod in_use;
pub mod list;
pub mod math;
pub mod near;
pub mod pattern;
pub(crate) mod reason;
pub mod regex;
pub mod split;
pub mod string;
pub mod string_list;
pub mod substitute;
pub mod time;
pub mod tokens;
pub mod user_map;
pub mod version;

use std::sync::{Arc, LazyLock};

use hashbrown::HashTable;

use crate::builtin::documentation::Documentation;
use crate::eval::scope::EvalOptions;
use crate::eval::{EvalError, Evaluator};
use crate::name::{Key, Name};
use crate::semantics::VersionRule;
use crate::syntax::expr::{Node, NodeId, Tree};
use crate::syntax::literal::SizeSuffix;
use crate::syntax::number::{real_prefix, real_to_integer};
use crate::syntax::parse::ParseOptions;
use crate::syntax::print::Style;
use crate::syntax::table_order::in_table_order;
use crate::text::Text;
use crate::value::text::{to_int, to_real, to_text_within};
use crate::value::{AdValue, FrameId, List, Type, Value};

/// A builtin function.
#[derive(Debug)]
pub struct Function {
    /// The name as the documentation spells it; calls may use any case.
    pub name: &'static str,
    /// The arguments for people: `substr(text, offset [, length])`.
    pub signature: &'static str,
    /// Fewest arguments.
    pub least: u8,
    /// Most arguments; `None` for any number.
    pub most: Option<u8>,
    /// True if the same arguments always give the same value.
    pub pure: bool,
    /// Evaluates a call.
    pub run: RunCall,
}

type RunCall = fn(&mut Call<'_, '_>) -> Result<Value, Exit>;

impl Function {
    /// A function whose name and numbers of arguments are those of the (first) signature: `strcat([value, …])`.
    const fn new(signature: &'static str, run: RunCall) -> Self {
        let bytes = signature.as_bytes();
        let mut at = 0;
        while bytes[at] != b'(' {
            at += 1;
        }
        let name = signature.split_at(at).0;
        let (mut arguments, mut least, mut most) = (0, None, true);
        while bytes[at] != b')' {
            match bytes[at] {
                b'[' if least.is_none() => least = Some(arguments),
                b',' => arguments += 1,
                // The first byte of `…`.
                0xe2 => most = false,
                _ if arguments == 0 && bytes[at].is_ascii_alphabetic() => arguments = 1,
                _ => {}
            }
            at += 1;
        }
        let least = if let Some(least) = least { least } else { arguments };
        let most = if most { Some(arguments) } else { None };
        Function { name, signature, least, most, pure: true, run }
    }

    /// As [`Function::new`], for a function whose value may differ from call to call.
    const fn impure(signature: &'static str, run: RunCall) -> Self {
        Function { pure: false, ..Function::new(signature, run) }
    }

    /// The description and examples.
    pub fn documentation(&self) -> &'static Documentation {
        documentation::find(self.name)
    }

    /// Tests whether a call may have this number of arguments; other calls are an error value.
    pub fn accepts(&self, arguments: usize) -> bool {
        arguments >= usize::from(self.least) && self.most.is_none_or(|most| arguments <= usize::from(most))
    }

    /// Tests whether a call is about its first argument as an expression, not about its value here.
    pub(crate) fn quotes(&self) -> bool {
        matches!(self.name, "countMatches" | "evalInEachContext" | "unparse" | "unresolved")
    }
}

/// An end of a call before the last line of its function.
pub enum Exit {
    /// The value of the call: undefined or an error.
    Value(Value),
    /// The evaluation was abandoned.
    Abandoned(EvalError),
}

impl Exit {
    /// An error, also for undefined.
    pub(crate) fn into_error(self) -> Self {
        match self {
            Exit::Value(_) => Exit::Value(Value::Error),
            abandoned @ Exit::Abandoned(_) => abandoned,
        }
    }
}

impl From<Value> for Exit {
    fn from(value: Value) -> Self {
        Exit::Value(value)
    }
}

impl From<EvalError> for Exit {
    fn from(error: EvalError) -> Self {
        Exit::Abandoned(error)
    }
}

/// A list argument; undefined for undefined, error for anything else that is no list.
pub(crate) fn list(value: Value) -> Result<List, Value> {
    match value {
        Value::List(list) => Ok(list),
        Value::Undefined => Err(Value::Undefined),
        _ => Err(Value::Error),
    }
}

/// Bytes of a string that are read in about the time of one node evaluation.
const LOOKED_AT_PER_STEP: usize = 64;

const FAMILIES: &[&[Function]] = &[
    convert::FUNCTIONS,
    string::FUNCTIONS,
    list::FUNCTIONS,
    math::FUNCTIONS,
    version::FUNCTIONS,
    control::FUNCTIONS,
    context::FUNCTIONS,
    string_list::FUNCTIONS,
    split::FUNCTIONS,
    regex::FUNCTIONS,
    time::FUNCTIONS,
    arguments::FUNCTIONS,
    environment::FUNCTIONS,
    account::FUNCTIONS,
    in_use::FUNCTIONS,
];

static BY_NAME: LazyLock<HashTable<(Key, &'static Function)>> = LazyLock::new(|| {
    let mut table = HashTable::new();
    for function in all() {
        let key = Name::new(function.name).key();
        table.insert_unique(key.hash64(), (key, function), |(key, _)| key.hash64());
    }
    table
});

/// All functions, family by family.
pub fn all() -> impl Iterator<Item = &'static Function> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The function of a name, in any case.
pub fn find(name: Name) -> Option<&'static Function> {
    let key = name.key();
    BY_NAME.find(key.hash64(), |(known, _)| *known == key).map(|(_, function)| *function)
}

/// One call that is being evaluated.
pub struct Call<'m, 'a> {
    pub(crate) evaluator: &'m mut Evaluator<'a>,
    pub(crate) tree: &'m Arc<Tree>,
    arguments: &'m [NodeId],
    pub(crate) frame: FrameId,
}

impl<'m, 'a> Call<'m, 'a> {
    pub(crate) fn new(
        evaluator: &'m mut Evaluator<'a>,
        tree: &'m Arc<Tree>,
        arguments: &'m [NodeId],
        frame: FrameId,
    ) -> Self {
        Call { evaluator, tree, arguments, frame }
    }

    /// Number of arguments.
    pub fn len(&self) -> usize {
        self.arguments.len()
    }

    /// Tests whether there are no arguments.
    pub fn is_empty(&self) -> bool {
        self.arguments.is_empty()
    }

    /// Evaluates an argument, counted from 0.
    ///
    /// Whatever is done with a string, its bytes are read: a long one counts as steps.
    ///
    /// # Errors
    /// The evaluation was abandoned.
    pub fn argument(&mut self, at: usize) -> Result<Value, EvalError> {
        let value = self.unread(at)?;
        self.looked_at(value)
    }

    /// As [`Call::argument`], for functions that do not look at the bytes of a string.
    ///
    /// # Errors
    /// The evaluation was abandoned.
    pub fn unread(&mut self, at: usize) -> Result<Value, EvalError> {
        self.evaluator.eval(self.tree, self.arguments[at], self.frame)
    }

    /// The type of an argument, which is evaluated.
    ///
    /// # Errors
    /// The evaluation was abandoned.
    pub fn type_of(&mut self, at: usize) -> Result<Type, EvalError> {
        self.evaluator.type_of(self.tree, self.arguments[at], self.frame)
    }

    /// A value that a function looks at, counted.
    fn looked_at(&mut self, value: Value) -> Result<Value, EvalError> {
        if let Value::Str(text) = &value
            && text.len() >= LOOKED_AT_PER_STEP
        {
            self.charge(text.len() / LOOKED_AT_PER_STEP)?;
        }
        Ok(value)
    }

    /// Evaluates an argument one level deeper, as `strcat` and `join` do.
    ///
    /// # Errors
    /// The evaluation was abandoned.
    pub fn argument_deeper(&mut self, at: usize) -> Result<Value, EvalError> {
        let (tree, id, frame) = (self.tree, self.arguments[at], self.frame);
        self.evaluator.deeper_by_call(|evaluator| evaluator.eval(tree, id, frame))
    }

    /// An argument as it is written.
    pub fn written(&self, at: usize) -> &'m Node {
        self.tree.node(self.arguments[at])
    }

    /// An argument as it is written, for the evaluator.
    pub(crate) fn node(&self, at: usize) -> NodeId {
        self.arguments[at]
    }

    /// Evaluates an element of a list, counted from 0; `at` must be less than the list's length. Its names are
    /// looked up where the call is, not where the list is from.
    ///
    /// # Errors
    /// The evaluation was abandoned.
    pub fn element(&mut self, list: &List, at: usize) -> Result<Value, EvalError> {
        let value = self.evaluator.element_in(list, at, self.frame)?;
        self.looked_at(value)
    }

    /// Evaluates an attribute of an ad, looked up there and in the ads around it: `ad.name`.
    ///
    /// # Errors
    /// The evaluation was abandoned.
    pub fn attribute(&mut self, ad: &AdValue, name: Name) -> Result<Value, EvalError> {
        self.evaluator.attribute_of_ad(ad, name)
    }

    /// The text of a value as [`to_text_within`] gives it: strings as they are, other values in canonical form, counted
    /// against the limit of bytes.
    ///
    /// # Errors
    /// The value is undefined or an error, or the text would be too long.
    pub fn text(&mut self, value: &Value) -> Result<Text, Exit> {
        let own = match value {
            Value::List(_) | Value::Ad(_) => Some(self.evaluator.released(value.clone())),
            _ => None,
        };
        let limit = self.evaluator.bytes_left();
        let text = match own {
            Some(own) if self.is_old(VersionRule::AttributeOrder) => {
                in_table_order(&own.to_expr()).to_text_within(Style::New, limit).map(Text::from)
            }
            own => to_text_within(own.as_ref().unwrap_or(value), limit)?,
        };
        let text = text.ok_or_else(|| self.evaluator.too_many_bytes())?;
        if !matches!(value, Value::Str(_)) {
            self.charge(2 + text.len() / 64)?;
            self.reserve(text.len())?;
        }
        Ok(text)
    }

    /// The factor of the size suffix in a string that is converted to a number, in older versions.
    fn factor(&self, value: &Value) -> f64 {
        match value {
            Value::Str(text) if self.is_old(VersionRule::SuffixConversion) => {
                let next = real_prefix(text).and_then(|(_, end)| text.get(end));
                next.copied().and_then(SizeSuffix::of).map_or(1.0, SizeSuffix::factor)
            }
            _ => 1.0,
        }
    }

    /// The value as a real: as [`to_real`], with the size suffix of a string in older versions.
    pub(crate) fn real(&self, value: &Value) -> Result<f64, Value> {
        to_real(value).map(|number| number * self.factor(value))
    }

    /// The value as an integer: as [`to_int`], with the size suffix of a string in older versions.
    pub(crate) fn int(&self, value: &Value) -> Result<i64, Value> {
        let factor = self.factor(value);
        // The number is cut to an integer before it is multiplied, and the product again.
        to_int(value).map(|number| if factor == 1.0 { number } else { real_to_integer(number as f64 * factor) })
    }

    /// Tests whether the old behavior of a rule applies to the call.
    pub(crate) fn is_old(&self, rule: VersionRule) -> bool {
        self.evaluator.is_old(rule, self.tree)
    }

    /// The options for texts that the call parses.
    pub(crate) fn parse_options(&self) -> ParseOptions {
        let options = self.settings().parse_options();
        if options.semantics.is_advertised() {
            return ParseOptions { semantics: self.tree.semantics, ..options };
        }
        options
    }

    /// The settings of the evaluation: mode, clock, zone.
    pub fn settings(&self) -> &'a EvalOptions {
        self.evaluator.settings()
    }

    /// The next number of the random sequence, 64 bits.
    pub fn random(&mut self) -> u64 {
        self.evaluator.next_random()
    }

    /// Counts steps beyond the evaluation of arguments; call it with about one step per 64 bytes or per element.
    ///
    /// # Errors
    /// The evaluation takes too many steps.
    pub fn charge(&mut self, steps: usize) -> Result<(), EvalError> {
        self.evaluator.charge_work(steps as u64)
    }

    /// Makes a string value, counted against the limit of bytes.
    ///
    /// # Errors
    /// The evaluation makes too many bytes.
    pub fn string(&mut self, bytes: impl AsRef<[u8]>) -> Result<Value, Exit> {
        let bytes = bytes.as_ref();
        self.evaluator.charge_bytes(bytes.len())?;
        Ok(Value::text(bytes))
    }

    /// Counts bytes before they are made.
    ///
    /// # Errors
    /// The evaluation makes too many bytes.
    pub fn reserve(&mut self, bytes: usize) -> Result<(), EvalError> {
        self.evaluator.charge_bytes(bytes)
    }

    /// Makes a list value, counted against the limit of bytes.
    ///
    /// # Errors
    /// The evaluation makes too many bytes.
    pub fn list(&mut self, values: Vec<Value>) -> Result<Value, Exit> {
        Ok(Value::List(self.evaluator.made_list(values)?.temporary()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ad::ClassAd;
    use crate::eval::scope::Scope;
    use crate::syntax::parse::parse_expr;

    /// Evaluates a text without ads, and gives the value in canonical text.
    pub(super) fn evaluate(text: &str, settings: &EvalOptions) -> Result<String, EvalError> {
        let expr = parse_expr(text.as_bytes(), &settings.parse_options()).expect(text);
        let ad = ClassAd::new();
        Scope::new(&ad, settings).eval(&expr).map(|value| value.to_string())
    }

    #[test]
    fn every_example_evaluates_to_what_it_says() {
        let (ad, settings) = (ClassAd::new(), EvalOptions::default());
        let mut wrong = Vec::new();
        for function in all() {
            let documentation = function.documentation();
            assert!(!documentation.about.is_empty(), "{} is not described", function.name);
            assert!(!documentation.examples.is_empty(), "{} has no example", function.name);
            for (call, expected) in &documentation.examples {
                let expr = parse_expr(call.as_bytes(), &settings.parse_options()).expect(call);
                let value = Scope::new(&ad, &settings).eval(&expr).expect(call).to_string();
                if value != *expected {
                    wrong.push(format!("{call} is {value}, not {expected}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn every_function_is_found_by_its_name_in_any_case() {
        for function in all() {
            let name = Name::new(function.name.to_ascii_uppercase());
            assert_eq!(find(name).map(|found| found.name), Some(function.name));
            assert!(function.signature.starts_with(function.name), "{}", function.signature);
            assert!(function.most.is_none_or(|most| most >= function.least), "{}", function.name);
        }
    }
}
