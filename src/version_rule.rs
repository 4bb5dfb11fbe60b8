//! The rules of the language that differ between versions of HTCondor: both behaviors of each, and their boundary.
//!
//! The rules are those of `docs/reference/versions.md`.

use std::fmt;

use crate::semantics::Series;

/// A rule of the language that changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
#[expect(missing_docs, reason = "RULES describes each")]
pub enum VersionRule {
    SizeSuffix,
    SuffixPrinting,
    SuffixConversion,
    IntegerRange,
    IntegerBase,
    ElvisPrecedence,
    EmptyMiddle,
    ReltimeLiteral,
    TimeLiteralBad,
    Cycle,
    DepthReference,
    DepthOperators,
    DepthParser,
    VersionCase,
    Time32bit,
    SplittimeUndefined,
    StrictBoolean,
    RegexpmemberEmpty,
    RealSameness,
    AttributeOrder,
    EnvironmentOrder,
}

/// The two behaviors of a rule and their boundary.
#[derive(Debug)]
pub struct RuleChange {
    /// The rule.
    pub rule: VersionRule,
    /// Its name, which never changes.
    pub name: &'static str,
    /// HTCondor's ticket, if it is known.
    pub ticket: Option<&'static str>,
    /// The first series with the present behavior.
    pub since: Series,
    /// The behavior before.
    pub old: &'static str,
    /// The present behavior.
    pub now: &'static str,
}

const fn change(
    rule: VersionRule,
    name: &'static str,
    ticket: Option<&'static str>,
    (major, minor): (u16, u16),
    old: &'static str,
    now: &'static str,
) -> RuleChange {
    RuleChange { rule, name, ticket, since: Series::new(major, minor), old, now }
}

/// All rules, in the order of [`VersionRule`].
///
/// The order of attributes and environment variables was that of a hash table; it is not imitated. `real-sameness` is
/// visible only to programs that compare expressions.
pub const RULES: [RuleChange; 21] = [
    change(
        VersionRule::SizeSuffix,
        "size-suffix",
        Some("HTCONDOR-2455"),
        (23, 9),
        "a letter B, K, M, G or T directly after a number multiplies it: `10K` is 10240.0",
        "a syntax error in an ad; in a line of the long format everything after the number is ignored",
    ),
    change(
        VersionRule::SuffixPrinting,
        "suffix-printing",
        None,
        (23, 2),
        "`10K` is printed as it was written; JSON and XML lose the letter",
        "the product is printed",
    ),
    change(
        VersionRule::SuffixConversion,
        "suffix-conversion",
        Some("HTCONDOR-2455"),
        (23, 9),
        "a size suffix in a string that is converted to a number multiplies it: `int(\"10K\")` is 10240",
        "the letter is ignored: `int(\"10K\")` is 10",
    ),
    change(
        VersionRule::IntegerRange,
        "integer-range",
        Some("HTCONDOR-2140"),
        (23, 3),
        "an integer literal beyond 64 bits becomes the nearest integer",
        "an integer literal beyond 64 bits becomes 0",
    ),
    change(
        VersionRule::IntegerBase,
        "integer-base",
        None,
        (23, 3),
        "strict mode reads `010` as octal and `0x10` as hexadecimal",
        "strict mode reads integers as decimal: `010` is 10, `0x10` is 0",
    ),
    change(
        VersionRule::ElvisPrecedence,
        "elvis-precedence",
        Some("HTCONDOR-2530"),
        (23, 10),
        "`?:` has the lowest precedence: `a ?: b != c` is `a ?: (b != c)`",
        "`?:` has the highest precedence: `a ?: b != c` is `(a ?: b) != c`",
    ),
    change(
        VersionRule::EmptyMiddle,
        "empty-middle",
        Some("HTCONDOR-3814"),
        (25, 13),
        "`? :` with space between has the lowest precedence, and a middle that cannot be parsed is ignored",
        "`? :` is the same as `?:`, and a middle that cannot be parsed is a syntax error",
    ),
    change(
        VersionRule::ReltimeLiteral,
        "reltime-literal",
        Some("HTCONDOR-2374"),
        (23, 7),
        "`relTime(\"1:30\")` is a relative time",
        "`relTime(\"1:30\")` is the real 90.0",
    ),
    change(
        VersionRule::TimeLiteralBad,
        "time-literal-bad",
        None,
        (23, 7),
        "`absTime(\"…\")` and `relTime(\"…\")` of an invalid string are the value error",
        "`absTime(\"…\")` and `relTime(\"…\")` of an invalid string are syntax errors",
    ),
    change(
        VersionRule::Cycle,
        "cycle",
        Some("HTCONDOR-3814"),
        (25, 13),
        "the evaluation of an attribute that refers to itself fails",
        "a reference to an attribute that is being evaluated is undefined",
    ),
    change(
        VersionRule::DepthReference,
        "depth-reference",
        None,
        (10, 3),
        "a chain of attribute references may have 999 links, and calls of strcat and join nest without limit",
        "a chain of attribute references may have 399 links, and calls of strcat and join may nest 400 deep",
    ),
    change(
        VersionRule::DepthOperators,
        "depth-operators",
        Some("HTCONDOR-3814"),
        (25, 13),
        "operators may nest without limit",
        "operators and attribute references may nest 400 deep together",
    ),
    change(
        VersionRule::DepthParser,
        "depth-parser",
        Some("HTCONDOR-3814"),
        (25, 13),
        "an expression may have 999 nested parentheses, ads, calls or conditionals",
        "an expression may have 165 nested parentheses, ads or calls, or 497 nested conditionals",
    ),
    change(
        VersionRule::VersionCase,
        "version-case",
        Some("HTCONDOR-3818"),
        (25, 13),
        "versionGT, versionGE, versionLT, versionLE and versionEQ are known in this spelling only",
        "their names may have any case",
    ),
    change(
        VersionRule::Time32bit,
        "time-32bit",
        Some("HTCONDOR-2672"),
        (24, 2),
        "formatTime and splitTime use the lower 32 bits of an integer",
        "formatTime and splitTime use all 64 bits of an integer",
    ),
    change(
        VersionRule::SplittimeUndefined,
        "splittime-undefined",
        None,
        (10, 3),
        "splitTime(undefined) is an error",
        "splitTime(undefined) is undefined",
    ),
    change(
        VersionRule::StrictBoolean,
        "strict-boolean",
        None,
        (10, 3),
        "in strict mode a number is not a condition: `1 && true` is an error",
        "a number is a condition: `1 && true` is true",
    ),
    change(
        VersionRule::RegexpmemberEmpty,
        "regexpmember-empty",
        None,
        (23, 7),
        "stringList_regexpMember of an invalid pattern and an empty list is undefined",
        "stringList_regexpMember of an invalid pattern is an error",
    ),
    change(
        VersionRule::RealSameness,
        "real-sameness",
        None,
        (23, 7),
        "expressions are the same if their reals are equal",
        "expressions are the same if their reals differ by at most 2.2e-16",
    ),
    change(
        VersionRule::AttributeOrder,
        "attribute-order",
        None,
        (23, 7),
        "attributes are printed in the order of a hash table",
        "attributes are printed by the length of their names, then alphabetically",
    ),
    change(
        VersionRule::EnvironmentOrder,
        "environment-order",
        None,
        (10, 5),
        "mergeEnvironment returns variables in the order of a hash table",
        "mergeEnvironment returns variables by name",
    ),
];

impl VersionRule {
    /// The behaviors of the rule.
    pub fn change(self) -> &'static RuleChange {
        &RULES[self as usize]
    }

    /// The rule in a set of rules.
    pub(crate) const fn bit(self) -> u32 {
        1 << self as u32
    }
}

impl fmt::Display for VersionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.change().name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_rules() {
        for (at, change) in RULES.iter().enumerate() {
            assert_eq!(change.rule as usize, at, "{}", change.name);
        }
    }
}
