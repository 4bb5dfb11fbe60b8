//! Versions of HTCondor, whose language differs by the rules of `version_rule.rs`.
//!
//! In: a series (`24.0`), an alias of one, or a `CondorVersion`. Out: a set of switches, one per rule, that the parser,
//! the printer and the evaluator consult. The rules are those of `docs/reference/versions.md`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

pub use crate::version_rule::{RULES, RuleChange, VersionRule};

/// A series of releases: `X.Y` of version `X.Y.Z`. The last number never changes the language.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Series {
    /// `X`
    pub major: u16,
    /// `Y`
    pub minor: u16,
}

impl Series {
    /// A series by its numbers.
    pub const fn new(major: u16, minor: u16) -> Self {
        Series { major, minor }
    }
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The oldest series that was measured.
pub const OLDEST: Series = Series::new(10, 0);
/// The series of the default.
pub const LATEST: Series = Series::new(25, 14);

/// The series that were recorded.
pub const DOCUMENTED: [Series; 13] = [
    OLDEST,
    Series::new(10, 9),
    Series::new(23, 0),
    Series::new(23, 9),
    Series::new(23, 10),
    Series::new(24, 0),
    Series::new(24, 12),
    Series::new(25, 0),
    Series::new(25, 10),
    Series::new(25, 11),
    Series::new(25, 12),
    Series::new(25, 13),
    LATEST,
];

/// The last number of the releases that were recorded, in the order of [`DOCUMENTED`].
const RECORDED: [u16; DOCUMENTED.len()] = [9, 0, 28, 6, 29, 24, 24, 14, 1, 0, 2, 2, 1];

impl Series {
    /// The release of the series that was recorded; of other series, the first.
    pub fn release(self) -> [u16; 3] {
        let recorded = DOCUMENTED.iter().zip(RECORDED).find(|(series, _)| **series == self);
        [self.major, self.minor, recorded.map_or(0, |(_, patch)| patch)]
    }
}

const ALIASES: [(&str, Series); 9] = [
    ("10", OLDEST),
    ("10.x", Series::new(10, 9)),
    ("23", Series::new(23, 0)),
    ("23.x", Series::new(23, 10)),
    ("24", Series::new(24, 0)),
    ("24.x", Series::new(24, 12)),
    ("25", Series::new(25, 0)),
    ("25.x", LATEST),
    ("latest", LATEST),
];

/// The language of one series: a switch for each [`VersionRule`].
///
/// ```
/// use classmate::{ClassAd, EvalOptions, Expr, Scope};
///
/// let ad = ClassAd::new();
/// for (series, expected) in [("23.0", r#""x""#), ("25.14", "true")] {
///     let options = EvalOptions { semantics: series.parse()?, ..EvalOptions::default() };
///     let expr = Expr::parse_with(r#""x" ?: "" != "Copy""#, &options.parse_options())?;
///     assert_eq!(Scope::new(&ad, &options).eval(&expr)?.to_string(), expected);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Semantics {
    series: Series,
    /// A bit for each rule whose old behavior applies.
    old: u32,
}

impl Default for Semantics {
    /// The newest series.
    fn default() -> Self {
        Semantics { series: LATEST, old: 0 }
    }
}

/// Reasons that a version does not name a series.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum UnknownSeries {
    /// Not a version at all.
    #[error("`{0}` is not a version of HTCondor")]
    Malformed(String),
    /// A version before the oldest that was measured.
    #[error("the semantics of HTCondor {0} were not measured")]
    TooOld(String),
}

/// The mark of [`Semantics::advertised`], beside the bits of the rules.
const ADVERTISED: u32 = 1 << 31;

impl Semantics {
    /// The language of a series; one that is newer than [`LATEST`] has the same.
    pub fn of(series: Series) -> Self {
        let old = RULES.iter().filter(|change| series < change.since).fold(0, |bits, change| bits | change.rule.bit());
        Semantics { series, old }
    }

    /// The series.
    pub fn series(self) -> Series {
        self.series
    }

    /// Tests whether the old behavior of a rule applies.
    #[inline]
    pub const fn is_old(self, rule: VersionRule) -> bool {
        self.old & rule.bit() != 0
    }

    /// Each expression in the version that its ad advertises as `CondorVersion`; all others in this one, as well as limits of
    /// an evaluation.
    ///
    /// Readers of ads choose the version of each ad, and its expressions remember it.
    ///
    /// ```
    /// use classmate::{ClassAd, EvalOptions, Scope, Semantics, parse_expr};
    ///
    /// let options = EvalOptions { semantics: Semantics::default().advertised(), ..EvalOptions::default() };
    /// let ad = |version: &str| {
    ///     let text = format!(r#"[CondorVersion = "$CondorVersion: {version} $"; A = "x" ?: "" != "Copy"]"#);
    ///     ClassAd::parse_with(text, &options.parse_options())
    /// };
    /// let (slot, job) = (ad("23.0.28")?, ad("25.14.1")?);
    /// let scope = Scope::new(&slot, &options).with_target(&job);
    /// for (text, value) in [("MY.A", "\"x\""), ("TARGET.A", "true")] {
    ///     assert_eq!(scope.eval(&parse_expr(text.as_bytes())?)?.to_string(), value);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn advertised(self) -> Self {
        Semantics { old: self.old | ADVERTISED, ..self }
    }

    /// Tests whether each expression is in the version of its ad.
    pub const fn is_advertised(self) -> bool {
        self.old & ADVERTISED != 0
    }

    /// The version in the value of a `CondorVersion`, such as `$CondorVersion: 24.0.1 2024-10-31 $`; `None` for any other text.
    /// One before [`OLDEST`] has the same language.
    pub fn of_ad(value: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(value).ok()?.trim();
        let number = text.strip_prefix("$CondorVersion:").map_or(text, str::trim_start);
        if !number.starts_with(|first: char| first.is_ascii_digit()) {
            return None;
        }
        let older = || numbered(text).map(|(_, series)| Semantics::of(series));
        text.parse().ok().or_else(older)
    }

    /// The nearest version whose language was measured.
    #[must_use]
    pub fn measured(self) -> Self {
        if self.series < OLDEST || self.series > LATEST {
            let series = self.series.clamp(OLDEST, LATEST);
            return Semantics { series, ..self };
        }
        self
    }

    /// The same language under the newest series: equal for all series whose language is.
    #[must_use]
    pub const fn language(self) -> Self {
        Semantics { series: LATEST, old: self.old & !ADVERTISED }
    }

    /// This version for all expressions.
    #[must_use]
    pub const fn alone(self) -> Self {
        Semantics { old: self.old & !ADVERTISED, ..self }
    }

    /// The version of one ad: where each has its own, the one that it advertises, if it does.
    #[must_use]
    pub fn of_one(self, advertised: impl FnOnce() -> Option<Semantics>) -> Self {
        if self.is_advertised() { advertised().unwrap_or(self.alone()) } else { self }
    }

    /// The same language with one rule as in another series.
    #[must_use]
    pub fn with(self, rule: VersionRule, other: Semantics) -> Self {
        Semantics { old: self.old & !rule.bit() | other.old & rule.bit(), ..self }
    }

    /// The rules that differ between two series.
    pub fn differences(self, other: Semantics) -> impl Iterator<Item = &'static RuleChange> {
        let differing = self.old ^ other.old;
        RULES.iter().filter(move |change| differing & change.rule.bit() != 0)
    }

    /// Tests whether the present rules apply to whatever is evaluated: what is compiled for these can be used.
    pub const fn is_present(self) -> bool {
        self.old == 0
    }
}

impl fmt::Display for Semantics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_advertised(), self.series) {
            (false, series) => series.fmt(f),
            (true, LATEST) => f.write_str(EACH_ITS_OWN),
            (true, series) => write!(f, "{EACH_ITS_OWN}:{series}"),
        }
    }
}

/// The name of [`Semantics::advertised`].
const EACH_ITS_OWN: &str = "advertised";

impl FromStr for Semantics {
    type Err = UnknownSeries;

    /// Reads a series, a version (`10.9.0.post1`), an alias (`24.x`, `latest`), a `CondorVersion`, or `advertised`, also with
    /// a version for what is in no ad (`advertised:24.0`).
    fn from_str(text: &str) -> Result<Self, UnknownSeries> {
        let text = text.trim();
        if let Some(rest) = text.strip_prefix(EACH_ITS_OWN) {
            let other = match rest.strip_prefix(':') {
                Some(other) if !other.trim_start().starts_with(EACH_ITS_OWN) => other.parse()?,
                None if rest.is_empty() => Semantics::default(),
                _ => return Err(UnknownSeries::Malformed(text.to_owned())),
            };
            return Ok(other.advertised());
        }
        if let Some((_, series)) = ALIASES.iter().find(|(alias, _)| text.eq_ignore_ascii_case(alias)) {
            return Ok(Semantics::of(*series));
        }
        let (version, series) = numbered(text).ok_or_else(|| UnknownSeries::Malformed(text.to_owned()))?;
        if series < OLDEST { Err(UnknownSeries::TooOld(version.to_owned())) } else { Ok(Semantics::of(series)) }
    }
}

/// The version in a text, and its series.
fn numbered(text: &str) -> Option<(&str, Series)> {
    let version = match text.strip_prefix("$CondorVersion:") {
        Some(rest) => rest.split_whitespace().next()?,
        None => text,
    };
    let mut numbers = version.splitn(3, '.');
    let mut number = || numbers.next()?.parse::<u16>().ok();
    let series = Series { major: number()?, minor: number()? };
    let is_number = |rest: &str| rest.starts_with(|byte: char| byte.is_ascii_digit());
    numbers.next().is_none_or(is_number).then_some((version, series))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(text: &str) -> Result<String, String> {
        text.parse::<Semantics>().map(|semantics| semantics.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn ads_advertise_versions_alone() {
        let of_ad = |text: &str| Semantics::of_ad(text.as_bytes()).map(|semantics| semantics.to_string());
        assert_eq!(of_ad("$CondorVersion: 24.0.1 2024-10-31 BuildID: 1 $"), Some("24.0".to_owned()));
        assert_eq!(of_ad("23.0.28"), Some("23.0".to_owned()));
        // `docs/reference/versions.md` 1 knows 10.0 to 25.14; others have the language of the nearest.
        for (text, series, nearest) in
            [("$CondorVersion: 9.12.0 2022-10-05 $", "9.12", "10.0"), ("26.1.0", "26.1", "25.14")]
        {
            assert_eq!(of_ad(text).as_deref(), Some(series));
            let measured = Semantics::of_ad(text.as_bytes()).unwrap().measured();
            assert_eq!(Ok(measured), nearest.parse());
        }
        for text in ["advertised", "advertised:24.0", "latest", "x", "", "$CondorVersion: $"] {
            assert_eq!(of_ad(text), None, "{text}");
        }
        assert!("advertised:".repeat(100_000).parse::<Semantics>().is_err());
    }

    #[test]
    fn versions_name_their_series() {
        for (text, expected) in [
            ("10", "10.0"),
            ("10.x", "10.9"),
            ("23", "23.0"),
            ("24.X", "24.12"),
            ("latest", "25.14"),
            ("10.9.0.post1", "10.9"),
            ("24.0.24", "24.0"),
            ("$CondorVersion: 24.0.3 2025-01-02 BuildID: 775128 PackageID: 24.0.3-1 $", "24.0"),
            ("26.1", "26.1"),
            ("advertised", "advertised"),
            ("advertised:24.0.3", "advertised:24.0"),
        ] {
            assert_eq!(series(text).as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(series("9.12"), Err("the semantics of HTCondor 9.12 were not measured".to_owned()));
        for text in ["", "x", "advertised24.0", "25.", "25.x.1", "-1.0", "24.0.", "24.0.x", "$CondorVersion:", "26"] {
            assert_eq!(series(text), Err(format!("`{text}` is not a version of HTCondor")));
        }
    }

    /// Generations of `docs/reference/versions.md` 1: rules whose old behavior applies.
    #[test]
    fn every_series_has_the_rules_of_its_generation() {
        let old = |text: &str| {
            RULES.iter().filter(|change| text.parse::<Semantics>().is_ok_and(|it| it.is_old(change.rule))).count()
        };
        for (text, count) in [
            ("10.0", 21),
            ("10.2", 21),
            ("10.3", 18),
            ("10.4", 18),
            ("10.5", 17),
            ("23.0", 17),
            ("23.2", 16),
            ("23.6", 14),
            ("23.7", 9),
            ("23.9", 7),
            ("23.10", 6),
            ("24.1", 6),
            ("24.0", 6),
            ("24.2", 5),
            ("25.12", 5),
            ("25.13", 0),
            ("25.14", 0),
            ("26.0", 0),
        ] {
            assert_eq!(old(text), count, "{text}");
        }
    }

    /// The releases of `docs/reference/versions.md`.
    #[test]
    fn a_series_has_the_release_that_was_recorded() {
        for (series, release) in
            [("10.0", [10, 0, 9]), ("24.0", [24, 0, 24]), ("24.5", [24, 5, 0]), ("25.14", [25, 14, 1])]
        {
            assert_eq!(series.parse::<Semantics>().map(|it| it.series().release()), Ok(release));
        }
    }

    #[test]
    fn one_rule_can_be_taken_from_another_series() {
        let (old, new) = (Semantics::of(OLDEST), Semantics::default());
        let mixed = new.with(VersionRule::Cycle, old);
        assert!(mixed.is_old(VersionRule::Cycle) && !mixed.is_old(VersionRule::SizeSuffix));
        let names: Vec<_> = mixed.differences(new).map(|change| change.name).collect();
        assert_eq!(names, ["cycle"]);
        assert!(old.with(VersionRule::Cycle, new).differences(new).all(|change| change.rule != VersionRule::Cycle));
    }
}
