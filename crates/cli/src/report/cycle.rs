//! A cycle as a page for browsers: groups, submitters, spins, slots, reasons, and the audit of attributes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::report::counted;
use crate::report::page::{Page, PageColumn, escaped};
use classmate_advice::internal::autoclusters::{Audit, Significance};
use classmate_advice::internal::explain::cycle::reasons::{CauseSurvey, CommonCause};
use classmate_advice::internal::whatif::kind::{SlotKind, kinds};
use classmate_pool::internal::negotiate::summary::SubmitterSummary;
use classmate_pool::internal::quota::derivation::slots;
use classmate_pool::{GroupSummary, Outcome, Snapshot};

/// Rows of a table, at most.
const MAX_ROWS: usize = 200;
const BAR: &str = "position:relative;height:1.1rem;border:1px solid var(--line);overflow:hidden";
const FACTS: &str = "margin:.7rem 0 .15rem;color:var(--faint);font-size:.875rem";

/// The page of a cycle of the pool with this name, with the reasons why jobs did not run, and the effects of the significant
/// attributes.
pub fn page(name: &str, snapshot: &Snapshot, outcome: &Outcome, idle: &CauseSurvey, effects: &Audit) -> String {
    let mut page = Page::new(&format!("Negotiation cycle: {name}"));
    let now = jiff::Timestamp::from_second(snapshot.now)
        .map_or_else(|_| format!("second {}", snapshot.now), |now| now.strftime("%Y-%m-%d %H:%M:%S UTC").to_string());
    let statistics = &outcome.statistics;
    let submitters_of = &outcome.submitters;
    page.paragraph(&format!(
        "As of {now}: {}, {}; {} that advertise {}, {} of them negotiated with; {} with weight {} ({} considered); {} in \
        {}.",
        counted(statistics.matches as u64, "match"),
        counted(statistics.rejections as u64, "rejection"),
        counted(submitters_of.len() as u64, "submitter"),
        counted(submitters_of.iter().map(|line| line.idle).sum::<i64>(), "idle job"),
        submitters_of.iter().filter(|line| line.priority.is_some()).count(),
        counted(statistics.total_slots as u64, "slot"),
        slots(statistics.pool_weight),
        statistics.trimmed_slots,
        counted(outcome.pies.len() as u64, "pie spin"),
        counted(outcome.pies.iter().map(|pie| pie.pie).collect::<BTreeSet<u32>>().len() as u64, "pie")
    ));
    if !outcome.groups.is_empty() {
        page.heading("Groups");
        page.figures(&[groups(&outcome.groups)]);
    }
    submitters(&mut page, outcome);
    spins(&mut page, outcome);
    page.heading("Slots");
    let columns: [PageColumn<SlotKind>; 5] = [
        ("kind", |kind| kind.name.clone()),
        ("slots", |kind| kind.slots.to_string()),
        ("in use before", |kind| kind.in_use.to_string()),
        ("free before", |kind| (kind.slots - kind.in_use.min(kind.slots)).to_string()),
        ("matched", |kind| kind.matched.to_string()),
    ];
    page.columns("by kind", &columns, kinds(snapshot, outcome).iter().take(MAX_ROWS));
    page.heading("Why jobs stayed idle");
    let CauseSurvey { idle, matched, ref causes } = *idle;
    page.paragraph(&format!("{} in the queue, {matched} of which got a slot.", counted(idle as u64, "idle job")));
    if !causes.is_empty() {
        page.figures(&[reasons(causes)]);
    }
    audit(&mut page, effects);
    if !outcome.quirks.is_empty() {
        page.heading("Notes");
        outcome.quirks.iter().for_each(|quirk| page.paragraph(quirk));
    }
    page.finish()
}

/// A strip from the left, as a fraction of the bar.
fn strip(text: &mut String, fraction: f64, style: &str) {
    let percent = (fraction * 100.0).clamp(0.0, 100.0);
    let _ = write!(text, "<div style=\"position:absolute;left:0;top:0;width:{percent:.2}%;{style}\"></div>");
}

/// A line across the bar.
fn line(text: &mut String, fraction: f64, style: &str) {
    let percent = (fraction * 100.0).clamp(0.0, 100.0);
    let _ = write!(
        text,
        "<div style=\"position:absolute;left:min({percent:.2}%, calc(100% - 3px));top:0;height:100%;{style}\"></div>"
    );
}

fn key(text: &mut String, style: &str, words: &str) {
    let _ = write!(
        text,
        "<li><span style=\"display:inline-block;width:1.2rem;height:.8rem;margin-right:.35rem;{style}\"></span>{}</li>",
        escaped(words)
    );
}

fn groups(groups: &[GroupSummary]) -> String {
    let depths: BTreeMap<&str, usize> = groups.iter().fold(BTreeMap::new(), |mut depths, group| {
        let above = group.parent.as_deref().and_then(|parent| depths.get(parent).copied());
        depths.insert(group.name.as_str(), above.map_or(0, |above| above + 1));
        depths
    });
    let widest = groups.iter().map(|group| group.quota.max(group.granted()).max(group.usage).max(group.demand));
    let widest = widest.fold(0.0, f64::max).max(1e-9);
    let mut text =
        String::from("<figure>\n<figcaption>Quota, allocation, usage and requests</figcaption>\n<ul class=\"legend\">");
    key(&mut text, "background:var(--c0)", "in use after the cycle");
    key(&mut text, "background:var(--c0);opacity:.35", "allocated");
    key(&mut text, "border-right:3px solid var(--ink)", "quota");
    key(&mut text, "border-right:3px dotted var(--c1)", "requested");
    text.push_str("</ul>\n");
    for group in in_order(groups).into_iter().take(MAX_ROWS) {
        let facts = format!(
            "quota {}, allocated {}, in use {}, requested {}",
            slots(group.quota),
            slots(group.granted()),
            slots(group.usage),
            slots(group.demand)
        );
        let indent = depths.get(group.name.as_str()).copied().unwrap_or(0).min(8);
        let name = escaped(&group.name);
        text.push_str("<div class=\"group\">");
        let _ = write!(
            text,
            "<p style=\"{FACTS};padding-left:{indent}rem\"><strong style=\"color:var(--ink)\">{name}</strong> {}</p>",
            escaped(&facts)
        );
        let _ = write!(text, "<div role=\"img\" aria-label=\"{name}: {}\" style=\"{BAR}\">", escaped(&facts));
        strip(&mut text, group.granted() / widest, "height:100%;background:var(--c0);opacity:.35");
        strip(&mut text, group.usage / widest, "height:100%;background:var(--c0)");
        line(&mut text, group.quota / widest, "border-right:3px solid var(--ink)");
        line(&mut text, group.demand / widest, "border-right:3px dotted var(--c1)");
        text.push_str("</div></div>\n");
    }
    text.push_str("</figure>\n");
    text
}

/// The groups, each followed by those below it.
fn in_order(groups: &[GroupSummary]) -> Vec<&GroupSummary> {
    let mut below: BTreeMap<Option<&str>, Vec<&GroupSummary>> = BTreeMap::new();
    for group in groups {
        below.entry(group.parent.as_deref()).or_default().push(group);
    }
    let mut found = Vec::with_capacity(groups.len());
    let mut waiting: Vec<&GroupSummary> = below.remove(&None).unwrap_or_default().into_iter().rev().collect();
    while let Some(group) = waiting.pop() {
        found.push(group);
        waiting.extend(below.remove(&Some(group.name.as_str())).unwrap_or_default().into_iter().rev());
    }
    found
}

fn submitters(page: &mut Page, outcome: &Outcome) {
    page.heading("Submitters");
    let columns: [PageColumn<SubmitterSummary>; 8] = [
        ("submitter", |line| line.submitter.clone()),
        ("priority", |line| line.priority.map_or("–".to_owned(), |priority| format!("{priority:.2}"))),
        ("share", |line| line.share.map_or("–".to_owned(), |share| format!("{:.1}%", share * 100.0))),
        ("limit", |line| line.limit.map_or("–".to_owned(), slots)),
        ("idle", |line| line.idle.to_string()),
        ("matched", |line| line.matched.to_string()),
        ("weight", |line| slots(line.weight)),
        ("stopped", |line| line.stopped.as_str().to_owned()),
    ];
    page.columns("in negotiation order", &columns, outcome.submitters.iter().take(MAX_ROWS));
    more(page, outcome.submitters.len(), "submitters");
    // The pie of a submitter is that of its group.
    let group = |name: &str| {
        let visit = outcome.negotiations.iter().find(|visit| visit.submitter == name);
        visit.and_then(|visit| visit.group.as_deref()).unwrap_or_default()
    };
    let mut pies: BTreeMap<&str, f64> = BTreeMap::new();
    for line in &outcome.submitters {
        *pies.entry(group(&line.submitter)).or_default() += line.weight;
    }
    let mut text = String::from(
        "<figure style=\"margin-top:1.2rem\">\n<figcaption>Share and matched weight</figcaption>\n<ul \
        class=\"legend\">",
    );
    key(&mut text, "background:var(--c2)", "fraction of the weight matched from the same pie");
    key(&mut text, "border-right:3px solid var(--ink)", "share in the first turn");
    text.push_str("</ul>\n");
    for line_of in outcome.submitters.iter().filter(|line| line.share.is_some()).take(40) {
        let pie = pies.get(group(&line_of.submitter)).copied().unwrap_or(0.0);
        let got = if pie > 0.0 { line_of.weight / pie } else { 0.0 };
        let share = line_of.share.unwrap_or(0.0);
        let facts = format!("share {:.1}%, matched {:.1}%", share * 100.0, got * 100.0);
        let name = escaped(&line_of.submitter);
        let _ = write!(text, "<p style=\"{FACTS}\"><strong style=\"color:var(--ink)\">{name}</strong> {facts}</p>");
        let _ = write!(text, "<div role=\"img\" aria-label=\"{name}: {facts}\" style=\"{BAR}\">");
        strip(&mut text, got, "height:100%;background:var(--c2)");
        line(&mut text, share, "border-right:3px solid var(--ink)");
        text.push_str("</div>\n");
    }
    text.push_str("</figure>\n");
    page.figures(&[text]);
}

fn more(page: &mut Page, count: usize, what: &str) {
    if count > MAX_ROWS {
        page.paragraph(&format!("… and {} more {what}", count - MAX_ROWS));
    }
}

fn spins(page: &mut Page, outcome: &Outcome) {
    page.heading("Pie spins");
    let rows = outcome.pies.iter().take(MAX_ROWS).map(|pie| {
        let at = (pie.pie, pie.spin);
        let visits = outcome.negotiations.iter().filter(|visit| (visit.pie, visit.spin) == at);
        let passed = visits.clone().filter(|visit| visit.passed.is_some()).count();
        let matches = outcome.matches.iter().filter(|made| (made.pie, made.spin) == at).count();
        vec![
            format!("{}.{}", pie.pie, pie.spin),
            pie.group.clone().unwrap_or_else(|| "–".to_owned()),
            slots(pie.pie_left),
            visits.count().to_string(),
            passed.to_string(),
            matches.to_string(),
        ]
    });
    let headings = ["pie and spin", "group", "pie left", "turns", "skipped", "matches"];
    page.table("in order", &headings, &rows.collect::<Vec<_>>());
    more(page, outcome.pies.len(), "spins");
}

fn reasons(reasons: &[CommonCause]) -> String {
    let most = reasons.iter().map(|one| one.jobs).max().unwrap_or(1).max(1) as f64;
    let mut text = String::from("<figure>\n<figcaption>Idle jobs by reason</figcaption>\n");
    for one in reasons.iter().take(20) {
        let jobs = counted(one.jobs as u64, "job");
        let _ = write!(
            text,
            "<p class=\"reason\" style=\"margin:.7rem 0 .15rem;color:var(--ink)\"><strong>{jobs}</strong>: {}. Job {}: {}</p>",
            escaped(&one.label),
            escaped(&one.example),
            escaped(&one.text)
        );
        let _ = write!(text, "<div role=\"img\" aria-label=\"{jobs}\" style=\"{BAR}\">");
        strip(&mut text, one.jobs as f64 / most, "height:100%;background:var(--c1)");
        text.push_str("</div>\n");
    }
    text.push_str("</figure>\n");
    text
}

fn audit(page: &mut Page, audit: &Audit) {
    page.heading("Significant attributes");
    let significant = audit.attributes.iter().filter(|one| one.significant).count();
    page.paragraph(&format!(
        "{significant} of {} {} significant; {} {} into {} and {}.",
        counted(audit.attributes.len() as u64, "attribute"),
        if significant == 1 { "is" } else { "are" },
        counted(audit.idle_jobs as u64, "idle job"),
        if audit.idle_jobs == 1 { "falls" } else { "fall" },
        counted(audit.autoclusters as u64, "autocluster"),
        counted(audit.requests as u64, "request")
    ));
    for warning in &audit.warnings {
        page.paragraph(&format!("Warning: {warning}"));
    }
    let columns: [PageColumn<Significance>; 6] = [
        ("attribute", |one| one.name.clone()),
        ("values", |one| one.values.to_string()),
        ("autoclusters without", |one| one.autoclusters_without.to_string()),
        ("requests without", |one| one.requests_without.to_string()),
        ("matters", |one| if one.matters { "yes" } else { "no" }.to_owned()),
        ("because of", |one| match one.reasons.first() {
            Some(reason) if reason.jobs > 0 => format!("{} of jobs", reason.source),
            Some(reason) if !reason.source.is_empty() => reason.source.clone(),
            _ => "the access point".to_owned(),
        }),
    ];
    page.columns("job attributes", &columns, audit.attributes.iter().take(MAX_ROWS));
}
