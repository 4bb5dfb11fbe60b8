//! Values of variables of other daemons than the negotiator: their types, and the words of slot types and of security.
//! One file of more than 600 lines: each check is of one form of a value, and all are asked in turn.

use super::super::facts::{UNKNOWN, is_open};
use super::super::knob::{self, KnobKind};
use super::super::name_list::{entry, names};
use super::super::{Config, Definition, setting, shown, table};
use super::names::{DAEMONS, LEVELS};
use super::paths::{is_path, is_program, odd_path, quoted, two_folders, with_arguments};
use super::{Checker, choices, is_variable, words};
use classmate::internal::builtin::near;
use classmate::internal::diagnostic::Severity;
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::internal::syntax::token::Quoting;
use classmate::{Expr, Name, Semantics};

/// The words of `SEC_<level>_AUTHENTICATION` and the like; HTCondor reads the first letter.
const WISHES: [&str; 10] = ["REQUIRED", "PREFERRED", "OPTIONAL", "NEVER", "YES", "NO", "TRUE", "FALSE", "T", "F"];

const METHODS: [&str; 14] = [
    "SSL",
    "NTSSPI",
    "PASSWORD",
    "TOKENS",
    "TOKEN",
    "IDTOKENS",
    "IDTOKEN",
    "SCITOKENS",
    "SCITOKEN",
    "FS",
    "FS_REMOTE",
    "KERBEROS",
    "CLAIMTOBE",
    "MUNGE",
];

/// The ends of the names of variables that are numbers of seconds.
const IN_SECONDS: [&str; 9] = [
    "_INTERVAL",
    "_TIMEOUT",
    "_LIFETIME",
    "_DURATION",
    "_DELAY",
    "_HALFLIFE",
    "_WORKLIFE",
    "RETIREMENTTIME",
    "VACATETIME",
];

const CIPHERS: [&str; 5] = ["AES", "BLOWFISH", "3DES", "TRIPLEDES", "AESGCM"];

/// Variables whose quotes would be a part of the value: names of hosts, domains, networks, keys and folders.
const UNQUOTED: [&str; 39] = [
    "BASE_CGROUP",
    "CCB_ADDRESS",
    "DOCKER",
    "HAD_LIST",
    "NEGOTIATOR_NAME",
    "NETWORK_HOSTNAME",
    "NETWORK_INTERFACE",
    "PRIVATE_NETWORK_INTERFACE",
    "REPLICATION_LIST",
    "SCHEDD_HOST",
    "SEC_TOKEN_ISSUER_KEY",
    "STARTER_DEFAULT_JOB_HOOK_KEYWORD",
    "USER_JOB_WRAPPER",
    "CONDOR_VIEW_HOST",
    "CREDD_HOST",
    "TCP_FORWARDING_HOST",
    "SCHEDD_NAME",
    "STARTD_NAME",
    "MASTER_NAME",
    "DEFAULT_DOMAIN_NAME",
    "SEC_PASSWORD_FILE",
    "SEC_PASSWORD_DIRECTORY",
    "SEC_TOKEN_DIRECTORY",
    "CERTIFICATE_MAPFILE",
    "CLASSAD_USER_MAPFILE",
    "CONDOR_HOST",
    "COLLECTOR_HOST",
    "NEGOTIATOR_HOST",
    "UID_DOMAIN",
    "FILESYSTEM_DOMAIN",
    "LOCAL_DIR",
    "RELEASE_DIR",
    "SPOOL",
    "LOG",
    "EXECUTE",
    "LOCAL_CONFIG_DIR",
    "DAEMON_LIST",
    "FLOCK_TO",
    "TRUST_DOMAIN",
];

/// The type of a variable (upper case).
pub(super) fn kind(upper: &str) -> Option<KnobKind> {
    let whole = |range: Option<&str>| {
        let (low, high) = range.and_then(|range| range.split_once("..")).unwrap_or_default();
        KnobKind::Integer(low.parse().unwrap_or(i64::MIN), high.parse().unwrap_or(i64::MAX))
    };
    if let Some((number, what)) = upper.strip_prefix("SLOT_TYPE_").and_then(|rest| rest.split_once('_'))
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        return matches!(what, "PARTITIONABLE" | "CONSUMPTION_POLICY").then_some(KnobKind::Boolean);
    }
    let digits = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    if upper == "NUM_SLOTS" || upper.strip_prefix("NUM_SLOTS_TYPE_").is_some_and(digits) {
        return Some(whole(Some("0..")));
    }
    if upper.starts_with("MAX_NUM_") && upper.ends_with("_LOG") {
        return Some(whole(None));
    }
    if words::is_of_cron(upper) && upper.ends_with("_JOB_LOAD") {
        // As `cron_job_mgr.cpp` and `cron_job_params.cpp` of HTCondor read the load of all jobs, and of one.
        let of_all = upper.ends_with("_MAX_JOB_LOAD");
        return Some(if of_all { KnobKind::Real(0.01, 1000.0) } else { KnobKind::Real(0.0, 100.0) });
    }
    let warns = upper.starts_with("SUBMIT_REQUIREMENT_") && upper.ends_with("_IS_WARNING");
    if warns || entry("boolean variables", upper).is_some() {
        return Some(KnobKind::Boolean);
    }
    if let Some(found) = entry("number variables", upper) {
        let range = found.split_once(':').and_then(|(_, range)| range.split_once(".."));
        let (low, high) = range.unwrap_or_default();
        return Some(KnobKind::Real(low.parse().unwrap_or(f64::MIN), high.parse().unwrap_or(f64::MAX)));
    }
    entry("integer variables", upper).map(|found| whole(found.split_once(':').map(|(_, range)| range)))
}

/// The meaning of 0 as a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtZero {
    /// There is no limit.
    Unlimited,
    /// Nothing is allowed.
    Nothing,
}

/// The meaning of 0 as the value of a variable, where it is known.
pub fn at_zero(name: &[u8]) -> Option<AtZero> {
    let upper = String::from_utf8_lossy(own_name(name)).to_ascii_uppercase();
    let is_in = |list: &str| entry(list, &upper).is_some();
    match (is_in("unlimited at 0"), is_in("nothing at 0")) {
        (true, _) => Some(AtZero::Unlimited),
        (_, true) => Some(AtZero::Nothing),
        _ => None,
    }
}

/// The unit of a variable that is a number.
pub fn unit(name: &[u8]) -> Option<&'static str> {
    /// Other variables that are numbers of MiB.
    const IN_MIB: [&str; 5] = ["MEMORY", "RESERVED_DISK", "RESERVED_MEMORY", "RESERVED_SWAP", "VM_MEMORY"];
    let upper = String::from_utf8_lossy(own_name(name)).to_ascii_uppercase();
    let is_known = is_variable(upper.as_bytes()) || upper.ends_with("TIME");
    if IN_SECONDS.iter().any(|end| upper.ends_with(end)) && is_known {
        return Some("seconds");
    }
    let is_size = upper.ends_with("_MB") && is_known || IN_MIB.contains(&upper.as_str());
    is_size.then_some("MiB")
}

/// Tests whether daemons read a variable, with or without the prefix of one, as a number: a constant expression. The size of a log has
/// units of its own, and the load of a cron job is a plain number. `condor_adstash` reads what has a number as its default.
pub fn is_number(name: &[u8]) -> bool {
    let upper = String::from_utf8_lossy(own_name(name)).to_ascii_uppercase();
    if upper.starts_with("ADSTASH_") {
        return table::default_text(upper.as_bytes()).is_some_and(|text| setting::is_number(text.as_bytes()));
    }
    let kind = match knob::find(upper.as_bytes()) {
        Some(knob) => Some(knob.kind),
        None => kind(&upper).filter(|_| !words::is_log_size(&upper) && !words::is_of_cron(&upper)),
    };
    matches!(kind, Some(KnobKind::Integer(..) | KnobKind::Real(..)))
}

impl Checker<'_> {
    /// Reports a value that the daemons do not accept for a variable that is not a knob of the negotiator.
    pub(super) fn other_value(&mut self, definition: &Definition<'_>) {
        let name = definition.name;
        let upper = String::from_utf8_lossy(own_name(name)).to_ascii_uppercase();
        let is_path = is_path(&upper);
        let unquoted = UNQUOTED.contains(&upper.as_str()) || is_path;
        if knob::find(upper.as_bytes()).is_some() && !unquoted && !upper.ends_with("_DEBUG") {
            return;
        }
        if upper == "MAXJOBRETIREMENTTIME" {
            self.retirement(definition);
            return;
        }
        // `_checkInvalidParam` in HTCondor's `slot_builder.cpp`.
        if upper == "NUM_SLOTS_TYPE_0" {
            let message = format!("`{}` ends the startd: types of slots are numbered from 1", shown(name));
            let found = definition.value_problem(Severity::Error, message).code("bad-value");
            self.found.push(found.help("write `NUM_SLOTS_TYPE_1`"));
            return;
        }
        let kind = kind(&upper);
        // Of a daemon with a name of the site's own.
        let of_own_daemon = || {
            let daemon = upper.strip_suffix("_ENVIRONMENT")?;
            self.daemons.contains(daemon.as_bytes()).then_some(words::environment as words::Rule)
        };
        let word = words::rule(&upper).or_else(of_own_daemon);
        let listed = kind.is_some() || word.is_some() || upper.starts_with("SEC_") || upper.starts_with("SLOT_TYPE_");
        if !listed && !unquoted && !is_program(&upper) {
            return;
        }
        // Other files may define a macro that these do not.
        if !self.config.undefined(definition).is_empty() {
            return;
        }
        let Ok(expanded) = self.config.expanded(name, definition.raw) else { return };
        let value = String::from_utf8_lossy(expanded.text.trim_ascii()).into_owned();
        if let Some((severity, message, help)) = computed_share(&upper, &value) {
            self.found.push(definition.value_problem(severity, message).code("bad-value").help(help));
            return;
        }
        if value.is_empty() || is_open(value.as_bytes()) {
            return;
        }
        if choices::is_of_older(&upper, &value, self.config.semantics().series()) {
            return;
        }
        let problem = match kind {
            // Some are evaluated in an ad.
            Some(_) if OF_ADS.contains(&upper.as_str()) && self.is_of_ads(&value) => None,
            Some(kind) if is_expression(value.as_bytes(), self.config.semantics()) => {
                self.calculated(&upper, &value).or_else(|| host_for_truth(kind, &upper, &value))
            }
            Some(kind) => match self.typed(kind, &shown(name), expanded.text.trim_ascii(), definition) {
                Ok(()) => {
                    if let Some(found) = self.truncated(kind, &upper, &value) {
                        self.found
                            .push(definition.value_problem(Severity::Warning, found.0).code(found.2).help(found.1));
                    }
                    word.and_then(|rule| rule(&upper, &value)).or_else(|| odd_integer(kind, &upper, &value))
                }
                Err(error) => {
                    let help = "a daemon that reads it ends with an error";
                    let help =
                        ungrouped(&value).map_or_else(|| help.to_owned(), |plain| format!("write `{plain}`: {help}"));
                    Some((Severity::Error, error.message, help))
                }
            },
            None if word.is_some() => {
                let found = word.and_then(|rule| rule(&upper, &value));
                let found = found.or_else(|| words::torn_entry(&upper, definition.raw));
                found.or_else(|| quoted(&upper, &value).filter(|_| unquoted))
            }
            None if upper.starts_with("SEC_") => {
                of_security(&upper, &value).or_else(|| quoted(&upper, &value).filter(|_| unquoted))
            }
            None if upper.starts_with("SLOT_TYPE_") => {
                let config = self.config;
                of_slot_type(&upper, &value, self.resources.get_or_insert_with(|| own_resources(config)))
            }
            None if is_program(&upper) => {
                let found = quoted(&upper, &value).filter(|_| unquoted);
                found.or_else(|| with_arguments(&upper, &value)).or_else(|| self.relative_program(&upper, &value))
            }
            None => quoted(&upper, &value).or_else(|| two_folders(&upper, &value)),
        };
        let problem = problem.or_else(|| odd_path(&upper, &value).filter(|_| is_path));
        if let Some((severity, message, help)) = problem {
            self.found.push(definition.value_problem(severity, message).code("bad-value").help(help));
        }
    }

    /// Tests whether a value is the name of an attribute, or an expression that refers to one.
    fn is_of_ads(&self, value: &str) -> bool {
        is_attribute(value) || is_expression(value.as_bytes(), self.config.semantics())
    }

    /// A program whose path begins in the folder where the daemon happens to be.
    fn relative_program(&self, upper: &str, value: &str) -> Option<Problem> {
        let is_hook = upper.contains("_HOOK_") && !upper.ends_with("_KEYWORD");
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if is_hook && value.len() > 1 && value.bytes().all(is_name) {
            let message = format!("`{upper}` is `{value}`, which is not an absolute path");
            return Some((Severity::Error, message, format!("write the whole path, as in `$(LIBEXEC)/{value}`")));
        }
        let (_, rest) = value.split_once('/')?;
        let begins = value.starts_with(|sign: char| sign.is_ascii_alphanumeric() || sign == '.');
        let is_plain = !value.contains([':', '\\', '$', ' ']) && !rest.is_empty();
        // A cron job may have a folder of its own.
        let folder = upper.strip_suffix("_EXECUTABLE").map(|front| format!("{front}_CWD"));
        let has_folder = folder.is_some_and(|folder| self.config.definition(folder.as_bytes()).is_some());
        let message = format!("`{upper}` is `{value}`, which is not an absolute path");
        let help = "write the whole path, as in `$(LIBEXEC)/program`".to_owned();
        let is_odd = begins && is_plain && !has_folder && !upper.ends_with("_KEYWORD");
        is_odd.then_some((Severity::Warning, message, help))
    }

    /// The fault of a number that refers to macros without `$( )`: numbers are computed without an ad.
    pub(super) fn calculated(&self, upper: &str, value: &str) -> Option<Problem> {
        let expr = parsed(value.as_bytes(), self.config.semantics())?;
        let tree = expr.tree();
        let is_macro = |name: &Name| self.config.definition(name.folded()).is_some();
        let name = tree.references(expr.root()).map(|reference| reference.name).find(is_macro)?;
        let message = format!("`{upper}` is `{value}`: `{name}` has no value here");
        Some((Severity::Error, message, format!("write `$({name})`: a daemon that reads it ends with an error")))
    }

    /// The loss of a number that counts as 0, with the help and the code: a fraction of an integer, or a quotient of integers.
    pub(super) fn truncated(
        &self,
        kind: KnobKind,
        upper: &str,
        value: &str,
    ) -> Option<(String, &'static str, &'static str)> {
        let expr = parsed(value.as_bytes(), self.config.semantics())?;
        match (kind, expr.node()) {
            (KnobKind::Integer(..), Node::Literal(Literal::Real(number))) if *number != 0.0 && number.abs() < 1.0 => {
                Some((format!("`{upper}` is an integer: `{value}` counts as 0"), "write a whole number", "bad-value"))
            }
            (KnobKind::Integer(..) | KnobKind::Real(..), &Node::Binary(BinaryOp::Divide, left, right)) => {
                let integer = |id| match expr.tree().node(expr.tree().bare(id)) {
                    Node::Literal(Literal::Int(number)) => Some(*number),
                    _ => None,
                };
                let (one, two) = (integer(left)?, integer(right)?);
                let lost = one != 0 && one.unsigned_abs() < two.unsigned_abs();
                let message = format!("`{upper}` is `{value}`, which is 0: a quotient of integers has no fraction");
                lost.then_some((message, "write a real, as in `0.5`", "integer-division"))
            }
            _ => None,
        }
    }

    /// Reports a time in seconds that is a product of days, hours and minutes: `7 * 24 * 60`.
    pub(super) fn minutes(&mut self, definition: &Definition<'_>) {
        if memchr::memchr(b'*', definition.raw).is_none() {
            return;
        }
        let upper = String::from_utf8_lossy(own_name(definition.name)).to_ascii_uppercase();
        let value = shown(definition.raw.trim_ascii());
        let meant = seconds_of_days(&value).filter(|_| IN_SECONDS.iter().any(|end| upper.ends_with(end)));
        let Some(meant) = meant.filter(|_| is_variable(upper.as_bytes()) || upper == "MACHINEMAXVACATETIME") else {
            return;
        };
        let message = format!("`{}` is in seconds, and `{value}` is a number of minutes", shown(definition.name));
        let warning = definition.value_problem(Severity::Warning, message).code("odd-unit");
        self.found.push(warning.help(format!("write `{meant}`")));
    }

    /// Reports a retirement time of a few seconds, which are probably hours.
    fn retirement(&mut self, definition: &Definition<'_>) {
        let seconds = std::str::from_utf8(definition.raw).ok().and_then(|text| text.trim().parse::<u32>().ok());
        if let Some(seconds) = seconds.filter(|seconds| (2..=72).contains(seconds) && *seconds != 60) {
            let message =
                format!("`{}` is {seconds} seconds, and the number is probably hours", shown(definition.name));
            let warning = definition.value_problem(Severity::Warning, message).code("odd-unit");
            self.found.push(warning.help(format!("write `{seconds} * 3600`")));
        }
    }

    /// Reports a variable with the prefix of a daemon that never reads it.
    pub(super) fn unread(&mut self, definition: &Definition<'_>) {
        let name = String::from_utf8_lossy(definition.name).to_ascii_uppercase();
        let Some((prefix, rest)) = name.split_once('.').filter(|(_, rest)| !rest.contains('.')) else { return };
        if !names(DAEMONS).any(|known| known == prefix) {
            return;
        }
        let readers =
            names(DAEMONS).filter(|daemon| names(&format!("read by the {daemon}")).any(|known| known == rest));
        let slots = rest.strip_prefix("SLOT_TYPE_").or_else(|| rest.strip_prefix("NUM_SLOTS_TYPE_"));
        let periodic = rest.starts_with("SYSTEM_PERIODIC_") || rest.starts_with("SUBMIT_REQUIREMENT_");
        let readers: Vec<&str> = match readers.collect::<Vec<_>>() {
            none if none.is_empty() && slots.is_some() => vec!["STARTD"],
            none if none.is_empty() && periodic => vec!["SCHEDD", "SHADOW"],
            readers => readers,
        };
        if readers.is_empty() || readers.contains(&prefix) {
            return;
        }
        let message = format!("`{}` has no effect: {prefix} does not read `{rest}`", shown(definition.name));
        let help = format!("only {} does: write `{rest}`", readers.join(" and "));
        self.found.push(definition.name_warning(message).code("unread-prefix").help(help));
    }
}

/// Booleans and numbers that are evaluated in the ads of a job and of its slot (`starter.cpp`, `singularity.cpp`, `vanilla_proc.cpp`,
/// `docker-api.cpp`, `remoteresource.cpp`, `schedd.cpp`, `Resource.cpp`), or in that of the negotiator (`matchmaker.cpp`): the name of an
/// attribute is a value of them.
const OF_ADS: [&str; 15] = [
    "CGROUP_HARD_MEMORY_LIMIT_EXPR",
    "CGROUP_LOW_MEMORY_LIMIT",
    "DOCKER_DROP_ALL_CAPABILITIES",
    "DOCKER_SHM_SIZE",
    "ENABLE_PEEK_JOB",
    "ENABLE_SSH_TO_JOB",
    "MAX_TRANSFER_INPUT_MB",
    "MAX_TRANSFER_OUTPUT_MB",
    "MUST_MODIFY_REQUEST_EXPRS",
    "NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD",
    "SCHEDD_ENABLE_SSH_TO_JOB",
    "SINGULARITY_JOB",
    "STARTER_ALLOW_JOB_PRE_AND_POST_CMD",
    "STARTER_ALLOW_RUNAS_OWNER",
    "USE_DEFAULT_CONTAINER",
];

/// Tests whether a value is the name of an attribute, and not a word for true or false.
fn is_attribute(value: &str) -> bool {
    const TRUTHS: [&str; 8] = ["yes", "no", "on", "off", "y", "n", "enabled", "disabled"];
    let is_name = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte));
    is_name && value.len() > 3 && !TRUTHS.iter().any(|word| word.eq_ignore_ascii_case(value))
}

/// Returns true for an expression that refers to attributes, and is more than a word.
pub(super) fn is_expression(value: &[u8], semantics: Semantics) -> bool {
    parsed(value, semantics)
        .is_some_and(|expr| expr.tree().nodes.len() > 1 && expr.tree().references(expr.root()).next().is_some())
}

/// A value as an expression, if it is one.
fn parsed(value: &[u8], semantics: Semantics) -> Option<Expr> {
    parse_expr(value, &ParseOptions { quoting: Quoting::Old, semantics, ..ParseOptions::default() }).ok()
}

/// The name of a host, `a.example.org`, in the place of a boolean: it is read as attributes of attributes, which do not exist.
fn host_for_truth(kind: KnobKind, upper: &str, value: &str) -> Option<Problem> {
    let is_name = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
    let has_scope = ["my.", "target."].iter().any(|scope| value.to_ascii_lowercase().starts_with(scope));
    let message = format!("`{upper}` is `{value}`, which is not a boolean");
    let help = "write `true` or `false`: a daemon that reads it ends with an error";
    (kind == KnobKind::Boolean && is_name && !has_scope && value.contains('.'))
        .then(|| (Severity::Error, message, help.to_owned()))
}

/// A name without the prefix of a daemon and a local name.
fn own_name(name: &[u8]) -> &[u8] {
    memchr::memrchr(b'.', name).map_or(name, |dot| &name[dot + 1..])
}

/// The severity, the message and the help.
pub(super) type Problem = (Severity, String, String);

fn of_security(upper: &str, value: &str) -> Option<Problem> {
    let ends =
        ["_AUTHENTICATION_METHODS", "_CRYPTO_METHODS", "_AUTHENTICATION", "_ENCRYPTION", "_INTEGRITY", "_NEGOTIATION"];
    let split = |end: &&'static str| Some((upper.strip_prefix("SEC_")?.strip_suffix(*end)?, *end));
    let (level, end) = ends.iter().find_map(split)?;
    if !names(LEVELS).chain(["DEFAULT", "ALLOW"]).any(|known| known == level) {
        return None;
    }
    let items = || value.split([',', ' ', '\t']).filter(|item| !item.is_empty());
    let unknown = |known: &[&str]| {
        items().find(|item| !known.iter().any(|one| one.eq_ignore_ascii_case(item))).map(str::to_owned)
    };
    if end == "_AUTHENTICATION_METHODS" {
        if items().any(|item| item.eq_ignore_ascii_case("GSI")) {
            let message = "`GSI` was removed as an authentication method, and is ignored".to_owned();
            return Some((Severity::Error, message, "write `SSL`, `IDTOKENS` or `SCITOKENS`".into()));
        }
        let known = [METHODS.as_slice(), &["ANONYMOUS"]].concat();
        let word = unknown(&known)?;
        let message = format!("`{word}` is not an authentication method, and is ignored");
        return Some((Severity::Error, message, "methods are `FS`, `IDTOKENS`, `SSL`, `SCITOKENS` and others".into()));
    }
    if end == "_CRYPTO_METHODS" {
        let word = unknown(&CIPHERS)?;
        let message = format!("`{word}` is not an encryption method, and is ignored");
        return Some((Severity::Error, message, "methods are `AES`, `BLOWFISH` and `3DES`".into()));
    }
    if WISHES.iter().any(|known| known.eq_ignore_ascii_case(value)) {
        return None;
    }
    let help = "write `REQUIRED`, `PREFERRED`, `OPTIONAL` or `NEVER`".to_owned();
    let read = match value.bytes().next()?.to_ascii_uppercase() {
        b'R' | b'Y' | b'T' => "REQUIRED",
        b'P' => "PREFERRED",
        b'O' => "OPTIONAL",
        b'F' | b'N' => "NEVER",
        _ => {
            let message = format!("`{upper}` is `{value}`, which every daemon rejects with an error");
            return Some((Severity::Error, message, help));
        }
    };
    // An abbreviation is what it looks like.
    if read.starts_with(&value.to_ascii_uppercase()) {
        return None;
    }
    let message = format!("`{upper}` is `{value}`, which is read as `{read}` by its first letter");
    Some((Severity::Warning, message, help))
}

/// The fault of an integer that its type does not exclude: one beyond 32 bits, with which daemons end (`param_integer` in HTCondor's
/// `condor_config.cpp`), or a negative time, size or limit. -1 often stands for none.
pub(super) fn odd_integer(kind: KnobKind, upper: &str, value: &str) -> Option<Problem> {
    /// Parts of the names of variables that may be read with 64 bits.
    const LONG: [&str; 9] =
        ["_SIZE", "MEMORY", "DISK", "_LOG", "BYTES_", "_EXPIRE_ADS", "LIBRARIAN_", "PREEN_", "ANNEX_"];
    let KnobKind::Integer(least, _) = kind else { return None };
    let number: i64 = value.parse().ok()?;
    if i32::try_from(number).is_err() && !LONG.iter().any(|part| upper.contains(part)) {
        let message = format!("`{upper}` is `{value}`, and is read as an integer of 32 bits");
        let help = format!("write a number up to {}: a daemon that reads it ends with an error", i32::MAX);
        return Some((Severity::Error, message, help));
    }
    // An age below 0 is a usual way to write that a claim has no limit.
    let is_time =
        upper.ends_with("_PERIOD") || IN_SECONDS.iter().any(|end| upper.ends_with(end) && *end != "_WORKLIFE");
    let is_amount = upper.starts_with("MAX_") || upper.contains("_MAX_") || upper.ends_with("_SIZE");
    let message = format!("`{upper}` is `{value}`: a time, a size or a limit is not negative");
    let is_count = upper.starts_with("NUM_") && number < 0;
    let is_odd = least == i64::MIN && (number < -1 && (is_time || is_amount) || is_count);
    is_odd.then(|| (Severity::Warning, message, format!("write `{}`", number.unsigned_abs())))
}

/// The resources of machines that a configuration defines, as it spells them.
pub(super) fn own_resources(config: &Config) -> Vec<String> {
    const PREFIXES: [&str; 2] = ["MACHINE_RESOURCE_INVENTORY_", "MACHINE_RESOURCE_"];
    let listed = config.list("MACHINE_RESOURCE_NAMES").unwrap_or_default();
    let of = |name: &[u8]| {
        let name = shown(own_name(name));
        let upper = name.to_ascii_uppercase();
        let start = PREFIXES.iter().find(|start| upper.starts_with(**start))?.len();
        (&upper[start..] != "NAMES").then(|| name[start..].to_owned())
    };
    config.names().filter_map(of).chain(listed.iter().map(|name| shown(name))).collect()
}

/// The shares of `SLOT_TYPE_<n>`. `own` are the resources that the configuration defines.
fn of_slot_type(upper: &str, value: &str, own: &[String]) -> Option<Problem> {
    let number = upper.strip_prefix("SLOT_TYPE_")?;
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let help = "write a number, a percentage up to 100%, a fraction such as 1/4, or `auto`".to_owned();
    if value.contains(';') {
        let message = format!("`;` in `{upper}` does not separate shares");
        return Some((Severity::Error, message, format!("write `{}`", value.replace(';', ","))));
    }
    let separators: &[char] = match value {
        _ if value.contains('\n') => &['\n'],
        _ if value.contains(',') => &[','],
        _ => &[' ', '\t'],
    };
    value.split(separators).map(str::trim).filter(|item| !item.is_empty()).find_map(|item| {
        let (name, share) = item.split_once('=').map_or(("", item), |(name, share)| (name.trim(), share.trim()));
        let share = share.split(':').next().unwrap_or_default().trim();
        let is_own = own.iter().any(|own| own.eq_ignore_ascii_case(name));
        // The startd knows a resource by any beginning of its name (HTCondor's `slot_builder.cpp`).
        let is_standard = STANDARD.into_iter().any(|known| known.starts_with(&name.to_ascii_lowercase()));
        if let Some(meant) = misspelled_resource(name, own).filter(|_| !is_own && !is_standard) {
            let message = format!("`{name}` in `{upper}` is not a resource of machines");
            return Some((Severity::Error, message, format!("did you mean `{meant}`?")));
        }
        if let Some(what) = bad_share(share, name) {
            return Some((Severity::Error, format!("`{item}` in `{upper}` {what}"), help.clone()));
        }
        // A share of a resource that a machine does not have is nothing, and a number of them stops the startd.
        let is_other = !name.is_empty() && !is_standard && !is_own;
        let is_number = share.parse::<f64>().is_ok_and(|number| number > 0.0);
        let message = format!("`{name}` in `{upper}` is not a resource of machines, and the startd ends with an error");
        let help = format!("define it: `MACHINE_RESOURCE_{name} = {share}`");
        // GPUs are found without a variable.
        (is_other && is_number && !name.eq_ignore_ascii_case("gpus")).then_some((Severity::Error, message, help))
    })
}

/// The fault of a share of a slot type that computes with what a machine has, `cpus=$(DETECTED_CPUS)/2`: `/` makes it a fraction of the
/// machine, and other signs end the number (`parse_share_value` in HTCondor's `slot_builder.cpp`).
fn computed_share(upper: &str, value: &str) -> Option<Problem> {
    let number = upper.strip_prefix("SLOT_TYPE_")?;
    let separators: &[char] = if value.contains(',') { &[','] } else { &[' ', '\t', '\n'] };
    value.split(separators).filter(|_| number.bytes().all(|byte| byte.is_ascii_digit())).find_map(|item| {
        let (name, share) = item.split_once('=')?;
        let fact = share.trim().strip_prefix(UNKNOWN)?;
        let end = fact.find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'))?;
        let (name, fact, rest) = (name.trim(), &fact[..end], fact[end..].trim());
        let number = rest[1..].trim();
        let is_number = number.parse::<f64>().is_ok_and(|number| number > 0.0);
        let item = format!("{name}=$({fact}){rest}");
        match rest.as_bytes()[0] {
            b'/' if is_number => {
                let message =
                    format!("`{item}` in `{upper}` is a fraction of the machine, which is more than all of it");
                Some((Severity::Error, message, format!("write `{name}=1/{number}`")))
            }
            b'*' | b'-' | b'+' if is_number => {
                let message = format!("`{item}` in `{upper}` is read as `{name}=$({fact})`: shares are not computed");
                Some((
                    Severity::Warning,
                    message,
                    format!("compute it before: `{name}=$INT(A)` with `A = $({fact}){rest}`"),
                ))
            }
            _ => None,
        }
    })
}

/// The resources of all machines.
const STANDARD: [&str; 6] = ["cpus", "ram", "memory", "swap", "virtualmemory", "disk"];

/// The resource that all machines have, or one of the configuration's own, that a name misspells by a letter.
pub(super) fn misspelled_resource<'a>(name: &str, own: &'a [String]) -> Option<&'a str> {
    // Other words for them, with which the startd ends with an error.
    const WORDS: [(&str, &[&str]); 4] = [
        ("cpus", &["core", "cores", "cpu", "ncpus", "processors", "slots"]),
        ("memory", &["memory_mb", "physicalmemory"]),
        ("disk", &["diskspace", "storage", "scratch", "hdd"]),
        ("gpus", &["gpu"]),
    ];
    let lower = name.to_ascii_lowercase();
    if let Some((meant, _)) = WORDS.iter().find(|(_, words)| words.contains(&lower.as_str())) {
        return Some(meant);
    }
    if STANDARD.iter().any(|known| known.starts_with(&lower)) || lower == "gpus" || lower.len() < 4 {
        return None;
    }
    let own = own.iter().map(String::as_str);
    near::closest_within(1, lower.as_bytes(), STANDARD.iter().copied().chain(own).filter(|known| known.len() > 3))
}

/// The fault of a share; the name of its resource is empty for a default of all resources.
fn bad_share(share: &str, name: &str) -> Option<&'static str> {
    let words = ["auto", "automatic", "min", "minimal"];
    if words.iter().any(|word| word.eq_ignore_ascii_case(share)) {
        return None;
    }
    let number = |text: &str| text.trim().parse::<f64>().ok();
    if let Some(percent) = share.strip_suffix('%') {
        return match number(percent) {
            None => Some("is not a share"),
            Some(percent) => (!(0.0..=100.0).contains(&percent)).then_some("is more than all of it"),
        };
    }
    if let Some((part, whole)) = share.split_once('/') {
        return match (number(part), number(whole)) {
            (Some(part), Some(whole)) => (whole <= 0.0 || part > whole).then_some("is more than all of it"),
            _ => Some("is not a share"),
        };
    }
    let digits = share.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    if digits == 0 {
        return Some("is not a share");
    }
    // HTCondor's `slot_builder.cpp` reads it with `strtod`.
    if share[digits..].contains('=') {
        return Some("is one share: beside commas, blanks do not separate");
    }
    if share[digits..].contains(['+', '*', '-']) {
        return Some("counts as the number at its beginning: nothing is calculated");
    }
    name.is_empty().then_some("has no resource: a share of all resources is a percentage or a fraction")
}

/// A number without the commas between its thousands: `10,000`.
pub(super) fn ungrouped(value: &str) -> Option<String> {
    let (first, rest) = value.split_once(',')?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_grouped = rest.split(',').all(|part| part.len() == 3 && digits(part));
    ((1..=3).contains(&first.len()) && digits(first) && is_grouped).then(|| value.replace(',', ""))
}

/// A product of days, hours and minutes, `7 * 24 * 60`, in seconds: the factor of the seconds is missing.
pub fn seconds_of_days(value: &str) -> Option<String> {
    let factors: Option<Vec<i64>> = value.split('*').map(|factor| factor.trim().parse().ok()).collect();
    let (unit, seconds) = unit_of_days(&factors?)?;
    (unit == "minutes").then(|| format!("{value} * {seconds}"))
}

/// The unit of a product of a number of days with 24 hours, and perhaps with 60 minutes; and the seconds of the unit.
pub fn unit_of_days(factors: &[i64]) -> Option<(&'static str, u32)> {
    let count = |factor: i64| factors.iter().filter(|known| **known == factor).count();
    let days = factors.iter().filter(|factor| !matches!(factor, 24 | 60)).all(|days| (1..=366).contains(days));
    match (count(24), count(60), factors.len()) {
        (1, 1, 2..=3) if days => Some(("minutes", 60)),
        (1, 0, 2) if days => Some(("hours", 3600)),
        _ => None,
    }
}
