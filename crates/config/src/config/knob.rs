//! The knobs of negotiator, accountant and groups: type, range, default and meaning of each
//! (`docs/reference/knobs.md`).
//!
//! In: a name. Out: the knob it is, also one of a family such as `GROUP_QUOTA_<group>`.

use std::str::FromStr;
use std::sync::LazyLock;

use hashbrown::HashMap;

use super::name_list::has_no_default;
use super::table;
use classmate::internal::records::{Record, records};

/// The type and range of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum KnobKind {
    /// `true`, `false`, or a constant expression that is a boolean or a number.
    Boolean,
    /// A boolean, or one of the letters `T` and `F`.
    Letter,
    /// A whole number from a smallest to a largest one.
    Integer(i64, i64),
    /// A number from a smallest to a largest one.
    Real(f64, f64),
    /// A number at the beginning of the text; the rest is not looked at.
    Number,
    /// An expression that is evaluated later.
    Expression,
    /// A regular expression.
    Pattern,
    /// Items separated by commas and blanks.
    List,
    /// Any text.
    Text,
    /// The name of a file.
    Path,
}

impl KnobKind {
    /// A type with its range, as in `data/knobs.txt`: `integer 1..`, `number 0..1`, `list`.
    fn parse(text: &str) -> Option<Self> {
        fn bounds<T: FromStr + Copy>(range: &str, all: (T, T)) -> Option<(T, T)> {
            let (low, high) = range.split_once("..").unwrap_or_default();
            let bound = |text: &str, open| if text.is_empty() { Some(open) } else { text.parse().ok() };
            Some((bound(low, all.0)?, bound(high, all.1)?))
        }
        let (name, range) = text.split_once(' ').unwrap_or((text, ""));
        Some(match name {
            "boolean" => KnobKind::Boolean,
            "letter" => KnobKind::Letter,
            "integer" => bounds(range, (i64::MIN, i64::MAX)).map(|(low, high)| KnobKind::Integer(low, high))?,
            "number" => bounds(range, (f64::MIN, f64::MAX)).map(|(low, high)| KnobKind::Real(low, high))?,
            "leading" => KnobKind::Number,
            "expression" => KnobKind::Expression,
            "pattern" => KnobKind::Pattern,
            "list" => KnobKind::List,
            "text" => KnobKind::Text,
            "path" => KnobKind::Path,
            _ => return None,
        })
    }

    /// The kind and range in words.
    pub fn describe(self) -> String {
        match self {
            KnobKind::Boolean | KnobKind::Letter => "boolean".to_owned(),
            KnobKind::Integer(min, max) => match (min == i64::MIN, max == i64::MAX) {
                (true, _) => "integer".to_owned(),
                (false, true) => format!("integer, at least {min}"),
                (false, false) => format!("integer from {min} to {max}"),
            },
            KnobKind::Real(min, max) => match (min == f64::MIN, max == f64::MAX) {
                (true, _) => "number".to_owned(),
                (false, true) => format!("number, at least {min}"),
                (false, false) if max < 1e16 => format!("number from {min} to {max}"),
                (false, false) => format!("number from {min} to {max:e}"),
            },
            KnobKind::Number => "number".to_owned(),
            KnobKind::Expression => "expression".to_owned(),
            KnobKind::Pattern => "regular expression".to_owned(),
            KnobKind::List => "list".to_owned(),
            KnobKind::Text => "text".to_owned(),
            KnobKind::Path => "path".to_owned(),
        }
    }
}

/// A knob: a record of the file `data/knobs.txt`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Knob {
    /// Its name; a part in angle brackets matches any text.
    pub name: &'static str,
    /// The type and range of its value.
    pub kind: KnobKind,
    /// The default in the code of the reference, for knobs without one in the table.
    pub code: Option<&'static str>,
    /// Its purpose, in one line.
    pub meaning: String,
    /// The name to use now, for an obsolete one.
    pub now: Option<&'static str>,
}

impl Knob {
    fn of(record: Record) -> Option<Self> {
        let kind = KnobKind::parse(record.get("type")?)?;
        let (code, now) = (record.get("code"), record.get("now"));
        Some(Knob { name: record.name, kind, code, meaning: record.about, now })
    }

    /// The default as text: the table's, otherwise the code's; `None` if it is unset.
    pub fn default_text(&self) -> Option<&'static str> {
        table::default_text(self.name.as_bytes()).filter(|text| !text.is_empty()).or(self.code)
    }

    /// Returns true if the name is that of a family.
    pub fn is_family(&self) -> bool {
        self.name.contains('<')
    }
}

/// The family of concurrency limits. Any macro may have such a name: only a job that asks for the resource makes it
/// one.
pub const LIMIT: &str = "<name>_LIMIT";

/// All knobs, by concern.
static KNOBS: LazyLock<Vec<Knob>> =
    LazyLock::new(|| records(include_str!("data/knobs.txt")).filter_map(Knob::of).collect());

static BY_NAME: LazyLock<HashMap<&'static [u8], &'static Knob>> =
    LazyLock::new(|| KNOBS.iter().filter(|knob| !knob.is_family()).map(|knob| (knob.name.as_bytes(), knob)).collect());

/// The families of knobs, with the letters before and after the part that differs; those with more letters first.
static FAMILIES: LazyLock<Vec<(&'static str, &'static str, &'static Knob)>> = LazyLock::new(|| {
    let mut families: Vec<_> = KNOBS
        .iter()
        .filter_map(|knob| {
            let (before, rest) = knob.name.split_once('<')?;
            Some((before, rest.split_once('>')?.1, knob))
        })
        .collect();
    families.sort_by_key(|(before, after, _)| std::cmp::Reverse(before.len() + after.len()));
    families
});

/// All knobs, by concern.
///
/// ```
/// use classmate_config::internal::config::knob;
/// let half_life = knob::all().find(|knob| knob.name == "PRIORITY_HALFLIFE").unwrap();
/// assert_eq!(half_life.default_text(), Some("86400"));
/// assert_eq!(half_life.kind.describe(), "number, at least 0.00001");
/// ```
pub fn all() -> impl Iterator<Item = &'static Knob> {
    KNOBS.iter()
}

/// The knob of a name, in any case and without a prefix.
pub fn find(name: &[u8]) -> Option<&'static Knob> {
    let upper = name.to_ascii_uppercase();
    if let Some(knob) = BY_NAME.get(upper.as_slice()) {
        return Some(knob);
    }
    if table::entry(&upper).is_some() || has_no_default(&upper) {
        // A knob of another daemon, whose name only looks like one of a family.
        return None;
    }
    FAMILIES.iter().find(|(before, after, _)| fits(before, after, &upper)).map(|(.., knob)| *knob)
}

/// The part of a name that matches the angle brackets of its family: `group_a` of `GROUP_QUOTA_group_a`.
pub fn member<'n>(knob: &Knob, name: &'n [u8]) -> Option<&'n [u8]> {
    let (before, after, _) = FAMILIES.iter().find(|(.., known)| known.name == knob.name)?;
    fits(before, after, &name.to_ascii_uppercase()).then(|| &name[before.len()..name.len() - after.len()])
}

/// Tests whether a name (upper case) has the letters of a family, and more between them.
fn fits(before: &str, after: &str, upper: &[u8]) -> bool {
    upper.len() > before.len() + after.len()
        && upper.starts_with(before.as_bytes())
        && upper.ends_with(after.as_bytes())
}

/// Returns true if a knob, without the prefix of a daemon, is a transform or a route of jobs: its macros are
/// expanded when it is applied to a job.
pub fn is_transform(name: &[u8]) -> bool {
    const KINDS: [&[u8]; 3] = [b"JOB_TRANSFORM_", b"JOB_ROUTER_ROUTE_", b"JOB_ROUTER_TRANSFORM_"];
    let upper = name.to_ascii_uppercase();
    KINDS.iter().any(|kind| upper.strip_prefix(*kind).is_some_and(|member| !member.is_empty() && member != b"NAMES"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_knob_is_found_by_its_name() {
        assert_eq!(all().count(), records(include_str!("data/knobs.txt")).count());
        for knob in all().filter(|knob| !knob.is_family()) {
            let found = find(knob.name.to_ascii_lowercase().as_bytes()).unwrap();
            assert_eq!(found.name, knob.name);
            assert!(!knob.meaning.is_empty());
            if let Some(now) = knob.now {
                assert!(find(now.as_bytes()).unwrap().now.is_none(), "{now}");
            }
        }
    }

    #[test]
    fn families_are_found_by_their_fixed_part() {
        let family = |name: &str| find(name.as_bytes()).map(|knob| knob.name);
        assert_eq!(family("group_quota_phys.hep"), Some("GROUP_QUOTA_<group>"));
        assert_eq!(family("GROUP_QUOTA_DYNAMIC_a"), Some("GROUP_QUOTA_DYNAMIC_<group>"));
        assert_eq!(family("GROUP_QUOTA_ROUND_ROBIN_RATE"), Some("GROUP_QUOTA_ROUND_ROBIN_RATE"));
        assert_eq!(family("LARGE.X_LIMIT"), Some("<name>_LIMIT"));
        assert_eq!(family("CONCURRENCY_LIMIT_DEFAULT_large"), Some("CONCURRENCY_LIMIT_DEFAULT_<scope>"));
        assert_eq!(family("_LIMIT"), None);
        assert_eq!(family("NOTHING"), None);
        let knob = find(b"GROUP_QUOTA_Group.A").unwrap();
        assert_eq!(member(knob, b"GROUP_QUOTA_Group.A"), Some(&b"Group.A"[..]));
    }

    #[test]
    fn defaults_fit_their_knobs() {
        for knob in all() {
            let text = knob.default_text().unwrap_or_default();
            match knob.kind {
                KnobKind::Boolean | KnobKind::Letter if !text.is_empty() && !text.contains('$') => {
                    assert!(["true", "false"].contains(&text.to_lowercase().as_str()), "{}", knob.name);
                }
                KnobKind::Integer(min, max) if text.parse::<i64>().is_ok() => {
                    assert!((min..=max).contains(&text.parse().unwrap()), "{}", knob.name);
                }
                KnobKind::Real(min, max) if !text.is_empty() => {
                    assert!((min..=max).contains(&text.parse().unwrap()), "{}", knob.name);
                }
                _ => {}
            }
        }
    }
}
