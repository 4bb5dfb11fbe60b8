//! `classmate test FILE…`

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;

use crate::cli::failure::MessageBody;
use crate::cli::settings::contents;
use crate::cli::{Failure, FormatArguments, Reply, Streams, input, language, object, print_result, written};
use crate::report::{self, Color, Origin, policy};
use classmate::internal::span::Position;
use classmate_advice::internal::policy_test::{Covered, PolicyFile, TestFileError, TestResult, run as run_tests};
use classmate_config::internal::config::disk::io_reason;

/// Run tests of a policy.
///
/// A test checks the value of an expression, a match and its deciding clause, or the result of a cycle. FILE is a TOML
/// file with ads (inline or from files in the same directory), a configuration, a pool for tests of a cycle, and
/// `[[test]]` tables. The clock is fixed: `now` in the file, otherwise 1970. See docs/test.md.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
A test:
  [[test]]
  name = 'big jobs need big slots'
  job = 'job'
  slot = 'slot'
  match = false
  clause = 'TARGET.Memory >= MY.RequestMemory'

Examples:
  classmate test examples/policy/start.toml
  classmate test examples/policy/*.toml --junit results.xml
  classmate test examples/policy/start.toml --coverage

Exit status: 0 if all tests pass, 1 if a test fails or a file cannot be read, 2 if a file is invalid.")]
pub(super) struct TestArguments {
    /// Test files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Only tests whose name contains this text
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    #[arg(long, help = "Also write the results to a JUnit XML file", value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Report clauses that were never true or never false in the tests
    #[arg(long)]
    coverage: bool,
    #[command(flatten)]
    output: FormatArguments,
}

/// The results of files of tests.
#[derive(Serialize)]
pub(super) struct Results<'a> {
    files: &'a [FileResults],
    passed: usize,
    failed: usize,
}

impl<'a> Results<'a> {
    pub(super) fn new(files: &'a [FileResults]) -> Self {
        let tests = || files.iter().flat_map(|file| &file.tests);
        let failed = tests().filter(|test| !test.failures.is_empty()).count();
        Self { files, passed: tests().count() - failed, failed }
    }

    /// Fails if there are no tests.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.passed + self.failed > 0 {
            return Ok(());
        }
        Err(Failure::input("no tests found").help("each test starts with `[[test]]`"))
    }

    /// Writes the results, with the clauses if there is `coverage`.
    pub(super) fn write(&self, out: &mut impl Write, coverage: bool, color: Color) -> io::Result<()> {
        for file in self.files {
            policy::write(out, &file.file, &file.tests, color)?;
            if coverage {
                policy::write_coverage(out, &file.coverage)?;
            }
        }
        writeln!(out, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// The results of a file of tests.
#[derive(Serialize)]
pub(super) struct FileResults {
    file: String,
    tests: Vec<TestResult>,
    /// The clauses, if they are asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    coverage: Vec<Covered>,
}

pub(super) fn run(arguments: &TestArguments, streams: Streams) -> Result<ExitCode, Failure> {
    let mut all: Vec<FileResults> = Vec::new();
    let mut wrong: Vec<(String, Failure)> = Vec::new();
    for path in &arguments.files {
        match of_file(path, arguments.only.as_deref(), arguments.coverage, streams.err) {
            Ok(results) => all.push(results),
            // The other files are run, and a build server gets the error.
            Err(failure) => wrong.push((path.display().to_string(), failure)),
        }
    }
    let result = Results::new(&all);
    let failed = result.failed;
    if !all.is_empty() {
        let tests = all.iter().flat_map(|file| file.tests.iter().map(move |test| (file, test)));
        let rows: Vec<_> = tests.map(|(file, test)| object(&[("file", json!(file.file))], test)).collect();
        let answer = Reply { schema: "test/1", result: &result, rows: &rows };
        print_result(arguments.output.format, &answer, |out| result.write(out, arguments.coverage, streams.out))?;
    }
    if let Some(path) = &arguments.junit {
        let mut text = Vec::new();
        let refused: Vec<(String, String)> =
            wrong.iter().map(|(name, why)| (name.clone(), without_color(&why.shown()))).collect();
        let results: Vec<_> = all.iter().map(|file| (file.file.as_str(), file.tests.as_slice())).collect();
        written(policy::junit(&mut text, &results, &refused))?;
        std::fs::write(path, text).map_err(|error| Failure::writing(path.display(), &error))?;
    }
    let last = wrong.pop();
    for (_, failure) in &wrong {
        failure.show();
    }
    if let Some((_, failure)) = last {
        return Err(failure);
    }
    result.check()?;
    Ok(if failed > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// A message without the colors of a terminal.
fn without_color(message: &str) -> String {
    let mut parts = message.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    plain
}

/// Runs the tests of a file whose names contain a text; with the clauses if there is to be `coverage`.
pub(super) fn of_file(path: &Path, only: Option<&str>, coverage: bool, color: Color) -> Result<FileResults, Failure> {
    let name = path.display().to_string();
    let text = contents(path)?;
    let text = String::from_utf8(text).map_err(|_| {
        Failure::input(format!("`{name}` is not UTF-8")).help("a test file is TOML, which is UTF-8 text")
    })?;
    let refused = |wrong: TestFileError| match wrong {
        TestFileError::Text(finding) => {
            let place = Position::of(text.as_bytes(), finding.span.start as usize);
            let drawn = report::render_diagnostic(&finding, text.as_bytes(), &Origin::whole(&name), color);
            Failure::drawn(MessageBody::at(&finding, &name, place.line, place.column), &drawn)
        }
        TestFileError::Other(message) => Failure::input(format!("{name}: {message}")),
    };
    let mut file = PolicyFile::parse(&text).map_err(refused)?;
    file.semantics = language::chosen();
    file.check_ads(&text).map_err(refused)?;
    if let Some(only) = only {
        file.tests.retain(|test| test.name.get_ref().contains(only));
    }
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let files = |file: &str| {
        let path = folder.join(file);
        let mut opened = input::open(&path).map_err(|_| format!("cannot read `{}`", path.display()))?;
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut opened.reader, &mut text)
            .map_err(|error| format!("cannot read `{}`: {}", path.display(), io_reason(&error)))?;
        Ok(text)
    };
    let (tests, covered) = run_tests(&file, &files).map_err(refused)?;
    Ok(FileResults { file: name, tests, coverage: if coverage { covered } else { Vec::new() } })
}
