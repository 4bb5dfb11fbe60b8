//! Statements in branches of `if` that are not taken: on another machine they may count.
//!
//! In: a configuration and the findings about it. Out: also those that such a statement has alone. Nothing is said of what the
//! configuration becomes with it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Linter;
use crate::lint::schema::AdSchema;
use classmate::Diagnostic;
use classmate_config::Config;
use classmate_config::internal::config::check::check_untaken;

/// Branches of one `if` that are looked at.
const MAX_BRANCHES: usize = 8;

/// Adds the findings about such statements.
pub(super) fn check(config: &Config, schema: Option<&AdSchema>, alarms: &mut Vec<Diagnostic>) {
    let line = |alarm: &Diagnostic| (Arc::<str>::from(alarm.file()), alarm.line(), alarm.code);
    for number in 0..config.untaken_branches().min(MAX_BRANCHES) {
        let other = config.with_untaken(number);
        let mut linter = Linter::new(&other, schema);
        for found in check_untaken(&other, number) {
            // Expressions are looked at below, with more to say.
            if found.code != "syntax" {
                linter.report(found, None);
            }
        }
        for (definition, of_version) in other.untaken(number) {
            let start = linter.alarms.len();
            linter.expression(&definition);
            if of_version {
                // What another version reads is not compared with others, nor read as this one does.
                let later = linter.alarms.split_off(start);
                let of_this = ["version-dependent", "syntax"];
                linter.alarms.extend(later.into_iter().filter(|alarm| !of_this.contains(&alarm.code)));
            }
        }
        // Where the branch is taken, other files may define more.
        linter.undefined.clear();
        let all = || other.untaken(number).map(|(definition, _)| definition);
        linter.misspelled_macros(all());
        linter.no_macros(all());
        linter.uncounted();
        let known: BTreeSet<_> = alarms.iter().map(line).collect();
        alarms.extend(linter.alarms.into_iter().filter(|alarm| !known.contains(&line(alarm))));
    }
}
