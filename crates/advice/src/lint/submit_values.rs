//! Values of submit commands that `condor_submit` rejects.

use super::commands::{CommandKind, kind};
use crate::submit::attributes::unquoted;
use crate::submit::bytes;
use crate::submit::queue::number;
use classmate::ParseOptions;
use classmate::internal::builtin::near;
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;

/// The fault of a command's value, and its help.
pub(super) fn bad_value(name: &str, value: &str) -> Option<(String, String)> {
    if value.is_empty() || may_expand(value) {
        return if name == "arguments" { quote_beside_macros(value) } else { None };
    }
    let one_of = |words: &[&str], shown: &str| {
        let known = words.iter().any(|word| word.eq_ignore_ascii_case(value));
        (!known).then(|| (format!("`{value}` is not a value of `{name}`"), format!("write {shown}")))
    };
    if let Some(found) = other_value(name, value) {
        return Some(found);
    }
    match name {
        "universe" => {
            const KNOWN: [&str; 9] =
                ["vanilla", "scheduler", "mpi", "grid", "java", "parallel", "local", "vm", "docker"];
            let known = [KNOWN.as_slice(), &["container", "5", "7", "8", "9", "10", "11", "12", "13"]].concat();
            one_of(&known, "`vanilla`, `container`, `docker`, `local`, `scheduler`, `parallel`, `grid`, `java` or `vm`")
        }
        "remote_universe" | "remote_remote_universe" if number(value).is_none() => one_of(
            &["vanilla", "scheduler", "mpi", "grid", "java", "parallel", "local", "vm", "docker", "container"],
            "`vanilla`, `scheduler`, `parallel`, `local` or another universe",
        ),
        "notification" => one_of(
            &["never", "always", "complete", "start", "error"],
            "`Never`, `Always`, `Complete`, `Start` or `Error`",
        ),
        "should_transfer_files" => {
            one_of(&["yes", "no", "if_needed", "true", "false", "always", "never"], "`YES`, `NO` or `IF_NEEDED`")
        }
        "when_to_transfer_output" => {
            let known = [
                "on_exit",
                "onexit",
                "on_exit_or_evict",
                "on_success",
                "always",
                "never",
                "yes",
                "no",
                "true",
                "false",
            ];
            one_of(&known, "`ON_EXIT`, `ON_EXIT_OR_EVICT` or `ON_SUCCESS`")
        }
        "arguments" | "java_vm_args" | "java_vm_arguments" | "tool_daemon_args" | "tool_daemon_arguments" => {
            arguments_fault(name, value)
        }
        "environment" => environment_fault(value)
            .map(|fault| (fault, "write `environment = \"NAME=value OTHER='with blanks'\"`".to_owned())),
        "accounting_group" | "accounting_group_user" => value
            .contains(char::is_whitespace)
            .then(|| (format!("`{value}` is not a value of `{name}`"), "write one name without blanks".to_owned())),
        "concurrency_limits" => limit_fault(value),
        "cuda_version" => {
            let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            let plain = value.split('.').count() <= 2 && value.split('.').all(digits);
            (!plain).then(|| (format!("`{value}` is not a value of `{name}`"), "write `11` or `11.5`".to_owned()))
        }
        "use_scitokens" if number(value).is_none() => one_of(&["auto"], "`true`, `false` or `auto`"),
        "kill_sig" | "remove_kill_sig" | "hold_kill_sig" => {
            let help = "write the name of a signal, such as `SIGTERM`, or its number".to_owned();
            (!is_signal(value)).then(|| (format!("`{value}` is not a signal"), help))
        }
        "deferral_time" | "deferral_window" | "deferral_prep_time" | "cron_window" | "cron_prep_time" => {
            let help = "write a number of seconds, or an expression".to_owned();
            (!may_be_count(value)).then(|| (format!("`{name}` is `{value}`: expected a number of seconds"), help))
        }
        "image_size" => {
            let digits = value.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
            let is_size = digits.len() < value.len() && is_size_unit(digits) && !value.starts_with('0');
            (!is_size)
                .then(|| (format!("`{name}` is `{value}`: expected a size"), "write a size, as in `2GB`".to_owned()))
        }
        "disk_usage" if number(value).is_some_and(|size| size < 1.0) => Some((
            format!("`{name}` is `{value}`: expected a size of at least 1"),
            "write a size, as in `2GB`".to_owned(),
        )),
        "success_exit_code" | "max_idle" | "max_materialize"
            if number(value).is_some_and(|one| one.abs() > 2_147_483_647.0) =>
        {
            Some((format!("`{name}` is `{value}`, which is too large"), "write a smaller number".to_owned()))
        }
        _ => {
            let (what, is_right) = match kind(name)? {
                CommandKind::Boolean => ("a boolean", number(value).is_some()),
                CommandKind::Integer => ("a number", number(value).is_some()),
                CommandKind::Expression => return None,
            };
            (!is_right).then(|| (format!("`{name}` is `{value}`: expected {what}"), format!("write {what}")))
        }
    }
}

/// The fault of the names of concurrency limits: of each at most two, with a dot between them.
fn limit_fault(value: &str) -> Option<(String, String)> {
    let is_name = |item: &&str| {
        let name = item.split(':').next().unwrap_or_default();
        let is_part = |part: &str| {
            let first = part.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
            first && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        name.split('.').count() <= 2 && name.split('.').all(is_part)
    };
    let items = value.split([',', ' ', '\t']).filter(|item| !item.is_empty());
    let odd = items.filter(|item| !is_name(item)).collect::<Vec<_>>();
    let odd = odd.first()?;
    let help = "a limit is a name of letters, digits and `_`, or two with a `.` between them, perhaps with `:amount`"
        .to_owned();
    Some((format!("`{odd}` is not a concurrency limit"), help))
}

/// The fault of the value of a command with a form of its own, and its help.
fn other_value(name: &str, value: &str) -> Option<(String, String)> {
    match name {
        "arguments2" | "environment2" | "java_vm_arguments2" | "tool_daemon_arguments2" if !value.starts_with('"') => {
            let help = format!("write `{name} = \"{}\"`", value.trim_matches('"'));
            Some((format!("`{name}` is not in double quotes"), help))
        }
        "arguments2" | "java_vm_arguments2" | "tool_daemon_arguments2" => {
            let help = format!("write `{name} = \"a 'b c'\"`, with single quotes around an argument that has blanks");
            quotes_fault(value).map(|fault| (fault, help))
        }
        "delegate_job_gsi_credentials_lifetime" => value
            .parse::<i64>()
            .is_err()
            .then(|| (format!("`{name}` is `{value}`: expected a number of seconds"), "write seconds".to_owned())),
        "ec2_ebs_volumes"
            if value.split(',').any(|volume| !volume.trim().is_empty() && volume.matches(':').count() != 1) =>
        {
            Some((
                format!("`{value}` is not a value of `{name}`"),
                "write `volume:device`, as in `vol-12345678:sdb`".to_owned(),
            ))
        }
        "request_memory" | "request_disk" | "retry_request_memory" | "retry_request_disk" => {
            let unit = if name.ends_with("disk") { 1 << 10 } else { 1 << 20 };
            // The first request is none of the retries.
            let retries = value.split(',').skip(usize::from(name.starts_with("request_")));
            let sizes: Vec<f64> = retries.map_while(|size| bytes(size.trim(), unit)).collect();
            let grows = sizes.windows(2).all(|pair| pair[0] < pair[1]);
            let help = "write larger and larger sizes, as in `4GB, 8GB`".to_owned();
            (!grows).then(|| (format!("`{name}` is `{value}`, and each try has to get more than the one before"), help))
        }
        "retry_request_memory_increase"
            if match bytes(value, 1 << 20) {
                Some(amount) => amount <= 0.0,
                // An expression has to refer to the present request.
                None => !refers(value, b"requestmemory"),
            } =>
        {
            Some((
                format!("`{name}` is `{value}`: expected an amount"),
                "write a number, or `RequestMemory * 2`".to_owned(),
            ))
        }
        "disk_usage" if bytes(value, 1 << 10).is_none() && number(value).is_none() => {
            Some((format!("`{name}` is `{value}`: expected a size"), "write a size, as in `2GB`".to_owned()))
        }
        "skip_if_dataflow" => number(value)
            .is_none()
            .then(|| (format!("`{name}` is `{value}`: expected a boolean"), "write `true` or `false`".to_owned())),
        "skip_filechecks" => (!value.eq_ignore_ascii_case("warn") && number(value).is_none())
            .then(|| (format!("`{value}` is not a value of `{name}`"), "write `true`, `false` or `warn`".to_owned())),
        "job_machine_attrs_history_length" if number(value).is_some_and(|length| length < 0.0) => {
            Some((format!("`{name}` is `{value}`: expected a number of at least 0"), "write `5`".to_owned()))
        }
        _ => None,
    }
}

/// Tests whether an expression refers to an attribute, lower case.
fn refers(text: &str, attribute: &[u8]) -> bool {
    let options = ParseOptions { quoting: Quoting::Old, ..ParseOptions::default() };
    let expr = parse_expr(text.as_bytes(), &options);
    expr.is_ok_and(|expr| expr.tree().names(expr.root()).any(|name| name.folded() == attribute))
}

/// Tests whether a text has a macro or a function that is expanded: `$(x)`, `$$(x)`, `$INT(x)`. `${x}` and `$x` are text.
pub(super) fn may_expand(text: &str) -> bool {
    text.match_indices('$').any(|(at, _)| {
        let rest = text[at..].trim_start_matches('$');
        rest.trim_start_matches(|sign: char| sign.is_ascii_alphanumeric() || sign == '_').starts_with('(')
    })
}

/// The fault of the type of a grid resource, and its help.
pub(super) fn grid_fault(value: &str) -> Option<(String, String)> {
    const TYPES: [&str; 12] =
        ["condor", "batch", "arc", "ec2", "gce", "azure", "pbs", "lsf", "sge", "nqs", "naregi", "blah"];
    let kind = value.split_whitespace().next()?;
    // The type is needed when the job is submitted: `$$(…)` is known to the slot only.
    if value.contains('$') && !kind.starts_with("$$") {
        return None;
    }
    let known = TYPES.iter().any(|one| one.eq_ignore_ascii_case(kind));
    let words = value.split_whitespace().count();
    let short = match kind.to_ascii_lowercase().as_str() {
        "batch" if words >= 2 && near_batch(value).is_some() => near_batch(value),
        "batch" if words < 2 => Some("the batch system, as in `batch slurm`"),
        "condor" if words < 3 => Some("an access point and a pool, as in `condor ap.example.org cm.example.org`"),
        "arc" if words < 2 => Some("the address of the service, as in `arc https://ce.example.org`"),
        _ => None,
    };
    if let Some(what) = short {
        return Some((format!("`{value}` lacks a part of the resource"), format!("write {what}")));
    }
    let help = "write `condor`, `batch`, `arc`, `ec2`, `gce` or `azure` first".to_owned();
    (!known).then(|| (format!("`{kind}` is not a type of grid resources"), help))
}

/// The batch system that a misspelled one means.
fn near_batch(value: &str) -> Option<&'static str> {
    const SYSTEMS: [(&str, &str); 5] = [
        ("slurm", "`batch slurm`"),
        ("condor", "`batch condor`"),
        ("pbs", "`batch pbs`"),
        ("lsf", "`batch lsf`"),
        ("sge", "`batch sge`"),
    ];
    let kind = value.split_whitespace().nth(1)?;
    let distance = |known: &str| near::distance(kind.as_bytes(), known.as_bytes(), 2);
    let is_known = SYSTEMS.iter().any(|(known, _)| known.eq_ignore_ascii_case(kind));
    SYSTEMS
        .iter()
        .find(|(known, _)| !is_known && known.len() >= 5 && distance(known).is_some())
        .map(|(_, meant)| *meant)
}

/// The fault of quotes in arguments.
pub(super) fn quotes_fault(value: &str) -> Option<String> {
    let Some(inner) = value.strip_prefix('"') else {
        let mut before = ' ';
        let odd = value.chars().any(|sign| std::mem::replace(&mut before, sign) != '\\' && sign == '"');
        return odd.then(|| "a double quote inside of arguments without quotes around them".to_owned());
    };
    let Some(inner) = inner.strip_suffix('"') else { return Some("there is no closing double quote".to_owned()) };
    let plain = inner.replace("\"\"", "");
    if plain.contains('"') {
        return Some("a double quote inside is written twice, `\"\"`".to_owned());
    }
    (plain.matches('\'').count() % 2 == 1).then(|| "there is no closing single quote".to_owned())
}

/// A double quote outside of the macros in arguments that do not begin with one: whatever the macros are, it may not be there.
fn quote_beside_macros(value: &str) -> Option<(String, String)> {
    let (mut depth, mut before) = (0_usize, '"');
    let is_odd = |sign: char| {
        match sign {
            '(' if depth > 0 || before == '$' || before.is_ascii_alphanumeric() => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_escaped = std::mem::replace(&mut before, sign) == '\\';
        sign == '"' && depth == 0 && !is_escaped
    };
    if value.starts_with(['$', '"']) || !value.chars().any(is_odd) {
        return None;
    }
    let help = "write `arguments = \"a 'b c'\"`, with single quotes around an argument that has blanks";
    Some(("a double quote inside of arguments without quotes around them".to_owned(), help.to_owned()))
}

/// The fault of arguments, with the quotes that are probably meant.
fn arguments_fault(name: &str, value: &str) -> Option<(String, String)> {
    let fault = quotes_fault(value)?;
    let help = match requoted(value) {
        Some(meant) => format!("write `{name} = {meant}`"),
        None => format!("write `{name} = \"a 'b c' \"\"d\"\"\"`, in double quotes as a whole, or none at all"),
    };
    Some((fault, help))
}

/// Arguments with single quotes in place of the double quotes inside of them: `"--title 'My Plot'"`.
fn requoted(value: &str) -> Option<String> {
    let inner = unquoted(value);
    // Each pair encloses an argument.
    let parts: Vec<&str> = inner.split('"').collect();
    let is_apart = |(at, part): (usize, &&str)| {
        let outside = at % 2 == 0;
        !outside
            || (at == 0 || part.is_empty() || part.starts_with(' '))
                && (at + 1 == parts.len() || part.ends_with([' ', '=']))
    };
    let pairs = parts.len() % 2 == 1 && parts.len() > 1 && parts.iter().enumerate().all(is_apart);
    (pairs && !inner.contains(['\'', '\\'])).then(|| format!("\"{}\"", parts.join("'")))
}

fn environment_fault(value: &str) -> Option<String> {
    let without = |entry: &str| {
        let entry = entry.trim();
        (!entry.is_empty() && !entry.contains('=')).then(|| format!("`{entry}` has no `=`"))
    };
    if !value.starts_with('"') {
        return value.split(';').find_map(without);
    }
    if let Some(fault) = quotes_fault(value) {
        return Some(fault);
    }
    // Blanks inside of single quotes do not separate.
    let mut inside = false;
    let inner: String = value[1..value.len() - 1]
        .chars()
        .map(|sign| {
            inside ^= sign == '\'';
            if inside && sign.is_whitespace() { '_' } else { sign }
        })
        .collect();
    inner.split_whitespace().find_map(without)
}

/// Returns true for the names and numbers of signals that HTCondor knows.
fn is_signal(value: &str) -> bool {
    const NAMES: [&str; 28] = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
        "TERM", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "PROF", "WINCH", "IO", "SYS",
    ];
    const UNKNOWN_NUMBERS: [u32; 3] = [16, 26, 30];
    let digits = value.len() - value.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
    if digits > 0 {
        return value[..digits]
            .parse()
            .is_ok_and(|number| (1..=31).contains(&number) && !UNKNOWN_NUMBERS.contains(&number));
    }
    let upper = value.to_ascii_uppercase();
    upper.strip_prefix("SIG").is_some_and(|name| NAMES.contains(&name))
}

/// Returns true for integers that are not negative, and for expressions that are not constants.
fn may_be_count(value: &str) -> bool {
    let options = ParseOptions { quoting: Quoting::Old, ..ParseOptions::default() };
    let Ok(expr) = parse_expr(value.as_bytes(), &options) else { return false };
    match expr.node() {
        Node::Literal(Literal::Int(number)) => *number >= 0,
        Node::Literal(_) => false,
        _ => number(value).is_none_or(|number| number >= 0.0),
    }
}

/// Returns true for the units of sizes, also for none.
pub(super) fn is_size_unit(text: &str) -> bool {
    matches!(text.trim().to_ascii_lowercase().as_str(), "" | "b" | "k" | "kb" | "m" | "mb" | "g" | "gb" | "t" | "tb")
}
