//! Input from strangers: each is answered as the reference answers it, or refused with a clear message; nothing
//! crashes, hangs, or takes more memory than a small multiple of the input.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

use classmate::ad::ClassAd;
use classmate::error::SyntaxErrorKind;
use classmate::eval::Failed;
use classmate::eval::scope::{Scope, Settings};
use classmate::syntax::parse::{ParseOptions, parse_expr};
use classmate::value::Value;

fn parse_error(source: &str) -> SyntaxErrorKind {
    parse_expr(source.as_bytes(), &ParseOptions::default()).unwrap_err().kind
}

fn eval_in(ad: &str, expr: &str) -> Result<Value, Failed> {
    let ad = ClassAd::parse(ad.as_bytes()).unwrap();
    let expr = parse_expr(expr.as_bytes(), &ParseOptions::default()).unwrap();
    Scope::new(&ad, &Settings::default()).eval(&expr)
}

/// Runs the command with so much address space, in kilobytes.
fn classmate(kilobytes: u64, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_classmate")]);
    command.args(arguments).output().unwrap()
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
    assert_eq!(Scope::new(&empty, &Settings::default()).eval(&expr).unwrap_err(), Failed::Depth(400));
}

#[test]
fn circular_references_are_undefined() {
    assert!(eval_in("[a = b; b = c; c = a]", "a").unwrap().is_undefined());
    assert!(eval_in("[a = [b = a.b]]", "a.b").unwrap().is_undefined());
    let (left, right) = (ClassAd::parse(b"[x = TARGET.x]").unwrap(), ClassAd::parse(b"[x = TARGET.x]").unwrap());
    let settings = Settings::default();
    assert!(Scope::new(&left, &settings).with_target(&right).eval_attr("x").unwrap().is_undefined());
}

#[test]
fn exponential_work_and_memory_are_abandoned() {
    let doubling = |term: &str, last: &str| {
        let links: Vec<String> =
            (0..40).map(|at| format!("a{at} = {}", term.replace('@', &format!("a{}", at + 1)))).collect();
        format!("[{}; a40 = {last}]", links.join("; "))
    };
    assert!(matches!(eval_in(&doubling("@ + @", "1"), "a0"), Err(Failed::Work(_))));
    assert!(matches!(eval_in(&doubling("strcat(@, @)", "\"x\""), "a0"), Err(Failed::Memory(_) | Failed::Work(_))));
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
fn a_string_of_a_hundred_megabytes_is_read_in_a_small_multiple_of_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.ads");
    let mut out = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    out.write_all(b"s = \"").unwrap();
    for _ in 0..10_000 {
        out.write_all(&[b'x'; 10_000]).unwrap();
    }
    out.write_all(b"\"\n").unwrap();
    out.flush().unwrap();
    drop(out);
    let output = classmate(700_000, &["eval", "size(s)", "--my", path.to_str().unwrap()]);
    assert_eq!(text(&output.stdout), "100000000\n", "{}", text(&output.stderr));
    // As an expression, too.
    let source = format!("\"{}\"", "y".repeat(100_000_000));
    let expr = parse_expr(source.as_bytes(), &ParseOptions::default()).unwrap();
    assert_eq!(expr.to_text(classmate::syntax::print::Style::New).len(), source.len());
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
    assert!(message.contains("unexpected character byte 0xff"), "{message}");
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
    assert!(message.contains("1 lines were skipped"), "{message}");
}

#[test]
fn empty_files_directories_and_missing_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "empty.ads", b"");
    let output = classmate(400_000, &["eval", "a", "--my", &path]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("empty.ads` holds no ads"), "{}", text(&output.stderr));
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
