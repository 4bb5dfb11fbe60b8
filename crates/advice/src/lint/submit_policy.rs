//! Policies and limits of a submit file that cannot be meant together: conditions that undo each other, minima above maxima.
//!
//! In: the values of a file. Out: warnings of the rule `odd-command`.

use super::opposites::{condition, holds_again};
use super::refusals::{Reading, warning};
use crate::submit::bytes_of_unit;
use crate::submit::queue::number;
use classmate::{ClassAd, Semantics};

/// Commands of which the first is at most the second, and what is so otherwise.
const ORDERED: [(&str, &str, &str); 6] = [
    ("request_memory", "retry_request_memory_max", "there is no next try"),
    ("gpus_minimum_capability", "gpus_maximum_capability", "no GPU matches"),
    ("request_memory", "retry_request_memory", "the next try has less memory"),
    ("min_hosts", "max_hosts", "no job matches"),
    ("allowed_execute_duration", "allowed_job_duration", "it has no effect"),
    ("max_idle", "max_materialize", "it has no effect"),
];

/// The policies of a job: the command, and the attribute that it sets.
fn policy(reading: &Reading, command: &str) -> Option<(String, usize)> {
    let attribute = format!("my.{}", command.replace('_', ""));
    reading.value(&[command, &attribute]).cloned()
}

/// A condition without what does not count, for a comparison of texts.
pub(super) fn plain(text: &str) -> String {
    let mut inner = text.split_whitespace().collect::<String>().to_ascii_lowercase();
    while let Some(rest) = inner.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        if rest.contains(['(', ')']) {
            break;
        }
        inner = rest.to_owned();
    }
    inner
}

/// The value of a condition that is a constant.
pub(super) fn constant(text: &str) -> Option<bool> {
    match plain(text).as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

impl Reading {
    /// Reports policies and limits that cannot be meant together.
    pub(super) fn policies(&mut self, statements: &[String]) {
        let found = [
            self.undone().or_else(|| self.held_again()),
            self.never_retried(),
            self.endless(),
            self.at_once(),
            self.other_order(),
            self.both(),
            self.never_left(),
            self.other_subcode(),
        ];
        for (at, message, help) in found.into_iter().flatten() {
            self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
        }
    }

    /// The same condition holds a job and releases it.
    fn undone(&self) -> Option<(usize, String, String)> {
        let (hold, _) = policy(self, "periodic_hold")?;
        let (release, at) = policy(self, "periodic_release")?;
        let same = plain(&hold) == plain(&release) && constant(&hold).is_none();
        let message = "`periodic_release` is the condition of `periodic_hold`, so the job is held again and again";
        let help = "write another condition, such as `HoldReasonCode == 3 && NumHolds < 3`";
        same.then(|| (at, message.to_owned(), help.to_owned()))
    }

    /// A release of jobs that are held again as soon as they are idle.
    fn held_again(&self) -> Option<(usize, String, String)> {
        let (hold, _) = policy(self, "periodic_hold")?;
        let (release, at) = policy(self, "periodic_release")?;
        let message = "`periodic_hold` is true for each job that this releases, so it is held again";
        let help = "release what the other does not hold again, or write `JobStatus == 2` into `periodic_hold`";
        holds_again(&hold, &release, Semantics::default()).then(|| (at, message.to_owned(), help.to_owned()))
    }

    /// A job that is held when it fails is not tried again (`AnalyzePolicy` in HTCondor's `user_job_policy.cpp`).
    fn never_retried(&self) -> Option<(usize, String, String)> {
        /// Codes of programs that fail.
        const CODES: [i64; 6] = [1, 2, 3, 126, 127, 255];
        /// Commands by which it may be tried again, or is done.
        const OTHERS: [&str; 6] = [
            "retry_until",
            "success_exit_code",
            "on_exit_remove",
            "my.onexitremove",
            "periodic_release",
            "my.periodicrelease",
        ];
        let (hold, at) = policy(self, "on_exit_hold").filter(|(text, _)| constant(text).is_none())?;
        let (retries, _) = self.value(&["max_retries"])?;
        let wanted = retries.trim().parse::<u32>().ok().filter(|retries| *retries > 0)?;
        let is_other = OTHERS.iter().any(|name| self.may_have(name));
        let hold = condition(&hold, Semantics::default())?;
        let fails = |code: i64| {
            let mut ad = ClassAd::new();
            ad.insert("ExitBySignal", false);
            ad.insert("ExitCode", code);
            ad.insert("JobStatus", 2);
            ad.insert("NumJobCompletions", 1);
            ad.insert("NumJobStarts", 1);
            ad.insert_expr("Hold", &hold);
            ad.eval_bool("Hold") == Some(true)
        };
        let message = format!("a job that fails is held at once, and not tried again: `max_retries` is {wanted}");
        let help = "write `on_exit_hold = ExitCode =!= 0 && NumJobCompletions > JobMaxRetries`, or remove one of them";
        (!is_other && CODES.into_iter().all(fails)).then(|| (at, message, help.to_owned()))
    }

    /// The same condition holds a job and removes it.
    fn both(&self) -> Option<(usize, String, String)> {
        let (hold, _) = policy(self, "periodic_hold")?;
        let (remove, at) = policy(self, "periodic_remove")?;
        let same = plain(&hold) == plain(&remove) && constant(&hold).is_none();
        let message = "`periodic_remove` is the condition of `periodic_hold`, so the job does not stay held";
        same.then(|| (at, message.to_owned(), "remove one of them, or write another condition".to_owned()))
    }

    /// The condition under which a job leaves the queue is the one under which it is held instead.
    fn never_left(&self) -> Option<(usize, String, String)> {
        let (hold, _) = policy(self, "on_exit_hold")?;
        let (remove, at) = policy(self, "on_exit_remove")?;
        let same = plain(&hold) == plain(&remove) && constant(&hold).is_none();
        let message = "`on_exit_remove` is the condition of `on_exit_hold`, which comes first: no job leaves the queue";
        same.then(|| (at, message.to_owned(), "write another condition for one of them".to_owned()))
    }

    /// A release of jobs with another subcode than the one with which the policy holds them.
    fn other_subcode(&self) -> Option<(usize, String, String)> {
        let (subcode, _) =
            policy(self, "periodic_hold_subcode").filter(|(text, _)| text.trim().parse::<i64>().is_ok())?;
        let (release, at) = policy(self, "periodic_release")?;
        let clauses: Vec<String> = plain(&release).split("&&").map(|clause| clause.replace(['(', ')'], "")).collect();
        let is_of_policy =
            clauses.iter().any(|clause| matches!(clause.as_str(), "holdreasoncode==3" | "holdreasoncode=?=3"));
        let asked = clauses.iter().find_map(|clause| {
            let rest = clause.strip_prefix("holdreasonsubcode=")?;
            rest.trim_start_matches(['=', '?']).parse::<i64>().ok()
        })?;
        let other = ["on_exit_hold_subcode", "on_exit_hold"].iter().any(|name| self.may_have(name));
        let message = format!("no job is held with the subcode {asked}: `periodic_hold_subcode` is {}", subcode.trim());
        let differs = subcode.trim().parse::<i64>().is_ok_and(|subcode| subcode != asked);
        let is_open = release.contains("||") || other || self.includes;
        (is_of_policy && differs && !is_open).then(|| (at, message, "write the same number in both".to_owned()))
    }

    /// A job that starts anew whenever it ends. A job that runs at times of its own is meant to.
    fn endless(&self) -> Option<(usize, String, String)> {
        let (value, at) = policy(self, "on_exit_remove")?;
        let is_cron = self.values.keys().any(|name| name.starts_with("cron_") || name.starts_with("deferral_"));
        let other = ["periodic_remove", "on_exit_hold", "max_retries"].iter().any(|name| policy(self, name).is_some());
        let message = "`on_exit_remove` is false: whenever the job ends, it starts again".to_owned();
        let help = "write a condition such as `ExitCode == 0`, or `max_retries`".to_owned();
        (constant(&value) == Some(false) && !is_cron && !other).then_some((at, message, help))
    }

    /// A job that is removed or held as soon as it is submitted.
    fn at_once(&self) -> Option<(usize, String, String)> {
        let of = |(name, what): (&str, &str)| {
            let (value, at) = policy(self, name)?;
            let message = format!("`{name}` is true, so every job is {what}");
            let help = if name == "periodic_hold" {
                "write a condition, or `hold = true` for jobs that you release yourself"
            } else {
                "write a condition, such as `JobStatus == 5 && time() - EnteredCurrentStatus > 3600`"
            };
            (constant(&value) == Some(true)).then(|| (at, message, help.to_owned()))
        };
        let all = [
            ("periodic_remove", "removed at once"),
            ("periodic_hold", "held at once"),
            ("on_exit_hold", "held when it ends"),
        ];
        all.into_iter().find_map(of)
    }

    /// A minimum above a maximum, and limits in an order in which one has no effect.
    fn other_order(&self) -> Option<(usize, String, String)> {
        let amount = |name: &str| {
            let (value, at) = self.value(&[name])?;
            // `2 * 24 * 3600`
            if let Some(number) = number(value) {
                return Some((number * f64::from(1 << 20), value.clone(), *at));
            }
            let (lower, digits) = (value.to_ascii_lowercase(), |sign: char| sign.is_ascii_alphabetic() || sign == ' ');
            let unit = match lower.trim_start_matches(|sign: char| !digits(sign)).trim() {
                "" => 1 << 20,
                word => bytes_of_unit(word)?,
            };
            Some((number(lower.trim_end_matches(digits))? * unit as f64, value.clone(), *at))
        };
        ORDERED.into_iter().find_map(|(least, most, effect)| {
            let ((low, low_text, at), (high, high_text, of_most)) = (amount(least)?, amount(most)?);
            let message = format!("`{least}` is `{low_text}`, above `{most}`, which is `{high_text}`: {effect}");
            // The request is what the job needs at first.
            let found = if most.starts_with("retry_") {
                (of_most, message, format!("write a value above `{low_text}`"))
            } else {
                (at, message, format!("write a value of at most `{high_text}`"))
            };
            (low > high).then_some(found)
        })
    }
}
