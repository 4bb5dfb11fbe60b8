//! Values in a form of their own: networks, periods and modes of cron jobs, patterns, and words. One file of more than 600 lines:
//! it is a table of variables and the checks of their forms.

use super::super::facts::UNKNOWN;
use super::super::name_list::names;
use super::choices;
use super::names::{DAEMONS, LEVELS};
use super::options::{absolute_folders, gpu_discovery, is_list_of_words, near_word, options, timespans};
use super::types::Problem;
use classmate::internal::builtin::near;
use classmate::internal::diagnostic::Severity;
use classmate::internal::pcre::{self, Options};

/// A check of the value of a variable (upper case).
pub(super) type Rule = fn(&str, &str) -> Option<Problem>;

/// Returns true for variables (upper case) of cron jobs.
pub(super) fn is_of_cron(upper: &str) -> bool {
    ["STARTD_CRON_", "SCHEDD_CRON_", "BENCHMARKS_"].iter().any(|start| upper.starts_with(start))
}

/// Tests whether a variable (upper case) is a list of users and hosts that may do something, or may not.
fn is_access(upper: &str) -> bool {
    let level = ["ALLOW_", "DENY_"].iter().find_map(|start| upper.strip_prefix(start));
    // The name of a daemon may follow, also of one that a site names. Others are macros of a site.
    let is_level = |text: &str| {
        names(LEVELS).any(|known| text.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('_')))
    };
    level.is_some_and(is_level) || upper == "FLOCK_FROM"
}

/// The check of the values of a variable (upper case), if there is one.
pub(super) fn rule(upper: &str) -> Option<Rule> {
    let is_cron = is_of_cron(upper);
    if is_cron && upper.ends_with("_PERIOD") {
        Some(period)
    } else if is_cron && upper.ends_with("_MODE") {
        Some(mode)
    } else if is_cron && upper.ends_with("_METRICS") {
        Some(metrics)
    } else if is_environment(upper) {
        Some(environment)
    } else if is_cron && upper.ends_with("_PREFIX") {
        Some(prefix)
    } else if is_cron && upper.ends_with("_SLOTS") {
        Some(slot_numbers)
    } else if is_cron && ["_KILL", "_RECONFIG", "_RECONFIG_RERUN"].iter().any(|end| upper.ends_with(end)) {
        Some(cron_truth)
    } else if is_access(upper) {
        Some(network)
    } else if upper.starts_with("MACHINE_RESOURCE_")
        && !upper.starts_with("MACHINE_RESOURCE_INVENTORY_")
        && upper != "MACHINE_RESOURCE_NAMES"
    {
        Some(resource)
    } else if PORTS.contains(&upper) {
        Some(port)
    } else if let Some((_, rule)) = NAMED.iter().find(|(names, _)| names.contains(&upper)) {
        Some(*rule)
    } else if upper.ends_with("_REGEX") || upper.ends_with("_REGEXP") || upper == "QUEUE_SUPER_USER_MAY_IMPERSONATE" {
        Some(pattern)
    } else if upper.ends_with("_DEBUG") {
        Some(debug)
    } else if is_log_size(upper) {
        Some(log_size)
    } else if upper.starts_with("GRIDMANAGER_MAX_SUBMITTED_JOBS_PER_RESOURCE") {
        Some(limits)
    } else if upper.strip_suffix("_ARGS").is_some_and(|front| names(DAEMONS).any(|daemon| daemon == front)) {
        Some(options)
    } else if is_list_of_words(upper) {
        Some(near_word)
    } else if choices::has(upper) {
        Some(choices::check)
    } else {
        None
    }
}

/// Variables with a check of their own.
const NAMED: [(&[&str], Rule); 25] = [
    (&["ANNEX_TOKEN_KEY_NAME", "SEC_TOKEN_AP_SIGNING_KEY_NAME", "SEC_TOKEN_ISSUER_KEY"], key_name),
    (&["RESERVED_DISK", "RESERVED_MEMORY", "RESERVED_SWAP"], reserved),
    (&["DEFAULT_USERLOG_FORMAT_OPTIONS", "EVENT_LOG_FORMAT_OPTIONS"], log_options),
    (&["GPU_DISCOVERY_EXTRA", "STARTD_DETECT_GPUS"], gpu_discovery),
    (&["SHARED_PORT_ARGS"], options),
    (&["DCSTATISTICS_TIMESPANS", "TRANSFER_IO_REPORT_TIMESPANS"], timespans),
    (&["TCP_FORWARDING_HOST"], host_alone),
    (&["MOUNT_UNDER_SCRATCH"], absolute_folders),
    (&["DEDICATED_EXECUTE_ACCOUNT_REGEXP"], pattern_of_accounts),
    (&["LOCAL_CONFIG_DIR", "LOCAL_CONFIG_FILE"], separated),
    (&["SUBMIT_REQUEST_MISSING_UNITS"], missing_units),
    (&["CONDOR_IDS"], user_and_group),
    (&["FILE_TRANSFER_DISK_LOAD_THROTTLE"], throttle),
    (&["HA_LOCK_HOLD_TIME", "HA_POLL_PERIOD"], plain_seconds),
    (&["HA_LOCK_URL"], lock_address),
    (&["FILETRANSFER_PLUGINS"], programs),
    (&["CONDOR_ADMIN", "CONDOR_DEVELOPERS"], mail_address),
    (&["SHARED_PORT_PORT"], single_port),
    (&["NETWORK_INTERFACE", "PRIVATE_NETWORK_INTERFACE"], interface),
    (&HOSTS, host),
    (&["UID_DOMAIN", "FILESYSTEM_DOMAIN", "DEFAULT_DOMAIN_NAME", "ACCOUNTANT_LOCAL_DOMAIN", "EMAIL_DOMAIN"], domain),
    (&["DEDICATEDSCHEDULER"], dedicated_scheduler),
    (&["HAD_LIST", "REPLICATION_LIST"], with_ports),
    (&["VM_STATUS_INTERVAL"], status_interval),
    (&["STARTD_PRINT_ADS_FILTER"], kinds_of_slots),
];

/// Variables that name hosts.
const HOSTS: [&str; 10] = [
    "CCB_ADDRESS",
    "CONDOR_HOST",
    "COLLECTOR_HOST",
    "CONDOR_VIEW_HOST",
    "CREDD_HOST",
    "FLOCK_COLLECTOR_HOSTS",
    "FLOCK_NEGOTIATOR_HOSTS",
    "FLOCK_TO",
    "NEGOTIATOR_HOST",
    "SCHEDD_HOST",
];

/// A limit for all resources, and after it pairs of a part of the name of one and its own limit (`BaseResource::Reconfig`).
fn limits(upper: &str, value: &str) -> Option<Problem> {
    let is_number = |item: &str| item.starts_with(|sign: char| sign.is_ascii_digit());
    let items: Vec<&str> = value.split([',', ' ', '\t']).filter(|item| !item.is_empty()).collect();
    let (first, pairs) = items.split_first()?;
    let help = "write the limit for all, and then pairs, as in `1000, slurm, 500`".to_owned();
    if !is_number(first) {
        let message = format!("`{upper}` begins with the limit for all resources, and `{first}` is not a number");
        return Some((Severity::Warning, message, help));
    }
    let odd = pairs.chunks(2).find(|pair| pair.get(1).is_none_or(|limit| !is_number(limit)))?;
    let message = format!("`{}` in `{upper}` is the name of a resource, and no limit follows it", odd[0]);
    Some((Severity::Warning, message, help))
}

/// An interval below the one that is enforced (`vm_proc.cpp`).
fn status_interval(upper: &str, value: &str) -> Option<Problem> {
    const LEAST: i64 = 30;
    let seconds = value.parse::<i64>().ok().filter(|seconds| *seconds < LEAST)?;
    let message = format!("`{upper}` is {seconds}: {LEAST} is taken");
    Some((Severity::Warning, message, format!("write a number of at least {LEAST}")))
}

/// The name of a key, which is a file of `SEC_PASSWORD_DIRECTORY` (`getTokenSigningKeyPath` in HTCondor's `store_cred.cpp`).
fn key_name(upper: &str, value: &str) -> Option<Problem> {
    // `dircat` leaves out `/` at the beginning, and a key may be in a folder of that one.
    let (_, name) = value.strip_prefix('/')?.rsplit_once('/').filter(|(_, name)| !name.is_empty())?;
    let message = format!("`{upper}` is the name of a key in `SEC_PASSWORD_DIRECTORY`, and not the path `{value}`");
    Some((Severity::Error, message, format!("write `{name}`")))
}

/// Kinds of slots; other words are ignored (`ResMgr.cpp`).
fn kinds_of_slots(upper: &str, value: &str) -> Option<Problem> {
    const KNOWN: [&str; 3] = ["static", "partitionable", "dynamic"];
    let mut words = value.split([',', ' ', '\t']).filter(|word| !word.is_empty());
    let word = words.find(|word| !KNOWN.iter().any(|known| known.eq_ignore_ascii_case(word)))?;
    let message = format!("`{word}` in `{upper}` is not a kind of slots, and is ignored");
    Some((Severity::Error, message, "write `static`, `partitionable` or `dynamic`".to_owned()))
}

/// The options of the format of an event log; others are ignored.
fn log_options(upper: &str, value: &str) -> Option<Problem> {
    const KNOWN: [&str; 7] = ["XML", "JSON", "CLASSAD", "UTC", "ISO_DATE", "SUB_SECOND", "LEGACY"];
    let is_known = |word: &&str| {
        let plain = word.trim_start_matches(['!', '~']);
        KNOWN.iter().any(|known| known.eq_ignore_ascii_case(plain))
    };
    let mut words = value.split([',', ' ', '\t', '|']).filter(|word| !word.is_empty());
    let word = words.find(|word| !is_known(word))?;
    let message = format!("`{word}` in `{upper}` is not an option, and is ignored");
    Some((Severity::Error, message, "write `XML`, `JSON`, `UTC`, `ISO_DATE` or `SUB_SECOND`".to_owned()))
}

/// Files or folders, which commas separate.
fn separated(upper: &str, value: &str) -> Option<Problem> {
    // A command that prints a configuration: all of the value (`process_locals` in HTCondor's `condor_config.cpp`).
    if value.contains('|') {
        let with_files =
            !value.ends_with('|') || value.split_whitespace().next().is_some_and(|word| word.ends_with(','));
        let message = format!("`{upper}` is either one command that ends with `|`, or a list of files");
        let help = "write files into the output of the command, as `include : file`";
        let is_read = upper == "LOCAL_CONFIG_FILE" && with_files;
        return is_read.then(|| (Severity::Error, message, help.to_owned()));
    }
    let is_folder = |item: &&str| item.len() > 1 && (item.ends_with('/') || item.ends_with("/config.d"));
    if let Some(item) = value.split([',', ' ']).find(is_folder).filter(|_| upper == "LOCAL_CONFIG_FILE") {
        let message = format!("`{upper}` names files, and `{item}` looks like a folder");
        return Some((Severity::Error, message, format!("write `LOCAL_CONFIG_DIR = {item}`")));
    }
    let message = format!("`{value}` is one name: `;` does not separate in `{upper}`");
    let inner = value.trim_end_matches(';');
    (inner.contains(';')).then(|| (Severity::Error, message, format!("write `{}`", inner.replace(';', ","))))
}

/// An amount of MiB that no machine leaves unused.
fn reserved(upper: &str, value: &str) -> Option<Problem> {
    let most = if upper == "RESERVED_DISK" { 20e6 } else { 1e6 };
    let amount = value.parse::<f64>().ok().filter(|amount| *amount >= most)?;
    let message =
        format!("`{upper}` is in MiB, and {value} MiB are about {} TiB", (amount / f64::from(1 << 20)).round());
    Some((Severity::Warning, message, format!("write {} if KiB are meant", (amount / 1024.0).round())))
}

/// Tests whether a variable (upper case) is the environment of a cron job, of a daemon or of jobs.
fn is_environment(upper: &str) -> bool {
    let is_of_daemon = |daemon: &str| names(DAEMONS).chain(names("more daemons")).any(|known| known == daemon);
    upper == "STARTER_JOB_ENVIRONMENT"
        || is_of_cron(upper) && upper.ends_with("_ENV")
        || upper.strip_suffix("_ENVIRONMENT").is_some_and(is_of_daemon)
}

/// Variables of an environment that are not separated, or separated by the sign of the other form: in double quotes, only blanks
/// separate, and without them only `;` (`Env::MergeFromV1RawOrV2Quoted` in HTCondor's `env.cpp`).
pub(super) fn environment(upper: &str, value: &str) -> Option<Problem> {
    if let Some(inner) = value.strip_prefix('"').filter(|rest| !rest.is_empty() && !rest.contains('"')) {
        let message = format!("`{upper}` has no closing double quote, and is not read");
        return Some((Severity::Error, message, format!("write `{upper} = \"{inner}\"`")));
    }
    if let Some(inner) = value.strip_suffix('"').filter(|rest| rest.contains('=') && !rest.contains('"')) {
        let message = format!("`{upper}` has no opening double quote, so the one at its end is a part of the value");
        return Some((Severity::Warning, message, format!("write `{upper} = \"{inner}\"`")));
    }
    if let Some(inner) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        // What single quotes enclose is one value.
        let follows = |text: &str| text.split_once('=').is_some_and(|(name, _)| is_name_of_variable(name));
        let at = memchr::memchr_iter(b';', inner.as_bytes()).find(|at| follows(&inner[at + 1..]))?;
        let joined = inner[at + 1..].split('=').next().unwrap_or_default();
        let message =
            format!("`{joined}` in `{upper}` is a part of the value before it: in quotes, only blanks separate");
        let help = format!("write `{upper} = \"{}\"`", inner.replace(';', " "));
        return (!inner.contains('\'')).then_some((Severity::Warning, message, help));
    }
    let is_plain = !value.starts_with('"') && !value.contains([';', '\n']);
    let words: Vec<&str> = value.split_whitespace().collect();
    // Options such as `-Da=b`, and words such as `mode=slow`, are parts of a value.
    let is_setting = |word: &&str| {
        let name = word.split('=').next().unwrap_or_default();
        is_name_of_variable(name)
            && !name.starts_with(|sign: char| sign.is_ascii_digit())
            && word.matches('=').count() == 1
    };
    let is_list = words.len() > 1 && words.iter().all(is_setting);
    let message = format!("`{value}` in `{upper}` is one variable: without quotes, `;` separates");
    (is_plain && is_list).then(|| (Severity::Warning, message, format!("write `{upper} = \"{value}\"`")))
}

/// Tests whether a name is written as those of an environment are: in capitals, or as `http_proxy`.
fn is_name_of_variable(name: &str) -> bool {
    let is_capital = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    !name.is_empty()
        && (name.bytes().all(is_capital)
            || name.strip_suffix("_proxy").is_some_and(|kind| kind.bytes().all(|byte| byte.is_ascii_lowercase())))
}

/// A domain: a name alone.
fn domain(upper: &str, value: &str) -> Option<Problem> {
    if value == "*" || value.starts_with('"') {
        return None;
    }
    let plain = value.split_once("://").map_or(value, |(_, rest)| rest);
    let plain = plain.trim_start_matches(['*', '@', '<', '.']).trim_end_matches(['/', '>']);
    let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let message = format!("`{upper}` is `{value}`, which is not the name of a domain");
    // A dot comes before the domain where it is appended to a name (`email_cpp.cpp`). `ipv6_hostname.cpp` takes a leading one as
    // it is in a part of the names.
    if upper == "DEFAULT_DOMAIN_NAME" && value.starts_with('.') && is_name(value) && !plain.is_empty() {
        return None;
    }
    if value.starts_with('.') && upper != "FILESYSTEM_DOMAIN" && is_name(value) && !plain.is_empty() {
        return Some((Severity::Warning, message, format!("write `{plain}`")));
    }
    let help =
        if is_name(plain) { format!("write `{plain}`") } else { "write one name, as in `example.org`".to_owned() };
    (!is_name(value)).then_some((Severity::Error, message, help))
}

/// The scheduler that a slot is dedicated to: jobs of the parallel universe ask for this text (`dedicated_scheduler.cpp`).
fn dedicated_scheduler(upper: &str, value: &str) -> Option<Problem> {
    const FRONT: &str = "DedicatedScheduler@";
    let name = value.strip_prefix('"')?.strip_suffix('"').filter(|name| !name.is_empty() && !name.contains('"'))?;
    let is_known = name.get(..FRONT.len()).is_some_and(|front| front.eq_ignore_ascii_case(FRONT));
    let message = format!("`{upper}` is `{value}`: no job of the parallel universe asks for it");
    (!is_known).then(|| (Severity::Warning, message, format!("write `\"{FRONT}{name}\"`")))
}

/// The user and the group of the daemons, as HTCondor's `uids.cpp` reads them.
fn user_and_group(upper: &str, value: &str) -> Option<Problem> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let known = value.split_once('.').is_some_and(|(user, group)| digits(user) && digits(group));
    let help = "write the numbers of a user and of a group, as in `1000.1000`: daemons end with an error otherwise";
    (!known).then(|| (Severity::Error, format!("`{upper}` is `{value}`"), help.to_owned()))
}

/// The address of a lock: a folder that several access points share (HTCondor's `condor_lock.cpp`).
fn lock_address(upper: &str, value: &str) -> Option<Problem> {
    let message = format!("`{upper}` is `{value}`, and the address of a lock begins with `file:`");
    (!value.to_ascii_lowercase().starts_with("file:"))
        .then(|| (Severity::Error, message, format!("write `file:{value}`")))
}

/// A number of a resource, or the names of its parts, as `parse_user_resource_config` in HTCondor's `ResAttributes.cpp` reads them.
fn resource(upper: &str, value: &str) -> Option<Problem> {
    if value.contains('\n') {
        return None;
    }
    let problem = |message: String, help: String| Some((Severity::Warning, message, help));
    if let Some(inner) = value.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')) {
        let message = format!("the quotes are a part of the names in `{upper}`");
        return problem(message, format!("write `{upper} = {inner}`"));
    }
    let unit = value.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    let digits = value.len() - unit.len();
    let is_unit =
        ["b", "k", "kb", "m", "mb", "g", "gb", "t", "tb", "%"].iter().any(|one| one.eq_ignore_ascii_case(unit.trim()));
    let message = format!("`{upper}` is `{value}`, which is the name of one part: a number has no unit");
    (digits > 0 && is_unit).then(|| problem(message, format!("write `{upper} = {}`", &value[..digits])))?
}

/// Programs with their whole paths (HTCondor's `file_transfer.cpp`).
fn programs(upper: &str, value: &str) -> Option<Problem> {
    let mut items = value.split([',', ' ', '\t', '\n']).filter(|item| !item.is_empty());
    // Quotes and `;` are reported as such.
    let item = items.find(|item| !item.contains(['/', '\\', '$', '"', ';']))?;
    let message = format!("`{item}` in `{upper}` is not an absolute path");
    Some((Severity::Warning, message, format!("write `$(LIBEXEC)/{item}`")))
}

/// Addresses of mails, separated by commas or blanks.
fn mail_address(upper: &str, value: &str) -> Option<Problem> {
    let mut words = value.split_whitespace();
    let is_spelled = words.any(|word| word.eq_ignore_ascii_case("at"));
    let message = format!("`{upper}` is `{value}`, which is not an email address");
    let is_part = |item: &str| item.starts_with('@') || item.ends_with('@') || item.matches('@').count() > 1;
    let is_odd = is_spelled || value.split([',', ' ', '\t']).any(is_part);
    is_odd.then(|| (Severity::Warning, message, "write `name@example.org`".to_owned()))
}

/// One port: `9618-9700` is a difference.
fn single_port(upper: &str, value: &str) -> Option<Problem> {
    if let Some(found) = beyond_ports(upper, value) {
        return Some(found);
    }
    let (low, high) = value.split_once('-')?;
    let is_number = |text: &str| text.trim().parse::<u16>().is_ok();
    let message = format!("`{upper}` is `{value}`: it is one port, and not a range");
    (is_number(low) && is_number(high)).then(|| (Severity::Error, message, format!("write `{}`", low.trim())))
}

/// A network interface: a name or an address, perhaps with `*`.
fn interface(upper: &str, value: &str) -> Option<Problem> {
    if let Some((address, _)) = value.split_once('/') {
        let message = format!("`{upper}` is `{value}`: an interface has no network mask");
        let help = format!("write the address, or a pattern such as `{}*`", stem(address));
        return Some((Severity::Error, message, help));
    }
    let (address, port) = value.split_once(':').filter(|(address, _)| address.contains('.'))?;
    let message = format!("`{upper}` is `{value}`: an interface has no port");
    port.bytes().all(|byte| byte.is_ascii_digit()).then(|| (Severity::Error, message, format!("write `{address}`")))
}

/// An address without its last number.
fn stem(address: &str) -> &str {
    address.rfind('.').map_or(address, |dot| &address[..=dot])
}

/// Macros that are the names of hosts.
pub(super) const MACROS: [&str; 6] =
    ["COLLECTOR_HOST", "CONDOR_HOST", "FULL_HOSTNAME", "HOSTNAME", "IP_ADDRESS", "IPV4_ADDRESS"];

/// Hosts, perhaps with ports: not addresses of web pages.
fn host(upper: &str, value: &str) -> Option<Problem> {
    let items = || value.split([',', ' ', '\t']).filter(|item| !item.is_empty());
    if let Some((scheme, rest)) = items().find_map(|item| item.split_once("://")) {
        let message = format!("`{scheme}://{rest}` in `{upper}` is not the name of a host");
        return Some((Severity::Error, message, format!("write `{}`", rest.trim_end_matches('/'))));
    }
    if let Some(item) = items().find(|item| item.ends_with(';') || item.contains(';') && !item.contains('"')) {
        let message = format!("`{item}` in `{upper}` is not the name of a host");
        return Some((Severity::Error, message, "separate hosts with commas".to_owned()));
    }
    if ["true", "false", "yes"].iter().any(|word| word.eq_ignore_ascii_case(value)) {
        let message = format!("`{upper}` is `{value}`, which is taken for the name of a host");
        return Some((Severity::Warning, message, "write the name of the host".to_owned()));
    }
    if let Some(item) = items().find(|item| MACROS.contains(item)) {
        let message = format!("`{item}` in `{upper}` is the name of a host, and not a macro");
        return Some((Severity::Warning, message, format!("write `$({item})`")));
    }
    if let Some(item) = items().find(|item| item.parse::<u16>().is_ok_and(|port| port >= 1024)) {
        let message = format!("`{item}` in `{upper}` is taken for the name of another host, and looks like a port");
        let host = items().take_while(|one| *one != item).last().unwrap_or("host");
        return Some((Severity::Warning, message, format!("write `{host}:{item}`")));
    }
    if let Some(item) = items().find(|item| !is_host(item)) {
        let message = format!("`{item}` in `{upper}` is not the name of a host");
        let plain = item.trim_matches(['/', '<', '>', '@', '.', '*', '\\']);
        return Some((Severity::Error, message, format!("write the name alone, as in `{plain}`")));
    }
    // `$(CONDOR_HOST):9618` with a port in the macro.
    let has_two = |item: &&str| {
        let mut parts = item.split('?').next().unwrap_or_default().split(':');
        let is_name = parts.next().is_some_and(|name| name.contains('.') && !name.starts_with(['[', '<']));
        is_name && parts.clone().count() == 2 && parts.all(|part| part.parse::<u16>().is_ok())
    };
    if let Some(item) = items().find(has_two) {
        let message = format!("`{item}` in `{upper}` has two ports");
        let plain = item.rsplit_once(':').map_or(item, |(front, _)| front);
        return Some((Severity::Error, message, format!("write `{plain}`")));
    }
    // A name of a port, or a word in its place.
    let port =
        |item: &str| item.split_once(':').map(|(_, port)| port.split(['?', '/']).next().unwrap_or_default().to_owned());
    let is_odd = |item: &&str| {
        let plain = !item.starts_with('[') && !item.starts_with('<') && item.matches(':').count() == 1;
        plain && port(item).is_some_and(|port| port.parse::<u16>().is_err())
    };
    let item = items().find(is_odd)?;
    let is_number = port(item).is_some_and(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
    let what = if is_number { "above 65535" } else { "that is not a number" };
    let message = format!("`{item}` in `{upper}` has a port {what}");
    Some((Severity::Error, message, "write `host:9618`, or the name of the host alone".to_owned()))
}

/// A host without a port: it is resolved as it is written (`daemon_core.cpp`).
fn host_alone(upper: &str, value: &str) -> Option<Problem> {
    if let Some(found) = host(upper, value) {
        return Some(found);
    }
    let (name, port) = value.split_once(':').filter(|(_, port)| !port.contains(':'))?;
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let message = format!("`{upper}` is `{value}`: it is a host, and has no port");
    is_port.then(|| (Severity::Error, message, format!("write `{name}`")))
}

/// Returns true for what may be the name or the address of a host. Quotes are reported as such.
fn is_host(item: &str) -> bool {
    let name = item.split('?').next().unwrap_or_default();
    let is_sinful = item.starts_with('<') && item.contains(':');
    let is_open = item.starts_with('<') && !item.contains('>');
    is_sinful && !is_open || item.contains('"') || !name.contains(['/', '\\', '<', '>', '*']) && !name.starts_with('@')
}

/// Hosts with ports, which the programs for high availability need.
fn with_ports(upper: &str, value: &str) -> Option<Problem> {
    if let Some(found) = host(upper, value) {
        return Some(found);
    }
    let items = value.split([',', ' ', '\t']).filter(|item| !item.is_empty());
    let item = items.into_iter().find(|item| !item.contains(':'))?;
    let message = format!("`{item}` in `{upper}` has no port, and the daemon ends with an error");
    Some((Severity::Error, message, format!("write `{item}:PORT`")))
}

/// Tests whether the default of a variable (upper case) is not a boolean.
pub(super) fn is_not_boolean(upper: &str) -> bool {
    let default = crate::config::table::entry(upper.as_bytes()).map_or("", |entry| entry.1);
    !["true", "false"].iter().any(|word| word.eq_ignore_ascii_case(default.trim()))
}

/// Tests whether a variable (upper case) is the size of a log, which has units.
pub(super) fn is_log_size(upper: &str) -> bool {
    upper.starts_with("MAX_") && upper.ends_with("_LOG") && !upper.starts_with("MAX_NUM_")
}

fn one_of(upper: &str, value: &str, known: &[&str], help: &str) -> Option<Problem> {
    let is_known = known.iter().any(|word| word.eq_ignore_ascii_case(value));
    (!is_known).then(|| (Severity::Error, format!("`{upper}` is `{value}`"), help.to_owned()))
}

/// The time between two runs of a cron job.
fn period(upper: &str, value: &str) -> Option<Problem> {
    let unit = value.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let known = unit.is_empty() || unit.starts_with(['s', 'm', 'h', 'S', 'M', 'H']);
    let help = "write a number of seconds, or a number with `s`, `m` or `h`, as in `5m`";
    let message = || format!("`{upper}` is `{value}`, so the job never runs");
    (unit.len() == value.len() || !known).then(|| (Severity::Error, message(), help.to_owned()))
}

/// The fault of the kinds of messages that a daemon logs: words that HTCondor does not know are ignored.
fn debug(upper: &str, value: &str) -> Option<Problem> {
    const KNOWN: [&str; 46] = [
        "D_25",
        "D_26",
        "D_ACCOUNTANT",
        "D_ALL",
        "D_ALWAYS",
        "D_ANY",
        "D_AUDIT",
        "D_BACKTRACE",
        "D_CAT",
        "D_CATEGORY",
        "D_CKPT",
        "D_COMMAND",
        "D_CONFIG",
        "D_CRON",
        "D_DAEMONCORE",
        "D_DYE",
        "D_ERROR",
        "D_EXPR",
        "D_FAILURE",
        "D_FDS",
        "D_FULLDEBUG",
        "D_HOSTNAME",
        "D_IDENT",
        "D_IDLE",
        "D_JOB",
        "D_KEYBOARD",
        "D_LEVEL",
        "D_LOAD",
        "D_MACHINE",
        "D_MATCH",
        "D_MATERIALIZE",
        "D_NETWORK",
        "D_NFS",
        "D_NOHEADER",
        "D_PERF_TRACE",
        "D_PID",
        "D_PRIV",
        "D_PROC",
        "D_PROCFAMILY",
        "D_PROTOCOL",
        "D_SECURITY",
        "D_STATS",
        "D_STATUS",
        "D_SUB_SECOND",
        "D_SYSCALLS",
        "D_THREADS",
    ];
    const OTHERS: [&str; 3] = ["D_TEST", "D_TIMESTAMP", "D_ZKM"];
    // Words of a comment behind the levels are unknown ones, which is said elsewhere.
    let words = value.split([' ', ',', '|', '\t', '\n']).take_while(|word| !word.starts_with('#'));
    let words = words.map(|word| word.trim_start_matches(['-', '+']));
    let levels = words.map(|word| word.split(':').next().unwrap_or_default().to_ascii_uppercase());
    let all = || KNOWN.iter().chain(&OTHERS).copied();
    let problem = |word: &str, help: String| {
        let message = format!("`{word}` in `{upper}` is not a debug level, and is ignored");
        Some((Severity::Error, message, help))
    };
    let bare = levels.clone().find(|name| all().any(|known| known.strip_prefix("D_") == Some(name)));
    if let Some(bare) = bare {
        return problem(&bare, format!("write `D_{bare}`"));
    }
    // Variables of other programs may have other words.
    let is_of_daemon = upper.strip_suffix("_DEBUG").is_some_and(|front| {
        ["ALL", "DEFAULT", "TOOL", "SUBMIT"].contains(&front) || names(DAEMONS).any(|known| known == front)
    });
    let is_word = |name: &&String| {
        let is_plain = !name.is_empty() && !name.contains('$') && !name.starts_with(&UNKNOWN.to_ascii_uppercase());
        is_plain && (name.starts_with("D_") || is_of_daemon)
    };
    let wrong = levels.filter(|name| is_word(&name)).find(|name| !all().any(|known| known == name))?;
    let parts = |text: &str| {
        text.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_')).any(|part| part.starts_with("D_"))
    };
    let sign = wrong.chars().find(|sign| !sign.is_ascii_alphanumeric() && *sign != '_');
    if let Some(sign) = sign.filter(|_| parts(&wrong)) {
        let plain: Vec<&str> = wrong
            .split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'))
            .filter(|part| !part.is_empty())
            .collect();
        return problem(&wrong, format!("`{sign}` does not separate levels: write `{}`", plain.join(", ")));
    }
    let allowed = if wrong.len() > 6 { 2 } else { 1 };
    let meant = near::closest_within(allowed, wrong.as_bytes(), all().filter(|known| known.len() >= 5));
    let help = meant.map_or_else(
        || "the levels have names such as `D_FULLDEBUG`, `D_COMMAND` and `D_SECURITY`".to_owned(),
        |meant| format!("did you mean `{meant}`?"),
    );
    problem(&wrong, help)
}

/// The size, or the age, of a log.
fn log_size(upper: &str, value: &str) -> Option<Problem> {
    let unit = value.trim_start_matches(|sign: char| sign.is_ascii_digit());
    if unit.len() < value.len() && is_unit_of_fraction(unit) {
        let bytes = &value[..value.len() - unit.len()];
        let message = format!("`{upper}` is `{value}`: read as {bytes}, as the number has to be whole");
        return Some((Severity::Warning, message, "write a size as in `1500 Mb`".to_owned()));
    }
    let letters = unit.trim_start().to_ascii_lowercase();
    // As `dprintf_parse_log_size` in HTCondor's `dprintf_config.cpp`.
    let minutes_or_megabytes = letters == "m" || letters.starts_with("mb") || letters.starts_with("mi");
    let one_word = letters.bytes().all(|byte| byte.is_ascii_alphabetic());
    if letters.is_empty()
        && !upper.contains("HISTORY")
        && value.parse::<u32>().is_ok_and(|bytes| (1..LEAST_LOG).contains(&bytes))
    {
        let message = format!("`{upper}` is `{value}` bytes: the log is rotated after a few messages");
        return Some((Severity::Warning, message, format!("write a unit, as in `{value} Mb`")));
    }
    let is_time = letters.starts_with(['s', 'h', 'd', 'w']) || unit.trim_start() == "m" || letters.starts_with("min");
    if upper == "MAX_DEFAULT_LOG" && unit.len() < value.len() && one_word && is_time {
        let message = format!("`{upper}` is the time `{value}`, and daemons end with an error: it has to be a size");
        return Some((Severity::Error, message, "write a size as in `100 Mb`".to_owned()));
    }
    if unit.trim_start() == "m" && unit.len() < value.len() && !upper.contains("HISTORY") {
        let number = &value[..value.len() - unit.len()];
        let message = format!("`{upper}` is `{value}`, which is {number} minutes: the log is rotated by its age");
        return Some((Severity::Warning, message, format!("write `{number} Mb`, or `{number} min` for minutes")));
    }
    let known = unit.len() < value.len() && one_word && (!letters.starts_with('m') || minutes_or_megabytes);
    let help = "write a size as in `100 Mb`";
    (!known && !value.starts_with('-') && !value.contains(['*', '('])).then(|| {
        (Severity::Error, format!("`{upper}` is `{value}`, and the daemon ends with an error"), help.to_owned())
    })
}

/// Bytes that hold less than the messages of a daemon about its start.
const LEAST_LOG: u32 = 10_000;

/// Returns true if `dprintf_parse_log_size` takes what follows a whole number for its unit although it begins with a point: it looks at
/// three signs, whatever they are, and at letters after them.
fn is_unit_of_fraction(unit: &str) -> bool {
    unit.strip_prefix('.').is_some_and(|rest| {
        let (mut first, mut letters) = (rest.chars().take(2), rest.chars().skip(2));
        first.all(|sign| sign != ' ') && letters.all(|sign| sign.is_ascii_alphabetic())
    })
}

/// The effect of a request without a unit: any word but `error` is a warning (`submit_utils.cpp`).
fn missing_units(upper: &str, value: &str) -> Option<Problem> {
    let lower = value.to_ascii_lowercase();
    let is_known = lower == "error" || lower.starts_with("warn");
    let message = || format!("`{upper}` is `{value}`, and is read as `warn`");
    let help = "write `error` to reject such a request, or `warn`";
    (!is_known).then(|| (Severity::Warning, message(), help.to_owned()))
}

/// The numbers of the slots that a cron job is for.
fn slot_numbers(upper: &str, value: &str) -> Option<Problem> {
    let mut items = value.split([',', ' ', '\t']).filter(|item| !item.is_empty());
    let item = items.find(|item| item.parse::<u32>().is_err())?;
    let message = format!("`{item}` in `{upper}` is not the number of a slot");
    Some((
        Severity::Error,
        message,
        "write numbers, as in `1, 2`; without the variable, all slots are meant".to_owned(),
    ))
}

/// The text before the names of the attributes that a cron job brings (the manual's chapter on hooks).
fn prefix(upper: &str, value: &str) -> Option<Problem> {
    let sign = value.chars().find(|sign| !sign.is_ascii_alphanumeric() && *sign != '_')?;
    let message =
        format!("names of attributes do not have the `{sign}` of `{upper}`: the attributes of the job are lost");
    Some((Severity::Error, message, "write letters, digits and `_`, as in `Disk_`".to_owned()))
}

/// The metrics of a cron job, `SUM:attribute` or `PEAK:attribute` (`StartdCronJobParams::addMetric` in HTCondor's
/// `startd_cron_job_params.cpp`): of the kind, the first letters count.
fn metrics(upper: &str, value: &str) -> Option<Problem> {
    let is_known = |kind: &str| {
        let lower = kind.to_ascii_lowercase();
        lower.starts_with("sum") || lower.starts_with("peak")
    };
    let mut items = value.split([',', ' ', '\t']).filter(|item| !item.is_empty() && !item.contains('$'));
    let item = items.find(|item| !item.split_once(':').is_some_and(|(kind, _)| is_known(kind)))?;
    let message = format!("`{item}` in `{upper}` is not a metric, and is ignored");
    let help = match item.split_once(':') {
        Some((_, attribute)) if !attribute.is_empty() => format!("write `SUM:{attribute}` or `PEAK:{attribute}`"),
        _ => "write `SUM:attribute` or `PEAK:attribute`, without blanks around the colon".to_owned(),
    };
    Some((Severity::Error, message, help))
}

/// The loads at which transfers start to wait and stop waiting: `NUMBER`, or `LOW to HIGH` (`parseThrottleConfig` in HTCondor's
/// `transfer_queue.cpp`).
fn throttle(upper: &str, value: &str) -> Option<Problem> {
    let problem = |what: &str, help: String| {
        let message = format!("`{upper}` is `{value}`, and the schedd ends with an error: {what}");
        Some((Severity::Error, message, help))
    };
    let (low, high) = value.split_once(" to ").unwrap_or((value, value));
    match (low.trim().parse::<f64>().ok(), high.trim().parse::<f64>().ok()) {
        (Some(low), Some(high)) if high < low => {
            problem("the first number is the lower one", format!("write `{high} to {low}`"))
        }
        (Some(low), Some(_)) if low < 0.0 => problem("a load is not negative", "write `2.0`".to_owned()),
        (Some(_), Some(_)) => None,
        _ => problem("it is neither a number nor two", "write `2.0`, or `1.5 to 2.0`".to_owned()),
    }
}

/// A number of seconds that is read by its digits alone (`SetupHighAvailability` in HTCondor's `masterDaemon.cpp`).
fn plain_seconds(upper: &str, value: &str) -> Option<Problem> {
    let digits = value.len() - value.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
    let (number, rest) = value.split_at(digits);
    if rest.trim().is_empty() && !number.is_empty() {
        return None;
    }
    let read = if number.is_empty() { "the default".to_owned() } else { format!("{number} s") };
    let message = format!("`{upper}` is `{value}`, and is read as {read}");
    Some((Severity::Warning, message, "write a number of seconds".to_owned()))
}

/// When a cron job runs. Only benchmarks are started on demand (`StartOnDemandJobs` in HTCondor's `startd_bench_job_mgr.cpp`).
fn mode(upper: &str, value: &str) -> Option<Problem> {
    let known = ["Periodic", "WaitForExit", "OneShot", "OnDemand"];
    if !upper.starts_with("BENCHMARKS_") && value.eq_ignore_ascii_case("OnDemand") {
        let message = format!("`{upper}` is `{value}`, and nothing starts such a job but a benchmark");
        return Some((Severity::Warning, message, "write `Periodic`, `WaitForExit` or `OneShot`".to_owned()));
    }
    one_of(upper, value, &known, "write `Periodic`, `WaitForExit` or `OneShot`")
}

/// A switch of a cron job, as `CronParamBase::Lookup` in HTCondor's `cron_param.cpp` reads it: by its first letter.
fn cron_truth(upper: &str, value: &str) -> Option<Problem> {
    let off = ["OFF", "DISABLED"].iter().any(|word| word.eq_ignore_ascii_case(value));
    let is_known = off || value.starts_with(['t', 'T', 'f', 'F', 'n', 'N', '0']);
    let message = || format!("`{upper}` is `{value}`, and is read as false");
    (!is_known).then(|| (Severity::Error, message(), "write `true`".to_owned()))
}

/// The bounds of ranges of ports.
const PORTS: [&str; 6] = ["LOWPORT", "HIGHPORT", "IN_LOWPORT", "IN_HIGHPORT", "OUT_LOWPORT", "OUT_HIGHPORT"];

/// A number above all ports.
fn beyond_ports(upper: &str, value: &str) -> Option<Problem> {
    let is_beyond = value.parse::<u64>().is_ok_and(|port| port > u64::from(u16::MAX));
    let message = format!("`{upper}` is `{value}`, and the largest port is 65535");
    is_beyond.then(|| (Severity::Error, message, "write a number up to 65535".to_owned()))
}

/// A bound of a range of ports, as `get_port_range` in HTCondor's `get_port_range.cpp` reads it: of a range with a negative
/// bound it takes none. `9600-9700` is a difference.
fn port(upper: &str, value: &str) -> Option<Problem> {
    if let Some(found) = beyond_ports(upper, value) {
        return Some(found);
    }
    let (low, high) = value.split_once('-')?;
    let (low, high): (i64, i64) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
    let message = format!("`{upper}` is `{value}`, which is {}, so the range of ports is ignored", low - high);
    let start = upper.trim_end_matches("LOWPORT").trim_end_matches("HIGHPORT");
    let help = format!("write `{start}LOWPORT = {low}` and `{start}HIGHPORT = {high}`");
    (low < high).then_some((Severity::Error, message, help))
}

/// Hosts that may do something: networks in them, and entries that no host matches.
fn network(upper: &str, value: &str) -> Option<Problem> {
    if let Some(found) = value.split([',', ' ', '\t', '\n']).find_map(|item| odd_entry(upper, item)) {
        return Some(found);
    }
    if let Some(found) = account_or_host(upper, value) {
        return Some(found);
    }
    let items = value.split([',', ' ', '\t', '\n']);
    let wrong = items.filter(|item| !item.is_empty()).find(|item| {
        let mut parts = item.rsplit('/');
        let (Some(mask), Some(address)) = (parts.next(), parts.next()) else { return false };
        let octets: Vec<&str> = address.split('.').collect();
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let all_digits = octets.iter().all(|octet| digits(octet));
        // `192.168.1/24`
        if (2..=3).contains(&octets.len()) && all_digits && digits(mask) && item.matches('/').count() == 1 {
            return true;
        }
        let is_address = octets.len() == 4 && all_digits;
        let small = |text: &str, most: u32| text.parse::<u32>().is_ok_and(|number| number <= most);
        // A mask of numbers has four of them, and a pattern has no mask.
        let is_part = mask.contains('.') && mask.split('.').all(digits) && mask.split('.').count() != 4;
        let is_pattern = address.contains('*') && octets.iter().all(|octet| digits(octet) || *octet == "*");
        let is_wrong = digits(mask) && !(small(mask, 32) && octets.iter().all(|octet| small(octet, 255)));
        is_address && (is_wrong || is_part) || is_pattern && octets.len() > 1 && digits(mask)
    })?;
    let message = format!("`{wrong}` in `{upper}` is not a network");
    Some((Severity::Error, message, "write a network as `10.0.0.0/8`: up to 32 bits, numbers up to 255".to_owned()))
}

/// A part of an entry of a list of hosts, as it is written: a blank inside of an entry ends it.
pub(super) fn torn_entry(upper: &str, raw: &[u8]) -> Option<Problem> {
    let raw = String::from_utf8_lossy(raw);
    let is_torn = |item: &&str| item.len() > 1 && (item.ends_with(['@', '/']) || item.starts_with(['@', '/']));
    let item = raw.split([',', ' ', '\t', '\n']).find(is_torn).filter(|_| is_access(upper))?;
    let message = format!("`{item}` in `{upper}` is a part of an entry, and matches no host and no user");
    Some((Severity::Error, message, "write `user@domain/host` without blanks".to_owned()))
}

/// An entry of a list of hosts that means something else than it looks like (HTCondor's `condor_ipverify.cpp`).
fn odd_entry(upper: &str, item: &str) -> Option<Problem> {
    let problem = |message: String, help: &str| Some((Severity::Error, message, help.to_owned()));
    if let Some((_, host)) = item.split_once("://") {
        let message = format!("`{item}` in `{upper}` matches no host: it is an address");
        return problem(message, &format!("write `{}`", host.trim_end_matches('/')));
    }
    if item.matches('@').count() > 1 && !item.contains('/') {
        let message = format!("`{item}` in `{upper}` matches no host: `/` separates a user from a host");
        let (user, host) = item.rsplit_once('@')?;
        return problem(message, &format!("write `{user}/{host}`"));
    }
    if item.contains(';') {
        let message = format!("`{item}` in `{upper}` matches no host: `;` does not separate entries");
        return problem(message, "separate entries with commas");
    }
    if let Some(host) = item.strip_prefix('!') {
        let (front, level) = upper.split_once('_')?;
        let other = if front == "ALLOW" { "DENY" } else { "ALLOW" };
        let message = format!("`{item}` in `{upper}` matches no host: there is no negation");
        return problem(message, &format!("write `{other}_{level} = {host}`"));
    }
    // All addresses of this machine (`condor_sockaddr.cpp`).
    let own = item.rsplit_once("{:").is_some_and(|(_, name)| name.eq_ignore_ascii_case("local_ips:}"));
    if let Some(sign) = item.chars().find(|sign| "\"\\<>{}%".contains(*sign)).filter(|_| !own) {
        let message = format!("`{item}` in `{upper}` matches no host: `{sign}` is a part of the name");
        let plain = item.trim_matches(['"', '<', '>', '{', '}']).replace('\\', "/").replace('%', "*");
        return problem(message, &format!("write `{plain}`"));
    }
    // Addresses of version 6 have brackets, names of certificates have `=`, and those of users and of netgroups, `+name`, any sign.
    let host = item.rsplit('/').next().unwrap_or_default();
    let is_plain = !host.contains([':', '=', '@']) && !item.starts_with('+');
    if let Some(sign) = host.chars().find(|sign| "[]()^|".contains(*sign)).filter(|_| is_plain) {
        let message = format!("`{item}` in `{upper}` matches no host: `{sign}` is a part of the name");
        return problem(
            message,
            "there are no regular expressions: write `*`, as in `*.example.org`, or one entry for each host",
        );
    }
    if ["and", "or", "not", "except"].iter().any(|word| word.eq_ignore_ascii_case(item)) {
        let message = format!("`{item}` in `{upper}` is an entry of its own, which matches no host");
        return problem(message, "separate entries with commas; `DENY_…` takes hosts out of `ALLOW_…`");
    }
    if MACROS.contains(&item) {
        let message = format!("`{item}` in `{upper}` is the name of a host, and not a macro");
        return problem(message, &format!("write `$({item})`"));
    }
    if item == "/" {
        let message =
            format!("`/` is an entry of its own in `{upper}`, so the user and the host beside it are two entries");
        return problem(message, "write `user@domain/host` without blanks");
    }
    if let Some((front, user)) = item.split_once('/').filter(|(front, user)| user.contains('@') && !front.contains('@'))
    {
        let message = format!("`{item}` in `{upper}` matches no host: the user comes before the host");
        return problem(message, &format!("write `{user}/{front}`"));
    }
    if let Some(found) = user_without_domain(upper, item) {
        return Some(found);
    }
    if let Some(help) = odd_address(host) {
        return problem(format!("`{item}` in `{upper}` matches no host: it is not an address"), &help);
    }
    if host.strip_prefix('.').is_some_and(|domain| domain.contains('.') && !domain.contains('*')) {
        let message = format!("`{item}` in `{upper}` matches no host: no name begins with a dot");
        return problem(message, &format!("write `{}*{host}`", item.trim_end_matches(host)));
    }
    if is_inner(host) {
        let message = format!("`{item}` in `{upper}` matches no host: `*` counts once, and again at the end only");
        return problem(message, "write one `*`, as in `*.example.org` or `10.0.*`, or one entry for each host");
    }
    // The name of a user without a domain is taken for a host (`split_entry`).
    if ["root", "administrator", "anonymous", "condor_pool", "unauthenticated"]
        .iter()
        .any(|user| user.eq_ignore_ascii_case(item))
    {
        return Some(account(upper, item));
    }
    let (name, port) = host.split_once(':').filter(|(_, port)| !port.contains(':'))?;
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty();
    let message = || format!("`{item}` in `{upper}` matches no host: an entry has no port");
    is_port.then(|| problem(message(), &format!("write `{}`", item.trim_end_matches(port).trim_end_matches(':'))))?
}

/// The name of an account among hosts.
fn account(upper: &str, item: &str) -> Problem {
    let message = format!("`{item}` in `{upper}` is taken for the name of a host");
    (Severity::Error, message, format!("write `{item}@domain`, or `{item}@*` for all domains"))
}

/// The name of an account that a host may have too, in a list without other names of hosts that have no domain.
fn account_or_host(upper: &str, value: &str) -> Option<Problem> {
    let is_account = |item: &&str| names("accounts among hosts").any(|user| user.eq_ignore_ascii_case(item));
    let items = || value.split([',', ' ', '\t', '\n']).filter(|item| !item.is_empty());
    let is_host = |item: &str| item.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let has_hosts = items().any(|item| is_host(item) && !is_account(&item));
    items().find(is_account).filter(|_| !has_hosts).map(|item| account(upper, item))
}

/// `node1.example.org/alice`: the part before `/` is a user, and the name of each user has an `@` (`split_entry` and `lookup_user` in
/// HTCondor's `condor_ipverify.cpp`). A network begins with a digit, or has a colon.
fn user_without_domain(upper: &str, item: &str) -> Option<Problem> {
    let (user, host) = item.split_once('/').filter(|(user, host)| !user.is_empty() && !host.is_empty())?;
    let is_name = |text: &str| {
        text.starts_with(|sign: char| sign.is_ascii_alphabetic())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    if !is_name(user) || host.contains(['/', '@']) {
        return None;
    }
    let is_turned = user.contains('.') && is_name(host) && !host.contains('.');
    let message = format!("`{item}` in `{upper}` matches no user: the name of each user has an `@`");
    let help = if is_turned {
        format!("the user comes before the host: write `{host}@*/{user}`")
    } else {
        format!("write `{user}@*/{host}`")
    };
    Some((Severity::Error, message, help))
}

/// Tests whether a pattern has a `*` that counts as a letter: `matches_withwildcard_impl` in HTCondor's `stl_string_utils.cpp` reads
/// the first one, and one at the end. A pattern of numbers is an address, which has one at the end only (`condor_netaddr.cpp`).
fn is_inner(host: &str) -> bool {
    let Some(first) = host.find('*') else { return false };
    let rest = host[first + 1..].strip_suffix('*').unwrap_or(&host[first + 1..]);
    let is_address = host.bytes().all(|byte| byte.is_ascii_digit() || b".*".contains(&byte)) && host.contains('.');
    rest.contains('*') || is_address && first > 0 && rest.bytes().any(|byte| byte.is_ascii_digit())
}

/// The help about a part of an address, a range of addresses, or one with a number that is too large.
fn odd_address(host: &str) -> Option<String> {
    let octets = |text: &str| {
        let numbers: Option<Vec<u32>> = text.split('.').map(|octet| octet.parse().ok()).collect();
        numbers.filter(|numbers| numbers.len() == 4)
    };
    if let Some((first, last)) = host.split_once('-')
        && octets(first).is_some()
        && (octets(last).is_some() || last.parse::<u32>().is_ok())
    {
        return Some(
            "there are no ranges: write networks, as in `10.0.0.0/28`, or the addresses one by one".to_owned(),
        );
    }
    let plain = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_digit() || b".*".contains(&byte));
    if !plain || !host.contains('.') {
        return None;
    }
    if host.ends_with('.') {
        return Some(format!("write `{host}*`"));
    }
    let large = host.split('.').any(|octet| octet.parse::<u32>().is_ok_and(|number| number > 255));
    large.then(|| "the numbers of an address are up to 255".to_owned())
}

/// A regular expression.
fn pattern(upper: &str, value: &str) -> Option<Problem> {
    let error = pcre::compile(value, Options::default(), false).err()?;
    Some((Severity::Error, format!("`{upper}` is `{value}`: {error}"), "correct the regular expression".to_owned()))
}

/// The pattern of the names of accounts, which is for the whole of a name (`job_info_communicator.cpp`): `slot*`, as in a shell.
fn pattern_of_accounts(upper: &str, value: &str) -> Option<Problem> {
    if let Some(found) = pattern(upper, value) {
        return Some(found);
    }
    let front = value.strip_suffix('*').filter(|front| front.len() > 1)?;
    let is_plain = front.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let message = format!("`{value}` in `{upper}` is a regular expression: `*` repeats the letter before it");
    is_plain.then(|| (Severity::Warning, message, format!("write `{front}.*`")))
}
