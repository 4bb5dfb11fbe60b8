//! Concurrency limits: the number of units of a named resource, such as licenses, that jobs may hold at once.
//!
//! In: the configured maxima, the units that slots in use hold, the units that a job requests. Out: the limit that is
//! reached, if one is. Formula source: `docs/reference/negotiation.md` 13.

use hashbrown::HashMap;

use classmate::internal::builtin::near::closest;
use classmate_config::internal::config::check::{of_no_limit, referenced};
use classmate_config::internal::config::knob::{self, LIMIT};
use classmate_config::internal::config::setting::leading_number;
use classmate_config::internal::config::{Config, ConfigError};

/// The variable for names that do not have a maximum of their own; also the prefix of the variables for names with a
/// dot.
const DEFAULT: &str = "CONCURRENCY_LIMIT_DEFAULT";
/// The default of that variable: in practice, no limit.
const UNLIMITED: f64 = 2_308_032.0;
/// The suffix of the configuration variable of a limit.
const SUFFIX: &str = "_LIMIT";

/// A resource that a job requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand<'a> {
    /// Name of the resource, in lower case, perhaps with one dot.
    pub name: &'a [u8],
    /// Units, positive.
    pub amount: f64,
}

/// The resources that a string requests: `name` or `name:amount`, separated by commas or whitespace. An amount that is
/// missing or not positive counts as 1. Invalid entries are left out.
///
/// ```
/// use classmate_pool::internal::negotiate::concurrency::demands;
/// let found: Vec<_> = demands(b"xsw:2, lic.idl, a.b.c").map(|demand| demand.amount).collect();
/// assert_eq!(found, [2.0, 1.0]);
/// ```
pub fn demands(text: &[u8]) -> impl Iterator<Item = Demand<'_>> {
    let entries = text.split(|&b| b == b',' || b.is_ascii_whitespace()).filter(|entry| !entry.is_empty());
    entries.filter_map(|entry| {
        let (name, amount) = match memchr::memchr(b':', entry) {
            Some(at) => (&entry[..at], leading_number(&entry[at + 1..])),
            None => (entry, 1.0),
        };
        let valid = match memchr::memchr(b'.', name) {
            Some(dot) => is_attribute_name(&name[..dot]) && is_attribute_name(&name[dot + 1..]),
            None => is_attribute_name(name),
        };
        valid.then_some(Demand { name, amount: if amount > 0.0 { amount } else { 1.0 } })
    })
}

fn is_attribute_name(name: &[u8]) -> bool {
    let letter = |b: &u8| b.is_ascii_alphabetic() || *b == b'_';
    name.first().is_some_and(letter) && name.iter().all(|b| letter(b) || b.is_ascii_digit())
}

/// The limits of a pool, and the units held at this moment.
#[derive(Debug, Clone)]
pub struct ConcurrencyLimits {
    /// By the name of the resource, in lower case.
    maxima: HashMap<Vec<u8>, f64>,
    /// For names with a dot, by the part before it.
    defaults: HashMap<Vec<u8>, f64>,
    default: f64,
    /// The limits whose value is not a number, with the error of each, in the order of the names.
    odd: Vec<(Vec<u8>, ConfigError)>,
    held: HashMap<Vec<u8>, f64>,
}

impl ConcurrencyLimits {
    /// Reads the limits of a configuration; no units are held.
    ///
    /// A variable whose name ends in `_LIMIT` and whose value is not a number does not set a limit, because it may be a
    /// macro; but it is an error if a job requires the limit ([`ConcurrencyLimits::unreadable`]). A variable with an
    /// empty value counts as not set.
    ///
    /// # Errors
    /// A default that is not a number.
    pub fn read(config: &Config) -> Result<Self, ConfigError> {
        let number = |name: &str| config.real(name, UNLIMITED, f64::MIN, f64::MAX);
        let (mut maxima, mut defaults) = (HashMap::new(), HashMap::new());
        let mut odd = Vec::new();
        for name in config.names() {
            let name = String::from_utf8_lossy(config.bare(name)).into_owned();
            if config.get(&name)?.is_none_or(|found| found.text.trim_ascii().is_empty()) {
                continue;
            }
            let upper = name.to_ascii_uppercase();
            if let Some(class) = upper.strip_prefix(DEFAULT).and_then(|rest| rest.strip_prefix('_')) {
                defaults.insert(class.to_ascii_lowercase().into_bytes(), number(&name)?);
            } else if let Some(resource) = upper.strip_suffix(SUFFIX) {
                let resource = resource.to_ascii_lowercase().into_bytes();
                match number(&name) {
                    Ok(maximum) => {
                        maxima.insert(resource, maximum);
                    }
                    Err(error) if knob::find(name.as_bytes()).is_some_and(|knob| knob.name == LIMIT) => {
                        let help = of_no_limit(&resource);
                        odd.push((resource, error.help(help)));
                    }
                    Err(_) => {}
                }
            }
        }
        let default = number(DEFAULT)?;
        if !odd.is_empty() {
            let used = referenced(config);
            let macros = |resource: &[u8]| used.contains(&[resource, SUFFIX.as_bytes()].concat().to_ascii_uppercase());
            odd.retain(|(resource, _)| !macros(resource));
            odd.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
        Ok(Self { maxima, defaults, default, odd, held: HashMap::new() })
    }

    /// The limits whose value is not a number, each with its place in the configuration.
    pub fn odd(&self) -> impl Iterator<Item = &ConfigError> {
        self.odd.iter().map(|(_, error)| error)
    }

    /// The error of the first resource, in a string in lower case, whose limit is not a number. `condor_negotiator`
    /// reads a limit when a job requests it, and exits if the value is not a number.
    pub fn unreadable(&self, text: &[u8]) -> Option<&ConfigError> {
        if self.odd.is_empty() {
            return None;
        }
        demands(text)
            .find_map(|Demand { name, .. }| self.odd.iter().find(|(odd, _)| odd == name))
            .map(|(_, error)| error)
    }

    /// The number of units of a resource that may be held. The name is in lower case.
    pub fn maximum(&self, name: &[u8]) -> f64 {
        let own = self.maxima.get(name);
        let class = || self.defaults.get(&name[..memchr::memrchr(b'.', name)?]);
        own.or_else(class).copied().unwrap_or(self.default)
    }

    /// The resource with a maximum of its own whose name is nearest to that of one without, in lower case.
    pub fn similar(&self, name: &[u8]) -> Option<&[u8]> {
        let class = memchr::memrchr(b'.', name).and_then(|dot| self.defaults.get(&name[..dot]));
        let is_set = self.maxima.contains_key(name) || class.is_some();
        closest(name, self.maxima.keys()).map(Vec::as_slice).filter(|_| !is_set)
    }

    /// The configuration variable that sets the maximum of a resource, or could. The name is in lower case.
    pub fn setting(&self, name: &[u8]) -> String {
        let class = memchr::memrchr(b'.', name).filter(|_| !self.maxima.contains_key(name)).map(|dot| &name[..dot]);
        match class {
            Some(class) => format!("{DEFAULT}_{}", String::from_utf8_lossy(class).to_uppercase()),
            None => format!("{}{SUFFIX}", String::from_utf8_lossy(name).to_uppercase()),
        }
    }

    /// The number of units of a resource that are held. The name is in lower case.
    pub fn held(&self, name: &[u8]) -> f64 {
        self.held.get(name).copied().unwrap_or(0.0)
    }

    /// Holds the units that a string in lower case requests.
    pub fn hold(&mut self, text: &[u8]) {
        for Demand { name, amount } in demands(text) {
            *self.held.entry_ref(name).or_insert(0.0) += amount;
        }
    }

    /// The first resource, in a string in lower case, that does not have enough units left. Units requested earlier in
    /// the same string are not set aside.
    pub fn reached<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let mut asked = demands(text);
        let reached = |demand: &Demand<'_>| self.held(demand.name) + demand.amount > self.maximum(demand.name);
        asked.find(reached).map(|demand| demand.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(config: &str) -> ConcurrencyLimits {
        ConcurrencyLimits::read(&Config::parse("c", config.as_bytes()).unwrap()).unwrap()
    }

    fn asked(text: &str) -> Vec<(String, f64)> {
        let one = |d: Demand<'_>| (String::from_utf8(d.name.to_vec()).unwrap(), d.amount);
        demands(text.as_bytes()).map(one).collect()
    }

    #[test]
    fn prefixed_limits_count_and_empty_ones_do_not() {
        assert_eq!(limits("NEGOTIATOR.XSW_LIMIT = 2").maximum(b"xsw"), 2.0);
        assert_eq!(limits("SCHEDD.XSW_LIMIT = 2").maximum(b"xsw"), 2_308_032.0);
        assert_eq!(limits("XSW_LIMIT = 5\nNEGOTIATOR.XSW_LIMIT = 2").maximum(b"xsw"), 2.0);
        assert_eq!(limits("XSW_LIMIT =\nCONCURRENCY_LIMIT_DEFAULT = 1").maximum(b"xsw"), 1.0);
        let class = limits("CONCURRENCY_LIMIT_DEFAULT_A =\nCONCURRENCY_LIMIT_DEFAULT = 1");
        assert_eq!(class.maximum(b"a.b"), 1.0);
    }

    #[test]
    fn demands_are_names_with_amounts_between_commas_and_blanks() {
        assert_eq!(asked("a, b:2 c.d:0.5"), [("a".into(), 1.0), ("b".into(), 2.0), ("c.d".into(), 0.5)]);
        assert_eq!(
            asked("a:0 b:-3 c:x d:2x"),
            [("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 2.0)].map(|(n, a)| (n.into(), a))
        );
        assert_eq!(asked("a.b.c, 1a, a-b, .a, a., :3"), []);
    }

    /// The dotted example of `docs/reference/negotiation.md` 13.
    #[test]
    fn maxima_are_named_then_of_the_class_then_of_all() {
        let limits = limits(
            "CONCURRENCY_LIMIT_DEFAULT = 5\nCONCURRENCY_LIMIT_DEFAULT_LARGE = 100\nCONCURRENCY_LIMIT_DEFAULT_SMALL = 25\nxsw_limit = 2.5",
        );
        assert_eq!(limits.maximum(b"large.swlicense"), 100.0);
        assert_eq!(limits.maximum(b"small.x"), 25.0);
        assert_eq!(limits.maximum(b"other.license"), 5.0);
        assert_eq!(limits.maximum(b"xsw"), 2.5);
        assert_eq!(self::limits("").maximum(b"xsw"), 2_308_032.0);
    }

    #[test]
    fn a_limit_is_reached_when_what_is_held_and_asked_exceeds_it() {
        let mut limits = limits("A_LIMIT = 3\nB_LIMIT = 1");
        limits.hold(b"a:2");
        assert_eq!(limits.reached(b"a"), None);
        assert_eq!(limits.reached(b"a:1.5"), Some(b"a".as_slice()));
        // Each entry is tested by itself: nothing is set aside for the first.
        assert_eq!(limits.reached(b"a a"), None);
        limits.hold(b"b");
        assert_eq!(limits.reached(b"a b"), Some(b"b".as_slice()));
    }

    #[test]
    fn what_is_no_number_stops_who_asks_for_it() {
        let limits = limits("\nXSW_LIMIT = bad\nB_LIMIT = 1 + 1\nA_LIMIT = words\nC = $(A_LIMIT)");
        assert_eq!(limits.maximum(b"b"), 2.0);
        let error = limits.unreadable(b"b, xsw:2").unwrap();
        assert_eq!((error.message.as_str(), error.line()), ("`XSW_LIMIT` is `bad`: expected a number", 2));
        assert_eq!(limits.odd().count(), 1);
        // A macro that others use is none.
        assert_eq!(limits.unreadable(b"a"), None);
    }

    #[test]
    fn other_knobs_that_end_in_limit_set_none_and_a_bad_default_is_refused() {
        assert_eq!(limits("FILE_LIMIT = some words").maximum(b"file"), 2_308_032.0);
        let config = Config::parse("c", b"CONCURRENCY_LIMIT_DEFAULT = many").unwrap();
        let error = ConcurrencyLimits::read(&config).unwrap_err();
        assert_eq!(error.message, "`CONCURRENCY_LIMIT_DEFAULT` is `many`: expected a number");
    }
}
