//! Prefixes of variables, `SCHEDD.` and the like, that no daemon reads.
//!
//! In: a definition. Out: diagnostics of the rule `unread-prefix`.

use super::super::name_list::names;
use super::super::{Definition, knob, shown};
use super::names::{self, DAEMONS, is_of_every_daemon};
use super::{Checker, families, is_named, is_variable};
use classmate::internal::builtin::near;
use classmate::internal::diagnostic::Severity;

impl Checker<'_> {
    /// The prefix of a name and the rest; no rest if it is of another daemon.
    pub(super) fn split<'n>(
        &mut self,
        name: &'n [u8],
        definition: &Definition<'_>,
    ) -> (Option<&'n [u8]>, Option<&'n [u8]>) {
        let Some(dot) = memchr::memchr(b'.', name) else {
            return (None, Some(name));
        };
        let (prefix, rest) = (&name[..dot], &name[dot + 1..]);
        let context = self.config.context();
        let counts = |known: &str| known.as_bytes().eq_ignore_ascii_case(prefix);
        if counts(&context.subsystem) || context.local_name.as_deref().is_some_and(counts) {
            return (Some(prefix), Some(rest));
        }
        if names(DAEMONS).any(counts) || self.daemons.contains(&prefix.to_ascii_uppercase()) {
            self.two_prefixes(rest, definition);
            self.after_prefix(rest, definition);
            return (Some(prefix), None);
        }
        if knob::find(name).is_some() {
            return (None, Some(name));
        }
        if let Some(meant) = families::of_slots(&shown(name)).filter(|_| !self.is_referenced(name)) {
            let message = format!("`{}` has no effect: a slot has no prefix with a dot", shown(name));
            let warning = definition.name_warning(message).code("unread-prefix").help(format!("write `{meant}`"));
            self.found.push(warning);
            return (Some(prefix), None);
        }
        let is_turned = names(DAEMONS).any(|known| known.as_bytes().eq_ignore_ascii_case(rest)) && is_variable(prefix);
        if is_turned && !self.is_referenced(name) {
            let message = format!("`{}` is never read: the daemon comes first", shown(name));
            let meant = format!("{}.{}", shown(rest), shown(prefix));
            let warning = definition.name_warning(message).code("unread-prefix").help(format!("write `{meant}`"));
            self.found.push(warning);
            return (Some(prefix), None);
        }
        if let Some(meant) = self.with_dot(name).filter(|_| !self.is_referenced(name)) {
            let message = format!("`{}` is never read: a group follows an underscore", shown(name));
            let warning = definition.name_warning(message).code("unread-prefix").help(format!("write `{meant}`"));
            self.found.push(warning);
            return (Some(prefix), None);
        }
        // An unknown prefix in front of a knob: probably a mistake.
        let is_knob = knob::find(rest).is_some_and(|knob| !knob.is_family());
        let is_slip = || {
            let is_near = |name: &[u8]| near::distance(prefix, name, 1).is_some();
            let mut own = self.daemons.iter();
            is_named(rest) && (names(DAEMONS).any(|name| is_near(name.as_bytes())) || own.any(|name| is_near(name)))
        };
        if (is_knob || is_slip()) && !self.is_referenced(name) {
            let message = format!("unknown daemon prefix `{}`: `{}` has no effect", shown(prefix), shown(name));
            let warning = definition.name_warning(message).code("unread-prefix");
            let warning = warning.help("to read it as a local name, use --local-name");
            self.found.push(warning.did_you_mean(near::closest(prefix, names(DAEMONS))));
        }
        (Some(prefix), None)
    }

    /// Reports a misspelled name after the prefix of a daemon or of a local name.
    pub(super) fn after_prefix(&mut self, rest: &[u8], definition: &Definition<'_>) {
        if rest.contains(&b'.') || is_variable(rest) || self.is_referenced(definition.name) {
            return;
        }
        let upper = rest.to_ascii_uppercase();
        if is_of_every_daemon(&upper, &self.daemons) || self.config.definition(rest).is_some() {
            return;
        }
        let Some(meant) = names::of_table(rest).filter(|_| !self.mentioned().contains(&upper)) else { return };
        let message = format!("`{}` is not a knob", shown(rest));
        self.found.push(definition.name_warning(message).code("unknown-knob").did_you_mean(Some(meant)));
    }

    /// Reports a name with the prefix of a daemon and a local name: HTCondor's `lookup_macro` looks for one of them, not for both.
    pub(super) fn two_prefixes(&mut self, rest: &[u8], definition: &Definition<'_>) {
        let Some((second, own)) = memchr::memchr(b'.', rest).map(|dot| (&rest[..dot], &rest[dot + 1..])) else {
            return;
        };
        let first = &definition.name[..definition.name.len() - rest.len() - 1];
        let is_daemon = |word: &[u8]| names(DAEMONS).any(|known| known.as_bytes().eq_ignore_ascii_case(word));
        // After the name of a daemon, another file may use the second one as a local name.
        let is_prefix = self.daemons.contains(&second.to_ascii_uppercase()) || is_daemon(second) || is_daemon(first);
        if !is_prefix || !is_variable(own) || self.is_referenced(definition.name) {
            return;
        }
        let (is_turned, is_of_daemon) = (is_daemon(second), is_daemon(first));
        let local = if is_turned { first } else { second };
        let message = format!("`{}` has no effect: a name has one prefix", shown(definition.name));
        let help = format!("write the local name or the daemon, as in `{}.{}`", shown(local), shown(own));
        let mut warning = definition.name_warning(message).code("unread-prefix").help(help);
        // HTCondor's manual has names of this form: `SCHEDD.SECOND.SPOOL`.
        if is_of_daemon && !is_turned {
            warning.severity = Severity::Note;
        }
        self.found.push(warning);
    }

    pub(super) fn is_referenced(&self, name: &[u8]) -> bool {
        self.referenced.contains(&name.to_ascii_uppercase())
    }
}
