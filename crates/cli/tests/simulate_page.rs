//! The pages of simulations: whole, well-formed, every plot with title, axes, units and legend, nothing over anything.
#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// An element of a page.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    /// The text in it and below.
    text: String,
    children: Vec<Element>,
}

impl Element {
    fn attribute(&self, name: &str) -> &str {
        self.attributes.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    fn number(&self, name: &str) -> f64 {
        let text = self.attribute(name);
        text.parse().unwrap_or_else(|_| panic!("{name} of {} is `{text}`", self.name))
    }

    /// All elements of a name, in order.
    fn all<'e>(&'e self, name: &str, found: &mut Vec<&'e Element>) {
        for child in &self.children {
            if child.name == name {
                found.push(child);
            }
            child.all(name, found);
        }
    }

    fn every(&self, name: &str) -> Vec<&Element> {
        let mut found = Vec::new();
        self.all(name, &mut found);
        found
    }

    /// The only element of a name.
    fn only(&self, name: &str) -> &Element {
        let found = self.every(name);
        assert_eq!(found.len(), 1, "{} <{name}>", found.len());
        found[0]
    }
}

/// Reads a page that is well-formed; what is not panics.
fn dom(page: &str) -> Element {
    let page = page.strip_prefix("<!DOCTYPE html>\n").unwrap();
    let mut open = vec![Element::default()];
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let text = &rest[..start];
        assert!(!text.contains('>'), "a stray `>` before {}", &rest[start..]);
        for element in &mut open {
            element.text.push_str(text);
        }
        let end = rest[start..].find('>').unwrap() + start;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let element = open.pop().unwrap();
            assert_eq!(element.name, name, "closed out of order");
            open.last_mut().unwrap().children.push(element);
            continue;
        }
        let (tag, empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut element = Element { name: name.to_owned(), ..Element::default() };
        while let Some((name, value)) = attributes.trim_start().split_once("=\"") {
            let (value, others) = value.split_once('"').unwrap();
            element.attributes.push((name.to_owned(), value.to_owned()));
            attributes = others;
        }
        assert_eq!(attributes.trim(), "", "in <{tag}>");
        if empty {
            open.last_mut().unwrap().children.push(element);
        } else {
            open.push(element);
        }
    }
    assert_eq!(open.len(), 1, "<{}> is not closed", open.last().unwrap().name);
    open.pop().unwrap()
}

fn classmate(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_classmate"))
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Runs of the three policies, and their comparison, in a directory that is gone with the value.
fn runs() -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let mut directories = Vec::new();
    for policy in ["condor", "slurm", "dirac"] {
        let directory = folder.path().join(policy);
        let path = directory.to_str().unwrap();
        let workload = ["simulate", "--workload", "examples/simulate/trace.swf", "--pool", "examples/simulate"];
        classmate(&[&workload[..], &["--policy", policy, "--report", path]].concat());
        directories.push(directory);
    }
    let paths: Vec<&str> = directories.iter().map(|path| path.to_str().unwrap()).collect();
    let page = classmate(&[&["compare"], &paths[..], &["--format", "html"]].concat());
    std::fs::write(folder.path().join("compared.html"), page).unwrap();
    let mut pages: Vec<PathBuf> = directories.iter().map(|directory| directory.join("index.html")).collect();
    pages.push(folder.path().join("compared.html"));
    (folder, pages)
}

/// Texts of one line that stand side by side do not touch: a character is at most 7.5 wide.
fn side_by_side(texts: &[&Element]) {
    let mut spans: Vec<(f64, f64, &str)> = Vec::new();
    for text in texts {
        let (middle, half) = (text.number("x"), text.text.chars().count() as f64 * 7.5 / 2.0);
        spans.push((middle - half, middle + half, &text.text));
    }
    for pair in spans.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "`{}` touches `{}`", pair[0].2, pair[1].2);
    }
    assert!(spans.first().is_none_or(|(from, ..)| *from >= 0.0) && spans.last().is_none_or(|(_, to, _)| *to <= 420.0));
}

fn check_figure(figure: &Element) -> String {
    let title = figure.only("figcaption").text.clone();
    assert!(!title.is_empty() && !figure.only("p").text.is_empty());
    let drawing = figure.children.iter().find(|child| child.name == "svg").unwrap();
    assert_eq!((drawing.attribute("viewBox"), drawing.attribute("role")), ("0 0 420 260", "img"));
    assert_eq!(drawing.only("title").text, title, "a drawing has the title for those who do not see it");
    let texts = drawing.every("text");
    let axis = |class: &str| texts.iter().find(|text| text.attribute("class") == class).unwrap().text.clone();
    let (x, y) = (axis("x"), axis("y"));
    assert!(y.ends_with("(%)") || y == "jobs waiting", "{title}: the upward axis is `{y}`: in which unit?");
    let timed = ["minutes since", "hours since", "days since"].iter().any(|unit| x.starts_with(unit));
    assert!(
        timed || x == "waiting time, up to" || x == "waiting time, log scale",
        "{title}: the other axis is `{x}`: in which unit?"
    );
    // Marks on both axes.
    let marks: Vec<&Element> = texts.into_iter().filter(|text| text.attribute("class").is_empty()).collect();
    let (upward, along): (Vec<&Element>, Vec<&Element>) =
        marks.into_iter().partition(|text| text.attribute("text-anchor") == "end");
    assert!((3..=7).contains(&upward.len()) && (2..=9).contains(&along.len()), "{title}: marks");
    side_by_side(&along);
    // A mark ends at its place, and begins beside the name of the axis: that stands on 12, and some of it below.
    let begins = |mark: &&Element| mark.number("x") - 7.5 * mark.text.chars().count() as f64;
    assert!(upward.iter().all(|mark| begins(mark) >= 16.0), "{title}: marks over the name of the axis");
    let heights: Vec<f64> = upward.iter().map(|mark| mark.number("y")).collect();
    assert!(heights.windows(2).all(|pair| (pair[0] - pair[1]).abs() >= 12.0), "{title}: {heights:?}");
    // What is drawn stays in the drawing.
    for path in drawing.every("path") {
        let numbers =
            path.attribute("d").split(|c: char| !(c.is_ascii_digit() || c == '.')).filter(|text| !text.is_empty());
        assert!(numbers.map(|number| number.parse::<f64>().unwrap()).all(|number| number <= 420.0), "{title}");
    }
    for bar in drawing.every("rect") {
        let top = bar.number("y");
        assert!(top >= 9.9 && (top + bar.number("height") - 216.0).abs() < 0.2 && bar.number("width") > 1.0, "{title}");
    }
    let legend = figure.only("ul");
    assert_eq!(legend.attribute("class"), "legend");
    assert!(!legend.every("li").is_empty() && legend.every("li").iter().all(|item| !item.text.trim().is_empty()));
    title
}

#[test]
fn every_plot_has_title_axes_units_and_legend() {
    let (_folder, pages) = runs();
    for path in &pages {
        let text = std::fs::read_to_string(path).unwrap();
        for outside in ["http", " src=", "@import", "url("] {
            assert!(!text.contains(outside), "a page is all in one file: `{outside}`");
        }
        assert!(text.contains("prefers-color-scheme: dark") && text.contains("width=device-width"));
        let page = dom(&text);
        assert!(!page.only("h1").text.is_empty() && !page.only("script").text.is_empty());
        let links: Vec<&Element> = page.only("nav").every("a");
        let parts: Vec<&Element> = page.every("details");
        let ids: Vec<String> = parts.iter().map(|part| format!("#{}", part.attribute("id"))).collect();
        assert_eq!(links.iter().map(|link| link.attribute("href")).collect::<Vec<_>>(), ids, "contents");
        let titles: Vec<String> = page.every("figure").into_iter().map(check_figure).collect();
        let expected: &[&str] = if path.ends_with("compared.html") {
            &[
                "Utilization",
                "Queue length",
                "Waiting times",
                "Shares of groups: condor",
                "Shares of groups: slurm",
                "Shares of groups: dirac",
                "Shares of submitters: condor",
                "Shares of submitters: slurm",
                "Shares of submitters: dirac",
                "All jobs",
                "group1",
                "group2",
                "group1.user2@trace",
                "group1.user1@trace",
                "group2.user3@trace",
            ]
        } else {
            &["Utilization", "Queue length", "Waiting times", "Shares of groups", "Shares of submitters"]
        };
        assert_eq!(titles, expected);
        for table in page.every("table") {
            let columns = table.only("thead").every("th").len();
            let rows = table.only("tbody").every("tr");
            assert!(!rows.is_empty() && !table.only("caption").text.is_empty());
            assert!(rows.iter().all(|row| row.children.len() == columns));
        }
        for legend in page.every("ul").into_iter().filter(|list| list.attribute("class") == "legend") {
            let names: Vec<&str> = legend.every("li").iter().map(|item| item.text.as_str()).collect();
            let own = if path.ends_with("compared.html") { "condor" } else { "group1.user1@trace" };
            let known = [own, "group1", "condor", "slurm", "dirac", "group1.user1@trace"];
            assert!(names.iter().any(|name| known.contains(name)), "{names:?}");
        }
    }
}

/// A user with half of the jobs and 13 others would be one line over 13 flat ones: the 12 largest have a plot each, to its own
/// scale.
#[test]
fn many_submitters_have_small_plots_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    // User 1 has 100 jobs, user 14 the fewest.
    let users = (1..=14).flat_map(|user| std::iter::repeat_n(user, if user == 1 { 100 } else { 20 - user }));
    let line =
        |(at, user): (usize, usize)| format!("{0} {0} -1 600 1 -1 -1 1 -1 -1 1 {user} 1 -1 -1 -1 -1 -1\n", at + 1);
    let trace: String = users.enumerate().map(line).collect();
    std::fs::write(folder.path().join("trace.swf"), format!("; MaxProcs: 20\n{trace}")).unwrap();
    let (workload, run) = (folder.path().join("trace.swf"), folder.path().join("run"));
    let [workload, run] = [&workload, &run].map(|path| path.to_str().unwrap());
    classmate(&["simulate", "--workload", workload, "--report", run]);
    let compared = classmate(&["compare", run, &format!("{run}/run.json"), "--format", "html"]);
    let own = std::fs::read_to_string(folder.path().join("run/index.html")).unwrap();
    for (page, lines) in [(own, 1), (String::from_utf8(compared).unwrap(), 2)] {
        let page = dom(&page);
        let part = page.every("details").into_iter().find(|part| part.attribute("id") == "shares-submitters").unwrap();
        let titles: Vec<String> = part.every("figcaption").iter().map(|title| title.text.clone()).collect();
        let expected: Vec<String> = (1..=12).map(|user| format!("group1.user{user}@trace")).collect();
        assert_eq!(titles, expected);
        assert!(part.text.contains("2 others not drawn"), "{}", part.text);
        let top = |figure: &Element| {
            let marks = figure.every("text").into_iter().filter(|text| text.attribute("text-anchor") == "end");
            marks.map(|mark| mark.text.parse::<f64>().unwrap()).fold(0.0, f64::max)
        };
        let figures = part.every("figure");
        assert!(top(figures[11]) < top(figures[0]), "each has its own scale");
        // Usage and the entitled share of each run.
        let drawn = |figure: &&Element| {
            let paths = figure.children.iter().find(|child| child.name == "svg").unwrap().every("path");
            paths.into_iter().filter(|path| path.attribute("style").contains("stroke:")).count()
        };
        assert_eq!(figures.iter().map(drawn).collect::<Vec<_>>(), vec![2 * lines; 12]);
        // One run needs no legend.
        let legends = part.every("ul").len();
        assert_eq!(legends, if lines == 1 { 0 } else { 12 });
    }
}

/// The cells of the table whose caption begins with this, row by row.
fn cells(page: &Element, caption: &str) -> Vec<Vec<String>> {
    let tables = page.every("table");
    let table = tables.into_iter().find(|table| table.only("caption").text.starts_with(caption)).unwrap();
    let cells = |row: &&Element| row.children.iter().map(|cell| cell.text.clone()).collect();
    table.only("tbody").every("tr").iter().map(cells).collect()
}

/// A duration as pages show it: its two largest units, without those that are 0.
fn duration(seconds: &Value) -> String {
    let seconds = seconds.as_f64().unwrap();
    let sign = if seconds.round() < 0.0 { "-" } else { "" };
    let whole = seconds.abs().round() as u64;
    let units = [("d", whole / 86_400), ("h", whole / 3600 % 24), ("m", whole / 60 % 60), ("s", whole % 60)];
    let Some(first) = units.iter().position(|(_, amount)| *amount > 0) else { return "0s".to_owned() };
    let shown: Vec<String> = units[first..]
        .iter()
        .take(2)
        .filter(|(_, amount)| *amount > 0)
        .map(|(unit, amount)| format!("{amount}{unit}"))
        .collect();
    format!("{sign}{}", shown.join(" "))
}

fn percent(fraction: &Value) -> String {
    fraction.as_f64().map_or("-".to_owned(), |fraction| format!("{:.1}%", fraction * 100.0))
}

fn contended(of: &Value) -> String {
    let number = |name: &str| of[name].as_f64().map(|part| format!("{:.1}", part * 100.0));
    number("share").map_or("-".to_owned(), |share| format!("{share} of {}%", number("due").unwrap()))
}

/// A value of a measure, given its unit.
fn measure(unit: &Value, value: &Value) -> String {
    let number = value.as_f64().unwrap();
    match unit.as_str().unwrap() {
        "seconds" => duration(value),
        "fraction" => format!("{:.1}", number * 100.0),
        "ratio" => format!("{number:.3}"),
        _ => format!("{number:.0}"),
    }
}

fn list<'v>(of: &'v Value, name: &str) -> &'v Vec<Value> {
    of[name].as_array().unwrap()
}

#[test]
fn the_numbers_of_the_pages_are_those_of_json() {
    let (folder, pages) = runs();
    let read = |path: &Path| dom(&std::fs::read_to_string(path).unwrap());
    // A run.
    let (page, own) = (read(&pages[0]), std::fs::read(folder.path().join("condor/run.json")).unwrap());
    let own: Value = serde_json::from_slice(&own).unwrap();
    assert!(page.text.contains(&format!("utilization {}, ", percent(&own["utilisation"]))));
    for (caption, kind) in [("Groups", "groups"), ("Submitters", "submitters")] {
        let rows = cells(&page, caption);
        assert_eq!(rows.len(), list(&own, kind).len());
        for row in rows {
            let one = list(&own, kind).iter().find(|one| one["name"] == row[0].as_str()).unwrap();
            let (wait, longest) = (&one["wait"], duration(&one["longest_wait"]));
            let counts = [&one["jobs"], &one["completed"]].map(Value::to_string);
            assert_eq!(row[1..3], counts);
            assert_eq!(row[3..6], [percent(&one["share"]), percent(&one["due"]), contended(&one["contended"])]);
            assert_eq!(
                row[6..10],
                [duration(&wait["mean"]), duration(&wait["median"]), duration(&wait["p95"]), longest]
            );
            assert_eq!(row[10], format!("{:.2}", one["slowdown"]["mean"].as_f64().unwrap()));
        }
    }
    // A comparison.
    let directories = ["condor", "slurm", "dirac"].map(|name| folder.path().join(name).display().to_string());
    let paths = directories.each_ref().map(String::as_str);
    let (page, own) = (read(&pages[3]), classmate(&[&["compare"], &paths[..], &["--format", "json"]].concat()));
    let own: Value = serde_json::from_slice(&own).unwrap();
    let rows = cells(&page, "All jobs");
    assert_eq!(rows.len(), list(&own, "measures").len());
    for (row, one) in rows.iter().zip(list(&own, "measures")) {
        assert!(row[0].starts_with(one["name"].as_str().unwrap()));
        let values: Vec<String> = list(one, "values").iter().map(|value| measure(&one["unit"], value)).collect();
        assert_eq!(row[1..], values, "{}", row[0]);
    }
    for (caption, kind) in [("Groups", "groups"), ("Submitters", "submitters")] {
        let rows = cells(&page, caption);
        assert_eq!(rows.len(), list(&own, kind).len());
        for (row, one) in rows.iter().zip(list(&own, kind)) {
            assert_eq!(row[0], one["name"].as_str().unwrap());
            let shares = list(one, "share").iter().map(percent);
            let values = shares.chain(list(one, "contended").iter().map(contended));
            let values: Vec<String> = values.chain(list(one, "wait_mean").iter().map(duration)).collect();
            assert_eq!(row[1..], values, "{}", row[0]);
        }
    }
    // An experiment.
    let output = folder.path().join("experiment");
    let arguments = ["experiment", "examples/simulate/experiment.toml", "--output", output.to_str().unwrap()];
    let own: Value = serde_json::from_slice(&classmate(&[&arguments[..], &["--format", "json"]].concat())).unwrap();
    let page = read(&output.join("index.html"));
    let means = cells(&page, "Means over the seeds");
    let differences = cells(&page, "Differences from condor");
    assert_eq!((means.len(), differences.len()), (6, 4));
    for variant in list(&own, "variants") {
        let name = [&variant["policy"], &variant["setting"]].map(|name| name.as_str().unwrap().to_owned());
        let of = |rows: &[Vec<String>]| rows.iter().find(|row| row[..2] == name).map(|row| row[2..].to_vec());
        let shown =
            |unit: &Value, of: &Value| format!("{} ±{}", measure(unit, &of["mean"]), measure(unit, &of["half_width"]));
        let values: Vec<String> = list(variant, "measures").iter().map(|one| shown(&one["unit"], one)).collect();
        assert_eq!(of(&means).unwrap(), values, "{name:?}");
        let Some(row) = of(&differences) else {
            assert_eq!(name[0], "condor");
            continue;
        };
        for (cell, one) in row.iter().zip(list(variant, "measures")) {
            let (difference, text) = (&one["difference"], cell.trim_end_matches(['*', ' ']));
            let [mean, half] = ["mean", "half_width"].map(|part| difference[part].as_f64().unwrap());
            assert_eq!(cell.ends_with('*'), mean.abs() > half, "{name:?} {cell}");
            // A difference that rounds to 0 does not have a sign.
            let expected = shown(&one["unit"], difference);
            let is_zero = expected.split(' ').next().unwrap().bytes().all(|byte| b"-0.s".contains(&byte));
            assert_eq!(text, if is_zero { expected.trim_start_matches('-') } else { &expected }, "{name:?}");
        }
    }
}

#[test]
fn a_browser_reads_the_pages_as_they_are_written() {
    let browser = std::env::var_os("PATH").and_then(|path| {
        let programs = std::env::split_paths(&path).flat_map(|path| ["chromium", "chrome"].map(|name| path.join(name)));
        programs.into_iter().find(|program| program.is_file())
    });
    let Some(browser) = browser else {
        eprintln!("skipped: no chromium is on PATH");
        return;
    };
    let (folder, pages) = runs();
    for path in [&pages[0], &pages[3]] {
        let (page, errors) = shown(&browser, path, folder.path());
        let text = std::fs::read_to_string(path).unwrap();
        // A browser that mends a page shows another number of elements.
        for tag in ["<figure>", "<svg ", "<path ", "<rect ", "<text ", "<td>", "<th ", "<li>"] {
            assert_eq!(page.matches(tag).count(), text.matches(tag).count(), "{tag}");
        }
        assert!(!errors.contains("CONSOLE"), "{errors}");
    }
}

/// What a browser makes of a page, and what it says to its console.
fn shown(browser: &Path, page: &Path, folder: &Path) -> (String, String) {
    let profile = folder.join("profile");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--dump-dom"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--enable-logging=stderr", "--window-size=1200,2000"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    assert!(output.status.success());
    (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
}
