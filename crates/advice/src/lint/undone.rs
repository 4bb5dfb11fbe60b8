//! Policies of a configuration that undo each other, and addresses that no daemon answers at.
//!
//! In: a configuration. Out: warnings of the rule `conflicting-knobs`, each with the variable that it is about.

use classmate::Diagnostic;
use classmate_config::Config;
use classmate_config::internal::config::setting::list_items;

use super::opposites::{both_true, condition, holds_again};
use super::submit_policy::{constant, plain};
use super::{lists, second_place, unknowns};

const HOLD: &str = "SYSTEM_PERIODIC_HOLD";
const RELEASE: &str = "SYSTEM_PERIODIC_RELEASE";

/// Policies of one kind that are compared with each other.
const MOST: usize = 16;

/// The findings about variables that undo each other.
pub(super) fn check(config: &Config) -> lists::Found {
    let undone = Undone { config };
    [undone.held_again(), undone.both_true(), undone.socket()].into_iter().flatten().collect()
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

    /// Tests whether busy jobs are never suspended, so that `PREEMPT` counts for them: `SUSPEND` counts for the other ones.
    fn never_suspends(&self) -> bool {
        ["WANT_SUSPEND", "WANT_SUSPEND_VANILLA", "WANT_SUSPEND_VM"].into_iter().all(|name| {
            let value = self.config.get(name).map(|value| value.map(|value| value.text));
            let is_false = |text: Vec<u8>| constant(&String::from_utf8_lossy(&text)) == Some(false);
            value.is_ok_and(|value| value.is_none_or(is_false))
        })
    }

    /// The condition of suspension, which is false by default, without the cases in which it is never true.
    fn wants_suspension(&self) -> Option<String> {
        self.text("WANT_SUSPEND").filter(|text| !text.trim().is_empty() && constant(text) != Some(false))
    }

    /// Policies of slots about one attribute that are true at the same time (`eval_policy` in HTCondor's `ResState.cpp`).
    fn both_true(&self) -> Option<(Diagnostic, String)> {
        let of = |name: &str| condition(&self.text(name)?, self.config.semantics());
        let found = |one: &'static str, two: &'static str, effect: &str| {
            let value = both_true(&of(one)?, &of(two)?, self.config.semantics())?;
            let message = format!("`{one}` and `{two}` are both true, as with `{value}`: {effect}");
            Some((value, [two, one], message))
        };
        let of_suspension = || {
            let wants = self.wants_suspension()?.to_ascii_lowercase();
            let found = found("SUSPEND", "CONTINUE", "jobs are suspended and go on, again and again")?;
            // A condition about the same attribute may exclude the value.
            let name = found.0.split(' ').next().unwrap_or_default().to_ascii_lowercase();
            (!wants.contains(&name)).then_some(found)
        };
        let of_start = || found("START", "PREEMPT", "jobs that start are preempted at once");
        let (_, names, message) = of_suspension().or_else(|| of_start().filter(|_| self.never_suspends()))?;
        self.conflict(names, message, "write conditions that exclude each other")
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
