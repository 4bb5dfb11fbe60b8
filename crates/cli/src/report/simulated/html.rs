//! A simulation, or several side by side, as a page.

use super::experiment::{self, SHOWN};
use super::plots::{self, Named, Whose};
use super::{compared, counts, figure, percent, provenance_line, shares};
use crate::report::page::{Page, PageColumn};
use crate::report::plot::Plot;
use crate::report::{counted, duration};
use classmate_pool::internal::simulate::compare::{Comparison, EntityComparison};
use classmate_pool::internal::simulate::experiment::Experiment;
use classmate_pool::internal::simulate::result::{EntityRow, SimulationRun};

/// Rows of a table; more are in the other forms.
const MAX_ROWS: usize = 100;

/// The page of a run.
pub fn run(run: &SimulationRun) -> String {
    let mut page = Page::new(&format!("{} under {}", run.workload, run.policy));
    for line in counts(&run.simulated) {
        page.paragraph(&line);
    }
    let named: Named<'_> = ("", run);
    let alone = [(run.policy.as_str(), run)];
    page.heading("Over time");
    let mut figures = vec![plots::utilisation(&alone), plots::queue(&alone)];
    if run.simulated.groups.len() > 1 {
        figures.push(plots::shares(named, Whose::Groups, &largest(&run.simulated.groups)));
    }
    figures.push(plots::shares(named, Whose::Submitters, &largest(&run.simulated.submitters)));
    figures.push(plots::waits(&alone));
    page.figures(&figures.iter().map(Plot::figure).collect::<Vec<_>>());
    page.heading("Shares and waiting times");
    if run.simulated.groups.len() > 1 {
        lines(&mut page, "Groups", &run.simulated.groups);
    }
    lines(&mut page, "Submitters", &run.simulated.submitters);
    page.paragraph(compared::CONTENDED);
    page.definitions(&compared::MEANINGS);
    provenance(&mut page, [run]);
    page.finish()
}

/// The page of an experiment.
pub fn experiment(found: &Experiment) -> String {
    let name = found.provenance.command.last().map_or("experiment", String::as_str);
    let mut page = Page::new(&format!("Experiment: {name}"));
    let runs = counted(found.points.len() as u64, "run");
    page.paragraph(&format!("{runs}. Each ± is half the 95% confidence interval over the seeds."));
    page.heading("Summary");
    let plots: Vec<String> = SHOWN.iter().map(|name| plots::measure(found, name).figure()).collect();
    page.figures(&plots);
    page.heading("Measures");
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
    page.heading("Provenance");
    page.paragraph(&provenance_line(&found.provenance));
    page.finish()
}

/// Program, command and files of runs.
pub(super) fn provenance<'r>(page: &mut Page, runs: impl IntoIterator<Item = &'r SimulationRun>) {
    let mut made = runs.into_iter().filter_map(|run| run.provenance.as_ref()).peekable();
    if made.peek().is_some() {
        page.heading("Provenance");
        made.for_each(|made| page.paragraph(&provenance_line(made)));
    }
}

/// The largest users, as many as have a line of their own.
fn largest(all: &[EntityRow]) -> Vec<String> {
    let mut ranked: Vec<&EntityRow> = all.iter().filter(|line| line.core_seconds > 0.0).collect();
    ranked.sort_by(|one, other| other.core_seconds.total_cmp(&one.core_seconds));
    ranked.into_iter().take(plots::own_lines()).map(|line| line.name.clone()).collect()
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
    page.heading("Summary");
    let headings: Vec<&str> = std::iter::once("").chain(found.runs.iter().map(String::as_str)).collect();
    page.table("All jobs", &headings, &compared::measures(&found));
    page.definitions(&compared::MEANINGS);
    page.heading("Over time");
    let named: Vec<Named<'_>> = runs.iter().map(|(name, run)| (name.as_str(), run)).collect();
    let mut figures = vec![plots::utilisation(&named), plots::queue(&named), plots::waits(&named)];
    let mut distributions = vec![plots::distribution(&named, None)];
    // One colour is one name in all plots.
    let first = |parts: &[EntityComparison]| {
        parts.iter().take(plots::own_lines()).map(|part| part.name.clone()).collect::<Vec<_>>()
    };
    if !found.groups.is_empty() {
        let names = first(&found.groups);
        figures.extend(named.iter().map(|run| plots::shares(*run, Whose::Groups, &names)));
        distributions.extend(names.iter().map(|name| plots::distribution(&named, Some((Whose::Groups, name)))));
    }
    let names = first(&found.submitters);
    figures.extend(named.iter().map(|run| plots::shares(*run, Whose::Submitters, &names)));
    page.figures(&figures.iter().map(Plot::figure).collect::<Vec<_>>());
    page.heading("Distribution of waiting times");
    distributions.extend(names.iter().map(|name| plots::distribution(&named, Some((Whose::Submitters, name)))));
    page.figures(&distributions.iter().map(Plot::figure).collect::<Vec<_>>());
    page.heading("Shares and waiting times");
    for (what, parts) in [("Groups", &found.groups), ("Submitters", &found.submitters)] {
        if !parts.is_empty() {
            let (headings, rows) = compared::parts(&found.runs, parts, MAX_ROWS);
            let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
            let hidden = parts.len().saturating_sub(MAX_ROWS);
            let more = if hidden > 0 { format!(" ({hidden} more not shown)") } else { String::new() };
            page.table(&format!("{what}, highest usage first{more}"), &headings, &rows);
        }
    }
    page.paragraph(compared::CONTENDED);
    provenance(&mut page, runs.iter().map(|(_, run)| run));
    page.finish()
}
