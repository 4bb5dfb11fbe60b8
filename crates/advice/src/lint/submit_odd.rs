//! Values of submit commands that `condor_submit` reads in an unexpected way.
//!
//! In: a command and its value. Out: a message and a help, for findings of the rule `odd-command`. One file of more than 600
//! lines: it is a list of commands, each with its check.

use super::commands::is_listed;
use super::rules::meant_literal;
use super::submit_files::{odd_name, remaps};
use super::submit_notations::{misused_default, nested_function, of_batch_system, other_call, other_notation};
use super::submit_programs::{base, interprets};
use super::submit_shapes::odd_shape;
use super::submit_values::quotes_fault;
use crate::submit::attributes::unquoted;
use crate::submit::queue::number;
use classmate::internal::builtin::near;
use classmate_config::internal::config::unclosed;

/// Commands that are the name of one file or folder.
pub(super) const FILES: [&str; 11] = [
    "scitokens_file",
    "executable",
    "input",
    "output",
    "error",
    "log",
    "initialdir",
    "initial_dir",
    "x509userproxy",
    "aws_access_key_id_file",
    "aws_secret_access_key_file",
];

/// The ends of names of programs.
const SCRIPT_ENDS: [&str; 7] = [".bash", ".exe", ".pl", ".py", ".R", ".rb", ".sh"];

/// Commands that are counts or times.
const COUNTS: [&str; 10] = [
    "kill_sig_timeout",
    "match_list_length",
    "deferral_prep_time",
    "deferral_window",
    "job_lease_duration",
    "job_max_vacate_time",
    "keep_claim_idle",
    "max_retries",
    "next_job_start_delay",
    "stack_size",
];

/// `output = a.out # the result`: there are no comments after a value.
fn comment(name: &str, value: &str) -> Option<(String, String)> {
    const OTHERS: [&str; 8] = [
        "arguments",
        "args",
        "batch_name",
        "description",
        "env",
        "environment",
        "submit_event_notes",
        "submit_event_user_notes",
    ];
    let at = value.match_indices('#').map(|(at, _)| at).find(|at| value[..*at].ends_with([' ', '\t']))?;
    let is_text = OTHERS.contains(&name) || name.starts_with("my.") || name.ends_with("_reason");
    let is_command = is_listed(name) && !is_text && !value.contains('"');
    let message = format!("`{}` is a part of the value: comments have lines of their own", &value[at..]);
    is_command
        .then(|| (message, format!("write `{name} = {}`, and the comment on its own line", value[..at].trim_end())))
}

/// The schemes of addresses that HTCondor's own plugins and images have.
pub(super) const SCHEMES: [&str; 13] =
    ["docker", "oras", "http", "https", "osdf", "stash", "pelican", "s3", "gs", "ftp", "root", "davs", "gsiftp"];

/// `http//example.org/x`: an address that is none without `://`, and the name of a file.
fn odd_address(name: &str, value: &str) -> Option<(String, String)> {
    if !matches!(name, "transfer_input_files" | "output_destination" | "transfer_output_remaps" | "container_image") {
        return None;
    }
    let items = value.trim_matches('"').split([',', ';']).map(|item| item.rsplit('=').next().unwrap_or(item).trim());
    items.into_iter().find_map(|item| {
        let scheme = SCHEMES.into_iter().find(|scheme| {
            let rest = item.strip_prefix(scheme);
            rest.is_some_and(|rest| rest.starts_with("//") || rest.starts_with(":/") && !rest.starts_with("://"))
        })?;
        let rest = item[scheme.len()..].trim_start_matches([':', '/']);
        let slashes = if matches!(scheme, "osdf" | "stash" | "pelican") { ":///" } else { "://" };
        let message = format!("`{item}` is not an address, but the name of a file");
        Some((message, format!("write `{scheme}{slashes}{rest}`")))
    })
}

/// Other commands that are texts, of which `condor_submit -dry-run` keeps the quotes.
const TEXTS: [&str; 10] = [
    "accounting_group",
    "accounting_group_user",
    "container_image",
    "description",
    "email_attributes",
    "getenv",
    "job_machine_attrs",
    "notify_user",
    "output_destination",
    "transfer_checkpoint_files",
];

/// The name of a file, or another text, in quotes, which are a part of it.
fn quoted_path(name: &str, value: &str) -> Option<(String, String)> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    let is_file = FILES.contains(&name);
    let is_text = TEXTS.contains(&name) || name.starts_with("cron_");
    if !is_file && (!is_text || inner.is_empty()) {
        return None;
    }
    let what = if is_file { "name in" } else { "value of" };
    Some((format!("the quotes are a part of the {what} `{name}`"), format!("write `{name} = {inner}`")))
}

/// The name of a file with the `~` of a shell, and several names without commas.
fn odd_path(name: &str, value: &str) -> Option<(String, String)> {
    let is_list = matches!(name, "transfer_input_files" | "transfer_output_files");
    if !is_list && !FILES.contains(&name) {
        return None;
    }
    if let Some(sign) = ["<", ">", "2>"].into_iter().find(|sign| value.starts_with(sign)) {
        let message = format!("`{sign}` is a part of the name of the file: no shell reads it");
        let file = value.trim_start_matches(['2', '<', '>', '&']).trim();
        let is_stream = file.is_empty() || file == "1";
        let help =
            if is_stream { format!("write the name of a file, or remove `{name}`") } else { format!("write `{file}`") };
        return Some((message, help));
    }
    if near::distance(value.as_bytes(), b"/dev/null", 1) == Some(1) {
        return Some((format!("there is no `{value}`"), "write `/dev/null`".to_owned()));
    }
    if let Some(path) = value.strip_prefix("file://").filter(|_| !is_list && !matches!(name, "output" | "error")) {
        let message = format!("`{name}` is the name of a file, and not the address `{value}`");
        return Some((message, format!("write `{name} = {path}`")));
    }
    let items = value.split(',').map(str::trim).filter(|_| is_list).chain(Some(value).filter(|_| !is_list));
    if let Some(item) = items.clone().find(|item| item.starts_with("~/")) {
        let message = format!("`{item}` is in a folder `~`: it is not expanded as in a shell");
        return Some((message, format!("write `$ENV(HOME)/{}`", &item[2..])));
    }
    // `${HOME}/data` and `$HOME/data`, as in a shell.
    let of_shell = |item: &&str| {
        let rest = item.strip_prefix('$')?;
        let (inner, close) = rest.strip_prefix('{').map_or((rest, ""), |inner| (inner, "}"));
        let end = inner.find(|sign: char| !(sign.is_ascii_uppercase() || sign == '_')).unwrap_or(inner.len());
        let after = inner[end..].strip_prefix(close)?;
        let is_folder = end > 1 && (after.starts_with('/') || after.is_empty());
        is_folder.then(|| (inner[..end].to_owned(), after.to_owned()))
    };
    if let Some((item, (shown, name))) = items.clone().find_map(|item| Some((item, variable_within(item)?))) {
        let message = format!("`${shown}` in `{item}` is a variable of the shell, which is not expanded");
        return Some((message, format!("write `$ENV({name})`")));
    }
    if let Some((item, (name, after))) = items.clone().find_map(|item| Some((item, of_shell(&item)?))) {
        let message = format!("`{item}` begins with a variable of the shell, which is not expanded");
        return Some((message, format!("write `$ENV({name}){after}`")));
    }
    // A name may have blanks, but a part of one is mostly not a name with an ending.
    let is_file = |word: &str| {
        let (_, end) = word.trim_end_matches('/').rsplit_once('.').unwrap_or_default();
        end.len() <= 5 && end.starts_with(|sign: char| sign.is_ascii_alphabetic())
    };
    let item = items.filter(|_| is_list).find(|item| {
        let plain = !item.contains(['"', '\'', '\\', ';']) && item.matches('(').count() == item.matches("$(").count();
        let words: Vec<&str> = item.split_whitespace().collect();
        plain && words.len() > 1 && words.iter().all(|word| is_file(word))
    })?;
    let message = format!("`{item}` is one name: blanks do not separate files");
    Some((message, format!("write `{}`", item.split_whitespace().collect::<Vec<_>>().join(", "))))
}

/// A variable of the shell within a path, `/scratch/$USER/job.log`: as it is written, and its name.
fn variable_within(item: &str) -> Option<(&str, &'static str)> {
    const VARIABLES: [&str; 6] = ["HOME", "HOSTNAME", "LOGNAME", "PWD", "TMPDIR", "USER"];
    item.match_indices("/$").find_map(|(at, _)| {
        let rest = &item[at + 2..];
        let (inner, close) = rest.strip_prefix('{').map_or((rest, ""), |inner| (inner, "}"));
        let ends = |after: &str| after.is_empty() || after.starts_with(['/', '.', '-']);
        let is_it =
            |name: &&&str| inner.strip_prefix(**name).and_then(|after| after.strip_prefix(close)).is_some_and(ends);
        let name = VARIABLES.iter().find(is_it)?;
        Some((&rest[..rest.len() - inner.len() + name.len() + close.len()], *name))
    })
}

/// A value that is odd by its text, with or without macros.
fn odd_text(name: &str, value: &str) -> Option<(String, String)> {
    if let Some(rest) = value.strip_prefix('=').filter(|_| !name.starts_with("my.")) {
        let message = format!("the value of `{name}` begins with `=`");
        return Some((message, format!("write `{name} = {}`", rest.trim_start())));
    }
    if let Some(plain) = value.strip_suffix(';').filter(|_| FILES.contains(&name)) {
        return Some((format!("`;` is a part of the name `{value}`"), format!("write `{}`", plain.trim_end())));
    }
    let found = of_batch_system(name, value).or_else(|| other_call(value)).or_else(|| other_notation(name, value));
    if found.is_some() {
        return found;
    }
    let found = nested_function(value).or_else(|| comment(name, value)).or_else(|| quoted_path(name, value));
    let found = found.or_else(|| odd_path(name, value)).or_else(|| odd_address(name, value));
    let found = found
        .or_else(|| odd_name(name, value))
        .or_else(|| whole_in_quotes(name, value))
        .or_else(|| of_command_line(name, value))
        .or_else(|| odd_shape(name, value));
    found.or_else(|| joined_remaps(name, value))
}

/// The value of a command that is read in an unexpected way, and its help.
pub(super) fn odd_value(name: &str, value: &str) -> Option<(String, String)> {
    let not_closed = unclosed(value.as_bytes());
    let is_open = |(at, _): &(usize, &str)| not_closed.binary_search(&(at + 1)).is_ok();
    let open = value.match_indices("$(").filter(|_| !matches!(name, "requirements" | "rank")).find(is_open);
    if let Some((start, _)) = open {
        let rest = &value[start..];
        let end = rest[2..].find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'));
        let shown = &rest[..end.map_or(rest.len(), |end| end + 2)];
        return Some((format!("`{shown}` has no `)`, so it is not a macro"), format!("write `{shown})`")));
    }
    if let Some(found) = misused_default(value) {
        return Some(found);
    }
    if let Some(found) = odd_text(name, value) {
        return Some(found);
    }
    if value.contains('$') {
        return beside_macros(name, value);
    }
    match name {
        "concurrency_limits" => {
            let amounts = value.split([',', ' ', '\t']).filter_map(|item| item.split_once(':'));
            let is_odd = |amount: &str| {
                !amount.trim().is_empty() && amount.trim().parse::<f64>().map_or(true, |number| number <= 0.0)
            };
            let (limit, amount) = amounts.into_iter().find(|(_, amount)| is_odd(amount))?;
            let message = format!("`{amount}` is not an amount of `{limit}`, and counts as 1");
            Some((message, format!("write a number, as in `{limit}:2`")))
        }
        "notify_user" if matches!(value.to_ascii_lowercase().as_str(), "never" | "false") => {
            let message = format!("`notify_user` is the address of the mail, so it is sent to `{value}`");
            Some((message, "write `notification = Never`".to_owned()))
        }
        "environment" => odd_environment(value),
        "use_oauth_services" if meant_literal(value.to_ascii_lowercase().as_bytes()).is_some() => {
            let message = format!("`{value}` is the name of a service here");
            Some((message, "write the names of the services, as in `use_oauth_services = box`".to_owned()))
        }
        "notify_user" if value.ends_with('@') || value.starts_with('@') => {
            Some((format!("`{value}` is not an email address"), "write `name@example.org`".to_owned()))
        }
        "notify_user" if value.contains(char::is_whitespace) && !value.contains([',', '@']) => {
            let message = format!("`notify_user` is `{value}`, which is not an email address");
            Some((message, "write `name@example.org`".to_owned()))
        }
        "getenv" => {
            let truth = meant_literal(value.to_ascii_lowercase().as_bytes()).filter(|_| value.len() > 2)?;
            Some((format!("`{value}` is the name of a variable here"), format!("write `{truth}`")))
        }
        "machine_count" if number(value).is_some_and(|count| count < 1.0) => {
            let message = format!("`{name}` is {value}, so the job has no nodes");
            Some((message, "write a number of at least 1".to_owned()))
        }
        "vm_vcpus" if value.parse::<u32>().is_err() => {
            let message = format!("`{name}` is `{value}`, and is read by its beginning");
            Some((message, "write a whole number".to_owned()))
        }
        "machine_count" if !value.is_empty() && value.parse::<u32>().is_err() => {
            let message = format!("`{name}` is `{value}`, and is read by its beginning");
            Some((message, "write a whole number".to_owned()))
        }
        "checkpoint_destination" if !value.contains("://") => {
            let help = "write an address, as in `s3://bucket/folder/`".to_owned();
            Some((format!("`{name}` is `{value}`, which is not an address"), help))
        }
        "output_destination" if !value.contains("://") => {
            let help = "write an address, as in `s3://bucket/folder/`; a folder is `output_directory`".to_owned();
            Some((format!("`{name}` is `{value}`, which is not an address"), help))
        }
        "deferral_time" => past_time(name, value),
        "success_exit_code" | "checkpoint_exit_code" => {
            if are_codes(value) {
                let message = format!("`{name}` is one exit code: `{value}` is not read as a range or a list");
                return Some((message, "write a condition, as in `on_exit_remove = ExitCode <= 2`".to_owned()));
            }
            let code = value.parse::<i64>().ok()?;
            let message = format!("`{name}` is {code}: programs end with a code from 0 to 255");
            (!(0..=255).contains(&code)).then(|| (message, "write the code of the program".to_owned()))
        }
        "accounting_group" => {
            let sign = value.chars().find(|sign| "*/,;".contains(*sign))?;
            let message = format!("`{sign}` is a part of the name of the group `{value}`");
            Some((message, "write the name of one group, as in `group.subgroup`".to_owned()))
        }
        "transfer_plugins" => {
            let item = value.split(';').map(str::trim).find(|item| !item.is_empty() && !item.contains('='))?;
            let message = format!("`{item}` in `{name}` has no program");
            Some((message, "write `method = program; other = program`".to_owned()))
        }
        name if name.starts_with("cron_") => odd_time(name, value),
        name if COUNTS.contains(&name) && number(value).is_some_and(|number| number < 0.0) => {
            let message = format!("`{name}` is {value}, and a count or a time is not negative");
            Some((message, "write 0 or more".to_owned()))
        }
        _ => odd_files(name, value),
    }
}

/// Tests whether a value is several exit codes: `0-2`, `0, 3`.
fn are_codes(value: &str) -> bool {
    let is_code = |text: &str| text.trim().parse::<u8>().is_ok();
    let rest = value.split_once(['-', ',', ' ']).filter(|(first, _)| is_code(first)).map(|(_, rest)| rest);
    rest.is_some_and(|rest| rest.split([',', ' ']).all(|code| code.is_empty() || is_code(code)))
}

/// The oddity of a value outside of its macros, for any values of these.
fn beside_macros(name: &str, value: &str) -> Option<(String, String)> {
    const NAMES: [&str; 6] =
        ["arguments", "args", "environment", "env", "transfer_input_files", "transfer_output_files"];
    if !NAMES.contains(&name) || value.starts_with('$') {
        return None;
    }
    // Each macro is a sign that no rule knows; what is in a macro of another form may be anything.
    let (mut masked, mut macros, mut rest) = (String::new(), Vec::new(), value);
    while let Some(start) = rest.find('$') {
        let (before, from) = rest.split_at(start);
        let end = from.find(')').filter(|_| from.trim_start_matches('$').starts_with('('))?;
        let inner = from[..end].trim_start_matches(['$', '(']);
        if inner.contains(['$', '(', '"', '\'', ':']) {
            return None;
        }
        masked.push_str(before);
        masked.push(char::from_u32(MASK + u32::try_from(macros.len()).ok()?)?);
        macros.push(&from[..=end]);
        rest = &from[end + 1..];
    }
    masked.push_str(rest);
    let found = match name {
        "environment" => quotes_beside_macros(name, &masked).or_else(|| odd_environment(&masked)),
        "arguments" => quotes_beside_macros(name, &masked).or_else(|| odd_files(name, &masked)),
        _ => odd_files(name, &masked),
    };
    let unmasked = |text: String| {
        macros.iter().zip(MASK..).fold(text, |text, (shown, code)| match char::from_u32(code) {
            Some(sign) => text.replace(sign, shown),
            None => text,
        })
    };
    found.map(|(message, help)| (unmasked(message), unmasked(help)))
}

/// The first of the letters, for private use, that stand for macros.
const MASK: u32 = 0xE000;

/// `"-c "error code" $(file)"`: quotes that `condor_submit` does not read, unless a macro has others.
fn quotes_beside_macros(name: &str, masked: &str) -> Option<(String, String)> {
    let starts = masked.starts_with('"');
    quotes_fault(masked).filter(|_| starts).map(|fault| {
        (fault, format!("write `{name} = \"a 'b c'\"`, with single quotes around an argument that has blanks"))
    })
}

/// A value in single quotes, which are a part of it.
fn whole_in_quotes(name: &str, value: &str) -> Option<(String, String)> {
    const NAMES: [&str; 8] = [
        "arguments",
        "args",
        "batch_name",
        "env",
        "environment",
        "executable",
        "jobbatchname",
        "transfer_output_remaps",
    ];
    let inner = value.strip_prefix('\'')?.strip_suffix('\'').filter(|inner| !inner.contains('\''))?;
    let is_quoted = name.ends_with("remaps") || name.starts_with("env");
    let help = if is_quoted { format!("\"{inner}\"") } else { inner.to_owned() };
    let message = format!("the single quotes are a part of the value of `{name}`");
    NAMES.contains(&name).then(|| (message, format!("write `{name} = {help}`")))
}

/// Tests whether a value calls a shell, or is quoted for one: what looks like a part of a command line is meant.
pub(super) fn is_for_shell(value: &str) -> bool {
    let is_option = |word: &str| matches!(word.trim_matches('"'), "-c" | "-lc" | "-e");
    value.contains(['\'', '\\']) || value.split_whitespace().any(is_option)
}

/// Parts of a command line in the arguments, which no shell reads: `> out.txt`, `| sort`, `# comment`.
fn of_command_line(name: &str, value: &str) -> Option<(String, String)> {
    /// Commands that often follow another one.
    const COMMANDS: [&str; 20] = [
        "bash", "cat", "cd", "chmod", "cp", "echo", "export", "gzip", "ls", "mkdir", "mv", "python", "python3", "rm",
        "sh", "sleep", "source", "sort", "tar", "touch",
    ];
    const SCRIPT: &str = "write a script with the command line, and make it the `executable`";
    const SIGNS: [&str; 9] = [">", ">>", "<", "|", "||", "&&", "2>", "2>&1", "&>"];
    if name != "arguments" || is_for_shell(value) {
        return None;
    }
    let words: Vec<&str> = value.trim_matches('"').split_whitespace().collect();
    let message = |part: &str| format!("`{part}` is an argument: a shell does not read it");
    if value.matches('`').count() == 2 {
        let part = &value[value.find('`')?..=value.rfind('`')?];
        return Some((message(part), "run the command in the program, or in a script".to_owned()));
    }
    if let Some(at) = words.iter().position(|word| *word == "#").filter(|at| at + 1 < words.len()) {
        let help = "comments have lines of their own".to_owned();
        return Some((message(&words[at..].join(" ")), help));
    }
    // A `;` after an argument, and a command of a shell.
    let next_command = |at: usize| {
        let word = if words[at].ends_with(';') { words.get(at + 1) } else { None };
        word.is_some_and(|next| next.starts_with("./") || COMMANDS.contains(next))
    };
    if let Some(at) = (0..words.len()).find(|at| next_command(*at)) {
        return Some((message(&words[at..].join(" ")), SCRIPT.to_owned()));
    }
    if words.last() == Some(&"&") {
        return Some((message("&"), "remove it: a job runs until its program ends".to_owned()));
    }
    // A sign between numbers compares them.
    let is_file = |at: usize| words.get(at + 1).is_none_or(|next| next.parse::<f64>().is_err());
    let at = (0..words.len()).find(|at| SIGNS.contains(&words[*at]) && is_file(*at))?;
    let help = match (words[at], words.get(at + 1)) {
        (">" | ">>" | "&>", Some(file)) => format!("write `output = {file}`"),
        ("2>", Some(file)) => format!("write `error = {file}`"),
        ("<", Some(file)) => format!("write `input = {file}`"),
        _ => SCRIPT.to_owned(),
    };
    Some((message(&words[at..].join(" ")), help))
}

/// Macros that are numbers of the job, lower case.
pub(super) const NUMBERS: [&str; 8] =
    ["$(process)", "$(procid)", "$(cluster)", "$(clusterid)", "$(step)", "$(row)", "$(itemindex)", "$(node)"];

/// A text without the macros that are numbers of the job.
fn without_numbers(text: &str) -> String {
    NUMBERS.into_iter().fold(text.to_ascii_lowercase(), |text, number| text.replace(number, ""))
}

/// Settings that are not separated, or separated by the sign of the other form.
fn odd_environment(value: &str) -> Option<(String, String)> {
    let words_of_shell = ["export ", "set ", "setenv "];
    if let Some(word) = words_of_shell.into_iter().find(|word| value.trim_start_matches('"').starts_with(word)) {
        let message = format!("`{}` is a part of the name of the variable: no shell reads it", word.trim());
        let rest = value.trim_matches('"')[word.len()..].trim_start();
        return Some((message, format!("write `environment = \"{rest}\"`")));
    }
    if let Some(inner) = value.strip_suffix('"').filter(|rest| rest.contains('=') && !rest.contains('"')) {
        let message = "there is no opening double quote, so the one at the end is a part of the value".to_owned();
        return Some((message, format!("write `environment = \"{inner}\"`")));
    }
    if !value.starts_with('"') {
        let is_setting = |word: &str| {
            let name = word.split_once('=').map_or("", |(name, _)| name);
            let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
            first && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let is_quoted = |value: &str| value.len() > 2 && value.starts_with('\'') && value.ends_with('\'');
        let entries = || value.split(';').map(str::trim);
        if let Some((name, text)) =
            entries().filter_map(|entry| entry.split_once('=')).find(|(_, text)| is_quoted(text))
        {
            let message = format!("the single quotes are a part of the value of `{name}`: `{text}`");
            // Within double quotes, they are written twice.
            let all = entries().filter(|entry| !entry.is_empty()).collect::<Vec<_>>().join(" ").replace('"', "\"\"");
            return Some((message, format!("write `environment = \"{all}\"`")));
        }
        // `A=1,B=2`: names in capitals, so that a list of options is not meant.
        let is_name = |text: &str| text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        let mut parts = value.split(',').map(|part| part.trim().split_once('=').map_or("", |(name, _)| name));
        if !value.contains(';') && value.contains(',') && parts.all(is_name) {
            let (first, rest) = value.split_once('=')?;
            let message = format!("the value of `{first}` is `{rest}`: without quotes, only `;` separates");
            return Some((message, format!("write `environment = {}`", value.replace(',', ";"))));
        }
        let mut entries = value.split(';').map(|entry| entry.split_whitespace().collect::<Vec<_>>());
        let words = entries.find(|words| words.len() > 1 && words.iter().all(|word| is_setting(word)))?;
        let (first, rest) = (words[0].split_once('=')?, words[1..].join(" "));
        let message = format!("the value of `{}` is `{} {rest}`: without quotes, only `;` separates", first.0, first.1);
        return Some((message, format!("write `environment = \"{value}\"`")));
    }
    let words: Vec<&str> = value.trim_matches('"').split_whitespace().collect();
    let is_setting = |word: &str| word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains(','));
    let sign =
        words.windows(2).find(|pair| pair[0].ends_with([',', ';']) && is_setting(pair[0]) && is_setting(pair[1]));
    // `"A=1,B=2"`
    let joined = words.iter().find_map(|word| {
        let (first, rest) = word.split_once(',').filter(|(first, _)| is_setting(first))?;
        // `OPTIONS=a=1,B=2` may be one value.
        let has_one = first.matches('=').count() == 1;
        let name = rest.split_once('=')?.0;
        let is_name = name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        (is_name && has_one)
            .then(|| (first.split('=').next().unwrap_or_default().to_owned(), name.to_owned(), word.replace(',', " ")))
    });
    if let Some((first, name, meant)) = joined.filter(|_| words.len() == 1 && !value.contains('\'')) {
        let message = format!("`{name}` is a part of the value of `{first}`: only blanks separate");
        return Some((message, format!("write `\"{meant}\"`")));
    }
    // A list in one variable may end with a comma; separating ones are mostly behind each value.
    let is_usual = words.iter().filter(|word| word.ends_with([',', ';'])).count() * 2 + 1 >= words.len();
    if let Some([first, ..]) = sign.filter(|_| is_usual && !value.contains('\'')) {
        let sign = if first.ends_with(',') { "comma" } else { "semicolon" };
        let message = format!("the {sign} is a part of the value in `{first}`: only blanks separate");
        let all: Vec<&str> = words.iter().map(|word| word.trim_end_matches([',', ';'])).collect();
        return Some((message, format!("write `\"{}\"`", all.join(" "))));
    }
    // What single quotes enclose is one value.
    let mut is_quoted = false;
    let joined = value.match_indices([';', '\'']).find_map(|(at, sign)| {
        if sign == "'" || is_quoted {
            is_quoted ^= sign == "'";
            return None;
        }
        let rest = &value[at + 1..];
        let is_name = |sign: char| sign.is_ascii_uppercase() || sign.is_ascii_digit() || sign == '_';
        let word = &rest[..rest.find(|sign| !is_name(sign))?];
        (rest[word.len()..].starts_with('=') && !word.is_empty()).then_some(word)
    })?;
    let message = format!("`{joined}` is a part of the value before it: in quotes, only blanks separate");
    Some((message, format!("write blanks in place of `;`: `{}`", value.replace(';', " "))))
}

/// Files, images and arguments that are read as one name, or with their quotes.
fn odd_files(name: &str, value: &str) -> Option<(String, String)> {
    match name {
        "executable" if value.ends_with('/') => {
            let message = format!("`{name}` is the name of a file, and `{value}` is a folder");
            Some((message, format!("write the program in it, as in `{value}program`")))
        }
        "output" | "error" | "log" if value.ends_with('/') => {
            let message = format!("`{name}` is the name of a file, and `{value}` is a folder");
            Some((message, format!("write `{value}$(Cluster).$(Process).{}`", &name[..3])))
        }
        "executable" => {
            let (program, rest) = value.split_once(' ')?;
            // `java` runs a class, or with `-jar` a file.
            let is_script = SCRIPT_ENDS.iter().any(|end| program.ends_with(end));
            let interprets = interprets(program) || base(program) == "java" || is_script;
            let message = format!("`{name}` is the name of one file, `{value}`");
            (interprets || rest.trim_start().starts_with('-'))
                .then(|| (message, format!("write `executable = {program}` and `arguments = {}`", rest.trim_start())))
        }
        // HTCondor looks for an `F` alone.
        "transfer_executable" => {
            let lower = value.to_ascii_lowercase();
            let known = lower.starts_with('f')
                || matches!(lower.as_str(), "true" | "t" | "yes" | "y" | "1" | "on" | "always" | "")
                || number(&lower).is_some_and(|number| number != 0.0);
            let message = format!("`{name}` is `{value}`, which is read as true");
            (!known).then(|| (message, "write `false`, or `true`".to_owned()))
        }
        "transfer_input_files" | "transfer_output_files" if value.starts_with(['{', '[', '(']) => {
            let message = format!("`{}` is a part of the first name", &value[..1]);
            let inner = value.trim_matches(['{', '}', '[', ']', '(', ')']);
            Some((message, format!("write `{name} = {inner}`")))
        }
        "transfer_input_files" | "transfer_output_files" if value.contains("\",") || value.contains(", \"") => {
            let message = "the quotes between the names are a part of them".to_owned();
            Some((message, format!("write `{name} = {}`", value.replace('"', ""))))
        }
        "transfer_input_files" | "transfer_output_files" if value.contains(';') => {
            let message = format!("`{value}` is one name: `;` does not separate files");
            Some((message, "separate files with commas".to_owned()))
        }
        "transfer_output_remaps" => {
            let inner = unquoted(value);
            if let Some(found) = named_twice(inner) {
                return Some(found);
            }
            let item = remaps(inner).map(str::trim).find(|item| {
                // `a: b, c = d`
                let front = item.split('=').next().unwrap_or_default();
                !item.is_empty() && (!item.contains('=') || front.contains([':', ',']) && !front.contains("://"))
            })?;
            let help = "write `\"name = new/name; other = new\"`".to_owned();
            Some(if item.contains('=') {
                (format!("`{item}` is one name and its new name: `;` separates files, and `=` the two"), help)
            } else {
                (format!("`{item}` has no `=`, so no file gets another name"), help)
            })
        }
        // The file of an image may have blanks in its name.
        "docker_image" | "container_image"
            if value.trim_matches('"').contains(char::is_whitespace) && !value.starts_with(['/', '.']) =>
        {
            let message = format!("`{value}` is one name, with a blank in it");
            let words: Vec<&str> = value.split_whitespace().collect();
            Some(match words[..] {
                [image, tag] if !image.contains(':') => (message, format!("write `{image}:{tag}`")),
                _ => (message, "write the name alone".to_owned()),
            })
        }
        "container_image" => {
            let parts = value.split_once(':');
            // `image_type_from_string` in `submit_utils.cpp` tells these apart as they are written.
            let is_path = value.starts_with(['/', '.', '~', '"', '$']) || value.contains("://") || value.contains('\\');
            let end = value.rsplit_once('.').map(|(_, end)| end);
            let is_other = is_path || value.starts_with("docker:") || end == Some("sif");
            let tagged = parts.is_some_and(|(image, tag)| !image.is_empty() && !tag.is_empty() && !tag.contains('/'))
                && !is_other;
            let message = format!("`{value}` is the name of a folder here");
            let help = match end {
                Some(end) if end.eq_ignore_ascii_case("sif") => "the name of an image ends with `.sif`".to_owned(),
                _ => format!("write `docker://{value}` for an image of a registry"),
            };
            tagged.then_some((message, help))
        }
        "arguments" if !value.starts_with('"') => {
            let opens = |at: usize| at == 0 || value[..at].ends_with([' ', '=']);
            let quoted = value.match_indices('\'').any(|(at, _)| opens(at) && value[at + 1..].contains('\''));
            let message = "single quotes are a part of the arguments here".to_owned();
            (quoted && !value.contains('"')).then(|| (message, format!("write `{name} = \"{value}\"`")))
        }
        _ => None,
    }
}

/// New names that `,` separates, and an arrow in the place of the `=`.
fn joined_remaps(name: &str, value: &str) -> Option<(String, String)> {
    if name != "transfer_output_remaps" {
        return None;
    }
    let inner = unquoted(value);
    // The arguments of functions have commas too: `$INT(Process,%03d)`.
    let mut depth = 0_usize;
    let plain: String = inner
        .chars()
        .map(|sign| {
            match sign {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > 0 && ",;=".contains(sign) { '_' } else { sign }
        })
        .collect();
    // An `=` in a name is written `\=`.
    let signs = |item: &str| item.matches('=').count() - item.matches("\\=").count();
    let mut items = remaps(&plain).map(str::trim);
    if let Some(item) = items.clone().find(|item| signs(item) > 1 && item.contains(',') && !item.contains("://")) {
        let target = item.split_once('=').map_or(item, |(_, target)| target.trim());
        let message = format!("`{target}` is one new name: `,` does not separate files");
        let has_call = value.contains('(');
        let help = if has_call {
            "write `;` between the files".to_owned()
        } else {
            format!("write `{}`", item.replace(',', ";"))
        };
        return Some((message, help));
    }
    if let Some(item) = items.clone().find(|item| item.contains("=>")) {
        let message = format!("the new name in `{item}` begins with `>`");
        return Some((message, "write `name = new`".to_owned()));
    }
    // A pair needs the sign (`filename_remap_find` in HTCondor's `filename_tools_cpp.cpp`).
    let has_none = |item: &&str| !item.is_empty() && !item.contains('=') && !without_numbers(item).contains('$');
    let item = items.find(has_none)?;
    let message = format!("`{item}` has no `=`, so no file gets another name");
    Some((message, "write `name = new`".to_owned()))
}

/// Two files with one new name, and one file with two.
fn named_twice(inner: &str) -> Option<(String, String)> {
    let pairs = || remaps(inner).filter_map(|item| item.split_once('='));
    let targets: Vec<&str> = pairs().map(|(_, target)| target.trim()).collect();
    let sources: Vec<&str> = pairs().map(|(source, _)| source.trim()).collect();
    let twice = |all: &[&str]| {
        let is_twice = |(at, one): (usize, &&str)| all[..at].contains(one) && !one.ends_with('/');
        all.iter().enumerate().find(|one| is_twice(*one)).map(|(_, one)| (*one).to_owned())
    };
    if let Some(target) = twice(&targets) {
        let message = format!("two files get the name `{target}`, and one overwrites the other");
        return Some((message, "give each a name of its own".to_owned()));
    }
    if let Some(source) = twice(&sources) {
        let message = format!("`{source}` gets two names, and has only one of them");
        return Some((message, "write one name for each file".to_owned()));
    }
    None
}

/// A time that is over when a job is submitted, or a delay in its place.
fn past_time(name: &str, value: &str) -> Option<(String, String)> {
    /// The time of the first job that may still be waiting: 2001.
    const LEAST: u64 = 1_000_000_000;
    /// 2026-10-16, when 25.14.1 was released.
    const RELEASED: u64 = 1_792_108_800;
    let seconds = value.parse::<u64>().ok().filter(|seconds| (1..RELEASED).contains(seconds))?;
    if seconds >= LEAST {
        let message = format!("`{seconds}` is a time in the past: no slot matches once `deferral_window` has passed");
        return Some((message, "write a time that is to come, such as `(CurrentTime + 3600)`".to_owned()));
    }
    let message = format!("`{name}` is a time in seconds since 1970, so {seconds} is long ago");
    Some((message, format!("write `(CurrentTime + {seconds})` for a time after the submission")))
}

/// Times at which the job never starts.
fn odd_time(name: &str, value: &str) -> Option<(String, String)> {
    let (least, most) = match name {
        "cron_minute" => (0, 59),
        "cron_hour" => (0, 23),
        "cron_day_of_month" => (1, 31),
        "cron_month" => (1, 12),
        "cron_day_of_week" => (0, 7),
        _ => return None,
    };
    let digits = |text: &str| text.split(|sign: char| !sign.is_ascii_digit()).map(str::to_owned).collect::<Vec<_>>();
    let is_known = |sign: char| sign.is_ascii_digit() || "*,-/ \t\"".contains(sign);
    // A step may be larger.
    let parts = value.split(',').flat_map(|part| digits(part.split('/').next().unwrap_or_default()));
    let steps = value.split(',').filter_map(|part| part.split_once('/')?.1.trim().parse::<u32>().ok());
    if let Some(step) = steps.into_iter().find(|step| *step > most) {
        let message = format!("the step {step} of `{name}` is above {most}, so only the first time is left");
        return Some((message, format!("write a step of at most {most}")));
    }
    if value.trim_matches('"').split_whitespace().count() == 5 && value.contains('*') {
        let message = format!("`{name}` is one of five times, and `{value}` has all of them");
        return Some((message, "write `cron_minute`, `cron_hour` and the other three".to_owned()));
    }
    let ranges = value.split(',').filter_map(|part| part.split('/').next()?.split_once('-'));
    let numbers =
        ranges.filter_map(|(first, last)| Some((first.trim().parse::<u32>().ok()?, last.trim().parse().ok()?)));
    if let Some((first, last)) = numbers.into_iter().find(|(first, last)| first > last) {
        let message = format!("the range `{first}-{last}` of `{name}` starts after its end, so the job is put on hold");
        return Some((message, format!("write `{first}-{most},{least}-{last}`")));
    }
    let mut numbers = parts.filter(|part| !part.is_empty()).map(|part| part.parse::<u32>().unwrap_or(u32::MAX));
    let wrong = !value.chars().all(is_known) || numbers.any(|number| !(least..=most).contains(&number));
    wrong.then(|| {
        let message = format!("`{value}` is not a value of `{name}`, so the job is put on hold");
        (message, format!("write `*`, or numbers from {least} to {most}"))
    })
}
