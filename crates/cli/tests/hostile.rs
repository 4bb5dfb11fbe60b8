//! Input from strangers: each is answered as the reference answers it, or refused with a clear message; nothing
//! crashes, hangs, or takes more memory than a small multiple of the input.
//!
//! One file, because all tests share the limits and the way in which the command is run.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Output};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use classmate::internal::ad::ClassAd;
use classmate::internal::error::SyntaxErrorKind;
use classmate::internal::eval::EvalError;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::internal::value::Value;
use wait4::Wait4;

fn parse_error(source: &str) -> SyntaxErrorKind {
    parse_expr(source.as_bytes(), &ParseOptions::default()).unwrap_err().kind
}

fn eval_in(ad: &str, expr: &str) -> Result<Value, EvalError> {
    let ad = ClassAd::parse(ad.as_bytes()).unwrap();
    let expr = parse_expr(expr.as_bytes(), &ParseOptions::default()).unwrap();
    Scope::new(&ad, &EvalOptions::default()).eval(&expr)
}

/// Runs the command with a limit of memory, in kilobytes, and [`PATIENCE`].
fn classmate(kilobytes: u64, arguments: &[&str]) -> Output {
    limited(kilobytes, PATIENCE, "exec \"$0\" \"$@\"", arguments)
}

/// Runs a line of the shell, in which `$0` is the command, with limits of memory, in kilobytes, and of processor time, in
/// seconds. A command that takes longer is killed, and so is one that maps sixteen times as much address space. On a busy
/// machine it may take up to three times as much processor time as on a quiet one, so limits are at least three times what
/// the test profile needs there.
fn limited(kilobytes: u64, seconds: u64, line: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("ulimit -v {}; ulimit -t {seconds}; {line}", 16 * kilobytes);
    let mut command = vec!["sh", "-c", &line, env!("CARGO_BIN_EXE_classmate")];
    command.extend(arguments);
    std::fs::write(folder.path().join("command"), command.join(SEPARATOR)).unwrap();
    let measured = Command::new(std::env::current_exe().unwrap())
        .args(["hostile::a_command_is_measured", "--exact", "--ignored", "--no-capture"])
        .env(MEASURED, folder.path())
        .output()
        .unwrap();
    assert!(measured.status.success(), "{line} {arguments:?}: {measured:?}");
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let ended = text(&read("ended"));
    let (status, memory) = ended.split_once(' ').unwrap();
    let (status, memory) = (ExitStatus::from_raw(status.parse().unwrap()), memory.parse::<u64>().unwrap() >> 10);
    assert!(memory <= kilobytes, "{memory} KiB of memory, not {kilobytes}: {line} {arguments:?}");
    Output { status, stdout: read("stdout"), stderr: read("stderr") }
}

/// The variable that names the folder of a command to be measured.
const MEASURED: &str = "CLASSMATE_TEST_MEASURED";

/// Stands between the arguments of that command.
const SEPARATOR: &str = "\u{1f}";

/// Runs a command for [`limited`], and notes how it ended and its largest resident memory, in bytes. A process that starts
/// another leaves it what it has itself as the least value of that, so that a small process has to do it.
#[test]
#[ignore = "other tests start it"]
fn a_command_is_measured() {
    let Some(folder) = std::env::var_os(MEASURED).map(std::path::PathBuf::from) else { return };
    let command = std::fs::read_to_string(folder.join("command")).unwrap();
    let command: Vec<&str> = command.split(SEPARATOR).collect();
    let output = |name: &str| std::fs::File::create(folder.join(name)).unwrap();
    let child = Command::new(command[0])
        .args(&command[1..])
        .env("RAYON_NUM_THREADS", "2")
        .stdin(std::process::Stdio::null())
        .stdout(output("stdout"))
        .stderr(output("stderr"))
        .spawn()
        .unwrap();
    let ended = child.wait4().unwrap();
    std::fs::write(folder.join("ended"), format!("{} {}", ended.status.into_raw(), ended.rusage.maxrss)).unwrap();
}

/// Processor time of this thread; where the system does not report it, time by the clock.
fn thread_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_ascii_whitespace().next().and_then(|first| first.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

fn file(folder: &tempfile::TempDir, name: &str, contents: &[u8]) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, contents).unwrap();
    path.to_str().unwrap().to_owned()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_hundred_thousand_parentheses_are_too_deep() {
    let source = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(parse_error(&source), SyntaxErrorKind::TooDeep(500));
    // The reference accepts 165 in the value of an attribute and refuses 166 (section 12).
    let nested = |count: usize| format!("{}1{}", "(".repeat(count), ")".repeat(count));
    assert!(parse_expr(nested(165).as_bytes(), &ParseOptions::default()).is_ok());
    assert_eq!(parse_error(&nested(166)), SyntaxErrorKind::TooDeep(500));
}

#[test]
fn a_hundred_thousand_conditionals_are_too_deep() {
    assert_eq!(parse_error(&format!("{}c", "a ? b : ".repeat(100_000))), SyntaxErrorKind::TooDeep(500));
    assert_eq!(parse_error(&format!("{}1", "a ? ".repeat(100_000))), SyntaxErrorKind::TooDeep(500));
}

#[test]
fn other_nesting_is_bounded_too() {
    for opening in ["[a=", "{", "f(", "x[", "-", "!", "a ?: "] {
        let source = format!("{}1", opening.repeat(100_000));
        assert_eq!(parse_error(&source), SyntaxErrorKind::TooDeep(500), "{opening}");
    }
}

#[test]
fn a_chain_of_a_million_operators_parses_prints_compares_and_fails_to_evaluate() {
    let source = format!("0{}", " + 1".repeat(1_000_000));
    let expr = parse_expr(source.as_bytes(), &ParseOptions::default()).unwrap();
    assert_eq!(expr.to_string(), source);
    assert!(expr.same_as(&expr.clone()));
    let empty = ClassAd::new();
    assert_eq!(Scope::new(&empty, &EvalOptions::default()).eval(&expr).unwrap_err(), EvalError::Depth(400));
}

#[test]
fn circular_references_are_undefined() {
    assert!(eval_in("[a = b; b = c; c = a]", "a").unwrap().is_undefined());
    assert!(eval_in("[a = [b = a.b]]", "a.b").unwrap().is_undefined());
    let (left, right) = (ClassAd::parse(b"[x = TARGET.x]").unwrap(), ClassAd::parse(b"[x = TARGET.x]").unwrap());
    let settings = EvalOptions::default();
    assert!(Scope::new(&left, &settings).with_target(&right).eval_attr("x").unwrap().is_undefined());
}

#[test]
fn exponential_work_and_memory_are_abandoned() {
    let doubling = |term: &str, last: &str| {
        let links: Vec<String> =
            (0..40).map(|at| format!("a{at} = {}", term.replace('@', &format!("a{}", at + 1)))).collect();
        format!("[{}; a40 = {last}]", links.join("; "))
    };
    assert!(matches!(eval_in(&doubling("@ + @", "1"), "a0"), Err(EvalError::Work(_))));
    assert!(matches!(
        eval_in(&doubling("strcat(@, @)", "\"x\""), "a0"),
        Err(EvalError::Memory(_) | EvalError::Work(_))
    ));
}

#[test]
fn functions_nest_beyond_the_depth_limit_without_exhausting_the_stack() {
    // 150 nested calls in each of 390 attributes: 58,500 levels of native recursion.
    let call = |inner: &str| format!("{}{inner}{}", "int(".repeat(150), ")".repeat(150));
    let links: Vec<String> = (0..390).map(|at| format!("a{at} = {}", call(&format!("a{}", at + 1)))).collect();
    let value = eval_in(&format!("[{}; a390 = 7]", links.join("; ")), "a0");
    assert_eq!(value.unwrap().as_int(), Some(7));
}

#[test]
fn a_string_of_sixty_megabytes_is_read_in_a_small_multiple_of_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.ads");
    let mut out = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    out.write_all(b"s = \"").unwrap();
    for _ in 0..6_000 {
        out.write_all(&[b'x'; 10_000]).unwrap();
    }
    out.write_all(b"\"\n").unwrap();
    out.flush().unwrap();
    drop(out);
    let output = classmate(420_000, &["eval", "size(s)", "--my", path.to_str().unwrap()]);
    assert_eq!(text(&output.stdout), "60000000\n", "{}", text(&output.stderr));
    // As an expression, too.
    let source = format!("\"{}\"", "y".repeat(100_000_000));
    let expr = parse_expr(source.as_bytes(), &ParseOptions::default()).unwrap();
    assert_eq!(expr.to_text(classmate::internal::syntax::print::Style::New).len(), source.len());
}

#[test]
fn bytes_that_are_not_text_are_data_in_strings_and_errors_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "bytes.ads", b"s = \"\xff\xfe\"\n");
    let output = classmate(400_000, &["eval", "size(s)", "--my", &path]);
    assert_eq!(text(&output.stdout), "2\n");
    let path = file(&folder, "bad.ads", b"good = 1\nbad = \xff\n");
    let output = classmate(400_000, &["eval", "good", "--my", &path]);
    assert_eq!(text(&output.stdout), "1\n");
    let message = text(&output.stderr);
    assert!(message.contains("unexpected byte 0xff"), "{message}");
    assert!(message.contains("bad.ads:2:7"), "{message}");
}

#[test]
fn a_nul_byte_ends_an_expression() {
    let expr = parse_expr(b"1 + 1\0 + garbage )", &ParseOptions::default()).unwrap();
    assert_eq!(expr.to_string(), "1 + 1");
}

#[test]
fn carriage_returns_at_line_ends_are_no_part_of_the_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "dos.ads", b"a = \"x\"\r\nb = 2\r\n\r\na = 3\r\n");
    let output = classmate(400_000, &["eval", "strcat(a, string(b))", "--my", &path]);
    assert_eq!(text(&output.stdout), "\"x2\"\n", "{}", text(&output.stderr));
    let output = classmate(400_000, &["eval", "a", "--my", &path, "--my-at", "2"]);
    assert_eq!(text(&output.stdout), "3\n");
}

#[test]
fn a_truncated_file_gives_what_was_whole_and_says_what_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "cut.ads", b"a = 1\nb = \"abc");
    let output = classmate(400_000, &["eval", "a", "--my", &path]);
    assert_eq!(text(&output.stdout), "1\n");
    let message = text(&output.stderr);
    assert!(message.contains("the string is not closed"), "{message}");
    assert!(message.contains("skipped: 0 ads, 1 line"), "{message}");
}

#[test]
fn empty_files_directories_and_missing_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "empty.ads", b"");
    let output = classmate(400_000, &["eval", "a", "--my", &path]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("empty.ads` contains no ads"), "{}", text(&output.stderr));
    let output = classmate(400_000, &["eval", "a", "--my", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("it is a directory"), "{}", text(&output.stderr));
    let missing = Path::new("no-such-file.ads");
    let output = classmate(400_000, &["eval", "a", "--my", missing.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot read `no-such-file.ads`: no such file"), "{}", text(&output.stderr));
}

#[test]
fn a_parse_error_has_a_caret_under_the_place_and_status_2() {
    let output = classmate(400_000, &["eval", "Memory + * 2"]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    let lines: Vec<&str> = message.lines().collect();
    let source = lines.iter().position(|line| line.contains("Memory + * 2")).unwrap();
    assert_eq!(lines[source + 1].find('^'), lines[source].find('*'), "{message}");
}

#[test]
fn nobody_listening_is_no_reason_to_crash() {
    for redirection in ["2>&1 | true", "2>/dev/full", ">/dev/full"] {
        let command =
            format!("'{}' eval '1 +' {redirection}; '{0}' eval 1 {redirection}", env!("CARGO_BIN_EXE_classmate"));
        let output = Command::new("sh").args(["-c", &command]).output().unwrap();
        assert!(!text(&output.stderr).contains("panicked"), "{}", text(&output.stderr));
        assert_ne!(output.status.code(), Some(101), "{redirection}");
    }
}

#[test]
fn a_log_that_was_cut_is_read_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let pool = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("examples/pool");
    let log = std::fs::read(pool.join("Accountantnew.log")).unwrap();
    let path = file(&folder, "cut.log", &log[..log.len() - 10]);
    let output = classmate(900_000, &["negotiate", pool.to_str().unwrap(), "--log", &path]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let message = text(&output.stderr);
    assert!(message.contains("warning: ") && message.contains("cut.log:"), "{message}");
    assert!(message.contains("discarded the last line, which is incomplete"), "{message}");
}

/// Most seconds of processor time that a megabyte of input may take, ten times what was measured in a debug build on a slow machine.
const PATIENCE: u64 = 30;

/// A megabyte, nearly: what is repeated, again and again.
fn megabyte(part: &str) -> String {
    part.repeat(1_000_000 / part.len())
}

/// The limit of memory for inputs of a megabyte, in kilobytes.
const SPACE: u64 = 256 << 10;

/// Evaluates an expression in an ad of new syntax within the limits; returns the value and what was complained of.
fn within_limits(ad: &str, expr: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "hostile.ads", format!("{ad}\n").as_bytes());
    let output = classmate(SPACE, &["eval", expr, "--my", &path]);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{expr}: {:?} {}", output.status, text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// Asserts that an evaluation is given up: at a limit, with a message, or with the value error.
fn is_refused(ad: &str, expr: &str) {
    let (value, message) = within_limits(ad, expr);
    assert_eq!(value, "error\n", "{expr}: {message}");
}

#[test]
fn a_megabyte_of_comments_is_skipped() {
    for comment in ["/**/", "//\n", "/* a */ // b\n"] {
        let source = format!("1 + {}2", megabyte(comment));
        let expr = parse_expr(source.as_bytes(), &ParseOptions::default()).unwrap();
        assert_eq!(expr.to_string(), "1 + 2", "{comment}");
        let ad = ClassAd::parse(format!("[{}a = {}7]", megabyte(comment), megabyte(comment)).as_bytes()).unwrap();
        assert_eq!(ad.to_string(), "[ a = 7 ]", "{comment}");
    }
}

#[test]
fn chains_of_every_operator_are_read_printed_and_given_up() {
    let operators = [
        "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", ">>>", "<", "<=", ">", ">=", "==", "!=", "=?=", "=!=",
        "&&", "||",
    ];
    for operator in operators {
        let source = format!("x{}", megabyte(&format!(" {operator} x")));
        let expr = parse_expr(source.as_bytes(), &ParseOptions::default()).unwrap();
        assert_eq!(expr.to_text(classmate::internal::syntax::print::Style::Old), source.as_bytes(), "{operator}");
        let ad = ClassAd::parse(b"[x = 1]").unwrap();
        let value = Scope::new(&ad, &EvalOptions::default()).eval(&expr);
        assert_eq!(value.unwrap_err(), EvalError::Depth(400), "{operator}");
    }
}

#[test]
fn selections_and_subscripts_in_a_row_are_given_up() {
    for (first, part) in [("x", ".a"), ("[a = 1]", ".a"), ("x", "[0]"), ("{1}", "[0]")] {
        let source = format!("{first}{}", megabyte(part));
        match parse_expr(source.as_bytes(), &ParseOptions::default()) {
            Ok(expr) => {
                let value = Scope::new(&ClassAd::new(), &EvalOptions::default()).eval(&expr);
                assert!(matches!(value, Err(EvalError::Depth(_))), "{part}: {value:?}");
            }
            Err(error) => assert_eq!(error.kind, SyntaxErrorKind::TooDeep(500), "{part}"),
        }
    }
}

#[test]
fn attributes_that_double_are_given_up() {
    let chain = |first: &str, term: &str| {
        let links: Vec<String> =
            (1..60).map(|at| format!("a{at} = {}", term.replace('@', &format!("a{}", at - 1)))).collect();
        format!("[a0 = {first}; {}]", links.join("; "))
    };
    let megabyte = format!("\"{}\"", megabyte("x"));
    for (first, term) in [
        ("\"x\"", "strcat(@, @)"),
        (megabyte.as_str(), "strcat(@, @)"),
        ("\"x\"", "join(\",\", @, @)"),
        ("\"x\"", "join(\",\", split(@), split(@), @, @)"),
        ("1", "@ + @"),
        ("1", "size({ @, @ }) + @ + @"),
        ("\"aa\"", "replaceAll(\"a\", @, \"aa\")"),
        ("1", "eval(strcat(unparse(@), \" + \", unparse(@)))"),
        ("1 + 1", "eval(\"@ + @\")"),
        ("1", "@ ? @ + @ : @"),
    ] {
        is_refused(&chain(first, term), "a59");
    }
    // What is written, and not what it stands for, is the value of these.
    for (first, term, value) in [
        ("{1}", "{@, @}", "{ a58,a58 }\n"),
        ("x", "unparse(@)", "\"unparse(a57)\"\n"),
        ("{1}", "string({@, @})", "\"{ a58,a58 }\"\n"),
    ] {
        assert_eq!(within_limits(&chain(first, term), "a59").0, value, "{term}");
    }
    assert_eq!(within_limits(&chain("{1}", "{@, @}"), "a59 == a59").0, "error\n");
}

#[test]
fn contexts_inside_contexts_are_given_up() {
    let mut nested = "1".to_owned();
    let mut counted = "true".to_owned();
    for _ in 0..20 {
        nested = format!("evalInEachContext({nested}, L)");
        counted = format!("countMatches({counted} > 0, L)");
    }
    let ad = "[L = { [a = 1], [a = 2], [a = 3] }]";
    is_refused(ad, &nested);
    is_refused(ad, &counted);
    is_refused("[a = evalInEachContext(a, { [x = 1], [x = 2] })]", "a");
    let ads = format!("[L = {{ {} [a = 2] }}]", megabyte("[a = 1],"));
    is_refused(&ads, "evalInEachContext(evalInEachContext(a, L), L)");
    is_refused(&ads, "countMatches(countMatches(a > 0, L) > 1, L)");
    assert_eq!(within_limits(&ads, "countMatches(a > 1, L)").0, "1\n");
}

#[test]
fn lists_of_a_megabyte_are_searched_compared_and_printed() {
    let numbers = format!("[L = {{ {} 2 }}; LL = {{ {} {{ 2 }} }}]", "1,".repeat(250_000), "{ 1 },".repeat(80_000));
    for (expr, value) in [
        ("member(3, L)", "false"),
        ("anyCompare(\"==\", L, 2)", "true"),
        ("allCompare(\"<\", L, 3)", "true"),
        ("sum(L) + max(L) + min(L)", "250005"),
        ("L == L", "error"),
        ("member({ 2 }, LL)", "error"),
        // 2 + 80,000 * 6 + 5 + 2
        ("size(string(LL))", "480009"),
        ("size(join(\",\", L))", "500001"),
    ] {
        assert_eq!(within_limits(&numbers, expr).0, format!("{value}\n"), "{expr}");
    }
    assert_eq!(within_limits(&numbers, "LL").0.len(), 480_009 + 1);
}

/// Work that grows with the square of the input is given up.
#[test]
fn a_megabyte_against_a_megabyte_is_done_at_once_or_given_up() {
    let tokens = |letter: char| (0..60_000).map(|at| format!("{letter}{at}")).collect::<Vec<_>>().join(",");
    let ad = format!("[a = \"{}\"; b = \"{}\"]", tokens('a'), tokens('b'));
    for (expr, value) in [
        ("stringListsIntersect(a, b)", "false"),
        ("stringListSubsetMatch(a, strcat(b, \",\", a))", "true"),
        ("stringListISubsetMatch(a, b)", "false"),
        ("stringListMember(\"b\", a)", "false"),
        ("size(split(a))", "60000"),
    ] {
        assert_eq!(within_limits(&ad, expr).0, format!("{value}\n"), "{expr}");
    }
    let every =
        |call: &str, subject: &str| format!("[a = \"{subject}\"; L = {{ {} 1 }}]", format!("{call},").repeat(20_000));
    let numbers = "1,".repeat(250_000);
    let digits = "1".repeat(400_000);
    for (call, subject) in [
        ("stringListsIntersect(a, a)", tokens('a').as_str()),
        ("stringListSubsetMatch(a, a)", tokens('a').as_str()),
        ("stringListMember(\"x\", a)", tokens('a').as_str()),
        ("stringListSum(a)", numbers.as_str()),
        ("stringListSize(a)", numbers.as_str()),
        ("int(a)", digits.as_str()),
        ("real(a)", digits.as_str()),
        ("round(a)", digits.as_str()),
        ("versioncmp(a, a)", digits.as_str()),
        ("a == strcat(a)", digits.as_str()),
        ("strcmp(a, strcat(a))", digits.as_str()),
        ("member(a, { strcat(a) })", digits.as_str()),
        ("size(split(a, \"1\"))", digits.as_str()),
        ("formatTime(0, a)", digits.as_str()),
        // Every argument counts, whatever it is for.
        ("pow(a, 2)", digits.as_str()),
        ("interval(a)", digits.as_str()),
        ("quantize(a, a)", digits.as_str()),
        ("quantize(1, a)", digits.as_str()),
        ("quantize(1, { a })", digits.as_str()),
        ("versioncmp(a, \"9\")", digits.as_str()),
        ("split(\"a\", a)", digits.as_str()),
        ("stringListsIntersect(\"a\", \"b\", a)", digits.as_str()),
        ("stringListSize(\"a\", a)", digits.as_str()),
        ("stringListMember(\"a\", \"a,b\", a)", digits.as_str()),
        ("replaceAll(\"a\", \"b\", \"c\", a)", digits.as_str()),
        ("regexp(\"a\", \"b\", a)", digits.as_str()),
        ("[x = 1][a]", digits.as_str()),
    ] {
        is_refused(&every(call, subject), "join(L)");
    }
}

#[test]
fn patterns_that_backtrack_are_given_up() {
    let patterns = [
        "(a+)+$",
        "(a|aa)+$",
        "(a*)*b",
        "(.*)(.*)(.*)(.*)x",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(?:a++)+b",
        "(a(?1)?)b",
        "a{1,1000}{1,60}b",
        "((((a{1,9}){1,9}){1,9}){1,9})b",
    ];
    for pattern in patterns {
        for (subject, count) in [(1_000_000, 1), (60_000, 1), (1000, 1), (100, 300_000)] {
            let texts = vec!["s"; count].join(",");
            let ad = format!("[s = \"{}b!\"; L = {{ {texts} }}]", "a".repeat(subject));
            let expr = format!("regexpMember(\"{pattern}\", L) || replaceAll(\"{pattern}\", s, \"x\") == \"x\"");
            let (value, _) = within_limits(&ad, &expr);
            assert!(["true\n", "false\n", "error\n"].contains(&value.as_str()), "{pattern}: {value}");
        }
    }
    // Each is another pattern, and takes long to compile.
    let calls: Vec<String> = (0..20_000).map(|at| format!("regexp(\"((a{{1,255}}){{1,255}}{at})\", \"a\")")).collect();
    is_refused(&format!("[L = {{ {} }}]", calls.join(",")), "join(L)");
    is_refused(&format!("[s = \"{}\"]", "(".repeat(1_000_000)), "regexp(s, s)");
}

#[test]
fn two_ads_that_ask_one_another_are_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let links: Vec<String> = (0..60).map(|at| format!("a{at} = TARGET.a{} + TARGET.a{0};", at + 1)).collect();
    let ad = format!("[{} x = TARGET.x + TARGET.x; y = TARGET.z; z = TARGET.y; a60 = 1]\n", links.concat());
    let (left, right) = (file(&folder, "left.ads", ad.as_bytes()), file(&folder, "right.ads", ad.as_bytes()));
    for (expr, value) in [("a0", "error\n"), ("x", "undefined\n"), ("y", "undefined\n"), ("TARGET.a0", "error\n")] {
        let output = classmate(SPACE, &["eval", expr, "--my", &left, "--target", &right]);
        assert_eq!(text(&output.stdout), value, "{expr}: {}", text(&output.stderr));
    }
}

#[test]
fn a_hundred_thousand_references_are_listed() {
    let source =
        format!("{{ {} }}", (0..100_000).map(|at| format!("TARGET.a{at}, b{at}")).collect::<Vec<_>>().join(","));
    let expr = parse_expr(source.as_bytes(), &ParseOptions::default()).unwrap();
    let (ad, settings) = (ClassAd::new(), EvalOptions::default());
    let found = classmate::internal::eval::references::external(
        &ad,
        &expr,
        classmate::internal::eval::references::Naming::Full,
        &settings,
    )
    .unwrap();
    assert_eq!(found.len(), 200_000);
}

#[test]
fn flattening_what_doubles_is_bounded() {
    use classmate::internal::eval::flatten::{Inlining, flatten};
    for term in ["@ + @", "strcat(@, @)", "{@, @}", "@ && @", "@ ? @ : @", "[b = @; c = @]"] {
        let links: Vec<String> =
            (1..60).map(|at| format!("a{at} = {}", term.replace('@', &format!("a{}", at - 1)))).collect();
        let ad = ClassAd::parse(format!("[a0 = x; {}]", links.join("; ")).as_bytes()).unwrap();
        let expr = parse_expr(b"a59", &ParseOptions::default()).unwrap();
        let begin = thread_time();
        if let Ok(classmate::internal::eval::flatten::Flattened::Residue(rest)) =
            flatten(&ad, &expr, Inlining::Inline, &EvalOptions::default())
        {
            let limit = usize::try_from(EvalOptions::default().limits.bytes).unwrap();
            assert!(rest.to_text_within(classmate::internal::syntax::print::Style::New, 2 * limit).is_some(), "{term}");
        }
        let taken = thread_time().saturating_sub(begin);
        assert!(taken < Duration::from_secs(PATIENCE), "{term}: {taken:?}");
    }
}

/// A megabyte in each form, read and written in every form.
#[test]
fn a_megabyte_in_every_form_is_read_and_written() {
    let json = |inside: &str| format!("{{\"a\": {inside}}}\n");
    let xml = |inside: &str| format!("<c><a n=\"a\">{inside}</a></c>\n");
    let inputs: Vec<(&str, String)> = vec![
        ("json", json(&"[".repeat(1_000_000))),
        ("json", json(&format!("{}{}", "[".repeat(500_000), "]".repeat(500_000)))),
        ("json", "{\"a\":".repeat(160_000)),
        ("json", (0..500).map(|_| format!("{{\"a\": {}{}}}", "[".repeat(900), "]".repeat(900))).collect()),
        (
            "json",
            format!(
                "[{{{}}}]",
                (0..500)
                    .map(|at| format!("\"a{at}\": {}{}", "[".repeat(900), "]".repeat(900)))
                    .collect::<Vec<_>>()
                    .join(",")
            ),
        ),
        ("json", json(&format!("[{}1]", format!("{}{},", "[".repeat(900), "]".repeat(900)).repeat(500)))),
        ("json", json(&format!("\"{}\"", megabyte("\\u00e9")))),
        ("json", json(&format!("\"{}\"", megabyte("\\ud83d")))),
        ("json", json(&format!("[{}1]", megabyte("1,")))),
        ("json", json(&format!("[{}1]", megabyte("{},")))),
        ("json", megabyte("{}")),
        ("json", megabyte("x{}")),
        ("json", megabyte("/**/")),
        ("xml", xml(&megabyte("<l>"))),
        ("xml", xml(&format!("{}{}", "<l>".repeat(140_000), "</l>".repeat(140_000)))),
        ("xml", xml(&format!("<l>{}</l>", megabyte("<i>1</i>")))),
        ("xml", xml(&format!("<s>{}</s>", megabyte("&lt;")))),
        ("xml", megabyte("<c>")),
        ("xml", megabyte("<")),
        ("xml", megabyte("<c><a n=\"a\">")),
        ("new", megabyte("[")),
        ("new", megabyte("[a=")),
        ("new", megabyte("[]")),
        ("new", megabyte("x[]")),
        ("new", format!("[a = 1{}]", megabyte(";"))),
        ("new", format!("[{}]", (0..60_000).map(|at| format!("a{at} = x + {at};")).collect::<String>())),
        ("new", megabyte("[a = \"")),
        ("long", format!("a = {}", megabyte("x + "))),
        ("long", format!("a = \"{}\"\n", megabyte("x"))),
        ("long", format!("a = {{ {}1 }}\n", megabyte("1,"))),
        ("long", megabyte("a = (\n\n")),
        ("long", megabyte("=")),
        ("long", format!("{} = 1\n", megabyte("x"))),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (form, input) in &inputs {
        let path = file(&folder, "hostile.ads", input.as_bytes());
        let shown: String = input.chars().take(40).collect();
        for to in ["long", "new", "pretty", "json", "jsonl", "xml"] {
            let output = classmate(SPACE, &["ads", &path, "--from", form, "--to", to]);
            let message = text(&output.stderr);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{shown} to {to}: {:?} {message}", output.status);
            assert!(!message.contains("panicked"), "{shown} to {to}: {message}");
        }
    }
}

#[test]
fn a_megabyte_is_answered_in_the_session() {
    let inputs = [
        format!("x{}", " + x".repeat(250_000)),
        format!("\"a\"{}", "+b".repeat(500_000)),
        format!("{{ {}x }}", "x == undefined,".repeat(60_000)),
        megabyte("x x "),
        megabyte("10K "),
        megabyte("a & "),
        megabyte("(]"),
        megabyte("'"),
        megabyte("\"a"),
    ];
    for input in &inputs {
        let shown: String = input.chars().take(20).collect();
        for command in ["", ":trace ", ":ast ", ":refs ", ":flatten ", ":type ", "y = "] {
            let folder = tempfile::tempdir().unwrap();
            let path = file(&folder, "script", format!("{command}{input}\n1 + 1\n").as_bytes());
            let output = limited(SPACE, PATIENCE, "exec \"$0\" repl < \"$1\"", &[&path]);
            let printed = text(&output.stdout);
            assert!(printed.ends_with("\n2\n") || printed == "2\n", "{command}{shown}: {}", text(&output.stderr));
        }
    }
}

#[test]
fn reasons_are_looked_for_within_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let chain: String = (0..60_000).map(|at| format!("a{at} = a{} + 1;", at + 1)).collect();
    let path = file(&folder, "chain.ad", format!("[{chain}]").as_bytes());
    let eval = "exec \"$0\" eval a0 --my \"$1\" --explain";
    let output = limited(SPACE, PATIENCE / 10, eval, &[&path]);
    assert!(text(&output.stderr).contains("exceeds 400 levels"), "{}", text(&output.stderr));
    let many: String = (0..60_000).map(|at| format!("attr{at} = {at};")).collect();
    let clauses: Vec<String> = (0..3000).map(|at| format!("TARGET.nop{at} > 1")).collect();
    let path = file(&folder, "many.ad", format!("[{many} Requirements = {}]", clauses.join(" && ")).as_bytes());
    let session = "echo :match | \"$0\" repl --my \"$1\" --target \"$1\"";
    let output = limited(SPACE, PATIENCE / 10, session, &[&path]);
    assert!(text(&output.stdout).contains("match: no"));
}

/// A finding about a value that a later one replaces does not hold all lines between them.
#[test]
fn commands_that_are_set_again_are_reported_within_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let all = |value: u8| (0..8000).map(|at| format!("+A{at} = {value}\n")).collect::<String>();
    let submit = format!("executable = a\n{}{}queue\n", all(1), all(2));
    let path = file(&folder, "again.sub", submit.as_bytes());
    let output = classmate(SPACE, &["lint", &path]);
    let printed = text(&output.stdout);
    assert!(printed.contains("the earlier value is in line 2\n"), "{printed}{}", text(&output.stderr));
}

/// Conditions inside of each other, long chains, and ads whose attributes all lead to one another take time in
/// proportion to the text.
#[test]
fn a_megabyte_is_linted_in_proportion_to_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let links: String = (0..40_000).map(|at| format!("a{at} = a{0} + a{0}\n", at + 1)).collect();
    let amounts: String = (0..8_000).map(|at| format!("# comment one two {at}\nallowed_job_duration = 60\n")).collect();
    let maps: String = (0..6_000).map(|at| format!("KNOB_{at} = userMap(\"m{at}\", Owner)\n")).collect();
    let names: Vec<String> = (0..6_000).map(|at| format!("m{at}")).collect();
    for (name, contents) in [
        ("amounts.sub", amounts),
        ("maps.config", format!("CLASSAD_USER_MAP_NAMES = {}\n{maps}", names.join(" "))),
        ("if.sub", megabyte("if true\n")),
        ("plus.ads", format!("x = 1{}\n", megabyte("+1"))),
        ("plus.config", format!("x = 1{}\n", megabyte("+1"))),
        ("and.ads", format!("Requirements = a{}\n", megabyte("&&a"))),
        ("and.config", format!("START = a{}\n", megabyte("&&a"))),
        ("and.sub", format!("requirements = a{}\n", megabyte("&&a"))),
        ("links.ads", links),
        ("empty.ads", megabyte("[]")),
        ("line.ads", megabyte("[a=b]")),
    ] {
        let path = file(&folder, name, contents.as_bytes());
        let output = limited(SPACE, PATIENCE / 2, "exec \"$0\" \"$@\"", &["lint", &path]);
        assert!(matches!(output.status.code(), Some(0 | 2)), "{name}: {:?} {}", output.status, text(&output.stderr));
    }
}

/// Lines that are wrong are not all kept until the ad ends.
#[test]
fn lines_that_are_wrong_are_reported_within_bounds() {
    let folder = tempfile::tempdir().unwrap();
    for (line, message) in [
        ("a\n", "found no `=`"),
        ("(\n", "found no `=`"),
        ("=\n", "syntax"),
        (":h\n", "found no `=`"),
        ("a = b \\\n", "ignored-text"),
    ] {
        let path = file(&folder, "lines.ads", line.repeat(2_000_000 / line.len()).as_bytes());
        let output = classmate(SPACE - (32 << 10), &["lint", &path]);
        let printed = text(&output.stdout);
        assert!(printed.contains(message), "{line}: {:?} {printed}{}", output.status, text(&output.stderr));
    }
}

/// Lines after those that wait for the end of the ad are looked at, too: here the last line is wrong, and the one before it replaces
/// a value.
#[test]
fn long_ads_are_linted_to_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..12_000).map(|at| format!("A{at} = B + {at}\n")).collect();
    let path = file(&folder, "long.ads", format!("{lines}A7 = 3\nLast = 1 +\n").as_bytes());
    let printed = text(&classmate(SPACE, &["lint", &path]).stdout);
    assert!(printed.contains("long.ads:12001:1\n") && printed.contains("the ad has `A7` already"), "{printed}");
    assert!(printed.contains("long.ads:12002:"), "{printed}");
}

/// One evaluation may take 10,000,000 steps; a megabyte of ads that each take as much is given up.
#[test]
fn a_megabyte_of_costly_ads_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let links: String = (0..20).map(|at| format!("a{at} = a{0} + a{0}\n", at + 1)).collect();
    let ads = format!("{links}a20 = 1\n\n").repeat(4000);
    let path = file(&folder, "costly.ads", ads.as_bytes());
    for more in [&["--constraint", "a0 > 5", "--count"][..], &["--attributes", "a0", "--values"]] {
        let output = classmate(SPACE, &[&["ads", &path], more].concat());
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("evaluation limit reached"), "{}", text(&output.stderr));
    }
}

/// A megabyte of short jobs and slots makes billions of pairs.
#[test]
fn pairs_of_too_many_ads_are_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let ads: Vec<String> = (0..40_000).map(|at| format!("a={at}\n")).collect();
    let costly = format!("Requirements = sum({{{}}}) > 0\n", vec!["TARGET.a"; 40_000].join(","));
    let (many, one) =
        (file(&folder, "many.ads", ads.join("\n").as_bytes()), file(&folder, "one.ads", costly.as_bytes()));
    for (jobs, slots, shown) in [
        (&many, &many, "1600000000 pairs of 40000 jobs and 40000 slots"),
        (&one, &many, "40000 pairs of 1 job and 40000 slots"),
    ] {
        for pairs in ["none", "all"] {
            let output = classmate(SPACE, &["match", "--job", jobs, "--slots", slots, "--pairs", pairs]);
            assert_eq!(output.status.code(), Some(1));
            let message = text(&output.stderr);
            let refused = if pairs == "all" && jobs == slots {
                "error: 1600000000 pairs are too many to list\n".to_owned()
            } else {
                format!("error: evaluation limit reached: {shown}\n")
            };
            assert!(message.starts_with(&refused), "{message}");
            assert!(message.contains("--no-limit"), "{message}");
        }
    }
    let output = classmate(
        SPACE,
        &["match", "--job", "../../examples/pool/jobs.ads", "--slots", "../../examples/pool/slots.ads"],
    );
    let all = classmate(
        SPACE,
        &["match", "--job", "../../examples/pool/jobs.ads", "--slots", "../../examples/pool/slots.ads", "--no-limit"],
    );
    assert!(output.status.success() && output.stdout == all.stdout);
}

/// Slots and requests that all have expressions of their own are evaluated one by one: to compile each pair would take longer, and
/// a gigabyte.
#[test]
fn a_cycle_of_ads_that_all_differ_takes_time_for_its_pairs_alone() {
    let folder = tempfile::tempdir().unwrap();
    let slot = |at: usize| {
        format!(
            "MyType=\"Machine\"\nName=\"s{at}\"\nCpus=1\nMemory=100\nState=\"Unclaimed\"\nRequirements=TARGET.RequestMemory<{at}\n"
        )
    };
    let job = |at: usize| {
        format!(
            "ClusterId={at}\nProcId=0\nJobStatus=1\nUser=\"u@x\"\nRequestMemory={at}\nRequirements=TARGET.Memory>{at}\n\
             Rank=TARGET.Memory*{at}\n"
        )
    };
    let ads = |one: &dyn Fn(usize) -> String| (0..3000).map(one).collect::<Vec<_>>().join("\n");
    let slots = file(&folder, "slots.ads", ads(&slot).as_bytes());
    let jobs = file(&folder, "jobs.ads", ads(&job).as_bytes());
    let output = classmate(SPACE, &["negotiate", "--slots", &slots, "--jobs", &jobs, "--matches", "none"]);
    // A slot has 100 MB: jobs 0 to 99 fit, each in a slot with a higher number.
    assert!(
        text(&output.stdout).contains("100 matches, 2900 rejections"),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    let output = classmate(SPACE, &["explain", "--slots", &slots, "--jobs", &jobs, "--all"]);
    // Of 2900 requests without a slot, 20,000,000 / (8000 + 3000 + 50 * 3000) = 124 are evaluated.
    let message = text(&output.stderr);
    assert!(message.contains("the cause of 2776 requests is what the cycle recorded"), "{message}");
}

/// Each slot takes all the steps that one evaluation may take, and an explanation evaluates it many times.
#[test]
fn slots_that_take_long_are_explained_within_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let links: String = (0..24).map(|at| format!("B{at}=B{0}+B{0}\n", at + 1)).collect();
    let slot = |at: usize| {
        format!(
            "MyType=\"Machine\"\nName=\"s{at}\"\nCpus=1\n{links}B24={at}\nRequirements=B0>1\nMemory=10000\nState=\"Unclaimed\"\n"
        )
    };
    let slots = (0..50).map(slot).collect::<Vec<_>>().join("\n");
    let slots = file(&folder, "slots.ads", slots.as_bytes());
    let jobs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/pool/jobs.ads");
    for about in [&["--all"][..], &["--job", "1.0"]] {
        let arguments = [&["explain", "--slots", &slots, "--jobs", jobs], about].concat();
        let output = limited(SPACE, PATIENCE / 2, "exec \"$0\" \"$@\"", &arguments);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("take more than 100000 steps for 50 slots, such as `s0`"), "{message}");
    }
}

/// Conditions of a job that are a megabyte long, that double, or whose patterns backtrack.
#[test]
fn a_megabyte_of_conditions_is_explained_within_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let slot = |at: usize| {
        format!(
            "MyType=\"Machine\"\nName=\"s{at}\"\nMachine=\"h{at}\"\nCpus=1\nMemory=8192\nState=\"Unclaimed\"\nRequirements=true\n"
        )
    };
    let slots: String = (0..50).map(slot).collect::<Vec<_>>().join("\n");
    let slots = file(&folder, "slots.ads", slots.as_bytes());
    let clauses: Vec<String> =
        (0..20_000).map(|at| format!("(TARGET.A{at} > {at} || TARGET.Memory > {})", at + 9000)).collect();
    let names: Vec<String> = (0..100_000).map(|at| format!("\"n{at}\"")).collect();
    let doubling: String = (0..60).map(|at| format!("A{at}=A{0} || A{0}\n", at + 1)).collect();
    let text_list = (0..150_000).map(|at| format!("n{at}")).collect::<Vec<_>>().join(",");
    let backtracking = format!("regexp(\"^(([a-z])+.)+[A-Z]([a-z])+$\",\"{}\")", "a".repeat(1000));
    let cut = "1 condition of the job is too long to be changed in part: only its removal was tested";
    for (requirements, more, printed, warning) in [
        (clauses.join(" && "), "", cut, ""),
        (format!("member(TARGET.Machine,{{{}}})", names.join(",")), "", cut, ""),
        ("stringListMember(TARGET.Machine,L)".to_owned(), &*format!("L=\"{text_list}\"\n"), "L of the job is", ""),
        ("A0".to_owned(), &*doubling, "no slot satisfies", "more than 100000 steps"),
        // What Requirements do not reach takes no steps.
        (
            "A0".to_owned(),
            &*format!("{doubling}Filler=\"{text_list}\"\n"),
            "no slot satisfies",
            "more than 100000 steps",
        ),
        (backtracking, "", "no slot satisfies", "more than 100000 steps"),
    ] {
        let job = format!(
            "ClusterId=1\nProcId=0\nJobStatus=1\nJobUniverse=5\nMyType=\"Job\"\nOwner=\"u\"\nUser=\"u@x\"\nRequestCpus=1\n{more}\
             Requirements={requirements}\n"
        );
        let jobs = file(&folder, "jobs.ads", job.as_bytes());
        let arguments = ["explain", "--slots", &slots, "--jobs", &jobs, "--job", "1.0"];
        let output = limited(SPACE, PATIENCE, "exec \"$0\" \"$@\"", &arguments);
        let (answer, message) = (text(&output.stdout), text(&output.stderr));
        assert!(answer.contains(printed), "{:.60}: {:?} {answer:.2000}{message:.2000}", requirements, output.status);
        assert!(message.contains(warning) && answer.lines().count() <= 12, "{answer:.2000}{message:.2000}");
        // Slots that count as not matching are input that was skipped.
        assert_eq!(output.status.code(), Some(i32::from(!warning.is_empty())), "{message:.2000}");
    }
    let submit = format!("executable = /bin/true\nrequirements = {}\nqueue\n", clauses.join(" && "));
    let submit = file(&folder, "job.sub", submit.as_bytes());
    let arguments = ["explain", "--slots", &slots, "--submit", &submit];
    let output = limited(SPACE, PATIENCE, "exec \"$0\" \"$@\"", &arguments);
    assert!(text(&output.stdout).contains(cut), "{:.2000}{:.2000}", text(&output.stdout), text(&output.stderr));
}

/// References that double take time in proportion to the ad, and calls that are joined do to the text.
#[test]
fn jobs_that_double_or_join_many_calls_take_little_time() {
    let folder = tempfile::tempdir().unwrap();
    let doubling: String = (0..60).map(|at| format!("A{at} = A{0} + A{0}\n", at + 1)).collect();
    let calls: Vec<String> =
        (0..4000).map(|at| format!("ifThenElse(TARGET.Memory > {at}, TARGET.Cpus > 0, false)")).collect();
    for (name, requirements, more) in
        [("double.ads", "A0 > 5".to_owned(), &*doubling), ("calls.ads", calls.join(" && "), "")]
    {
        let job = format!(
            "MyType = \"Job\"\nClusterId = 1\nProcId = 0\nJobStatus = 1\nOwner = \"u\"\nRequestMemory = 1\n{more}\
             Requirements = {requirements}\n"
        );
        let path = file(&folder, name, job.as_bytes());
        let slots = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/stuck/slots.ads");
        for command in [
            &["match", "--job", &path, "--slots", slots][..],
            &["negotiate", "--jobs", &path, "--slots", slots],
            &["explain", "--jobs", &path, "--slots", slots, "--job", "1.0"],
        ] {
            // Each took more than a minute.
            let output = limited(SPACE, PATIENCE / 3, "exec \"$0\" \"$@\"", command);
            assert!(output.status.code().is_some(), "{command:?}: {:?} {}", output.status, text(&output.stderr));
        }
    }
}

/// Quotas of groups that are not declared are compared with those that are within bounds.
#[test]
fn many_group_quotas_are_checked_in_proportion_to_their_number() {
    let folder = tempfile::tempdir().unwrap();
    let quotas: String = (0..20_000).map(|at| format!("GROUP_QUOTA_g{at} = {at}\n")).collect();
    let names: Vec<String> = (0..10_000).map(|at| format!("g{at}")).collect();
    let text = format!("GROUP_NAMES = {}\n{quotas}", names.join(", "));
    let path = file(&folder, "quotas.config", text.as_bytes());
    for command in ["lint", "check"] {
        let line = if command == "lint" { "exec \"$0\" lint \"$1\"" } else { "exec \"$0\" config check \"$1\"" };
        let output = limited(SPACE, PATIENCE / 2, line, &[&path]);
        assert_eq!(output.status.code(), Some(0), "{command}: {:?}", output.status);
    }
}

/// Lines that go on and on are looked at once each.
#[test]
fn a_megabyte_of_open_lines_is_answered_in_the_session() {
    for part in ["(\n", "\"a\n", "{ /* a\n", &format!("({}\n", "a".repeat(190))] {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder, "script", format!("{}\n:quit\n", megabyte(part)).as_bytes());
        let output = limited(SPACE, PATIENCE, "exec \"$0\" repl < \"$1\"", &[&path]);
        assert!(output.status.success(), "{part}: {:?} {}", output.status, text(&output.stderr));
        let printed = text(&output.stdout);
        assert!(printed.starts_with("error: ") && printed.lines().count() < 2000, "{part}: {printed}");
    }
}

/// A file of gzip with parts that are repeated.
fn compressed(folder: &tempfile::TempDir, name: &str, parts: &[(&[u8], usize)]) -> String {
    let path = folder.path().join(name);
    let mut out = flate2::write::GzEncoder::new(std::fs::File::create(&path).unwrap(), flate2::Compression::fast());
    for (part, count) in parts {
        (0..*count).for_each(|_| out.write_all(part).unwrap());
    }
    out.finish().unwrap();
    path.to_str().unwrap().to_owned()
}

/// A format, what comes before an ad, what is repeated in it, and what comes after.
type Form<'a> = (&'static str, &'static [u8], &'a [u8], &'static [u8]);

/// Three hundred megabytes are one ad, in each form: it is skipped, reported and counted, and the next one is read.
#[test]
fn an_ad_of_more_than_64_mib_is_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let (x, line) = (vec![b'x'; 1 << 20], b"abcdefgh = \"abcdefghijklmnopqrstuvwxyz\"\n".repeat(1000));
    let nested = b"<l><s>x</s></l>".repeat(1000);
    let forms: [Form<'_>; 6] = [
        ("long", b"a = 1\n\na = \"", &x, b"\"\nb = 2\n\na = 3\n"),
        ("long", b"a = 1\n\n", &line, b"\na = 3\n"),
        ("new", b"[a = 1]\n[a = \"", &x, b"\"; b = \"]\"]\n[a = 3]\n"),
        ("json", b"[\n{\"a\": 1},\n{\"a\": \"", &x, b"\"},\n{\"a\": 3}\n]\n"),
        (
            "xml",
            b"<c><a n=\"a\"><i>1</i></a></c>\n<c><a n=\"a\"><l>",
            &nested,
            b"</l></a></c>\n<c><a n=\"a\"><i>3</i></a></c>\n",
        ),
        ("xml", b"<c><a n=\"a\"><i>1</i></a></c>\n<c><a n=\"", &x, b"\"/></c>\n<c><a n=\"a\"><i>3</i></a></c>\n"),
    ];
    for (form, before, part, after) in forms {
        // The rest does not compress, so that the file is not said to expand too much.
        let mut noise = 1_u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            b'a' + (noise >> 59) as u8 % 26
        })
        .take(6 << 20)
        .collect();
        let noise = match form {
            "long" => [b"# ", noise.as_slice(), b"\n\n"].concat(),
            "xml" => [b"<!", noise.as_slice(), b">\n"].concat(),
            _ => [b"/*", noise.as_slice(), b"*/\n"].concat(),
        };
        let count = (300 << 20) / part.len();
        let path = compressed(&folder, form, &[(&noise, 1), (before, 1), (part, count), (after, 1)]);
        let output = classmate(SPACE, &["ads", &path, "--attributes", "a", "--values", "--from", form]);
        let message = text(&output.stderr);
        assert_eq!(text(&output.stdout), "1\n3\n", "{form}: {message}");
        assert_eq!(output.status.code(), Some(1), "{form}: {message}");
        assert!(message.contains("the ad is too large: more than "), "{form}: {message}");
        assert!(message.contains("2 ads were read") && message.contains("skipped: 1 ad, 0 lines"), "{form}: {message}");
    }
}

/// The same file for commands that keep the ads and read the long format with several threads.
#[test]
fn an_ad_that_is_too_long_does_not_keep_the_others_from_a_cycle() {
    let folder = tempfile::tempdir().unwrap();
    let pool = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("examples/pool");
    let slots = std::fs::read(pool.join("slots.ads")).unwrap();
    for part in [vec![b'x'; 1 << 20], b"Name = \"x\"\n".repeat(1 << 16)] {
        let count = (180 << 20) / part.len();
        let path =
            compressed(&folder, "slots.gz", &[(&slots, 1), (b"\nA = ", 1), (&part, count), (b"\n\n", 1), (&slots, 1)]);
        let output = classmate(SPACE, &["negotiate", pool.to_str().unwrap(), "--slots", &path, "--matches", "none"]);
        let message = text(&output.stderr);
        assert!(
            text(&output.stdout).contains("28 slots with weight 28")
                || message.contains("expands to more than 100 times"),
            "{message}"
        );
        assert!(message.contains("the ad is too large: more than "), "{message}");
        assert_eq!(output.status.code(), Some(1), "{message}");
    }
}

/// Two megabytes expand to a bounded size, in text and in memory.
#[test]
fn compressed_input_expands_within_limits() {
    let folder = tempfile::tempdir().unwrap();
    let pool = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/pool");
    let sum = format!("a = x{}\n\n", "+x".repeat(60_000));
    for part in [
        &b"a=1\n\n".repeat(1 << 16)[..],
        b"[]".repeat(1 << 16).as_slice(),
        sum.as_bytes(),
        &b"{\"a\":[1,1]}".repeat(1 << 14),
    ] {
        let path = compressed(&folder, "many.gz", &[(part, (300 << 20) / part.len())]);
        assert!(std::fs::metadata(&path).unwrap().len() < 2_000_000);
        for arguments in [
            &["ads", &path, "--count"][..],
            &["ads", &path, "--sort", "a", "--count"],
            &["negotiate", pool, "--slots", &path],
            &["config", "check", &path],
        ] {
            let output = classmate(SPACE, arguments);
            let message = text(&output.stderr);
            assert!(matches!(output.status.code(), Some(1 | 2)), "{arguments:?}: {:?} {message}", output.status);
            assert!(message.contains("100 times its compressed size"), "{arguments:?}: {message}");
        }
    }
}

/// However many ads there are, the command holds one of them.
#[test]
fn fifty_thousand_ads_stream_in_bounded_memory() {
    let ad: String = (0..40).map(|at| format!("Attribute{at} = strcat(\"value\", {at})\n")).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.ads");
    let mut out = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    for at in 0..50_000 {
        writeln!(out, "Name = \"slot{at}\"\nMemory = {}\n{ad}", at % 1000).unwrap();
    }
    out.flush().unwrap();
    drop(out);
    let path = path.to_str().unwrap();
    // The file is 76 MB long.
    for (arguments, lines) in [
        (vec!["ads", path, "--count"], 1),
        (vec!["ads", path, "--constraint", "Memory >= 500", "--attributes", "Name", "--values"], 25_000),
        (vec!["ads", path, "--to", "jsonl"], 50_000),
    ] {
        let output = classmate(64 << 10, &arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout).lines().count(), lines, "{arguments:?}");
    }
}

#[test]
fn configurations_of_dirac_as_large_as_they_like_are_read_in_time() {
    use classmate_config::internal::config::dirac::{DiracSettings, DiracTree, Whose};
    let many = |line: &dyn Fn(usize) -> String| (0..40_000).map(line).collect::<String>();
    let correctors = many(&|at| format!("I{at} {{\nGroup = g{at}\nS {{\n}}\n}}\n"));
    let started = many(&|at| format!("W{at}, W"));
    for text in [
        format!("ShareCorrections {{\nShareCorrectorsToStart = {started}\nW {{\n{correctors}}}\n}}"),
        format!("Operations {{\n{}}}", many(&|at| format!("vo{at} {{\nJobScheduling {{\n}}\n}}\n"))),
        many(&|_| "a += b\n".to_owned()),
        format!("Registry {{\nGroups {{\n{}}}\n}}", many(&|at| format!("g{at} {{\nJobShare = 1\n}}\n"))),
        format!("RunningLimit {{\n{}}}", many(&|at| format!("s{at} {{\nOwner {{\na = 1\n}}\n}}\n"))),
        "{".repeat(1_000_000),
        "a{".repeat(500_000),
    ] {
        let start = thread_time();
        let read = DiracTree::parse("c", text.as_bytes()).and_then(|tree| DiracSettings::read(&tree, Whose::default()));
        drop(read);
        let taken = thread_time().saturating_sub(start);
        assert!(taken < Duration::from_secs(5), "{taken:?}: {}", &text[..40]);
    }
}

/// Each job asks for an attribute of its own: a table of all attributes of all jobs would have 36 million cells, 144 MB and more.
#[test]
fn jobs_that_each_look_at_an_attribute_of_their_own_are_served_without_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let slots = "Name = \"s1\"\nState = \"Unclaimed\"\nRequirements = true\nX3 = 1\nX5999 = 1\n";
    file(&folder, "slots.ads", slots.as_bytes());
    let job = |at: usize| {
        format!("ClusterId = {at}\nProcId = 0\nJobStatus = 1\nUser = \"a@x\"\nRequirements = TARGET.X{at} > 0\n\n")
    };
    file(&folder, "jobs.ads", (1..=6000).map(job).collect::<String>().as_bytes());
    let pool = folder.path().to_str().unwrap();
    let found = classmate(1 << 20, &["negotiate", pool]);
    let out = text(&found.stdout);
    // Job 3 has the lower number, so that it is served first.
    assert!(found.status.success() && out.contains("1  3.0  a@x"), "{out}{}", text(&found.stderr));
}

#[test]
fn many_messages_of_one_kind_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..250).map(|at| format!("GROUP_QUOTA_a{at} = 3\n")).collect();
    let config = file(&folder, "config", format!("GROUP_NAMES = b\n{lines}").as_bytes());
    // One more is about the quota that `b` lacks.
    let found = text(&classmate(1 << 21, &["config", "check", &config]).stdout);
    assert!(found.contains("GROUP_QUOTA_a99") && !found.contains("GROUP_QUOTA_a100"), "{found}");
    assert!(
        found.contains("note: 150 more warnings not shown: ") && found.ends_with("0 errors, 251 warnings\n"),
        "{found}"
    );
    // 25 lines that cannot be read and 25 values.
    let lines = limited(
        1 << 21,
        PATIENCE,
        "for i in $(seq 25); do echo \"1 +\"; echo $i; done | exec \"$0\" \"$@\"",
        &["repl"],
    );
    let found = text(&lines.stdout);
    assert_eq!((found.matches("error: ").count(), found.matches("\n25\n").count()), (20, 1), "{found}");
    assert!(found.contains("note: 5 more errors not shown: "), "{found}");
}

#[test]
fn jobs_of_many_queue_statements_are_made_of_what_was_set_before_each() {
    let folder = tempfile::tempdir().unwrap();
    let submit = "executable = /bin/true\nrequest_cpus = 1\nqueue\nqueue\nrequest_cpus = 2\nqueue\nqueue Item in (a b)\nqueue 2\n";
    let file = file(&folder, "job.sub", submit.as_bytes());
    let found = text(&classmate(1 << 21, &["ads", &file, "--attributes", "ProcId,RequestCpus", "--values"]).stdout);
    let numbers: Vec<&str> = found.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty()).collect();
    assert_eq!(numbers.join(" "), "0 1 1 1 2 2 3 2 4 2 5 2 6 2", "{found}");
}

/// Jobs share what no item changes: 90,000 of them took 670 MB.
#[test]
fn many_jobs_of_one_submit_file_take_little_memory() {
    const JOBS: usize = 90_000;
    let folder = tempfile::tempdir().unwrap();
    let items: String = (1..=JOBS).map(|at| format!("{at}\n")).collect();
    let submit = format!(
        "executable = /bin/sh\nrequest_memory = $(m)\nrequirements = OpSysMajorVer > 6\n+Name = \"x$(m)\"\nqueue m from (\n{items})\n"
    );
    let submit = file(&folder, "job.sub", submit.as_bytes());
    let pool = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/stuck");
    for (command, expected) in [
        (&["explain", pool, "--submit", &submit][..], "is idle: 0 of 6 slots match"),
        (&["explain", pool, "--jobs", &submit, "--all"], "90000 idle jobs: 0 matched, 90000 not matched"),
        (&["negotiate", pool, "--jobs", &submit], "no matches"),
        (
            &[
                "ads",
                &submit,
                "--constraint",
                "RequestMemory == ProcId + 1 && Name == strcat(\"x\", RequestMemory)",
                "--count",
            ],
            "90000\n",
        ),
    ] {
        // It is the memory that counts: on a slow machine, a debug build takes more than half a minute.
        let output = limited(SPACE, 4 * PATIENCE, "exec \"$0\" \"$@\"", command);
        let (found, message) = (text(&output.stdout), text(&output.stderr));
        assert!(found.contains(expected), "{command:?}: {:?} {found:.500}{message:.500}", output.status);
    }
}

/// DAGs are read once for a folder, not once for each of its submit files.
#[test]
fn submit_files_beside_a_large_dag_are_linted_in_little_time() {
    let folder = tempfile::tempdir().unwrap();
    let nodes: String =
        (0..40_000).map(|at| format!("JOB n{at} j{}.sub\nVARS n{at} Size=\"{at}\"\n", at % 400)).collect();
    file(&folder, "all.dag", nodes.as_bytes());
    let submit =
        |at: usize| file(&folder, &format!("j{at}.sub"), b"executable = /bin/true\narguments = $(Size)\nqueue\n");
    let files: Vec<String> = (0..400).map(submit).collect();
    let arguments: Vec<&str> = ["lint"].into_iter().chain(files.iter().map(String::as_str)).collect();
    let output = limited(SPACE, PATIENCE / 2, "exec \"$0\" \"$@\"", &arguments);
    let found = text(&output.stdout);
    assert!(output.status.code().is_some() && !found.contains("Size"), "{:?} {found:.500}", output.status);
}
