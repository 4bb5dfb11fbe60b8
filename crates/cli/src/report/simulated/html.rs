//! A simulation, or several side by side, as a page.

use super::experiment::{self, SHOWN};
use super::plots::{self, Named, Whose};
use super::{compared, counts, figure, percent, shares};
use crate::report::page::{Page, PageColumn};
use crate::report::plot::Plot;
use crate::report::provenance::provenance;
use crate::report::{counted, duration};
use classmate_pool::internal::simulate::compare::Comparison;
use classmate_pool::internal::simulate::experiment::Experiment;
use classmate_pool::internal::simulate::result::{EntityRow, SimulationRun};

/// Rows of a table; more are in the other forms.
const MAX_ROWS: usize = 100;

/// Groups or submitters with a small plot of their own, where there are many.
const OWN_PLOTS: usize = 12;

/// The page of a run.
pub fn run(run: &SimulationRun) -> String {
    let mut page = Page::new(&format!("{} under {}", run.workload, run.policy));
    for line in counts(&run.simulated) {
        page.paragraph(&line);
    }
    let named: Named<'_> = ("", run);
    let alone = [(run.policy.as_str(), run)];
    page.contents();
    page.part("time", "Over time");
    let figures = [plots::utilisation(&alone), plots::queue(&alone), plots::waits(&alone)];
    page.figures(&figures.iter().map(Plot::figure).collect::<Vec<_>>());
    let groups = run.simulated.groups.len() > 1;
    for whose in [Whose::Groups, Whose::Submitters].into_iter().filter(|whose| groups || *whose == Whose::Submitters) {
        shares_over_time(&mut page, &[named], whose, &largest(whose.rows(run)));
    }
    page.part("shares", "Shares and waiting times");
    if groups {
        filtered(&mut page, "groups", |page| lines(page, "Groups", &run.simulated.groups));
    }
    filtered(&mut page, "submitters", |page| lines(page, "Submitters", &run.simulated.submitters));
    page.paragraph(compared::CONTENDED);
    page.definitions(&compared::MEANINGS);
    provenance(&mut page, &run.provenance);
    page.finish()
}

/// The page of an experiment.
pub fn experiment(found: &Experiment) -> String {
    let name = found.provenance.command.last().map_or("experiment", String::as_str);
    let mut page = Page::new(&format!("Experiment: {name}"));
    let runs = counted(found.points.len() as u64, "run");
    page.paragraph(&format!("{runs}. Each ± is half the 95% confidence interval over the seeds."));
    page.contents();
    page.part("summary", "Summary");
    let plots: Vec<String> = SHOWN.iter().map(|name| plots::measure(found, name).figure()).collect();
    page.figures(&plots);
    page.part("measures", "Measures");
    let table = |page: &mut Page, caption: &str, (headings, rows): (Vec<String>, Vec<Vec<String>>)| {
        page.table(caption, &headings.iter().map(String::as_str).collect::<Vec<_>>(), &rows);
    };
    let names: Vec<&str> =
        found.variants.first().map_or_else(Vec::new, |one| one.measures.iter().map(|one| one.name).collect());
    table(&mut page, "Means over the seeds", experiment::means(found, &names));
    if let Some(baseline) = &found.baseline {
        let caption = format!("Differences from {baseline}, seed by seed; * the interval does not contain 0");
        table(&mut page, &caption, experiment::rows_against(found, &names));
    }
    page.definitions(&compared::MEANINGS);
    provenance(&mut page, [&found.provenance]);
    page.finish()
}

/// The largest users, the first one first.
fn largest(all: &[EntityRow]) -> Vec<String> {
    let mut ranked: Vec<&EntityRow> = all.iter().filter(|line| line.jobs > 0).collect();
    ranked.sort_by(|one, other| other.core_seconds.total_cmp(&one.core_seconds));
    ranked.into_iter().map(|line| line.name.clone()).collect()
}

/// Shares over time: all names in one plot for each run if there are few, otherwise a small plot for each of the largest.
fn shares_over_time(page: &mut Page, runs: &[Named<'_>], whose: Whose, names: &[String]) {
    let what = whose.name();
    page.part(&format!("shares-{what}"), &format!("Shares of {what} over time"));
    if names.len() <= plots::own_lines() {
        let plots = runs.iter().map(|run| plots::shares(*run, whose, names).figure());
        page.figures(&plots.collect::<Vec<_>>());
        return;
    }
    let hidden = names.len().saturating_sub(OWN_PLOTS);
    let more = if hidden > 0 { format!(" {} not drawn.", counted(hidden as u64, "other")) } else { String::new() };
    page.paragraph(&format!(
        "Those with the highest usage, each to its own scale: fraction of the cores in use, {}. Dashed: entitled share of \
         the pool while jobs were queued; shaded: the distance from it.{more}",
        plots::means(runs)
    ));
    let plots = plots::small_shares(runs, whose, &names[..names.len().min(OWN_PLOTS)]);
    page.small_figures(&plots.iter().map(Plot::figure).collect::<Vec<_>>());
}

/// A table that scrolls, and that the script filters.
fn filtered(page: &mut Page, what: &str, table: impl FnOnce(&mut Page)) {
    page.markup(&format!("<div class=\"tall\" data-filter=\"{what}\">\n"));
    table(page);
    page.markup("</div>\n");
}

fn lines(page: &mut Page, what: &str, all: &[EntityRow]) {
    let columns: [PageColumn<EntityRow>; 13] = [
        ("", |line| line.name.clone()),
        ("jobs", |line| line.jobs.to_string()),
        ("completed", |line| line.completed.to_string()),
        ("share", |line| percent(Some(line.share))),
        ("entitled", |line| percent(line.due)),
        ("contended", |line| shares(line.contended.as_ref())),
        ("wait, mean", |line| duration(line.wait.mean)),
        ("median", |line| duration(line.wait.median)),
        ("95%", |line| duration(line.wait.p95)),
        ("longest", |line| duration(line.longest_wait as f64)),
        ("slowdown, mean", |line| format!("{:.2}", line.slowdown.mean)),
        ("preemptions", |line| line.preemptions.to_string()),
        ("lost (core-s)", |line| figure(line.lost)),
    ];
    let mut ranked: Vec<&EntityRow> = all.iter().collect();
    ranked.sort_by(|one, other| other.core_seconds.total_cmp(&one.core_seconds));
    let hidden = ranked.len().saturating_sub(MAX_ROWS);
    let more = if hidden > 0 { format!(" ({hidden} more in run.json)") } else { String::new() };
    page.columns(&format!("{what}, highest usage first{more}"), &columns, ranked.into_iter().take(MAX_ROWS));
}

/// The page of several runs, each with what it is called.
pub fn comparison(runs: &[(String, SimulationRun)]) -> String {
    let found = Comparison::new(runs);
    let mut page = Page::new(&format!("{} compared", found.runs.join(", ")));
    for (name, run) in runs {
        page.paragraph(&format!(
            "{name}: {} under {}, {} cores, one cycle every {} s",
            run.workload, run.policy, run.simulated.cores, run.interval
        ));
    }
    page.contents();
    page.part("summary", "Summary");
    let headings: Vec<&str> = std::iter::once("").chain(found.runs.iter().map(String::as_str)).collect();
    page.table("All jobs", &headings, &compared::measures(&found));
    page.definitions(&compared::MEANINGS);
    page.part("time", "Over time");
    let named: Vec<Named<'_>> = runs.iter().map(|(name, run)| (name.as_str(), run)).collect();
    let figures = [plots::utilisation(&named), plots::queue(&named), plots::waits(&named)];
    page.figures(&figures.iter().map(Plot::figure).collect::<Vec<_>>());
    let mut distributions = vec![plots::distribution(&named, None)];
    for (whose, parts) in [(Whose::Groups, &found.groups), (Whose::Submitters, &found.submitters)] {
        if !parts.is_empty() {
            let names: Vec<String> = parts.iter().map(|part| part.name.clone()).collect();
            shares_over_time(&mut page, &named, whose, &names);
            let first = names.iter().take(plots::own_lines());
            distributions.extend(first.map(|name| plots::distribution(&named, Some((whose, name)))));
        }
    }
    page.part("waits", "Distribution of waiting times");
    page.figures(&distributions.iter().map(Plot::figure).collect::<Vec<_>>());
    page.part("shares", "Shares and waiting times");
    for (title, what, parts) in [("Groups", "groups", &found.groups), ("Submitters", "submitters", &found.submitters)] {
        if !parts.is_empty() {
            let (headings, rows) = compared::parts(&found.runs, parts, MAX_ROWS);
            let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
            let hidden = parts.len().saturating_sub(MAX_ROWS);
            let more = if hidden > 0 { format!(" ({hidden} more not shown)") } else { String::new() };
            let caption = format!("{title}, highest usage first{more}");
            filtered(&mut page, what, |page| page.table(&caption, &headings, &rows));
        }
    }
    page.paragraph(compared::CONTENDED);
    provenance(&mut page, runs.iter().filter_map(|(_, run)| run.provenance.as_ref()));
    page.finish()
}
