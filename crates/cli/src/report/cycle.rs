//! A negotiation cycle as a page: the pool after it, groups, submitters, and why jobs stayed idle.
//!
//! All numbers are those of a [`PoolPicture`] and of the outcome: `classmate report --format json` prints the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::page::{Page, PageColumn, coded, decimal, escaped};
use super::provenance::provenance;
use super::{counted, gigabytes};
use classmate_advice::internal::autoclusters::{Audit, Significance};
use classmate_advice::internal::explain::cycle::reasons::CommonCause;
use classmate_advice::internal::picture::{
    Amounts, GroupUsage, Machine, OwnerUsage, PoolPicture, SubmitterUsage, SubtreeUsage,
};
use classmate_advice::internal::whatif::kind::{SlotKind, kinds};
use classmate_pool::internal::simulate::result::Provenance;
use classmate_pool::{Outcome, Snapshot};

/// Rows of a table of slots, spins or attributes, at most.
const MAX_ROWS: usize = 200;
/// Submitters, and machines in the picture, at most.
const MAX_SUBMITTERS: usize = 2000;
const MAX_MACHINES: usize = 10_000;
/// Owners with a color of their own.
const COLORED: usize = 6;

/// The page of a cycle of the pool with this name; `asked` is how commands name it.
pub fn page(
    (name, asked): (&str, &str),
    snapshot: &Snapshot,
    outcome: &Outcome,
    picture: &PoolPicture,
    (effects, made): (&Audit, Option<&Provenance>),
) -> String {
    let mut page = Page::new(&format!("Negotiation cycle: {name}"));
    let now = jiff::Timestamp::from_second(picture.now)
        .map_or_else(|_| format!("second {}", picture.now), |now| now.strftime("%Y-%m-%d %H:%M:%S UTC").to_string());
    let statistics = &outcome.statistics;
    page.paragraph(&format!(
        "As of {now}: {}, {}; {} that advertise {}, {} of them negotiated with; {} with weight {} ({} considered); {} in \
         {}.",
        counted(statistics.matches as u64, "match"),
        counted(statistics.rejections as u64, "rejection"),
        counted(picture.submitters.len() as u64, "submitter"),
        counted(picture.submitters.iter().map(|line| line.summary.idle).sum::<i64>(), "idle job"),
        picture.submitters.iter().filter(|line| line.summary.priority.is_some()).count(),
        counted(statistics.total_slots as u64, "slot"),
        decimal(statistics.pool_weight),
        statistics.trimmed_slots,
        counted(outcome.pies.len() as u64, "pie spin"),
        counted(outcome.pies.iter().map(|pie| pie.pie).collect::<BTreeSet<u32>>().len() as u64, "pie")
    ));
    tiles(&mut page, picture);
    page.contents();
    machines(&mut page, picture, outcome.groups.is_empty());
    if !picture.groups.is_empty() {
        page.part("groups", "Groups");
        page.markup(&groups(&picture.groups, widest(&picture.groups)));
    }
    submitters(&mut page, picture);
    idle(&mut page, picture);
    explanations(&mut page, picture, asked);
    spins(&mut page, outcome);
    page.part("slots", "Slots");
    let columns: [PageColumn<SlotKind>; 5] = [
        ("kind", |kind| kind.name.clone()),
        ("slots", |kind| kind.slots.to_string()),
        ("in use before", |kind| kind.in_use.to_string()),
        ("free before", |kind| (kind.slots - kind.in_use.min(kind.slots)).to_string()),
        ("matched", |kind| kind.matched.to_string()),
    ];
    page.columns("by kind", &columns, kinds(snapshot, outcome).iter().take(MAX_ROWS));
    audit(&mut page, effects);
    if !outcome.quirks.is_empty() {
        page.part("notes", "Notes");
        outcome.quirks.iter().for_each(|quirk| page.paragraph(quirk));
    }
    provenance(&mut page, made);
    page.finish()
}

/// A fraction in percent; a dash of nothing.
pub(super) fn part_of(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.1}%", part / whole * 100.0) } else { "–".to_owned() }
}

/// A number with what it is, and more about it.
pub(super) fn tile(number: &str, label: &str, more: &str) -> String {
    let (number, label, more) = (escaped(number), escaped(label), escaped(more));
    format!("<div class=\"tile\"><strong>{number}</strong>{label}<br/>{more}</div>\n")
}

fn tiles(page: &mut Page, picture: &PoolPicture) {
    let mut text = String::from("<div class=\"tiles\">\n");
    let mut tile = |number: &str, label: &str, more: &str| text.push_str(&tile(number, label, more));
    let resources = &picture.resources;
    for (label, amounts, shown) in [
        ("cores in use", resources.cores, decimal as fn(f64) -> String),
        ("memory in use", resources.memory, gigabytes),
        ("GPUs in use", resources.gpus, decimal),
    ] {
        if amounts.total > 0.0 {
            let before = part_of(amounts.before, amounts.total);
            let more = format!("{} of {}; before the cycle {before}", shown(amounts.used), shown(amounts.total));
            tile(&part_of(amounts.used, amounts.total), label, &more);
        }
    }
    let idle = counted(picture.idle as u64, "idle job");
    tile(&picture.matched.to_string(), "jobs matched", &format!("of {idle} in the queue"));
    for reason in picture.reasons.iter().take(4) {
        tile(&reason.jobs.to_string(), "jobs idle", reason.reason.as_str());
    }
    text.push_str("</div>\n");
    page.markup(&text);
}

/// A resource of a machine in words.
fn facts(name: &str, amounts: Amounts, shown: fn(f64) -> String) -> String {
    let matched = amounts.used - amounts.before;
    let matched = if matched > 0.0 { format!(" ({} matched)", shown(matched)) } else { String::new() };
    let wasted = if amounts.wasted > 0.0 { format!(", {} wasted", shown(amounts.wasted)) } else { String::new() };
    format!("{name} {} of {}{matched}{wasted}", shown(amounts.used), shown(amounts.total))
}

/// The owners of machines, in the order of their colors.
pub(super) fn owners<'p>(pictures: &[&'p PoolPicture]) -> Vec<&'p str> {
    let mut owners: Vec<&str> = Vec::new();
    for one in pictures.iter().flat_map(|picture| &picture.owners) {
        if !owners.contains(&one.owner.as_str()) {
            owners.push(&one.owner);
        }
    }
    owners
}

/// The machines as squares; `by` is the kind of their owners.
pub(super) fn map(picture: &PoolPicture, owners: &[&str], by: &str) -> String {
    let color = |owner: &str| owners.iter().position(|own| *own == owner).unwrap_or(COLORED).min(COLORED);
    let many = if picture.machines.len() > 500 { "map many" } else { "map" };
    let gpus = picture.resources.gpus.total > 0.0;
    let bars = if gpus { "cores, memory and GPUs" } else { "cores and memory" };
    let mut text = format!(
        "<div data-filter=\"machines\">\n<p>One square per machine, by the {by} with most of its cores. Its bars are {bars}: in \
         use, matched in this cycle, and wasted (free, but no waiting job fits beside what is left of the others).</p>\n<ul \
         class=\"legend\">"
    );
    let key = |text: &mut String, style: &str, words: &str| {
        let _ = write!(text, "<li><span class=\"key\" style=\"{style}\"></span>{words}</li>");
    };
    key(&mut text, "background:var(--ink)", "in use");
    key(&mut text, "--k:var(--ink);background:var(--new)", "matched");
    key(&mut text, "background:var(--waste)", "wasted");
    text.push_str("</ul>\n<div class=\"maps\">\n");
    let mut last = None;
    for machine in picture.machines.iter().take(MAX_MACHINES) {
        if last != Some(&machine.owner) {
            text.push_str(if last.is_some() { "</div>\n" } else { "" });
            let own = picture.owners.iter().filter(|one| one.owner == machine.owner);
            let states = own.map(|one| format!("{} {}", one.machines, one.state.as_str()));
            let states = states.collect::<Vec<_>>().join(", ");
            let name = if machine.owner.is_empty() { "nothing in use" } else { &machine.owner };
            let color = color(&machine.owner);
            let _ = write!(
                text,
                "<p class=\"facts\"><span class=\"key\" style=\"background:var(--c{color})\"></span><em>{}</em> \
                 {states}</p>\n<div class=\"{many}\" style=\"--k:var(--c{color})\">",
                escaped(name)
            );
            last = Some(&machine.owner);
        }
        square(&mut text, machine, by, gpus);
    }
    text.push_str(if last.is_some() { "</div>\n" } else { "" });
    let hidden = picture.machines.len().saturating_sub(MAX_MACHINES);
    if hidden > 0 {
        let _ = writeln!(text, "<p>… and {hidden} more machines</p>");
    }
    text + "</div>\n</div>\n"
}

fn machines(page: &mut Page, picture: &PoolPicture, by_submitter: bool) {
    page.part("machines", "Machines");
    let by = if by_submitter { "submitter" } else { "group" };
    page.markup(&map(picture, &owners(&[picture]), by));
    let gpus = picture.resources.gpus.total > 0.0;
    let columns: [PageColumn<OwnerUsage>; 9] = [
        ("owner", |one| if one.owner.is_empty() { "–".to_owned() } else { one.owner.clone() }),
        ("state", |one| one.state.as_str().to_owned()),
        ("machines", |one| one.machines.to_string()),
        ("cores in use", |one| decimal(one.resources.cores.used)),
        ("of", |one| decimal(one.resources.cores.total)),
        ("wasted", |one| decimal(one.resources.cores.wasted)),
        ("memory in use", |one| gigabytes(one.resources.memory.used)),
        ("of", |one| gigabytes(one.resources.memory.total)),
        ("wasted", |one| gigabytes(one.resources.memory.wasted)),
    ];
    page.markup("<div class=\"tall\">\n");
    page.columns(&format!("by {by} and state"), &columns, &picture.owners);
    if gpus {
        let columns: [PageColumn<OwnerUsage>; 5] = [
            ("owner", |one| if one.owner.is_empty() { "–".to_owned() } else { one.owner.clone() }),
            ("state", |one| one.state.as_str().to_owned()),
            ("GPUs in use", |one| decimal(one.resources.gpus.used)),
            ("of", |one| decimal(one.resources.gpus.total)),
            ("wasted", |one| decimal(one.resources.gpus.wasted)),
        ];
        page.columns("GPUs", &columns, picture.owners.iter().filter(|one| one.resources.gpus.total > 0.0));
    }
    page.markup("</div>\n");
}

/// The square of a machine.
fn square(text: &mut String, machine: &Machine, by: &str, gpus: bool) {
    let resources = &machine.resources;
    let mut words = vec![facts("cores", resources.cores, decimal), facts("memory", resources.memory, gigabytes)];
    let mut style = String::new();
    let all =
        [(resources.cores, ["a", "b", "c"]), (resources.memory, ["d", "e", "f"]), (resources.gpus, ["g", "h", "i"])];
    for (amounts, names) in all.iter().take(if gpus { 3 } else { 2 }) {
        let levels = [amounts.before.min(amounts.used), amounts.used, amounts.used + amounts.wasted];
        for (name, level) in names.iter().zip(levels) {
            let percent = if amounts.total > 0.0 { (level / amounts.total * 100.0).min(100.0) } else { 0.0 };
            let _ = write!(style, "--{name}:{percent:.0}%;");
        }
    }
    if resources.gpus.total > 0.0 {
        words.push(facts("GPUs", resources.gpus, decimal));
    }
    let owner = if machine.owner.is_empty() { String::new() } else { format!("{by} {}, ", machine.owner) };
    let title = escaped(&format!("{}: {owner}{}; {}", machine.name, machine.state.as_str(), words.join("; ")));
    let class = if gpus { "three" } else { "two" };
    let _ = write!(text, "<span class=\"{class}\" style=\"{style}\" title=\"{title}\"></span>");
}

/// A strip from the left, as a fraction of the bar.
fn strip(text: &mut String, fraction: f64, style: &str) {
    let percent = (fraction * 100.0).clamp(0.0, 100.0);
    let _ = write!(text, "<div style=\"width:{percent:.2}%;{style}\"></div>");
}

/// A line across the bar.
fn line(text: &mut String, fraction: f64, style: &str) {
    let percent = (fraction * 100.0).clamp(0.0, 100.0);
    let _ = write!(text, "<div style=\"left:min({percent:.2}%, calc(100% - 3px));{style}\"></div>");
}

fn key(text: &mut String, style: &str, words: &str) {
    let _ = write!(text, "<li><span class=\"key\" style=\"{style}\"></span>{}</li>", escaped(words));
}

const QUOTA: &str = "border-right:3px solid var(--ink)";
const REQUESTED: &str = "border-right:3px dotted var(--c1)";

/// The largest amount of groups, which is the width of the bars.
pub(super) fn widest<'g>(groups: impl IntoIterator<Item = &'g GroupUsage>) -> f64 {
    let amounts = groups.into_iter().flat_map(|one| {
        let subtree = shown_subtree(one).unwrap_or_default();
        let own = [one.quota, one.allocated, one.used, one.counted, one.requested];
        own.into_iter().chain([subtree.quota, subtree.allocated, subtree.used, subtree.requested])
    });
    amounts.fold(1e-9, f64::max)
}

/// The sums of a group that has others below it; those of the root are the numbers of the whole pool.
fn shown_subtree(group: &GroupUsage) -> Option<SubtreeUsage> {
    let subtree = group.subtree;
    let own =
        SubtreeUsage { quota: group.quota, allocated: group.allocated, used: group.used, requested: group.requested };
    (group.depth > 0 && subtree != own).then_some(subtree)
}

/// Amounts as a bar: `counted` is what the negotiator counts as in use during the cycle.
fn bar(text: &mut String, label: &str, amounts: SubtreeUsage, counted: f64, widest: f64) {
    let _ = write!(text, "<div class=\"bar\" role=\"img\" aria-label=\"{label}\">");
    let SubtreeUsage { quota, allocated, used, requested } = amounts;
    strip(text, counted / widest, "background:var(--line)");
    strip(text, allocated / widest, "background:var(--c0);opacity:.35");
    strip(text, used / widest, "background:var(--c4)");
    strip(text, used.min(quota) / widest, "background:var(--c0)");
    line(text, quota / widest, QUOTA);
    line(text, requested / widest, REQUESTED);
    text.push_str("</div>");
}

/// Amounts of a group in words.
fn group_facts(amounts: SubtreeUsage, counted: f64) -> String {
    let SubtreeUsage { quota, allocated, used, requested } = amounts;
    // Sums of the same weights in another order differ in the last digits.
    let counted = if counted > used + 1e-6 { format!(" ({} counted)", decimal(counted)) } else { String::new() };
    let (quota, allocated, used, requested) = (decimal(quota), decimal(allocated), decimal(used), decimal(requested));
    format!("quota {quota}, allocated {allocated}, in use {used}{counted}, requested {requested}")
}

pub(super) fn groups(groups: &[GroupUsage], widest: f64) -> String {
    let mut text = String::from(
        "<div class=\"plots\"><figure class=\"tall\" data-filter=\"groups\">\n<figcaption>Quota, allocation, usage and requests, in weighted \
         slots</figcaption>\n<ul class=\"legend\">",
    );
    key(&mut text, "background:var(--c0)", "in use after the cycle");
    key(&mut text, "background:var(--c4)", "of that borrowed: beyond the quota");
    key(&mut text, "background:var(--c0);opacity:.35", "allocated");
    if groups.iter().any(|group| group.counted > group.used + 1e-6) {
        key(&mut text, "background:var(--line)", "counted during the cycle");
    }
    key(&mut text, QUOTA, "quota");
    key(&mut text, REQUESTED, "requested");
    text.push_str("</ul>\n");
    if groups.iter().any(|group| group.counted > group.used + 1e-6) {
        text.push_str(
            "<p>Counted: during the cycle, a match counts with the weight of the whole partitionable slot, and so uses up quotas \
             faster than its job does.</p>\n",
        );
    }
    for group in groups {
        let GroupUsage { quota, allocated, used, counted, requested, .. } = *group;
        let own = SubtreeUsage { quota, allocated, used, requested };
        let more = [("borrowed", group.borrowed), ("lent", group.lent), ("unmet", group.unmet)];
        let more = more.into_iter().filter(|(_, amount)| *amount > 0.0);
        let more: Vec<String> = more.map(|(word, amount)| format!("{word} {}", decimal(amount))).collect();
        let more = more.join(", ");
        let (name, facts, indent) = (escaped(&group.name), group_facts(own, counted), group.depth.min(8));
        let _ = write!(
            text,
            "<div class=\"group\"><p class=\"facts\" style=\"padding-left:{indent}rem\"><strong>{name}</strong> {facts}<em> \
             {more}</em></p>"
        );
        bar(&mut text, &format!("{name}: {facts}"), own, counted, widest);
        if let Some(subtree) = shown_subtree(group) {
            let facts = group_facts(subtree, 0.0);
            let _ = write!(
                text,
                "<p class=\"facts\" style=\"padding-left:{indent}rem\">{name} with its subgroups: {facts}</p>"
            );
            bar(&mut text, &format!("{name} with its subgroups: {facts}"), subtree, 0.0, widest);
        }
        text.push_str("</div>\n");
    }
    text.push_str("</figure></div>\n");
    text
}

fn submitters(page: &mut Page, picture: &PoolPicture) {
    page.part("submitters", "Submitters");
    let most = picture.submitters.iter().map(|one| one.pool_share.max(one.entitled.unwrap_or(0.0)));
    let most = most.fold(1e-9, f64::max);
    let percent = |fraction: f64| format!("{:.1}%", fraction * 100.0);
    let row = |(at, one): (usize, &SubmitterUsage)| {
        let line_of = &one.summary;
        let mut bar = format!("<div class=\"bar\" data-v=\"{}\" style=\"width:7rem\">", one.pool_share);
        strip(&mut bar, one.pool_share / most, "background:var(--c2)");
        if let Some(entitled) = one.entitled {
            line(&mut bar, entitled / most, QUOTA);
        }
        bar.push_str("</div>");
        vec![
            format!("<a href=\"#s{at}\">{}</a>", escaped(&line_of.submitter)),
            escaped(one.group.as_deref().unwrap_or("–")),
            line_of.priority.map_or("–".to_owned(), |priority| format!("{priority:.2}")),
            bar,
            percent(one.pool_share),
            one.entitled.map_or("–".to_owned(), percent),
            line_of.limit.map_or("–".to_owned(), decimal),
            line_of.idle.to_string(),
            line_of.matched.to_string(),
            decimal(line_of.weight),
            decimal(one.used),
            line_of.stopped.as_str().to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = picture.submitters.iter().take(MAX_SUBMITTERS).enumerate().map(row).collect();
    let headings = [
        "submitter",
        "group",
        "priority",
        "pool",
        "in use",
        "entitled",
        "limit",
        "idle",
        "matched",
        "weight",
        "weight in use",
        "stopped",
    ];
    page.markup("<div class=\"tall\" data-filter=\"submitters\">\n");
    page.table_of_markup(
        "in negotiation order; in use and entitled are fractions of the pool after the cycle, the line is the entitled share",
        &headings,
        &rows,
    );
    page.markup("</div>\n");
    more(page, picture.submitters.len(), MAX_SUBMITTERS, "submitters");
}

fn more(page: &mut Page, count: usize, most: usize, what: &str) {
    if count > most {
        page.paragraph(&format!("… and {} more {what}", count - most));
    }
}

/// A cause with its example, in a line.
fn cause(text: &mut String, one: &CommonCause) {
    let jobs = counted(one.jobs as u64, "job");
    let (label, example, words) = (coded(&one.label), escaped(&one.example), coded(&one.text));
    let _ = write!(text, "<li class=\"reason\"><strong>{jobs}</strong>: {label}. Job {example}: {words}</li>");
}

fn idle(page: &mut Page, picture: &PoolPicture) {
    page.part("idle", "Why jobs stayed idle");
    let idle = counted(picture.idle as u64, "idle job");
    page.paragraph(&format!("{idle} in the queue, {} of which got a slot.", picture.matched));
    let most = picture.reasons.iter().map(|one| one.jobs).max().unwrap_or(1).max(1) as f64;
    let mut text = String::new();
    for reason in &picture.reasons {
        let (jobs, name) = (counted(reason.jobs as u64, "job"), escaped(reason.reason.as_str()));
        let _ = write!(
            text,
            "<details class=\"one\" open=\"open\"><summary><strong>{jobs}</strong>: {name}</summary><div class=\"bar\" role=\"img\" \
             aria-label=\"{jobs}: {name}\">"
        );
        strip(&mut text, reason.jobs as f64 / most, "background:var(--c1)");
        text.push_str("</div><ul>");
        reason.causes.iter().take(20).for_each(|one| cause(&mut text, one));
        text.push_str("</ul>");
        let hidden = reason.causes.len().saturating_sub(20);
        if hidden > 0 {
            let _ = write!(text, "<p>… and {}</p>", counted(hidden as u64, "more cause"));
        }
        text.push_str("</details>\n");
    }
    page.markup(&text);
}

fn explanations(page: &mut Page, picture: &PoolPicture, asked: &str) {
    if picture.submitters.is_empty() {
        return;
    }
    page.part("explanations", "Explanations");
    let mut text = String::from("<div class=\"tall\" data-filter=\"explanations\">\n");
    for (at, one) in picture.submitters.iter().take(MAX_SUBMITTERS).enumerate() {
        let name = &one.summary.submitter;
        let _ = write!(
            text,
            "<details class=\"one\" id=\"s{at}\"><summary><strong>{}</strong>: {} of {} matched, {}</summary><ul>",
            escaped(name),
            one.summary.matched,
            escaped(&counted(one.summary.idle, "idle job")),
            one.summary.stopped.as_str()
        );
        one.steps.iter().for_each(|step| {
            let _ = write!(text, "<li>{}</li>", coded(step));
        });
        one.causes.iter().for_each(|one| cause(&mut text, one));
        let command = format!("classmate explain {asked} --submitter {name}");
        let _ = writeln!(text, "</ul><code>{}</code></details>", escaped(&command));
    }
    text.push_str("</div>\n");
    page.markup(&text);
    more(page, picture.submitters.len(), MAX_SUBMITTERS, "submitters");
}

fn spins(page: &mut Page, outcome: &Outcome) {
    page.part("spins", "Pie spins");
    let mut visits: BTreeMap<(u32, u32), (usize, usize)> = BTreeMap::new();
    for visit in &outcome.negotiations {
        let (all, passed) = visits.entry((visit.pie, visit.spin)).or_default();
        *all += 1;
        *passed += usize::from(visit.passed.is_some());
    }
    let mut matches: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for made in &outcome.matches {
        *matches.entry((made.pie, made.spin)).or_default() += 1;
    }
    let rows = outcome.pies.iter().take(MAX_ROWS).map(|pie| {
        let at = (pie.pie, pie.spin);
        let (all, passed) = visits.get(&at).copied().unwrap_or_default();
        vec![
            format!("{}.{}", pie.pie, pie.spin),
            pie.group.clone().unwrap_or_else(|| "–".to_owned()),
            decimal(pie.pie_left),
            all.to_string(),
            passed.to_string(),
            matches.get(&at).copied().unwrap_or(0).to_string(),
        ]
    });
    let headings = ["pie and spin", "group", "pie left", "turns", "skipped", "matches"];
    page.table("in order", &headings, &rows.collect::<Vec<_>>());
    more(page, outcome.pies.len(), MAX_ROWS, "spins");
}

fn audit(page: &mut Page, audit: &Audit) {
    page.part("attributes", "Significant attributes");
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
