//! The probable meaning of a text that does not parse.
//!
//! In: a text and the error that stopped the parser. Out: a [`Diagnostic`] that says what to write. Each mistake is one
//! rule; rules look at the tokens around the place and never change what the parser accepts.

mod brackets;
mod characters;
mod numbers;
mod operators;
mod place;
mod strings;
mod values;

use crate::diagnostic::Diagnostic;
use crate::error::{Expected, SyntaxError, SyntaxErrorKind};
use crate::syntax::diagnose::place::Place;
use crate::syntax::parse::ParseOptions;

/// One mistake: `None` if the place does not show it.
type Rule = fn(&Place<'_>) -> Option<Diagnostic>;

/// Says what is wrong with a text, what was meant, and what to write.
///
/// `options` are those that the text was parsed with. The work is linear in the length of the text before the error.
///
/// ```
/// use classmate::internal::syntax::diagnose::diagnose;
/// use classmate::{ParseOptions, parse_expr};
/// let (source, options) = (b"Memory > 1024 and Cpus > 1", ParseOptions::default());
/// let error = parse_expr(source).unwrap_err();
/// let finding = diagnose(source, &error, &options);
/// assert_eq!(finding.message, "`and` is not an operator");
/// assert_eq!(finding.fix.unwrap().apply(source), b"Memory > 1024 && Cpus > 1");
/// ```
pub fn diagnose(source: &[u8], error: &SyntaxError, options: &ParseOptions) -> Diagnostic {
    explain(&Place::new(source, error, options, true))
}

/// As [`diagnose`], for a line of a text: brackets may have been opened before it, and may be closed behind it.
pub fn diagnose_part(line: &[u8], error: &SyntaxError, options: &ParseOptions) -> Diagnostic {
    explain(&Place::new(line, error, options, false))
}

fn explain(place: &Place<'_>) -> Diagnostic {
    let error = place.error;
    let rules: &[Rule] = match &error.kind {
        SyntaxErrorKind::Unexpected { .. } => UNEXPECTED,
        SyntaxErrorKind::BadCharacter(_) => characters::RULES,
        SyntaxErrorKind::UnterminatedString { .. } | SyntaxErrorKind::NulInString => strings::RULES,
        SyntaxErrorKind::LeadingZero(_) | SyntaxErrorKind::Hexadecimal(_) | SyntaxErrorKind::IncompleteNumber(_) => {
            numbers::RULES
        }
        SyntaxErrorKind::BadTime(_) => &[strings::bad_time],
        SyntaxErrorKind::SemicolonInArguments => &[brackets::semicolon_in_arguments],
        _ => &[],
    };
    rules.iter().find_map(|rule| rule(place)).unwrap_or_else(|| plain(error))
}

/// The most telling rules first: a foreign operator explains more than a missing operand.
const UNEXPECTED: &[Rule] = &[
    operators::split_operator,
    operators::foreign_operator,
    operators::arrow,
    operators::foreign_word,
    operators::is_not,
    operators::leading_word,
    brackets::closed_too_late,
    brackets::json,
    brackets::comma_in_ad,
    brackets::missing_semicolon,
    brackets::attribute_name,
    brackets::attribute_without_assign,
    operators::assignment,
    numbers::thousands_separator,
    numbers::version_number,
    numbers::unit,
    numbers::digit_first,
    strings::quote_inside,
    values::method_call,
    values::constant_call,
    values::scope_comma,
    values::selector,
    values::unquoted_words,
    values::windows_path,
    values::template,
    operators::unfinished_conditional,
    brackets::stray_separator,
    brackets::empty_parentheses,
    operators::missing_operand,
    brackets::wrong_close,
    brackets::never_closed,
    brackets::never_opened,
    brackets::trailing_semicolon,
    values::missing_comma,
    values::side_by_side,
    values::nothing,
];

/// The error as the parser saw it, with the help that its kind alone allows.
fn plain(error: &SyntaxError) -> Diagnostic {
    let finding = Diagnostic::from(error);
    match &error.kind {
        SyntaxErrorKind::UnterminatedComment => finding.help("write `*/` where the comment ends"),
        SyntaxErrorKind::TooDeep(_) => finding.help(
            "remove redundant parentheses, `a && b && c`, or move parts of the expression to separate attributes",
        ),
        SyntaxErrorKind::EmptyName => finding.help("put a name between the quotes"),
        SyntaxErrorKind::NoAssign => finding.help("an attribute is written `Name = value`, one on a line"),
        SyntaxErrorKind::BadCharacter(_) => {
            finding.help("outside strings, expressions can contain only ASCII letters, digits and operators")
        }
        SyntaxErrorKind::Unexpected { expected: Expected::Expression, .. } => {
            finding.help("expected a number, a string in double quotes, an attribute, a call or `(`")
        }
        SyntaxErrorKind::Unexpected { expected: Expected::End | Expected::Operator, found } if found == "," => {
            finding.help("several values are a list, in braces: `{ a, b }`")
        }
        SyntaxErrorKind::Unexpected { expected: Expected::End | Expected::Operator, .. } => {
            finding.help("the expression ends here; strings need double quotes")
        }
        _ => finding,
    }
}
