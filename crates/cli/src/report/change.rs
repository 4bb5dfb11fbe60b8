//! A change of a pool as a page: the pool before and after it side by side, and why groups changed.
//!
//! All numbers are those of a [`Difference`] (`classmate whatif --format json`) and of two [`PoolPicture`]s (`classmate report
//! --format json`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::cycle::{groups, map, owners, part_of, tile, widest};
use super::page::{Page, PageColumn, coded, decimal, escaped};
use super::provenance::provenance;
use super::whatif::lists;
use classmate_advice::internal::picture::{PoolPicture, SubmitterUsage};
use classmate_advice::internal::whatif::{Delta, Difference};
use classmate_pool::internal::simulate::result::Provenance;

/// Names in a list, at most.
const MAX_NAMES: usize = 200;

/// The page of changes, in words, to the pool with this name.
pub fn page(
    (name, changes): (&str, &[String]),
    (before, after): (&PoolPicture, &PoolPicture),
    (found, made): (&Difference, Option<&Provenance>),
) -> String {
    let mut page = Page::new(&format!("What if: {name}"));
    let items = changes.iter().map(|change| format!("<li><code>{}</code></li>", escaped(change)));
    page.markup(&format!("<ul class=\"changes\">{}</ul>\n", items.collect::<String>()));
    tiles(&mut page, (before, after), found);
    page.contents();
    if !(before.groups.is_empty() && after.groups.is_empty()) {
        page.part("groups", "Groups");
        reasons(&mut page, (before, after), found);
        let width = widest(before.groups.iter().chain(&after.groups));
        page.markup(&side(&groups(&before.groups, width), &groups(&after.groups, width)));
    }
    page.part("machines", "Machines");
    let by = if before.groups.is_empty() && after.groups.is_empty() { "submitter" } else { "group" };
    let colors = owners(&[before, after]);
    page.markup(&side(&map(before, &colors, by), &map(after, &colors, by)));
    submitters(&mut page, (before, after), found);
    page.part("idle", "Idle jobs by reason");
    let jobs = |picture: &PoolPicture| -> BTreeMap<&'static str, usize> {
        picture.reasons.iter().map(|one| (one.reason.as_str(), one.jobs)).collect()
    };
    let (old, new) = (jobs(before), jobs(after));
    let names: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
    let jobs = |of: &BTreeMap<&str, usize>, name: &str| of.get(name).copied().unwrap_or(0).to_string();
    let rows = names.into_iter().map(|name| vec![name.to_owned(), jobs(&old, name), jobs(&new, name)]);
    page.table("jobs without a slot", &["reason", "before", "after"], &rows.collect::<Vec<_>>());
    if !found.classes.is_empty() {
        page.part("slots", "Slots");
        let columns: [PageColumn<Delta<usize>>; 3] = [
            ("kind", |one| one.name.clone()),
            ("matched before", |one| one.before.to_string()),
            ("after", |one| one.after.to_string()),
        ];
        page.columns("by kind, those that differ", &columns, found.classes.iter().take(MAX_NAMES));
    }
    let lists = lists(found);
    if !lists.is_empty() {
        page.part("jobs", "Jobs and slots");
        for (what, count, names) in lists {
            let hidden = names.len().saturating_sub(MAX_NAMES);
            let more = if hidden > 0 { format!(" and {hidden} more") } else { String::new() };
            let shown = names.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
            page.markup(&format!(
                "<details class=\"one\"><summary><strong>{count}</strong> {what}</summary><p>{}{more}</p></details>\n",
                coded(&shown)
            ));
        }
    }
    provenance(&mut page, made);
    page.finish()
}

/// Two pieces of markup beside each other.
fn side(before: &str, after: &str) -> String {
    format!("<div class=\"side\">\n<div><h3>Before</h3>\n{before}</div>\n<div><h3>After</h3>\n{after}</div>\n</div>\n")
}

fn arrow(before: &str, after: &str) -> String {
    if before == after { before.to_owned() } else { format!("{before} → {after}") }
}

fn tiles(page: &mut Page, (before, after): (&PoolPicture, &PoolPicture), found: &Difference) {
    let mut text = String::from("<div class=\"tiles\">\n");
    let counts = |(before, after): (usize, usize)| arrow(&before.to_string(), &after.to_string());
    text.push_str(&tile(&counts(found.matches), "matches", ""));
    text.push_str(&tile(&arrow(&decimal(found.weight.0), &decimal(found.weight.1)), "weight matched", ""));
    text.push_str(&tile(&counts(found.preemptions), "preemptions", ""));
    let (old, new) = (&before.resources, &after.resources);
    for (label, old, new) in [
        ("cores in use", old.cores, new.cores),
        ("memory in use", old.memory, new.memory),
        ("GPUs in use", old.gpus, new.gpus),
    ] {
        if old.total.max(new.total) > 0.0 {
            text.push_str(&tile(&arrow(&part_of(old.used, old.total), &part_of(new.used, new.total)), label, ""));
        }
    }
    text.push_str(&tile(&found.jobs_won.len().to_string(), "jobs match only after the change", ""));
    text.push_str(&tile(&found.jobs_lost.len().to_string(), "jobs match only before it", ""));
    text.push_str("</div>\n");
    page.markup(&text);
}

/// The groups that changed, and the lines of their derivations that differ.
fn reasons(page: &mut Page, (before, after): (&PoolPicture, &PoolPicture), found: &Difference) {
    if found.groups.is_empty() {
        page.paragraph("No group changed.");
        return;
    }
    let [used_before, used_after]: [BTreeMap<&str, f64>; 2] =
        [before, after].map(|picture| picture.groups.iter().map(|one| (one.name.as_str(), one.used)).collect());
    let used = |of: &BTreeMap<&str, f64>, name: &str| of.get(name).copied().unwrap_or(0.0);
    let mut text = String::from("<div class=\"tall\" data-filter=\"changed groups\">\n");
    for Delta { name, before, after } in &found.groups {
        let figures = [
            ("quota", before.quota, after.quota),
            ("allocated", before.allocated, after.allocated),
            ("in use", used(&used_before, name), used(&used_after, name)),
        ];
        let figures =
            figures.map(|(what, before, after)| format!("{what} {}", arrow(&decimal(before), &decimal(after))));
        let _ = write!(
            text,
            "<details class=\"one\" open=\"open\"><summary><strong>{}</strong>: {}</summary>\n<div class=\"side\">",
            escaped(name),
            figures.join(", ")
        );
        let own = found.group_reasons.iter().find(|one| one.name == *name);
        if own.is_some_and(|one| one.before.is_empty() && one.after.is_empty()) {
            text.push_str("<p>Its quota and allocation are unchanged; only its usage differs.</p>");
        }
        for (title, lines) in [("before", own.map(|one| &one.before)), ("after", own.map(|one| &one.after))] {
            if lines.is_none_or(Vec::is_empty) {
                continue;
            }
            let _ = write!(text, "<div><p class=\"facts\">{title}</p><ul>");
            for line in lines.into_iter().flatten() {
                let _ = write!(text, "<li>{}</li>", coded(line));
            }
            text.push_str("</ul></div>");
        }
        text.push_str("</div></details>\n");
    }
    text.push_str("</div>\n");
    page.markup(&text);
}

/// The submitters whose matches changed.
fn submitters(page: &mut Page, (before, after): (&PoolPicture, &PoolPicture), found: &Difference) {
    let names = found.submitters.iter().map(|one| &one.name).chain(found.weights.iter().map(|one| &one.name));
    let names: BTreeSet<&String> = names.collect();
    if names.is_empty() {
        return;
    }
    page.part("submitters", "Submitters");
    let [old, new]: [BTreeMap<&String, &SubmitterUsage>; 2] =
        [before, after].map(|picture| picture.submitters.iter().map(|one| (&one.summary.submitter, one)).collect());
    let row = |name: &&String| {
        let figures = |show: fn(&SubmitterUsage) -> String| {
            [&old, &new].map(|of| of.get(*name).map_or_else(|| "–".to_owned(), |one| show(one)))
        };
        let mut row = vec![(*name).clone()];
        row.extend(figures(|one| one.summary.matched.to_string()));
        row.extend(figures(|one| decimal(one.summary.weight)));
        row.extend(figures(|one| format!("{:.1}%", one.pool_share * 100.0)));
        row.extend(figures(|one| one.entitled.map_or("–".to_owned(), |part| format!("{:.1}%", part * 100.0))));
        row
    };
    let rows: Vec<Vec<String>> = names.iter().map(row).collect();
    let headings = [
        "submitter",
        "matched before",
        "after",
        "weight before",
        "after",
        "pool before",
        "after",
        "entitled before",
        "after",
    ];
    page.markup("<div class=\"tall\" data-filter=\"submitters\">\n");
    page.table("those whose matches changed", &headings, &rows);
    page.markup("</div>\n");
}
