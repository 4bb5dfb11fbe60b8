//! The pages of simulations: whole, well-formed, every plot with title, axes, units and legend, nothing over anything.
#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::process::Command;

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
        for outside in ["http", "<script", " src=", "@import", "url("] {
            assert!(!text.contains(outside), "a page is all in one file: `{outside}`");
        }
        assert!(text.contains("prefers-color-scheme: dark") && text.contains("width=device-width"));
        let page = dom(&text);
        assert!(!page.only("h1").text.is_empty());
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
            &["Utilization", "Queue length", "Shares of groups", "Shares of submitters", "Waiting times"]
        };
        assert_eq!(titles, expected);
        for table in page.every("table") {
            let columns = table.only("thead").every("th").len();
            let rows = table.only("tbody").every("tr");
            assert!(!rows.is_empty() && !table.only("caption").text.is_empty());
            assert!(rows.iter().all(|row| row.children.len() == columns));
        }
        for legend in page.every("ul") {
            let names: Vec<&str> = legend.every("li").iter().map(|item| item.text.as_str()).collect();
            let own = if path.ends_with("compared.html") { "condor" } else { "group1.user1@trace" };
            let known = [own, "group1", "condor", "slurm", "dirac", "group1.user1@trace"];
            assert!(names.iter().any(|name| known.contains(name)), "{names:?}");
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
