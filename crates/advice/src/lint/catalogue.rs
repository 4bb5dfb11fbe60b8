//! What is looked for: one entry a check.

use classmate::internal::diagnostic::Severity;

/// One thing that is looked for. Its code never changes.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// The code: `never-true`.
    pub code: &'static str,
    /// An error loses or refuses something; a warning is about what hardly was meant.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub about: &'static str,
}

const fn error(code: &'static str, about: &'static str) -> Check {
    Check { code, severity: Severity::Error, about }
}

const fn warning(code: &'static str, about: &'static str) -> Check {
    Check { code, severity: Severity::Warning, about }
}

/// All checks, in the order of the documentation.
pub const CHECKS: &[Check] = &[
    // Text that is lost.
    error("syntax", "text that is no expression: HTCondor drops it, mostly without a word"),
    error("assignment", "`=` where a comparison is meant"),
    error("size-suffix", "a number with a unit: the language has none"),
    error("ignored-text", "text behind an expression that is not read"),
    error("leftover-macro", "`$(…)` that is not expanded"),
    error("undefined-macro", "a macro that nothing defines, without which a text is no expression"),
    // Configuration.
    error("bad-value", "a value that the knob does not take"),
    warning("odd-line", "a line that is read in an unexpected way"),
    warning("unknown-knob", "a name that is no knob, but looks like one"),
    warning("obsolete-knob", "an obsolete name of a knob"),
    warning("unread-prefix", "a name with a prefix that nobody reads"),
    warning("undeclared-group", "a knob of a group that `GROUP_NAMES` does not name"),
    warning("group-quota", "quotas that are missing, contradict each other, or are more than there is"),
    warning("redefined-knob", "a knob that one file sets twice"),
    warning("conflicting-knobs", "knobs that do not go together"),
    warning("unseen-attribute", "an attribute that the knob's expression can never see"),
    warning("per-job-attribute", "an attribute that makes every job an autocluster of its own"),
    warning("unknown-command", "a name in a submit file that is no command, but looks like one"),
    // Conditions.
    warning(
        "undefined-means-no",
        "a condition that refuses where an attribute is missing, though it seems to ask for its absence",
    ),
    warning("true-when-undefined", "a condition that holds where an attribute is missing"),
    warning("always-true", "a clause that is true whatever the ads are"),
    warning("always-false", "a clause that is false whatever the ads are"),
    warning("always-undefined", "a clause that is undefined whatever the ads are"),
    warning("always-error", "a clause that is an error whatever the ads are"),
    warning("never-true", "a condition that no ads make true"),
    warning("unsatisfiable", "Requirements that no other ad satisfies, given the ad's own values"),
    warning("contradiction", "two clauses that are never true together"),
    warning("duplicate-clause", "a clause that stands there twice"),
    warning("implied-clause", "a clause that changes nothing beside another one"),
    warning("constant-clause", "a constant that decides a whole condition, such as `true || …`"),
    // Words and operators.
    warning("unquoted-word", "a word without quotes where text is meant"),
    warning("single-quotes", "single quotes where text is meant"),
    warning("glob-comparison", "a wildcard in a text that is compared as it is"),
    warning("compared-with-undefined", "`==` or `!=` with undefined or error"),
    warning("bitwise-operator", "an operator on bits where logic or a power is meant"),
    warning("comparison-chain", "`a < b < c`"),
    warning("precedence", "an operator that binds more or less tightly than it looks"),
    warning("type-clash", "values of types that do not go together"),
    warning("division-by-zero", "a division by zero"),
    warning("odd-number", "a number that is not what it looks like"),
    warning("string-escape", "a backslash that begins an escape"),
    warning("missing-parentheses", "the name of a function without parentheses"),
    warning("unknown-function", "a function that does not exist"),
    warning("argument-count", "a call with too few or too many arguments"),
    warning("version-dependent", "a construct whose meaning differs between versions, or is a defect of this one"),
];

/// The check of a code.
pub fn find(code: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|check| check.code == code)
}
