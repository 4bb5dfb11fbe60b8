//! The screen of `top`: tables of a pool's state, and the explanation of one row.

use std::cmp::Ordering;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Row, Table, TableState};

use crate::cli::{PoolStatus, language};
use crate::report::explain::{ShownParts, write, write_steps};
use crate::report::fold::Folded;
use crate::report::{Color, counted, duration};
use classmate::ClassAd;
use classmate_advice::internal::explain::cycle::{group, submitter};
use classmate_advice::internal::explain::find;
use classmate_advice::internal::explain::replay::{ExplainedJob, of_job};
use classmate_config::ConfigError;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::queue::job::Job;
use classmate_pool::{CycleOptions, PreparedPool};

/// The tables: title, and headings with the width of each column.
const TABLES: [(&str, &[(&str, u16)]); 4] = [
    (
        "Submitters",
        &[
            ("SUBMITTER", 30),
            ("PRIORITY", 9),
            ("FACTOR", 8),
            ("IN USE", 7),
            ("RUNNING", 8),
            ("IDLE", 6),
            ("HELD", 5),
            ("SHARE", 6),
            ("NEXT", 5),
            ("STOPPED BY", 30),
        ],
    ),
    ("Groups", &[("GROUP", 30), ("QUOTA", 10), ("IN USE", 10), ("DEMAND", 10), ("ALLOCATED", 10), ("SURPLUS", 10)]),
    ("Jobs", &[("JOB", 14), ("SUBMITTER", 30), ("STATUS", 12), ("SINCE", 9), ("CPUS", 6), ("MEMORY MB", 10)]),
    ("Idle jobs by cause", &[("JOBS", 9), ("CAUSE", 60), ("EXAMPLE", 14)]),
];

/// The least width of a column of texts.
const LEAST_TEXT: u16 = 16;

/// The widths of the columns that fit, at least one, the last ones being left out first. Where there is little room, texts share what numbers leave.
fn widths(columns: &[(&str, u16)], room: u16) -> Vec<Constraint> {
    let is_text = |width: u16| width > 2 * LEAST_TEXT - 4;
    let needs = |count: usize, least: bool| {
        let width = |(_, width): &(&str, u16)| if least && is_text(*width) { LEAST_TEXT } else { *width };
        columns[..count].iter().map(width).sum::<u16>() + count.saturating_sub(1) as u16
    };
    let count = (1..=columns.len()).rev().find(|count| needs(*count, true) <= room).unwrap_or(1);
    let is_narrow = needs(count, false) > room;
    let fitting = |(_, width): &(&str, u16)| match *width {
        width if is_narrow && is_text(width) => Constraint::Fill(width),
        width => Constraint::Length(width),
    };
    columns[..count].iter().map(fitting).collect()
}

/// The names of `JobStatus`, from 1.
const JOB_STATES: [&str; 7] = ["idle", "running", "removed", "completed", "held", "transferring", "suspended"];

/// The effect of a key on the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterKey {
    Continue,
    Quit,
}

/// A cell of a table, sorted by its number if it has one.
struct TopCell {
    text: String,
    number: Option<f64>,
}

impl TopCell {
    fn text(text: impl Into<String>) -> Self {
        TopCell { text: text.into(), number: None }
    }

    fn count(number: i64) -> Self {
        TopCell { text: number.to_string(), number: Some(number as f64) }
    }

    fn real(number: f64) -> Self {
        TopCell { text: format!("{number:.2}"), number: Some(number) }
    }

    /// A text that is sorted by a number.
    fn of(text: String, number: f64) -> Self {
        TopCell { text, number: Some(number) }
    }

    fn optional(number: Option<f64>, text: impl Fn(f64) -> String) -> Self {
        number.map_or_else(|| TopCell::of("-".to_owned(), -1.0), |number| TopCell::of(text(number), number))
    }

    /// Large numbers come first, texts from A to Z.
    fn compare(&self, other: &Self) -> Ordering {
        match (self.number, other.number) {
            (Some(one), Some(other)) => other.total_cmp(&one),
            _ => self.text.cmp(&other.text),
        }
    }
}

/// The state of a table.
#[derive(Default)]
struct TableView {
    column: usize,
    reversed: bool,
    selected: usize,
}

/// The explanation of a row.
struct Opened {
    lines: Vec<String>,
    top: usize,
}

/// The screen.
pub(super) struct TopView {
    pool: String,
    status: PoolStatus,
    failure: Option<String>,
    at: usize,
    tables: [TableView; 4],
    filter: String,
    is_typing: bool,
    rows: Vec<Vec<TopCell>>,
    opened: Option<Opened>,
    /// Rows of a page, as drawn last.
    page: usize,
    width: usize,
}

impl TopView {
    pub(super) fn new(pool: String, status: PoolStatus) -> Self {
        let mut view = TopView {
            pool,
            status,
            failure: None,
            at: 0,
            tables: Default::default(),
            filter: String::new(),
            is_typing: false,
            rows: Vec::new(),
            opened: None,
            page: 1,
            width: 80,
        };
        view.list();
        view
    }

    /// Shows a new state.
    pub(super) fn update(&mut self, status: PoolStatus) {
        self.status = status;
        self.failure = None;
        self.list();
    }

    /// Shows that the pool cannot be read.
    pub(super) fn fail(&mut self, message: &str) {
        self.failure = Some(message.to_owned());
    }

    /// Makes the rows of the table: filtered and sorted.
    fn list(&mut self) {
        let mut rows = match self.at {
            0 => submitters(&self.status),
            1 => groups(&self.status),
            2 => jobs(&self.status),
            _ => causes(&self.status),
        };
        let filter = self.filter.to_lowercase();
        rows.retain(|row| row.iter().any(|cell| cell.text.to_lowercase().contains(&filter)));
        let TableView { column, reversed, .. } = self.tables[self.at];
        rows.sort_by(|one, other| {
            let order = one[column].compare(&other[column]);
            if reversed { order.reverse() } else { order }
        });
        self.rows = rows;
        let selected = &mut self.tables[self.at].selected;
        *selected = (*selected).min(self.rows.len().saturating_sub(1));
    }

    /// Takes a key.
    pub(super) fn press(&mut self, key: KeyEvent) -> AfterKey {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return if key.code == KeyCode::Char('c') { AfterKey::Quit } else { AfterKey::Continue };
        }
        if self.is_typing {
            match key.code {
                KeyCode::Enter => self.is_typing = false,
                KeyCode::Esc => {
                    self.is_typing = false;
                    self.filter.clear();
                }
                KeyCode::Backspace => drop(self.filter.pop()),
                KeyCode::Char(letter) => self.filter.push(letter),
                _ => {}
            }
            self.list();
            return AfterKey::Continue;
        }
        match key.code {
            KeyCode::Char('q') => return AfterKey::Quit,
            KeyCode::Esc if self.opened.is_some() => self.opened = None,
            KeyCode::Esc => self.filter.clear(),
            KeyCode::Up => self.step(-1),
            KeyCode::Down => self.step(1),
            KeyCode::PageUp => self.step(-(self.page as isize)),
            KeyCode::PageDown => self.step(self.page as isize),
            KeyCode::Home => self.step(isize::MIN),
            KeyCode::End => self.step(isize::MAX),
            KeyCode::Enter if self.opened.is_none() => self.open(),
            _ if self.opened.is_some() => {}
            KeyCode::Tab => self.turn((self.at + 1) % TABLES.len()),
            KeyCode::BackTab => self.turn((self.at + TABLES.len() - 1) % TABLES.len()),
            KeyCode::Char(digit @ '1'..='4') => self.turn(digit as usize - '1' as usize),
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Char('s') => {
                let visible = widths(TABLES[self.at].1, u16::try_from(self.width).unwrap_or(u16::MAX)).len();
                let table = &mut self.tables[self.at];
                table.column = if table.column + 1 < visible { table.column + 1 } else { 0 };
            }
            KeyCode::Char('r') => self.tables[self.at].reversed ^= true,
            _ => {}
        }
        self.list();
        AfterKey::Continue
    }

    fn turn(&mut self, at: usize) {
        self.at = at;
        self.filter.clear();
    }

    fn step(&mut self, by: isize) {
        let (place, most) = match &mut self.opened {
            Some(opened) => (&mut opened.top, opened.lines.len()),
            None => (&mut self.tables[self.at].selected, self.rows.len()),
        };
        *place = place.saturating_add_signed(by).min(most.saturating_sub(1));
    }

    /// Opens the selected row.
    fn open(&mut self) {
        let Some(row) = self.rows.get(self.tables[self.at].selected) else { return };
        let name = if self.at == 3 { &row[2].text } else { &row[0].text };
        let lines = self.explained(name).unwrap_or_else(|error| vec![error.to_line()]);
        self.opened = Some(Opened { lines, top: 0 });
    }

    /// The explanation of a submitter, a group or a job.
    fn explained(&self, name: &str) -> Result<Vec<String>, ConfigError> {
        let (snapshot, mut text) = (&self.status.snapshot, Vec::new());
        // Writing to memory cannot fail.
        let mut out = Folded::new(&mut text, Some(self.width));
        if self.at < 2 {
            let mut pool = PreparedPool::new(snapshot)?;
            let division = pool.division();
            let outcome = pool.negotiate(CycleOptions::default())?.outcome;
            let steps = match self.at {
                0 => submitter::trace(&outcome, &pool, name).map(|found| found.steps),
                _ => group::trace(&outcome, division, name).map(|found| found.steps),
            };
            let missing = || vec!["the cycle that the negotiator would run now does not have it".to_owned()];
            let _ = write_steps(&mut out, name, &steps.unwrap_or_else(missing));
        } else if let Some((job, ad)) = self.job(name) {
            let subject = ExplainedJob::of(&job, ad);
            let found = of_job(&mut PreparedPool::for_explanation(snapshot)?, &subject, true)?;
            let parts = ShownParts { details: true, policies: 0 };
            let _ = write(&mut out, &found, &parts, Color::Off);
        }
        let _ = std::io::Write::flush(&mut out);
        drop(out);
        Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
    }

    /// The job of this name; one that the causes name as an example has no access point in its name.
    fn job(&self, name: &str) -> Option<(Job<'_>, &ClassAd)> {
        let names = &self.status.names;
        find(&self.status.snapshot, |job, _| names.name(job.id, job.schedd.as_deref()) == name)
            .or_else(|| find(&self.status.snapshot, |job, _| job.id.to_string() == name))
    }

    /// Draws the screen.
    pub(super) fn draw(&mut self, frame: &mut Frame<'_>) {
        let rows = [Constraint::Length(3), Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)];
        let [head, tabs, body, foot] = Layout::vertical(rows).areas(frame.area());
        self.width = usize::from(body.width);
        self.page = usize::from(body.height.saturating_sub(1)).max(1);
        frame.render_widget(Paragraph::new(self.head()), head);
        let titles = TABLES.iter().enumerate().map(|(at, (title, _))| {
            let style = if at == self.at { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
            ratatui::text::Span::styled(format!(" {} {title} ", at + 1), style)
        });
        frame.render_widget(titles.collect::<Line<'_>>(), tabs);
        if let Some(opened) = &self.opened {
            let lines = opened.lines.iter().skip(opened.top).map(|line| Line::raw(line.as_str()));
            frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), body);
        } else {
            self.table(frame, body);
        }
        let keys = match &self.opened {
            Some(_) => "Esc back  Up/Down scroll  q quit".to_owned(),
            None if self.is_typing => format!("filter: {}_", self.filter),
            None if !self.filter.is_empty() => format!("filter: {}  (Esc clears)", self.filter),
            None => "Tab table  Enter open  s sort  r reverse  / filter  q quit".to_owned(),
        };
        frame.render_widget(Line::raw(keys), foot);
    }

    fn table(&self, frame: &mut Frame<'_>, body: ratatui::layout::Rect) {
        let (_, columns) = TABLES[self.at];
        let TableView { column, reversed, selected } = self.tables[self.at];
        let headings = columns.iter().enumerate().map(|(at, (heading, _))| {
            let mark = if at != column {
                ""
            } else if reversed {
                "^"
            } else {
                "*"
            };
            format!("{heading}{mark}")
        });
        // Only the rows of the page are drawn.
        let first = selected.saturating_sub(self.page.saturating_sub(1));
        let shown = self.rows.iter().skip(first).take(self.page);
        let rows = shown.map(|row| Row::new(row.iter().map(|cell| cell.text.clone()).collect::<Vec<_>>()));
        let widths = widths(columns, body.width);
        let table = Table::new(rows, widths)
            .header(Row::new(headings).style(Style::new().add_modifier(Modifier::BOLD)))
            .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
        let mut state = TableState::new().with_selected((!self.rows.is_empty()).then_some(selected - first));
        frame.render_stateful_widget(table, body, &mut state);
    }

    /// The lines about the whole pool.
    fn head(&self) -> Vec<Line<'static>> {
        let status = &self.status;
        let (settings, now) = (language::settings(), status.snapshot.now);
        let state = |ad| AdReader::of(ad, &settings).string("State");
        let claimed = status.snapshot.slots.iter().filter(|ad| state(ad).is_some_and(|state| *state == *b"Claimed"));
        let slots = status.snapshot.slots.len();
        let first = format!(
            "{}: {}, {} claimed; {}: {} would be matched now",
            self.pool,
            counted(slots as u64, "slot"),
            claimed.count(),
            counted(status.idle.idle as u64, "idle job"),
            status.idle.matched,
        );
        let count = |what: &str| status.last_cycle(what).unwrap_or(0.0) as u64;
        let cycle = match status.last_cycle("End") {
            Some(end) => format!(
                "last cycle: {} ago, took {}, {}, {}",
                duration((now as f64 - end).max(0.0)),
                duration(status.last_cycle("Duration").unwrap_or(0.0)),
                counted(count("Matches"), "match"),
                counted(count("Rejections"), "rejection"),
            ),
            None => "the negotiator has not published a cycle".to_owned(),
        };
        let note = match (&self.failure, status.failures.iter().chain(&status.warnings).next()) {
            (Some(failure), _) => format!("not up to date: {failure}"),
            (None, Some(failure)) => failure.clone(),
            (None, None) => String::new(),
        };
        vec![Line::raw(first), Line::raw(cycle), Line::styled(note, Style::new().add_modifier(Modifier::BOLD))]
    }
}

fn submitters(status: &PoolStatus) -> Vec<Vec<TopCell>> {
    let in_use = status.accounts.iter().filter(|(_, account)| account.in_use > 0.0).map(|(name, _)| name);
    let names: std::collections::BTreeSet<&String> = status.submitters.keys().chain(in_use).collect();
    let row = |name: &String| {
        // A submitter that no cycle has looked at has no record.
        let account = status.accounts.get(name);
        let shown = |value: f64| format!("{value:.2}");
        let jobs = status.submitters.get(name).copied().unwrap_or_default();
        let cycle = status.outcome.submitters.iter().find(|line| line.submitter == *name);
        vec![
            TopCell::text(name.as_str()),
            TopCell::optional(account.map(|account| account.priority), shown),
            TopCell::optional(account.map(|account| account.factor), shown),
            TopCell::real(account.map_or(0.0, |account| account.in_use)),
            TopCell::count(jobs.running),
            TopCell::count(jobs.idle),
            TopCell::count(jobs.held),
            TopCell::optional(cycle.and_then(|line| line.share), |share| format!("{:.1}%", share * 100.0)),
            TopCell::count(cycle.map_or(0, |line| line.matched as i64)),
            TopCell::text(cycle.map_or("-", |line| line.stopped.as_str())),
        ]
    };
    names.into_iter().map(row).collect()
}

fn groups(status: &PoolStatus) -> Vec<Vec<TopCell>> {
    let row = |group: &classmate_pool::GroupSummary| {
        vec![
            TopCell::text(group.name.as_str()),
            TopCell::real(group.quota),
            TopCell::real(group.usage_before),
            TopCell::real(group.demand),
            TopCell::real(group.granted()),
            TopCell::text(group.surplus.as_str()),
        ]
    };
    status.outcome.groups.iter().map(row).collect()
}

fn jobs(status: &PoolStatus) -> Vec<Vec<TopCell>> {
    let settings = language::settings();
    let row = |ad| {
        let job = Job::new(ad, None, &settings)?;
        let facts = AdReader::of(ad, &settings);
        let number = |name: &str| facts.integer(name);
        let name = status.names.name(job.id, job.schedd.as_deref());
        let state = number("JobStatus").and_then(|state| JOB_STATES.get(usize::try_from(state - 1).ok()?));
        let since = number("EnteredCurrentStatus").map(|since| (status.snapshot.now - since).max(0) as f64);
        Some(vec![
            // Older jobs come first.
            TopCell::of(name, -(job.id.cluster as f64) - job.id.process as f64 / 1e9),
            TopCell::text(job.submitter.to_string()),
            TopCell::text(*state.unwrap_or(&"other")),
            TopCell::optional(since, duration),
            TopCell::optional(facts.number("RequestCpus"), |cpus| cpus.to_string()),
            TopCell::optional(facts.number("RequestMemory"), |memory| memory.to_string()),
        ])
    };
    status.snapshot.jobs.iter().filter_map(row).collect()
}

fn causes(status: &PoolStatus) -> Vec<Vec<TopCell>> {
    let causes = status.idle.causes.iter().map(|cause| {
        vec![
            TopCell::count(cause.jobs as i64),
            TopCell::text(cause.label.as_str()),
            TopCell::text(cause.example.as_str()),
        ]
    });
    causes.collect()
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use classmate::ClassAd;
    use classmate_config::Config;
    use classmate_pool::Snapshot;

    /// Two submitters, of whom the first has jobs that no slot takes.
    fn view() -> TopView {
        let ad = |text: String| ClassAd::parse(text.as_bytes()).unwrap();
        let job = |cluster: u32, user: &str, memory: u32| {
            ad(format!(
                "[ClusterId = {cluster}; ProcId = 0; JobStatus = 1; User = \"{user}@x\"; Owner = \"{user}\"; JobUniverse = 5; \
                 EnteredCurrentStatus = 40; RequestCpus = 1; RequestMemory = {memory}; \
                 Requirements = TARGET.Memory >= RequestMemory]"
            ))
        };
        let submitter = |name: &str, idle: u32| {
            ad(format!(
                "[Name = \"{name}@x\"; ScheddName = \"s\"; ScheddIpAddr = \"<1>\"; IdleJobs = {idle}; RunningJobs = 0]"
            ))
        };
        let slot =
            "[Name = \"slot1@m\"; State = \"Unclaimed\"; Cpus = 1; Memory = 100; Requirements = true]".to_owned();
        let snapshot = Snapshot {
            slots: vec![ad(slot)],
            jobs: vec![job(1, "alice", 999), job(2, "alice", 999), job(3, "bob", 50)],
            submitters: Some(vec![submitter("alice", 2), submitter("bob", 1)]),
            config: Config::parse("test", b"GROUP_NAMES = g\nGROUP_QUOTA_g = 1\n").unwrap(),
            now: 100,
            ..Snapshot::default()
        };
        let negotiator =
            ad("[LastNegotiationCycleEnd0 = 70; LastNegotiationCycleDuration0 = 2; LastNegotiationCycleMatches0 = 1]"
                .to_owned());
        TopView::new("cm".to_owned(), PoolStatus::of(snapshot, &[], negotiator, Vec::new()).unwrap())
    }

    /// The lines of the screen after some keys.
    fn screen(view: &mut TopView, keys: &[KeyCode]) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(100, 12)).unwrap();
        terminal.draw(|frame| view.draw(frame)).unwrap();
        for key in keys {
            assert_eq!(view.press(KeyEvent::from(*key)), AfterKey::Continue);
        }
        terminal.draw(|frame| view.draw(frame)).unwrap();
        let buffer = terminal.backend().buffer();
        let line =
            |y| (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
        (0..buffer.area.height).map(line).collect()
    }

    #[test]
    fn tables_are_sorted_filtered_and_opened() {
        // The last column of submitters does not fit into 80 columns.
        assert_eq!(widths(TABLES[0].1, 80)[0], Constraint::Fill(30));
        assert_eq!((widths(TABLES[0].1, 80).len(), widths(TABLES[0].1, 200)[0]), (9, Constraint::Length(30)));
        let mut view = view();
        let first = screen(&mut view, &[]);
        assert_eq!(first[0], "cm: 1 slot, 0 claimed; 3 idle jobs: 1 would be matched now");
        assert_eq!(first[1], "last cycle: 30s ago, took 2s, 1 match, 0 rejections");
        assert!(first[4].starts_with("SUBMITTER*") && first[5].starts_with("alice@x") && first[6].starts_with("bob@x"));
        // Reversed, and by the number of idle jobs.
        assert!(screen(&mut view, &[KeyCode::Char('r')])[5].starts_with("bob@x"));
        let by_idle = [&[KeyCode::Char('r')][..], &[KeyCode::Char('s'); 5]].concat();
        assert!(screen(&mut view, &by_idle)[5].starts_with("alice@x"));
        let filtered = screen(&mut view, &['/', 'b', 'o'].map(KeyCode::Char));
        assert!(
            filtered[5].starts_with("bob@x") && filtered[6].is_empty() && filtered[11] == "filter: bo_",
            "{filtered:#?}"
        );
        let cleared = screen(&mut view, &[KeyCode::Esc, KeyCode::Down, KeyCode::Down, KeyCode::Enter]);
        assert_eq!(cleared[4], "bob@x", "{cleared:#?}");
        let causes = screen(&mut view, &[KeyCode::Esc, KeyCode::Char('4')]);
        assert!(causes[5].starts_with("2 ") && causes[5].contains("more memory than any slot has"), "{causes:#?}");
        // The example of the cause is opened, with its explanation.
        let job = screen(&mut view, &[KeyCode::Enter]);
        assert!(job[4].starts_with("Job 1.0 of alice@x is idle: 0 of 1 slot"), "{job:#?}");
        let jobs = screen(&mut view, &[KeyCode::Esc, KeyCode::Char('3'), KeyCode::End]);
        assert!(
            jobs[5].starts_with("1.0 ") && jobs[7].starts_with("3.0 ") && jobs[7].contains("idle         1m"),
            "{jobs:#?}"
        );
        let groups = screen(&mut view, &[KeyCode::BackTab]);
        assert!(groups.iter().any(|line| line.starts_with("g ")), "{groups:#?}");
        view.fail("cm does not answer");
        assert_eq!(screen(&mut view, &[])[2], "not up to date: cm does not answer");
        assert_eq!(view.press(KeyEvent::from(KeyCode::Char('q'))), AfterKey::Quit);
    }

    #[test]
    fn jobs_of_two_access_points_with_the_same_id_are_told_apart() {
        let mut snapshot = view().status.snapshot;
        for (ad, name) in snapshot.jobs.iter_mut().zip(["a#1.0#9", "a#2.0#9", "b#1.0#9"]) {
            ad.insert("GlobalJobId", name);
        }
        snapshot.jobs[2].insert("ClusterId", 1_i64);
        let status = PoolStatus::of(snapshot, &[], ClassAd::default(), Vec::new()).unwrap();
        let mut view = TopView::new("cm".to_owned(), status);
        let jobs = screen(&mut view, &[KeyCode::Char('3')]);
        for name in ["1.0@a ", "2.0 ", "1.0@b "] {
            assert!(jobs.iter().any(|line| line.starts_with(name)), "{name}: {jobs:#?}");
        }
        let opened = screen(&mut view, &['/', '@', 'b'].map(KeyCode::Char));
        assert!(opened[5].starts_with("1.0@b "), "{opened:#?}");
        let opened = screen(&mut view, &[KeyCode::Enter, KeyCode::Enter]);
        assert!(opened[4].starts_with("Job 1.0 of bob@x "), "{opened:#?}");
    }

    #[test]
    fn tables_are_sorted_by_columns_that_are_visible() {
        let mut view = view();
        // Of 80 columns the first nine of submitters fit: the ninth press is back at the first.
        let mut terminal = Terminal::new(TestBackend::new(80, 12)).unwrap();
        terminal.draw(|frame| view.draw(frame)).unwrap();
        let mut after = |presses| {
            (0..presses).for_each(|_| assert_eq!(view.press(KeyEvent::from(KeyCode::Char('s'))), AfterKey::Continue));
            view.tables[0].column
        };
        assert_eq!([after(8), after(1), after(1)], [8, 0, 1]);
        // A column that was visible before is left for the first.
        assert_eq!(after(7), 8);
        terminal.backend_mut().resize(40, 12);
        terminal.draw(|frame| view.draw(frame)).unwrap();
        view.press(KeyEvent::from(KeyCode::Char('s')));
        assert_eq!(view.tables[0].column, 0);
    }

    #[test]
    fn no_terminal_is_too_small() {
        let mut view = view();
        for (width, height) in [(1, 1), (20, 3), (300, 5)] {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            terminal.draw(|frame| view.draw(frame)).unwrap();
            view.press(KeyEvent::from(KeyCode::Enter));
            terminal.draw(|frame| view.draw(frame)).unwrap();
            view.press(KeyEvent::from(KeyCode::PageDown));
        }
    }
}
