//! Names of variables that HTCondor does not know, and the ones that were probably meant.
//!
//! In: a definition. Out: diagnostics of the rule `unknown-knob`.

use std::collections::BTreeSet;

use super::super::knob::{self, Knob};
use super::super::name_list::{has_no_default, names};
use super::super::{Definition, shown, table};
use super::names::{self, DAEMONS, FAMILY, is_of_every_daemon};
use super::{Checker, families, is_named, paths, types};
use classmate::internal::builtin::near;
use classmate::internal::diagnostic::Severity;

/// The name in `NAME =` inside of a value, after a blank.
pub(super) fn swallowed_name(text: &[u8]) -> Option<&[u8]> {
    memchr::memchr_iter(b'=', text).find_map(|at| {
        let next = text.get(at + 1).copied().unwrap_or(b' ');
        let before = text[..at].trim_ascii_end();
        let is_sign = at == 0 || b"=!<>".contains(&text[at - 1]) || matches!(next, b'=' | b'!' | b'?' | b'~');
        let length = before.iter().rev().take_while(|byte| super::super::reference::is_name_byte(**byte)).count();
        let (front, name) = before.split_at(before.len() - length);
        let is_name = name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
        let apart = front.last().is_some_and(u8::is_ascii_whitespace) && before.len() < at;
        (!is_sign && is_name && apart).then_some(name)
    })
}

/// The name of a variable in `D:\spoolEXECUTE =`: the line before ended with `\`, so that the two lines are one.
fn joined_name(text: &[u8]) -> Option<&[u8]> {
    let at = text.windows(3).position(|three| three == b" = ")?;
    let before = text[..at].trim_ascii_end();
    let is_upper = |byte: &&u8| byte.is_ascii_uppercase() || **byte == b'_';
    let length = before.iter().rev().take_while(is_upper).count();
    let (front, name) = before.split_at(before.len() - length);
    let is_path = front.contains(&b'\\') && !front.contains(&b' ');
    (is_path && length >= 3 && super::is_variable(name)).then_some(name)
}

impl Checker<'_> {
    /// Reports a comment after a value, which is a part of it, and a setting in the same line, or after a line
    /// that ends with `\`.
    pub(super) fn swallowed(&mut self, definition: &Definition<'_>) {
        let bare = self.config.bare(definition.name);
        let upper = String::from_utf8_lossy(bare).to_ascii_uppercase();
        let is_list = ["_ATTRS", "_NAMES", "_JOBLIST", "_LIST", "_EXPRS"].iter().any(|end| upper.ends_with(end));
        let is_list = is_list || ["ALLOW_", "DENY_", "FLOCK_"].iter().any(|start| upper.starts_with(start));
        let of_program = ["ARGS", "ENV", "ENVIRONMENT", "COMMAND", "FORMAT"].iter().any(|end| upper.ends_with(end));
        let plain =
            definition.place.is_some() && definition.template.is_none() && (is_list || !definition.raw.contains(&b'"'));
        if !plain || of_program || knob::is_transform(bare) {
            return;
        }
        let text = definition.raw;
        // A path or a word, and a comment.
        let hash = text.windows(2).position(|two| two[0].is_ascii_whitespace() && two[1] == b'#').map(|at| at + 1);
        let words = |text: &[u8]| text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
        let of_machine = upper.starts_with("MACHINE_RESOURCE_");
        if let Some(at) = hash.filter(|at| of_machine || paths::is_path(&upper) && words(&text[..*at]) == 1) {
            let message = format!("`{}` is a part of the value: comments have lines of their own", shown(&text[at..]));
            let found = definition.value_problem(Severity::Warning, message).code("bad-value");
            self.found.push(
                found.help(format!("write `{}`, and the comment on its own line", shown(text[..at].trim_ascii()))),
            );
            return;
        }
        if !is_list && !is_named(bare) {
            return;
        }
        let name = swallowed_name(text).filter(|name| is_list || is_named(name));
        let Some(name) = name.or_else(|| joined_name(text)) else { return };
        let message = format!("`{} =` is a part of the value of `{}`", shown(name), shown(bare));
        let found = definition.value_problem(Severity::Warning, message).code("odd-line");
        self.found.push(found.help("write it on its own line"));
    }

    /// Reports a name that is not a knob but looks like one.
    pub(super) fn unknown(&mut self, name: &[u8], definition: &Definition<'_>) {
        let upper = name.to_ascii_uppercase();
        let is_known = self.config.built_in(name).is_some() || table::entry(&upper).is_some() || has_no_default(&upper);
        if is_known || names::is_of_log(&upper) || self.is_referenced(name) {
            return;
        }
        if self.obsolete(name, definition) {
            return;
        }
        let mut starts = (1..=upper.len()).filter(|end| upper.get(*end).is_none_or(|next| *next == b'_'));
        // The knobs of HTCondor's own daemons are known.
        let is_own = |daemon: &[u8]| names(DAEMONS).any(|known| known.as_bytes() == daemon);
        let of_daemon = starts.any(|end| self.daemons.contains(&upper[..end]) && !is_own(&upper[..end]));
        if of_daemon || self.match_exprs.contains(&upper) {
            return;
        }
        if self.other_words(name, definition) || self.of_cron(&upper, name, definition) {
            return;
        }
        if is_of_every_daemon(&upper, &self.daemons) {
            // `COLLECTOR_HOST_FOR_NEGOTIATR` begins like one of them.
            let meant = names::of_table(name).filter(|meant| meant.len() >= 20 && meant.contains('_'));
            let is_own = meant
                .as_ref()
                .is_none_or(|meant| is_of_every_daemon(meant.as_bytes(), &self.daemons) && meant.len() < 24);
            if let Some(meant) = meant.filter(|_| !is_own && !self.mentioned().contains(&upper)) {
                self.misspelled_name(name, "", Some(meant), definition);
            }
            return;
        }
        if let Some(meant) = self.of_declared_group(name) {
            let message = format!("`{}` is not a negotiator configuration variable", shown(name));
            self.found.push(definition.name_warning(message).code("unknown-knob").did_you_mean(Some(meant)));
            return;
        }
        let family = FAMILY.iter().any(|prefix| upper.starts_with(prefix.as_bytes()));
        let nearest = self.nearest(name, family, definition);
        if nearest.is_none() && !family {
            if !self.unknown_hook(name, definition) {
                self.unknown_of_family(name, definition);
            }
            return;
        }
        let whose = if family { " of the negotiator" } else { "" };
        self.misspelled_name(name, whose, nearest, definition);
    }

    /// Reports `CMS_HOOK_PRE_JOB` where `CMS` is the keyword of hooks, and there is no such hook; returns true if it is one.
    fn unknown_hook(&mut self, name: &[u8], definition: &Definition<'_>) -> bool {
        const KEYWORD: &[u8] = b"_HOOK_KEYWORD";
        let upper = shown(name).to_ascii_uppercase();
        let Some((keyword, what)) = upper.split_once("_HOOK_").filter(|(_, what)| names::is_like_hook(what)) else {
            return false;
        };
        let config = self.config;
        let is_keyword = |one: &Definition<'_>| {
            one.name.to_ascii_uppercase().ends_with(KEYWORD)
                && config
                    .expansion(one.name, one.raw)
                    .is_ok_and(|text| text.trim_ascii().eq_ignore_ascii_case(keyword.as_bytes()))
        };
        if !config.definitions().any(|one| is_keyword(&one)) {
            return false;
        }
        let message = format!("there is no hook `{what}`, so `{}` is not read", shown(name));
        let found = definition.name_warning(message).code("unknown-knob");
        self.found.push(match names::hook_begun(what) {
            Some(meant) => found.did_you_mean(Some(format!("{keyword}_HOOK_{meant}"))),
            None => {
                let hooks: Vec<String> = names::HOOKS.iter().map(|hook| format!("`{hook}`")).collect();
                found.help(format!("the hooks are {}", hooks.join(", ")))
            }
        });
        true
    }

    /// Reports a name that begins like the variables of a feature, or of a daemon, and that nothing uses. Names of macros and
    /// attributes of a site's own mostly have small letters.
    pub(super) fn unknown_of_family(&mut self, name: &[u8], definition: &Definition<'_>) {
        let upper = shown(name);
        let is_plain = name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
        if !is_plain || self.mentioned().contains(name) {
            return;
        }
        if let Some(meant) = families::of_request(&upper) {
            let message = format!("`{upper}` is not a knob");
            self.found.push(definition.name_warning(message).code("unknown-knob").did_you_mean(Some(meant)));
        } else if let Some(meant) = families::of_daemon(&upper, &|rest| is_named(rest.as_bytes())) {
            let message = format!("`{upper}` is not a knob: the name of a daemon ends with a dot");
            let help = format!("write `{meant}`");
            self.found.push(definition.name_warning(message).code("unknown-knob").help(help));
        } else if let Some((family, meant)) = families::of_family(&upper) {
            let message = format!("`{upper}` is not a knob: HTCondor knows all that begin with `{family}`");
            self.found.push(definition.name_warning(message).code("unknown-knob").did_you_mean(meant));
        }
    }

    /// Reports a name with the variable that was probably meant.
    pub(super) fn misspelled_name(
        &mut self,
        name: &[u8],
        whose: &str,
        meant: Option<String>,
        definition: &Definition<'_>,
    ) {
        let message = format!("`{}` is not a knob{whose}", shown(name));
        let warning = definition.name_warning(message).code("unknown-knob").did_you_mean(meant.as_deref());
        let span = warning.span;
        self.found.push(match meant.filter(|meant| span.end > 0 && !meant.contains('`')) {
            Some(meant) => warning.fix(span, meant),
            None => warning,
        });
    }

    /// Reports a name of known words that is not the name of a variable; returns true if it is one.
    pub(super) fn other_words(&mut self, name: &[u8], definition: &Definition<'_>) -> bool {
        const REQUEST: &str = "MODIFY_REQUEST_EXPR_";
        let is_meant = self.mentioned().contains(&name.to_ascii_uppercase());
        if let Some(meant) = names::of_manual(name).filter(|_| !is_meant) {
            let message = format!("no daemon reads `{}`, although the manual documents it", shown(name));
            self.found.push(definition.name_warning(message).code("unknown-knob").did_you_mean(Some(meant)));
            return true;
        }
        if let Some(meant) = names::of_words(name).filter(|_| !is_meant) {
            self.misspelled_name(name, "", Some(meant), definition);
            return true;
        }
        let upper = shown(name).to_ascii_uppercase();
        if let Some(resource) = upper.strip_prefix(REQUEST).filter(|rest| !rest.starts_with("REQUEST"))
            && !resource.is_empty()
        {
            self.misspelled_name(name, "", Some(format!("{REQUEST}REQUEST{resource}")), definition);
            return true;
        }
        let level = names::unknown_level(name).filter(|_| !is_meant && names::of_pattern(name).is_none());
        let Some(level) = level else { return false };
        // A site may use other names for macros of its own.
        let Some(meant) = names::near_level(&level) else { return false };
        let message = format!("`{}` is not read: `{level}` is not an access level", shown(name));
        let found = definition.name_warning(message).code("unknown-knob");
        self.found.push(found.did_you_mean(Some(meant)));
        true
    }

    /// Reports the consumption of a resource whose name is misspelled, `CONSUMPTION_CPU`; returns true if it is one.
    pub(super) fn other_resource(&mut self, knob: &Knob, name: &[u8], definition: &Definition<'_>) -> bool {
        let resource = (knob.name == "CONSUMPTION_<asset>").then(|| knob::member(knob, name)).flatten();
        let Some(resource) = resource else { return false };
        let config = self.config;
        let own = self.resources.get_or_insert_with(|| types::own_resources(config));
        let meant = types::misspelled_resource(&shown(resource), own).map(str::to_ascii_uppercase);
        let Some(meant) = meant else { return false };
        self.misspelled_name(name, "", Some(format!("CONSUMPTION_{meant}")), definition);
        true
    }

    /// Reports a variable of a cron job with an end that there is not; returns true if it is one.
    pub(super) fn of_cron(&mut self, upper: &[u8], name: &[u8], definition: &Definition<'_>) -> bool {
        let config = self.config;
        let jobs = self.cron_jobs.get_or_insert_with(|| {
            let of = |prefix: &str| {
                let list = config.list(&format!("{prefix}JOBLIST")).unwrap_or_default();
                list.iter().map(|job| format!("{prefix}{}", shown(job).to_ascii_uppercase())).collect::<Vec<String>>()
            };
            names::CRON_PREFIXES.into_iter().flat_map(of).collect()
        });
        let has = |prefix: &str, job: &str| jobs.contains(&format!("{prefix}{job}"));
        let near = |job: &str| near::closest_within(1, job.as_bytes(), jobs.iter().map(String::as_str));
        let is_job = |job: &str| config.definition(format!("{job}_EXECUTABLE").as_bytes()).is_some();
        let upper = String::from_utf8_lossy(upper);
        let meant = names::of_cron_job(&upper, &has).or_else(|| names::of_other_job(&upper, &has, &near, &is_job));
        let Some(meant) = meant else { return false };
        self.misspelled_name(name, "", Some(meant), definition);
        true
    }

    /// The knob that a name may have meant.
    pub(super) fn nearest(&mut self, name: &[u8], family: bool, definition: &Definition<'_>) -> Option<String> {
        let allowed = if family { near::allowance(name) } else { near::allowance(name).min(2) };
        let known = knob::all().filter(|knob| !knob.is_family() && knob.now.is_none());
        let known = known.filter(|knob| family || knob.name.len() >= 8).map(|knob| knob.name);
        if let Some(known) = near::closest_within(allowed, name, known) {
            return Some(known.to_owned());
        }
        // Those of other daemons, of types of slots, and limits: a name is not a mistake if another value mentions it.
        let meant = names::of_slot_type(name)
            .or_else(|| names::of_pattern(name))
            .or_else(|| names::of_limit(name, definition.raw))
            .or_else(|| names::of_turned_limit(name, definition.raw).filter(|_| self.has_limits()))
            .or_else(|| names::of_hook(name))
            .or_else(|| names::of_slot(name))
            .or_else(|| names::of_member(name))
            .or_else(|| names::of_table(name))
            .or_else(|| names::of_slip(name))
            .filter(|_| !family)?;
        (!self.mentioned().contains(&name.to_ascii_uppercase())).then_some(meant)
    }

    /// The words of all values, upper case.
    pub(super) fn mentioned(&mut self) -> &BTreeSet<Vec<u8>> {
        let config = self.config;
        self.mentioned.get_or_insert_with(|| {
            let words = |raw: &[u8]| {
                let words = raw.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
                words.filter(|word| (4..=100).contains(&word.len())).map(<[u8]>::to_ascii_uppercase).collect::<Vec<_>>()
            };
            config.definitions().flat_map(|definition| words(definition.raw)).collect()
        })
    }
}
