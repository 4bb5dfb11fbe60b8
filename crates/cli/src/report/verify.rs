//! The comparison of a recorded cycle with its replay, as text.

use std::io::{self, Write};

use crate::cli::CycleOfLog;
use crate::report::counted;
use classmate_advice::Verification;
use classmate_advice::internal::verify::cause::DifferenceCause;
use classmate_advice::internal::verify::comparison::DecisionKind;

/// Writes the counts, and each difference below its cause.
pub(crate) fn write(out: &mut impl Write, cycle: &CycleOfLog, result: &Verification, most: usize) -> io::Result<()> {
    for one in &result.compared {
        let counts = one.counts;
        let all = counted(counts.recorded, noun(one.kind)).replacen(
            &counts.recorded.to_string(),
            &grouped(counts.recorded),
            1,
        );
        let mut line = format!("{} of {all} identical", grouped(counts.identical));
        if counts.replayed != counts.recorded {
            line.push_str(&format!(" ({} in the replay)", grouped(counts.replayed)));
        }
        writeln!(out, "{line}")?;
    }
    let missing: Vec<&str> = [
        (DecisionKind::Match, "matches"),
        (DecisionKind::Limit, "submitter limits"),
        (DecisionKind::Pie, "pies"),
        (DecisionKind::Statistic, "statistics"),
    ]
    .into_iter()
    .filter(|(kind, _)| result.counts(*kind).is_none())
    .map(|(_, noun)| noun)
    .collect();
    let started = cycle.started.map(|started| format!(" of {}", time(started))).unwrap_or_default();
    let not = if missing.is_empty() { String::new() } else { format!("; not in the log: {}", missing.join(", ")) };
    writeln!(out, "cycle {} of {}{started}{not}", cycle.number, cycle.of)?;
    for (cause, count) in result.causes() {
        writeln!(out, "\n{}: {}", counted(count, "difference"), sentence(&cause))?;
        let of_cause = result.differences.iter().filter(|one| one.cause == cause);
        for one in of_cause.clone().take(most) {
            let difference = &one.difference;
            let line = difference.line.map(|line| format!("line {line}, ")).unwrap_or_default();
            writeln!(out, "  {line}{}", noun(difference.kind))?;
            writeln!(out, "    log     {}", difference.recorded.as_deref().unwrap_or("-"))?;
            writeln!(out, "    replay  {}", difference.replayed.as_deref().unwrap_or("-"))?;
        }
        let hidden = of_cause.count().saturating_sub(most);
        if hidden > 0 {
            writeln!(out, "  {} not shown (use --differences all)", counted(hidden, "more difference"))?;
        }
    }
    Ok(())
}

/// A time as ISO.
pub(crate) fn time(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |time| time.to_string())
}

fn noun(kind: DecisionKind) -> &'static str {
    match kind {
        DecisionKind::Match => "match",
        DecisionKind::Rejection => "rejection",
        DecisionKind::Limit => "submitter limit",
        DecisionKind::Pie => "pie",
        DecisionKind::Statistic => "statistic",
    }
}

/// The cause as a sentence without its full stop.
pub(crate) fn sentence(cause: &DifferenceCause) -> String {
    match cause {
        DifferenceCause::EqualSlots => {
            "slots are equal on every rank: condor_negotiator sorts a list of more than 16 in any order (Q14)"
                .to_owned()
        }
        DifferenceCause::EqualSubmitters => {
            "submitters are equal: the collector lists them in an order that their ads do not show".to_owned()
        }
        DifferenceCause::RenewedAds => {
            "submitters are equal, and access points renewed their ads after the pool was read".to_owned()
        }
        DifferenceCause::FirstCycle => {
            "the negotiator had just started and did not know the groups of the users of slots (Q37)".to_owned()
        }
        DifferenceCause::UnchargedUsage => {
            "priorities of submitters differ by less than the usage that accounting ads leave open".to_owned()
        }
        DifferenceCause::Priorities => "the negotiator had other user priorities than the snapshot".to_owned(),
        DifferenceCause::AutoclusterNumbers => {
            "with NEGOTIATE_ALL_JOBS_IN_CLUSTER, rejections depend on numbers of autoclusters, which ads do not show"
                .to_owned()
        }
        DifferenceCause::NotInSnapshot(what) => format!("{what} is not in the snapshot, so the pool had changed"),
        DifferenceCause::Changed(what) => format!("{what} after the pool was read"),
        DifferenceCause::NotRead(what) => format!("{what} could not be read"),
        DifferenceCause::AccessPoint(what) => format!("the negotiator gave up {what}"),
        DifferenceCause::NoClaim => "the claim failed or is pending: the negotiator made as many matches".to_owned(),
        DifferenceCause::LeftQueue => "the job had left the queue when the pool was read again".to_owned(),
        DifferenceCause::OwnClaim => {
            "the access point needed no match: it had a claim, or the rest of a partitionable slot".to_owned()
        }
        DifferenceCause::Unexplained => "no cause found".to_owned(),
    }
}

/// A number with its thousands separated.
fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
