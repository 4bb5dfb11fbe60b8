//! Questions to collectors and access points: which ads, and which of their attributes (`docs/reference/wire-cedar.md` 10.1, 11.7).

use std::fmt;

use classmate::Expr;
use classmate::internal::syntax::print::Style;

use crate::command::{
    Command, QUERY_ACCOUNTING_ADS, QUERY_ANY_ADS, QUERY_COLLECTOR_ADS, QUERY_MASTER_ADS, QUERY_NEGOTIATOR_ADS,
    QUERY_SCHEDD_ADS, QUERY_STARTD_ADS, QUERY_SUBMITTOR_ADS,
};

/// A type of ads that a collector has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum AdType {
    /// Slots.
    Slot,
    /// Access points.
    AccessPoint,
    /// Submitters, one for each access point that they use.
    Submitter,
    /// Negotiators.
    Negotiator,
    /// Priorities and usage of submitters and groups.
    Accounting,
    /// Masters, one for each host.
    Master,
    /// Collectors.
    Collector,
    /// All ads of the collector.
    Any,
}

impl AdType {
    /// All types.
    pub const ALL: [AdType; 8] = [
        AdType::Slot,
        AdType::AccessPoint,
        AdType::Submitter,
        AdType::Negotiator,
        AdType::Accounting,
        AdType::Master,
        AdType::Collector,
        AdType::Any,
    ];

    /// The name on the wire.
    fn target(self) -> &'static str {
        match self {
            AdType::Slot => "Machine",
            AdType::AccessPoint => "Scheduler",
            AdType::Submitter => "Submitter",
            AdType::Negotiator => "Negotiator",
            AdType::Accounting => "Accounting",
            AdType::Master => "DaemonMaster",
            AdType::Collector => "Collector",
            AdType::Any => "Any",
        }
    }

    pub(crate) fn command(self) -> Command {
        match self {
            AdType::Slot => QUERY_STARTD_ADS,
            AdType::AccessPoint => QUERY_SCHEDD_ADS,
            AdType::Submitter => QUERY_SUBMITTOR_ADS,
            AdType::Negotiator => QUERY_NEGOTIATOR_ADS,
            AdType::Accounting => QUERY_ACCOUNTING_ADS,
            AdType::Master => QUERY_MASTER_ADS,
            AdType::Collector => QUERY_COLLECTOR_ADS,
            AdType::Any => QUERY_ANY_ADS,
        }
    }
}

impl fmt::Display for AdType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.target())
    }
}

/// A condition, a projection and a limit for the ads of a query. Each is applied by the daemon.
///
/// ```
/// use classmate_wire::Query;
/// let condition = classmate::parse_expr("Memory > 65536")?;
/// let large = Query::all().matching(&condition).attributes(["Name", "Memory"]).limit(10);
/// # let _ = large;
/// # Ok::<(), classmate::SyntaxError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Query {
    constraint: Option<String>,
    attributes: Vec<String>,
    limit: Option<u64>,
}

impl Query {
    /// All ads with all attributes.
    pub fn all() -> Self {
        Query::default()
    }

    /// Only ads for which an expression is true.
    #[must_use]
    pub fn matching(mut self, condition: &Expr) -> Self {
        self.constraint = Some(String::from_utf8_lossy(&condition.to_text(Style::Old)).into_owned());
        self
    }

    /// Only these attributes, and those that they refer to.
    #[must_use]
    pub fn attributes<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.attributes.extend(names.into_iter().map(Into::into));
        self
    }

    /// At most this many ads.
    #[must_use]
    pub fn limit(mut self, most: u64) -> Self {
        self.limit = Some(most);
        self
    }

    fn requirements(&self) -> String {
        self.constraint.clone().unwrap_or_else(|| "true".to_owned())
    }

    fn projection(&self) -> String {
        format!("\"{}\"", self.attributes.join(" ").replace(['"', '\\'], ""))
    }

    /// The ad that asks a collector or negotiator.
    pub(crate) fn for_collector(&self, kind: AdType) -> Vec<(&'static str, String)> {
        let mut ad = vec![
            ("MyType", "\"Query\"".to_owned()),
            ("TargetType", format!("\"{}\"", kind.target())),
            ("Requirements", self.requirements()),
        ];
        if !self.attributes.is_empty() {
            ad.push(("Projection", self.projection()));
        }
        ad.extend(self.limit.map(|most| ("LimitResults", most.to_string())));
        ad
    }

    /// The ad that asks an access point for jobs.
    pub(crate) fn for_jobs(&self) -> Vec<(&'static str, String)> {
        let mut ad = vec![
            ("Requirements", self.requirements()),
            ("Projection", self.projection()),
            ("SendServerTime", "true".to_owned()),
        ];
        ad.extend(self.limit.map(|most| ("LimitResults", most.to_string())));
        ad
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_ads() {
        let ad = Query::all().attributes(["Name"]).for_collector(AdType::Negotiator);
        let text: Vec<String> = ad.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        assert_eq!(
            text,
            ["MyType = \"Query\"", "TargetType = \"Negotiator\"", "Requirements = true", "Projection = \"Name\""]
        );
        let ad = Query::all().matching(&classmate::parse_expr("Owner == \"a\"").unwrap()).limit(3).for_jobs();
        assert_eq!(ad.last().unwrap().1, "3");
        assert_eq!(ad[0].1, "Owner == \"a\"");
    }
}
