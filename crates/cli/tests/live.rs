//! Commands with `--pool`: against daemons of HTCondor 25.14.1 where they can be set up, and against peers that are not
//! daemons everywhere.
//!
//! The pool is that of `tests/pool/pool.sh`. The test does not download HTCondor: it is skipped unless `tests/differential/pool.sh`
//! has unpacked it before, as `.ci/run` does. One file, because all tests share the pool and the way in which it is read.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic, and says why it is skipped")]

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Signatures of tokens, which no output may hold.
static SECRETS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Runs the command without the tokens of the user.
fn classmate(arguments: &[&str]) -> Output {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_classmate")).args(arguments).env("HOME", home).output().unwrap();
    let all = text(&output.stdout) + &text(&output.stderr);
    for secret in &*SECRETS.lock().unwrap() {
        assert!(!all.contains(secret), "{arguments:?} prints a secret");
    }
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Expects one message and the exit status 2.
fn fails(arguments: &[&str], message: &str) {
    fails_with(arguments, message, 2);
}

fn fails_with(arguments: &[&str], message: &str, status: i32) {
    let output = classmate(arguments);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {errors}");
    let lines: Vec<&str> = errors.lines().filter(|line| !line.starts_with("  = help: ")).collect();
    assert!(lines.len() == 1 && lines[0].contains(message), "expected `{message}`, found {errors}");
}

/// A pool of real daemons, which ends with the value.
struct Pool {
    port: u16,
    folder: tempfile::TempDir,
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/pool/pool.sh")
}

impl Pool {
    /// Starts a pool with these settings and environment; none if that is not possible here.
    fn up(offset: u16, settings: &str, environment: &[(&str, &str)]) -> Option<Self> {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache")))?;
        if !cache.join("classmate-pool/sid/.made").exists() {
            eprintln!("skipped: HTCondor is not unpacked; run tests/differential/pool.sh");
            return None;
        }
        let port = 20_000 + (std::process::id() % 5_000) as u16 * 2 + offset * 10_000;
        let pool = Pool { port, folder: tempfile::tempdir().unwrap() };
        let file = pool.file("settings", settings);
        let mut command = pool.command(&["up", file.to_str().unwrap()]);
        let output = command.envs(environment.iter().copied()).output().unwrap();
        if !output.status.success() {
            eprintln!("skipped: {}", text(&output.stderr));
            return None;
        }
        Some(pool)
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(script());
        command.args(arguments).env("PORT", self.port.to_string()).env("MACHINES", "1").env("SLOTS", "8");
        command
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    fn submit(&self, user: &str, count: u32, more: &str) {
        let job = format!("executable = /bin/sleep\narguments = 600\nrequest_memory = 64\n{more}\nqueue {count}\n");
        let mut child =
            self.command(&["submit", user, "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(job.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let _ = self.command(&["wipe"]).output();
    }
}

/// Ads of the long format by a key, without attributes that change by themselves.
fn ads(long: &str, key: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let moving = |name: &str| {
        let parts = [
            "Time",
            "LoadAvg",
            "Updates",
            "Last",
            "Recent",
            "MonitorSelf",
            "Stats",
            "Idle",
            "Clock",
            "Disk",
            "Duty",
            "Usage",
            "Virtual",
            "Authenticat",
        ];
        parts.iter().any(|part| name.contains(part))
    };
    let ad = |text: &str| -> BTreeMap<String, String> {
        let lines = text.lines().filter_map(|line| line.split_once(" = "));
        lines.filter(|(name, _)| !moving(name)).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    long.split("\n\n").map(ad).filter(|ad| !ad.is_empty()).map(|ad| (ad[key].clone(), ad)).collect()
}

/// Matches as clusters and slots: the access point chooses the job of a cluster.
fn counted<'a>(matches: impl Iterator<Item = (&'a str, &'a str)>) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    for (job, slot) in matches {
        *counts.entry((job.split('.').next().unwrap().to_owned(), slot.to_owned())).or_default() += 1;
    }
    counts
}

#[test]
fn a_pool_is_read_as_the_tools_of_htcondor_read_it() {
    // Ties between slots are broken, so that a cycle has one outcome.
    let Some(pool) = Pool::up(0, "NEGOTIATOR_PRE_JOB_RANK = -SlotID\n", &[("SCHEDDS", "2")]) else { return };
    let address = pool.address();
    pool.submit("alice", 3, "");
    pool.submit("bob", 4, "requirements = SlotID > 2\nrank = SlotID");
    pool.submit("carol", 1, "request_memory = 999999");
    let until = Instant::now() + Duration::from_secs(30);
    while pool
        .run(&["run", "condor_status", "-submitters", "-af", "IdleJobs"])
        .lines()
        .filter(|line| *line != "0")
        .count()
        < 3
    {
        assert!(Instant::now() < until, "the submitters are not announced");
        std::thread::sleep(Duration::from_millis(300));
    }

    // Slots and jobs, attribute by attribute.
    let mine = classmate(&["ads", "--pool", &address]);
    assert!(mine.status.success(), "{}", text(&mine.stderr));
    assert_eq!(ads(&text(&mine.stdout), "Name"), ads(&pool.run(&["run", "condor_status", "-long"]), "Name"));
    let mine = classmate(&["ads", "--pool", &address, "--type", "jobs"]);
    let theirs = pool.run(&["run", "condor_q", "-allusers", "-long"]);
    assert_eq!(ads(&text(&mine.stdout), "GlobalJobId"), ads(&theirs, "GlobalJobId"));

    // Constraints and projections.
    let some = [
        "ads",
        "--pool",
        &address,
        "--constraint",
        "SlotID > 6 && Machine =!= \"x\\\"y\"",
        "--attributes",
        "SlotID",
        "--values",
        "--sort",
        "SlotID",
    ];
    assert_eq!(text(&classmate(&some).stdout), "7\n8\n");
    let owners = [
        "ads",
        "--pool",
        &address,
        "--type",
        "jobs",
        "--attributes",
        "Owner",
        "--values",
        "--unique",
        "--sort",
        "Owner",
    ];
    assert_eq!(text(&classmate(&owners).stdout), "alice\nbob\ncarol\n");
    for (kind, count) in [("slots", "8\n"), ("submitters", "3\n"), ("schedds", "2\n"), ("negotiators", "1\n")] {
        assert_eq!(text(&classmate(&["ads", "--pool", &address, "--type", kind, "--count"]).stdout), count, "{kind}");
    }

    // A snapshot holds no secrets, and gives the same cycle as the pool, which is what the negotiator does next.
    let folder = pool.folder.path().join("snapshot");
    let saved = classmate(&["snapshot", "--pool", &address, "--strict", folder.to_str().unwrap()]);
    assert!(saved.status.success() && saved.stderr.is_empty(), "{}", text(&saved.stderr));
    for entry in std::fs::read_dir(&folder).unwrap() {
        let content = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for secret in ["\nClaimId", "\nCapability", "_condor_priv", "_condor_Priv"] {
            assert!(!content.contains(secret), "{secret}");
        }
    }
    let predicted = |arguments: &[&str]| {
        let output = classmate(&[arguments, &["--format", "json"]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let matches = outcome["matches"].as_array().unwrap().clone();
        counted(matches.iter().map(|made| (made["job"].as_str().unwrap(), made["slot"].as_str().unwrap())))
    };
    let live = predicted(&["negotiate", "--pool", &address]);
    assert_eq!(live, predicted(&["negotiate", folder.to_str().unwrap()]));
    // So does what the script saves with HTCondor's tools.
    let commands = text(&classmate(&["snapshot", "--script"]).stdout);
    let saved = format!("/srv/pool-{}/saved", pool.port);
    pool.run(&["run", "sh", "-c", &commands, "sh", &saved]);
    let saved = pool.run(&["path", &saved]);
    assert_eq!(live, predicted(&["negotiate", saved.trim_end()]));
    pool.run(&["cycle"]);
    let real = pool.run(&["matches"]);
    assert_eq!(live, counted(real.lines().filter_map(|line| line.split_once('\t'))));
    assert_eq!(live.values().sum::<usize>(), 7);
    let lint = classmate(&["lint", "--pool", &address, "--format", "json"]);
    let found: serde_json::Value = serde_json::from_slice(&lint.stdout).unwrap();
    let alarms = found["alarms"].as_array().unwrap();
    let of_ads =
        alarms.iter().filter(|alarm| alarm["file"] == "jobs of the pool" || alarm["file"] == "slots of the pool");
    assert_eq!(of_ads.count(), 0, "{found:#}");
    for command in ["explain", "quotas", "report"] {
        let out = pool.folder.path().join("page.html");
        let more: &[&str] = match command {
            "explain" => &["--job", "3.0"],
            "report" => &["-o", out.to_str().unwrap()],
            _ => &[],
        };
        let output = classmate(&[&[command, "--pool", &address], more].concat());
        let errors = text(&output.stderr);
        assert!(output.status.success() || errors.contains("no groups are configured"), "{command}: {errors}");
    }

    metrics(&pool);
    identities(&pool);
    failures(&pool);
}

/// Asks an HTTP server for a path; returns the whole answer.
fn get(address: &str, path: &str) -> String {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The metrics of a pool with eight slots, seven of which were claimed just now.
fn metrics(pool: &Pool) {
    let start = || {
        let mut child = Command::new(env!("CARGO_BIN_EXE_classmate"))
            .args(["export", "--pool", &pool.address(), "--listen", "127.0.0.1:0", "--every", "1s"])
            .env("HOME", env!("CARGO_TARGET_TMPDIR"))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stderr.take().unwrap()), &mut line).unwrap();
        let address = line.trim().strip_prefix("note: serving http://").unwrap().strip_suffix("/metrics").unwrap();
        (child, address.to_owned())
    };
    let (mut child, address) = start();
    let answer = get(&address, "/metrics");
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("Content-Type: text/plain; version=0.0.4"),
        "{answer}"
    );
    assert!(answer.contains("\nhtcondor_up 1\n") && answer.contains("\nhtcondor_unreadable_sources 0\n"), "{answer}");
    assert!(answer.contains("\nhtcondor_negotiation_cycle_matches 7\n"), "{answer}");
    let slots = answer.lines().filter_map(|line| line.strip_prefix("htcondor_slots{")?.split_once("} "));
    assert_eq!(slots.map(|(_, count)| count.parse::<u32>().unwrap()).sum::<u32>(), 8);
    assert!(answer.contains("\nhtcondor_unmatched_jobs{cause=\"never_true\"} 1\n"), "{answer}");
    assert!(get(&address, "/other").starts_with("HTTP/1.1 404"));
    fails_with(&["export", "--pool", &pool.address(), "--listen", &address], "cannot serve at", 1);
    // A negotiator does not answer in a cycle.
    pool.run(&["kill", "STOP", "negotiator"]);
    let (mut other, of_other) = start();
    let answer = get(&of_other, "/metrics");
    pool.run(&["kill", "CONT", "negotiator"]);
    assert!(answer.contains("\nhtcondor_up 1\n") && answer.contains("\nhtcondor_unreadable_sources 1\n"), "{answer}");
    assert!(answer.contains("\nhtcondor_negotiation_cycle_matches 7\n"), "{answer}");
    other.kill().unwrap();
    other.wait().unwrap();
    // A pool that cannot be read has no metrics.
    pool.run(&["kill", "STOP", "collector"]);
    pool.run(&["kill", "KILL", "negotiator"]);
    let until = Instant::now() + Duration::from_mins(2);
    while !get(&address, "/metrics").contains("\nhtcondor_up 0\n") {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_secs(1));
    }
    assert!(!get(&address, "/metrics").contains("htcondor_slots"));
    pool.run(&["kill", "CONT", "collector"]);
    while !get(&address, "/metrics").contains("\nhtcondor_up 1\n") {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_secs(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Tokens, and what they permit.
fn identities(pool: &Pool) {
    let address = pool.address();
    let token = |name: &str, arguments: &[&str]| {
        let text = pool.run(&[&["token"], arguments].concat());
        SECRETS.lock().unwrap().push(text.trim().rsplit_once('.').unwrap().1.to_owned());
        pool.file(name, &text).to_str().unwrap().to_owned()
    };
    let monitor = token("monitor", &["monitor@pool.test", "-authz", "READ"]);
    let count = |more: &[&str]| {
        let output = classmate(&[&["ads", "--pool", &address, "--count"], more].concat());
        assert!(output.status.success(), "{more:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_eq!(count(&["--token", &monitor]), "8\n");
    let short = token("short", &["monitor@pool.test", "-lifetime", "1"]);
    std::thread::sleep(Duration::from_secs(2));
    fails(&["ads", "--pool", &address, "--token", &short], "the token of `monitor@pool.test` expired");
    fails(&["shadow", "--pool", &address, "--token", &short], "the token of `monitor@pool.test` expired");
    // The signature of another pool.
    let valid = std::fs::read_to_string(&monitor).unwrap();
    let (unsigned, signature) = valid.trim().rsplit_once('.').unwrap();
    let other = if signature.starts_with('A') { "B" } else { "A" };
    let forged = pool.file("forged", &format!("{unsigned}.{other}{}", &signature[1..]));
    fails(
        &["ads", "--pool", &address, "--token", forged.to_str().unwrap()],
        &format!("IDTOKENS authentication with `{address}` fails: "),
    );
    // A pool that would like to know who reads, by methods that the client does not have.
    for methods in ["IDTOKENS", "SSL, KERBEROS, SCITOKENS"] {
        let settings = format!("SEC_READ_AUTHENTICATION = PREFERRED\nSEC_READ_AUTHENTICATION_METHODS = {methods}\n");
        pool.run(&["reconfig", pool.file("preferred", &settings).to_str().unwrap()]);
        assert_eq!(count(&[]), "8\n", "{methods}");
    }
    // A pool that lets only some read.
    let settings = "DENY_READ = other@*\nSEC_READ_AUTHENTICATION = REQUIRED\n";
    pool.run(&["reconfig", pool.file("restricted", settings).to_str().unwrap()]);
    assert_eq!(count(&["--token", &monitor]), "8\n");
    let other = token("other", &["other@pool.test"]);
    fails(&["ads", "--pool", &address, "--token", &other], "denies reading slot ads to `other@pool.test`");
    fails(&["shadow", "--pool", &address, "--token", &other], "denies reading negotiator ads to `other@pool.test`");
    // Root proves with the file system that it is condor.
    assert_eq!(count(&[]), "8\n");
    certificates(pool, count);
}

/// A pool that lets those read who have a certificate.
fn certificates(pool: &Pool, count: impl Fn(&[&str]) -> String) {
    let inside = format!("/srv/pool-{}", pool.port);
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/tests/fixtures");
    let outside = pool.run(&["path", &inside]);
    let [authority, host] = ["ssl-authority.pem", "ssl-host.pem"].map(|name| {
        std::fs::copy(fixtures.join(name), Path::new(outside.trim()).join(name)).unwrap();
        fixtures.join(name).to_str().unwrap().to_owned()
    });
    // The tools of HTCondor reach the pool by a name that is not in the certificate.
    let tools = format!(
        "AUTH_SSL_CLIENT_CAFILE = {inside}/ssl-authority.pem\nAUTH_SSL_CLIENT_CERTFILE = {inside}/ssl-host.pem\n\
         AUTH_SSL_CLIENT_KEYFILE = {inside}/ssl-host.pem\nSEC_CLIENT_AUTHENTICATION_METHODS = FS, IDTOKENS, SSL\n\
         SSL_SKIP_HOST_CHECK = True\n"
    );
    let daemons = format!(
        "AUTH_SSL_SERVER_CAFILE = {inside}/ssl-authority.pem\nAUTH_SSL_SERVER_CERTFILE = {inside}/ssl-host.pem\n\
         AUTH_SSL_SERVER_KEYFILE = {inside}/ssl-host.pem\nAUTH_SSL_REQUIRE_CLIENT_CERTIFICATE = True\n\
         SEC_READ_AUTHENTICATION = REQUIRED\nSEC_READ_AUTHENTICATION_METHODS = SSL\n"
    );
    pool.run(&["reconfig", pool.file("ssl", &(tools.clone() + &daemons)).to_str().unwrap()]);
    let address = pool.address();
    let ads = ["ads", "--pool", &address, "--ca"];
    assert_eq!(count(&["--ca", &authority, "--certificate", &host]), "8\n");
    fails(&[&ads[..], &[&authority]].concat(), "the daemon may require a certificate of the client");
    fails(&[&ads[..], &[&host]].concat(), "no trusted authority has signed its certificate");
    let other = format!("<{address}?alias=other.pool.test>");
    fails(&["ads", "--pool", &other, "--ca", &authority], "its certificate is not for `other.pool.test`");
    fails(&["ads", "--pool", &address], "requires authentication by SSL, but only FS can be used");
    pool.run(&["reconfig", pool.file("tools", &tools).to_str().unwrap()]);
}

/// Daemons that end.
fn failures(pool: &Pool) {
    let address = pool.address();
    pool.run(&["kill", "STOP", "schedd"]);
    let started = Instant::now();
    let folder = pool.folder.path().join("strict");
    fails(&["snapshot", "--pool", &address, "--strict", folder.to_str().unwrap()], "cannot read access point `schedd");
    assert!(!folder.exists() && started.elapsed() < Duration::from_mins(1));
    pool.run(&["kill", "CONT", "schedd"]);
    pool.run(&["down"]);
    fails(&["ads", "--pool", &address], "connection refused");
    // The second collector answers instead, or the last one is named.
    fails(&["ads", "--pool", &format!("{address},127.0.0.1:1")], "127.0.0.1:1");
}

/// A shadow that runs beside the test, and ends with it.
struct Shadow(std::process::Child);

impl Shadow {
    fn start(pool: &Pool, state: &str, more: &[&str]) -> Self {
        let state = pool.folder.path().join(state);
        let child = Command::new(env!("CARGO_BIN_EXE_classmate"))
            .args(["shadow", "--pool", &pool.address(), "--format", "jsonl", "--state", state.to_str().unwrap()])
            .args(more)
            .env("HOME", env!("CARGO_TARGET_TMPDIR"))
            .env("TZ", "UTC")
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(state.with_extension("err")).unwrap())
            .spawn();
        Shadow(child.unwrap())
    }
}

impl Drop for Shadow {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The cycles that a shadow has written, once there are some more than `known` and a condition holds.
fn cycles(pool: &Pool, state: &str, is_enough: impl Fn(&[serde_json::Value]) -> bool) -> Vec<serde_json::Value> {
    let folder = pool.folder.path().join(state);
    let until = Instant::now() + Duration::from_mins(1);
    loop {
        let text = std::fs::read_to_string(folder.join("cycles.jsonl")).unwrap_or_default();
        let cycles: Vec<serde_json::Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if is_enough(&cycles) {
            return cycles;
        }
        let errors = std::fs::read_to_string(folder.with_extension("err")).unwrap_or_default();
        assert!(Instant::now() < until, "{state}: {text}{errors}");
        std::thread::sleep(Duration::from_millis(300));
    }
}

/// Tests whether an ad that was renewed after the reading, as happens on a busy machine, is what a cycle differs by.
fn is_disturbed(cycle: &serde_json::Value) -> bool {
    let different = cycle["different"].as_array().unwrap();
    !different.is_empty() && different.iter().all(|difference| difference["cause"] == "renewed_ads")
}

#[test]
fn a_shadow_predicts_cycles_and_survives_its_pool() {
    assert!((0..3).any(|_| is_predicted_without_disturbance()), "ads were renewed before the cycles of three pools");
}

/// Compares the cycles of a new pool with their predictions; false if an ad was renewed before one of them.
fn is_predicted_without_disturbance() -> bool {
    let Some(pool) = Pool::up(2, "NEGOTIATOR_PRE_JOB_RANK = -SlotID\n", &[("SCHEDDS", "2")]) else { return true };
    let log = pool.run(&["log", "negotiator"]);
    let by_log = Shadow::start(&pool, "log", &["--match-log", log.trim()]);
    let mut by_claims = Shadow::start(&pool, "claims", &["--cycles", "1"]);
    pool.submit("alice", 3, "");
    pool.submit("bob", 4, "requirements = SlotID > 2\nrank = SlotID");
    std::thread::sleep(Duration::from_secs(6));
    pool.run(&["cycle"]);
    let real = pool.run(&["matches"]);
    let real = counted(real.lines().filter_map(|line| line.split_once('\t')));
    for (state, source) in [("log", "log"), ("claims", "claims")] {
        let cycle = &cycles(&pool, state, |cycles| !cycles.is_empty())[0];
        if is_disturbed(cycle) {
            return false;
        }
        assert_eq!((&cycle["identical"], &cycle["source"]), (&true.into(), &source.into()), "{cycle}");
        for kind in ["predicted", "actual"] {
            let matches = cycle[kind].as_array().unwrap();
            let pairs = matches.iter().map(|made| (made["job"].as_str().unwrap(), made["slot"].as_str().unwrap()));
            assert_eq!(counted(pairs), real, "{state} {kind}");
        }
        let (schema, mut wrong) = (crate::formats::schema("shadow"), Vec::new());
        crate::formats::check(&schema, &schema, cycle, state, &mut wrong);
        assert!(wrong.is_empty(), "{wrong:?}");
    }
    assert!(by_claims.0.wait().unwrap().success());

    // The negotiator ends and comes back, then all daemons do.
    pool.run(&["kill", "KILL", "negotiator"]);
    cycles(&pool, "log", |cycles| cycles.len() > 1);
    pool.run(&["down"]);
    std::thread::sleep(Duration::from_secs(4));
    let settings = pool.file("settings", "NEGOTIATOR_PRE_JOB_RANK = -SlotID\n");
    assert!(pool.command(&["up", settings.to_str().unwrap()]).env("SCHEDDS", "2").status().unwrap().success());
    let known = cycles(&pool, "log", |cycles| cycles.len() > 2).len();
    pool.submit("carol", 1, "");
    std::thread::sleep(Duration::from_secs(8));
    pool.run(&["cycle"]);
    let last = cycles(&pool, "log", |cycles| cycles.len() > known);
    let last = last.last().unwrap();
    if is_disturbed(last) {
        return false;
    }
    assert_eq!((&last["identical"], &last["matches"]), (&true.into(), &1.into()), "{last}");
    drop(by_log);
    let page = std::fs::read_to_string(pool.folder.path().join("log/index.html")).unwrap();
    assert!(page.contains("the pool is read again after"), "{page}");
    let errors = std::fs::read_to_string(pool.folder.path().join("log.err")).unwrap();
    assert!(errors.lines().all(|line| line.starts_with("{\"warning\"")), "{errors}");
    true
}

/// Runs a shadow with a policy until it is ready, and sends it a signal; returns its output and the exit status.
fn interrupted(pool: &Pool, state: &Path, signal: &str) -> (String, String, Option<i32>) {
    let policy = pool.file("policy", "NEGOTIATOR_INTERVAL = 60\n");
    let child = Command::new(env!("CARGO_BIN_EXE_classmate"))
        .args(["shadow", "--pool", &pool.address(), "--state", state.to_str().unwrap()])
        .args(["--policy", policy.to_str().unwrap()])
        .env("HOME", env!("CARGO_TARGET_TMPDIR"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(8));
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

#[test]
fn a_shadow_that_a_signal_ends_keeps_what_it_knows() {
    let Some(pool) = Pool::up(3, "", &[]) else { return };
    pool.submit("alice", 3, "");
    let state = pool.folder.path().join("state");
    pool.run(&["cycle"]);
    for (run, signal) in ["-TERM", "-INT"].into_iter().enumerate() {
        let (out, errors, status) = interrupted(&pool, &state, signal);
        assert_eq!((status, out.matches("made as predicted\n").count()), (Some(0), 1), "{out}{errors}");
        assert!(errors.contains("note: comparing the policies a last time; another signal ends at once"), "{errors}");
        let read = |name: &str| -> serde_json::Value {
            serde_json::from_slice(&std::fs::read(state.join(name)).unwrap()).unwrap()
        };
        // The three jobs run since the cycle; the second run goes on with the record of the first one.
        let compared = read("policy.json");
        assert_eq!(compared["rows"][0]["jobs"], 3, "run {run}: {compared}");
        assert_eq!(compared["from"], read("state.json")["load_began"], "run {run}");
        assert!(out.contains("SUBMITTER"), "{out}");
    }
    // A comparison that fails comes after the summary.
    std::fs::create_dir(state.join("jobs.ads")).unwrap();
    let (out, errors, status) = interrupted(&pool, &state, "-TERM");
    assert!(status == Some(1) && out.contains("made as predicted\n"), "{out}{errors}");
    assert!(errors.contains("error: cannot read `"), "{errors}");
}

#[test]
fn a_pool_with_ipv6_is_read() {
    if !Path::new("/proc/net/if_inet6").exists() {
        eprintln!("skipped: no IPv6");
        return;
    }
    let Some(pool) = Pool::up(1, "", &[("ADDRESS", "::1")]) else { return };
    let address = format!("[::1]:{}", pool.port);
    let output = classmate(&["ads", "--pool", &address, "--type", "negotiators", "--count"]);
    assert_eq!(text(&output.stdout), "1\n", "{}", text(&output.stderr));
    let folder = pool.folder.path().join("snapshot");
    let saved = classmate(&["snapshot", "--pool", &address, "--strict", folder.to_str().unwrap()]);
    assert!(saved.status.success(), "{}", text(&saved.stderr));
}

#[test]
fn a_pool_without_a_name_is_that_of_the_configuration_of_this_host() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("condor_config");
    std::fs::write(&file, "CONDOR_HOST = 127.0.0.1\nCOLLECTOR_HOST = $(CONDOR_HOST):1\n").unwrap();
    let run = |config: &Path, more: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
        command.args(["ads", "--count", "--pool"]).env("CONDOR_CONFIG", config).env("HOME", folder.path());
        more.map(|host| command.env("_CONDOR_COLLECTOR_HOST", host));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr)
    };
    let found = run(&file, None);
    assert!(found.starts_with("error: cannot connect to `127.0.0.1:1`: connection refused\n"), "{found}");
    let found = run(&file, Some("127.0.0.1:2"));
    assert!(found.starts_with("error: cannot connect to `127.0.0.1:2`: connection refused\n"), "{found}");
    // HTCondor's tools ask this port where COLLECTOR_HOST names none, and know the names of the host.
    std::fs::write(&file, "CONDOR_HOST = ::1\nCOLLECTOR_PORT = 3\n").unwrap();
    assert!(run(&file, None).contains("cannot connect to `[::1]:3`: "));
    std::fs::write(&file, "CONDOR_HOST = $(FULL_HOSTNAME)\nCOLLECTOR_PORT = 3\n").unwrap();
    let host = gethostname::gethostname().into_string().unwrap();
    assert!(run(&file, None).contains(&format!("`{host}:3`: ")));
    std::fs::write(&file, "COLLECTOR_HOST = $(IP_ADDRESS):3\n").unwrap();
    assert!(run(&file, None).contains(":3`: "));
    let found = run(Path::new("ONLY_ENV"), Some("127.0.0.1:2"));
    assert!(found.starts_with("error: cannot connect to `127.0.0.1:2`: connection refused\n"), "{found}");
    std::fs::write(&file, "COLLECTOR_HOST =\n").unwrap();
    let found = run(&file, None);
    assert!(found.contains("condor_config` does not set COLLECTOR_HOST\n"), "{found}");
}

#[test]
fn peers_that_are_not_daemons_give_one_message() {
    fails(&["ads", "--pool", "127.0.0.1:1"], "cannot connect to `127.0.0.1:1`: connection refused");
    fails(&["snapshot", "--pool", "127.0.0.1:1", "/nonexistent"], "cannot connect to `127.0.0.1:1`");
    for command in ["shadow", "export"] {
        fails(&[command, "--pool", "127.0.0.1:1"], "cannot connect to `127.0.0.1:1`");
        fails(
            &[command, "--pool", "127.0.0.1:1,127.0.0.1:2"],
            "no collector can be read: cannot connect to `127.0.0.1:1`: connection refused; \
             cannot connect to `127.0.0.1:2`: connection refused",
        );
    }
    for place in ["nonsense", "nonsense:", ":9118", "x:y", "9118"] {
        let output = classmate(&["export", "--pool", "127.0.0.1:1", "--listen", place]);
        assert_eq!(output.status.code(), Some(2));
        let errors = text(&output.stderr);
        assert!(errors.contains("expected ADDRESS:PORT, such as 127.0.0.1:9118, [::1]:9118"), "{place}: {errors}");
    }
    fails(&["negotiate", "--pool", "no-such-host.invalid"], "cannot find the host of `no-such-host.invalid:9618`");
    let answers: [&[u8]; 5] = [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        &[0xff; 10_000],
        b"\x01\0\0\0\x08\0\0\0\0\x7f\xff\xff\xff",
    ];
    for answer in answers {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let peer = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 100];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(answer);
        });
        fails(&["ads", "--pool", &address], &format!("`{address}`"));
        peer.join().unwrap();
    }
}
