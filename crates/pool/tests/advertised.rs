//! A pool whose daemons have several versions: each expression is evaluated in the version of its ad.
//!
//! Expected values follow from the rules of `docs/reference/versions.md` 2.

#![expect(clippy::unwrap_used, reason = "a test whose data is wrong has failed")]

use classmate::{ClassAd, EvalOptions, Format, ParseOptions, Reader, Scope, Semantics, parse_expr};
use classmate_pool::Snapshot;
use classmate_pool::internal::negotiate::{CycleOptions, Matcher, PreparedPool, Purpose};

const SLOT: &str =
    "MyType = \"Machine\"\nCpus = 1\nMemory = 4096\nDisk = 1000\nState = \"Unclaimed\"\nActivity = \"Idle\"";
const JOB: &str = "MyType = \"Job\"\nJobStatus = 1\nUser = \"ada@x\"\nOwner = \"ada\"\nRequestMemory = 100";

/// Ads with these lines, each read in its version.
fn ads<'t>(common: &str, names: &str, ads: impl IntoIterator<Item = &'t (&'t str, &'t str)>) -> Vec<ClassAd> {
    let texts = ads.into_iter().zip(0..).map(|((version, lines), at)| {
        let names = names.replace('#', &format!("{at}"));
        format!("{common}\n{names}\n{lines}\nCondorVersion = \"$CondorVersion: {version} 2026-01-01 $\"\n")
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    let options = ParseOptions { semantics: Semantics::default().advertised(), ..ParseOptions::default() };
    Reader::new(text.as_bytes(), Format::Long, &options).collect::<Result<_, _>>().unwrap()
}

/// The slots that jobs get if the negotiator has a version: `job slot`. Both matchers agree.
fn matched(negotiator: &str, slots: &[(&str, &str)], jobs: &[(&str, &str)]) -> Vec<String> {
    let mut snapshot = Snapshot {
        slots: ads(SLOT, "Name = \"s#\"\nMachine = \"s#\"", slots),
        jobs: ads(JOB, "ClusterId = #\nProcId = 0", jobs),
        now: 1_000_000,
        ..Snapshot::default()
    };
    let negotiator: Semantics = negotiator.parse().unwrap();
    snapshot.config = snapshot.config.read_as(negotiator.advertised());
    // The slots may be in the snapshot or beside it.
    let rest = Snapshot { slots: Vec::new(), ..snapshot.clone() };
    let beside = || PreparedPool::prepare(&rest, snapshot.slots.clone(), Purpose::Cycle, &mut ());
    let by = |matcher| {
        let options = CycleOptions { matcher, ..CycleOptions::default() };
        let pool = if matcher == Matcher::Reference { beside() } else { PreparedPool::new(&snapshot) };
        let cycle = pool.and_then(|mut pool| pool.negotiate(options)).unwrap();
        let matches = cycle.outcome.matches.iter();
        matches.map(|found| format!("{} {}", found.cluster, found.slot)).collect::<Vec<_>>()
    };
    let (fast, slow) = (by(Matcher::default()), by(Matcher::Reference));
    assert_eq!(fast, slow);
    fast
}

/// `2K` is 2048.0 until 23.8; since then the reader of the long format ignores what follows the `2`.
#[test]
fn a_suffix_means_what_it_means_to_the_daemon_that_wrote_it() {
    let requirements = "Requirements = TARGET.RequestMemory < 2K";
    let slots = [("23.0.28", requirements), ("25.14.1", requirements)];
    assert_eq!(matched("25.14", &slots, &[("25.14.1", "Requirements = true")]), ["0 s0"]);
    assert_eq!(matched("23.0", &slots, &[("23.0.28", "Requirements = true")]), ["0 s0"]);
}

/// `versiongt` is an unknown function, an error, until 25.12.
#[test]
fn each_side_knows_the_functions_of_its_version() {
    let newer = "Requirements = versiongt(\"2\", \"1\")";
    let slots = [("24.0.24", "Requirements = true"), ("25.14.1", newer)];
    assert_eq!(matched("25.14", &slots, &[("25.14.1", newer)]).len(), 1);
    assert_eq!(matched("25.14", &slots, &[("24.0.24", newer)]), [""; 0]);
    assert_eq!(matched("25.14", &[("24.0.24", newer)], &[("25.14.1", "Requirements = true")]), [""; 0]);
    assert_eq!(matched("24.0", &[("25.14.1", newer)], &[("24.0.24", "Requirements = true")]), ["0 s0"]);
}

/// The evaluation of an attribute that refers to itself fails until 25.12; then its default counts.
#[test]
fn a_circle_fails_where_the_daemon_of_its_ad_is_older() {
    let circle = "Within = Within ?: true\nRequirements = Within";
    let slots = [("24.0.24", circle), ("25.12.2", circle), ("25.13.2", circle)];
    assert_eq!(matched("25.14", &slots, &[("25.14.1", "Requirements = true")]), ["0 s2"]);
    assert_eq!(matched("24.0", &slots, &[("24.0.24", "Requirements = true")]), ["0 s2"]);
    // The job asks for an attribute of the slot.
    let asking = [("25.14.1", "Requirements = TARGET.Within")];
    let open = "Within = Within ?: true\nRequirements = true";
    assert_eq!(matched("25.14", &[("24.0.24", open), ("25.13.2", open)], &asking), ["0 s1"]);
}

/// `a ?: b == c` is `a ?: (b == c)` until 23.9.
#[test]
fn jobs_of_two_versions_with_one_text_are_not_one_request() {
    let text = "Requirements = \"x\" ?: \"y\" == \"x\"";
    let jobs = [("23.0.28", text), ("23.10.29", text), ("23.0.28", text)];
    let slots = [("25.14.1", "Requirements = true"); 3];
    // "x" is not true; `("x" ?: "y") == "x"` is.
    assert_eq!(matched("25.14", &slots, &jobs), ["1 s0"]);
}

/// Limits are those of the negotiator: 402 terms are too many for one since 25.13.
#[test]
fn limits_are_those_of_the_negotiator() {
    let long = format!("Requirements = {} > 0", ["1"; 402].join(" + "));
    let slots = [("24.0.24", long.as_str())];
    assert_eq!(matched("25.14", &slots, &[("25.14.1", "Requirements = true")]), [""; 0]);
    assert_eq!(matched("24.0", &slots, &[("25.14.1", "Requirements = true")]), ["0 s0"]);
}

#[test]
fn an_ad_of_every_format_is_read_in_its_version() {
    let options = EvalOptions { semantics: Semantics::default().advertised(), ..EvalOptions::default() };
    let [old, new] = ["23.0.28", "25.14.1"].map(|version| format!("$CondorVersion: {version} $"));
    let a = "\\\"x\\\" ?: \\\"\\\" != \\\"Copy\\\"";
    let texts = [
        (
            Format::Long,
            format!(
                "A = \"x\" ?: \"\" != \"Copy\"\nCondorVersion = \"{old}\"\n\n\nCondorVersion = \"{new}\"\nA = \"x\" ?: \"\" != \"Copy\"\n\nA = \"x\" ?: \"\" != \"Copy\"\n"
            ),
        ),
        (
            Format::New,
            format!(
                "{{ [A = \"x\" ?: \"\" != \"Copy\"; CondorVersion = \"{old}\"], [CondorVersion = \"{new}\"; A = \"x\" ?: \"\" != \"Copy\"], [A = \"x\" ?: \"\" != \"Copy\"] }}"
            ),
        ),
        (
            Format::Json,
            format!(
                "[{{\"A\": \"\\/Expr({a})\\/\", \"CondorVersion\": \"{old}\"}}, {{\"CondorVersion\": \"{new}\", \"A\": \"\\/Expr({a})\\/\"}}, {{\"A\": \"\\/Expr({a})\\/\"}}]"
            ),
        ),
        (
            Format::Xml,
            format!(
                "<classads><c><a n=\"A\"><e>\"x\" ?: \"\" != \"Copy\"</e></a><a n=\"CondorVersion\"><s>{old}</s></a></c><c><a n=\"CondorVersion\"><s>{new}</s></a><a n=\"A\"><e>\"x\" ?: \"\" != \"Copy\"</e></a></c><c><a n=\"A\"><e>\"x\" ?: \"\" != \"Copy\"</e></a></c></classads>"
            ),
        ),
    ];
    for (format, text) in texts {
        let values: Vec<String> = Reader::new(text.as_bytes(), format, &options.parse_options())
            .map(|ad| Scope::new(&ad.unwrap(), &options).eval_attr("A").unwrap().to_string())
            .collect();
        assert_eq!(values, ["\"x\"", "true", "true"], "{format:?}");
    }
}

/// A string is parsed in the version of the expression that evaluates it.
#[test]
fn eval_reads_as_the_version_of_its_ad() {
    let options = EvalOptions { semantics: Semantics::default().advertised(), ..EvalOptions::default() };
    let found = ads("", "", &[("23.0.28", "A = eval(\"1K\")"), ("25.14.1", "A = isError(eval(\"1K\"))")]);
    let scope = Scope::new(&found[0], &options).with_target(&found[1]);
    let value = |text: &str| scope.eval(&parse_expr(text.as_bytes()).unwrap()).unwrap().to_string();
    assert_eq!((value("MY.A"), value("TARGET.A")), ("1.024000000000000E+03".to_owned(), "true".to_owned()));
}
