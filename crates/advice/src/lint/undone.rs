//! Policies of a configuration that undo each other, routes that get no jobs, and addresses that no daemon answers at.
//!
//! In: a configuration. Out: warnings of the rule `conflicting-knobs`, each with the variable that it is about.

use classmate::Diagnostic;
use classmate_config::Config;
use classmate_config::internal::config::setting::list_items;

use super::opposites::{both_true, condition, holds_again, is_narrower};
use super::{lists, second_place, transforms, unknowns};

const HOLD: &str = "SYSTEM_PERIODIC_HOLD";
const RELEASE: &str = "SYSTEM_PERIODIC_RELEASE";

/// Policies and routes of one kind that are compared with each other.
const MOST: usize = 16;

/// The findings about variables that undo each other.
pub(super) fn check(config: &Config) -> lists::Found {
    let undone = Undone { config };
    [undone.held_again(), undone.both_true(), undone.routes(), undone.socket()].into_iter().flatten().collect()
}

struct Undone<'c> {
    config: &'c Config,
}

impl Undone<'_> {
    /// The value of a variable that a file sets, of which nothing is open.
    fn text(&self, name: &str) -> Option<String> {
        let definition = self.config.definition(name.as_bytes())?;
        let text = self.config.get(name).ok().flatten()?.text;
        let is_known = definition.place.is_some() && definition.template.is_none() && unknowns::marked(&text).is_none();
        String::from_utf8(text).ok().filter(|_| is_known)
    }

    fn conflict(&self, [name, other]: [&str; 2], message: String, help: &str) -> Option<(Diagnostic, String)> {
        let place = |name: &str| self.config.definition(name.as_bytes())?.place.cloned();
        let (first, second) = ((name, place(name)?), (other, place(other)?));
        let [(name, at), (other, there)] = second_place::later(self.config, first, second);
        let warning = Diagnostic::warning_at(message, Some(at)).help(help).code("conflicting-knobs");
        let label = format!("`{other}` is set here");
        let warning = second_place::beside(self.config, warning, (&there, other.len()), &label);
        Some((warning, name.to_owned()))
    }

    /// The policies of a kind: the variable itself, and those that its list names.
    fn policies(&self, kind: &str) -> Vec<String> {
        let list = self.text(&format!("{kind}_NAMES")).unwrap_or_default();
        let names = list_items(list.as_bytes());
        let listed = names.iter().map(|name| format!("{kind}_{}", String::from_utf8_lossy(name)));
        std::iter::once(kind.to_owned()).chain(listed).take(MOST).collect()
    }

    /// A hold of all jobs that a release lets go (`AnalyzePolicy` in HTCondor's `user_job_policy.cpp`).
    fn held_again(&self) -> Option<(Diagnostic, String)> {
        let plain = |text: &str| text.split_whitespace().collect::<String>().to_ascii_lowercase();
        let (holds, releases) = (self.policies(HOLD), self.policies(RELEASE));
        let mut pairs = holds.iter().flat_map(|hold| releases.iter().map(move |release| (hold, release)));
        pairs.find_map(|(hold, release)| {
            let (condition, goes) = (self.text(hold)?, self.text(release)?);
            // Of the same text, another rule speaks.
            let is_same = plain(&condition) == plain(&goes);
            if is_same || !holds_again(&condition, &goes, self.config.semantics()) {
                return None;
            }
            let message = format!("`{hold}` is true for each job that `{release}` releases: it is held again");
            self.conflict(
                [release, hold],
                message,
                "release what the other does not hold again, or hold jobs of another `JobStatus`",
            )
        })
    }

    /// Policies of slots about one attribute that are true at the same time (`eval_policy` in HTCondor's `ResState.cpp`).
    fn both_true(&self) -> Option<(Diagnostic, String)> {
        const PAIRS: [(&str, &str, &str); 2] = [
            ("SUSPEND", "CONTINUE", "jobs are suspended and go on, again and again"),
            ("START", "PREEMPT", "jobs that start are preempted at once"),
        ];
        PAIRS.into_iter().find_map(|(one, two, effect)| {
            let of = |name: &str| condition(&self.text(name)?, self.config.semantics());
            let value = both_true(&of(one)?, &of(two)?, self.config.semantics())?;
            let message = format!("`{one}` and `{two}` are both true, as with `{value}`: {effect}");
            self.conflict([two, one], message, "write conditions that exclude each other")
        })
    }

    /// A route all of whose jobs an earlier one takes, unless it is full (`ChooseRoute` in HTCondor's `JobRouter.cpp`).
    fn routes(&self) -> Option<(Diagnostic, String)> {
        const LIST: &str = "JOB_ROUTER_ROUTE_NAMES";
        const LIMITS: [&str; 4] = ["maxjobs", "maxidlejobs", "targetuniverse", "failureratethreshold"];
        let in_turn = self.config.boolean("JOB_ROUTER_ROUND_ROBIN_SELECTION", false).unwrap_or(true);
        let list = self.text(LIST).filter(|_| !in_turn)?;
        let route = |item: &Vec<u8>| {
            let name = format!("JOB_ROUTER_ROUTE_{}", String::from_utf8_lossy(item));
            let definition = self.config.definition(name.as_bytes()).filter(|one| one.place.is_some())?;
            let text = condition(transforms::condition(definition.raw)?, self.config.semantics())?;
            let lower = String::from_utf8_lossy(definition.raw).to_ascii_lowercase();
            // What is full leaves its jobs to the next one.
            let has_limit = LIMITS.iter().any(|limit| lower.contains(limit));
            Some((name, text, has_limit))
        };
        let routes: Vec<_> = list_items(list.as_bytes()).iter().filter_map(route).take(MOST).collect();
        let pairs = routes.iter().enumerate().flat_map(|(at, later)| routes[..at].iter().map(move |one| (one, later)));
        let mut pairs = pairs.filter(|((.., has_limit), _)| !has_limit);
        let ((first, ..), (later, ..)) =
            pairs.find(|((_, broad, _), (_, narrow, _))| is_narrower(narrow, broad, self.config.semantics()))?;
        let message = format!("`{first}`, which is earlier in the list, takes each job that `{later}` takes");
        let help = "write the route with the narrower `REQUIREMENTS` first";
        let found = self.config.definition(LIST.as_bytes())?.name_warning(message).help(help);
        Some((found.code("conflicting-knobs"), LIST.to_owned()))
    }

    /// The name of a socket in the address of a collector that runs without the daemon that knows such names
    /// (`shared_port_server.cpp`).
    fn socket(&self) -> Option<(Diagnostic, String)> {
        const SWITCH: &str = "USE_SHARED_PORT";
        const HOST: &str = "COLLECTOR_HOST";
        let is_off = !self.config.boolean(SWITCH, true).unwrap_or(true);
        let host = self.text(HOST).filter(|host| is_off && host.contains("sock="))?;
        let daemons = self.config.get("DAEMON_LIST").ok().flatten()?.text;
        let is_here = list_items(&daemons).iter().any(|daemon| daemon.eq_ignore_ascii_case(b"COLLECTOR"));
        let message =
            format!("`{HOST}` is `{host}`, and `{SWITCH}` is false: no daemon here knows the name of a socket");
        let help = "write the host and the port alone, or turn on `USE_SHARED_PORT`";
        is_here.then(|| self.conflict([HOST, SWITCH], message, help)).flatten()
    }
}
