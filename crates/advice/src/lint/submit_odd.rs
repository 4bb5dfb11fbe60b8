//! Values of submit commands that `condor_submit` reads in an unexpected way.
//!
//! In: a command and its value. Out: a message and a help, for findings of the rule `odd-command`.

use super::attributes::{is_known, misspelled_attribute, only_in};
use super::commands::is_listed;
use super::rules::truth_of;
use super::submit_files::odd_name;
use super::submit_programs::base;
use super::submit_shapes::odd_shape;
use crate::submit::queue::number;
use classmate::internal::builtin::near;

/// Programs that run the file behind their name.
const INTERPRETERS: [&str; 9] = ["python", "python2", "python3", "bash", "sh", "perl", "Rscript", "java", "julia"];

/// Macros of jobs, lower case, that other notations name.
const OF_JOBS: [&str; 7] = ["process", "procid", "cluster", "clusterid", "item", "step", "row"];

/// `$Process`, `${Process}` and `%(Process)`, which are not macros.
fn other_notation(name: &str, value: &str) -> Option<(String, String)> {
    // A shell may have variables called like the others.
    let is_of_shell = matches!(name, "arguments" | "args" | "environment" | "env");
    let known = if is_of_shell { &OF_JOBS[..4] } else { &OF_JOBS[..] };
    let is_name = |name: &str| known.iter().any(|known| known.eq_ignore_ascii_case(name));
    value.match_indices(['$', '%']).find_map(|(at, sign)| {
        let rest = &value[at + 1..];
        // Two signs refer to the slot, which has no such attribute.
        if let Some(inner) = rest.strip_prefix("$(").filter(|_| sign == "$") {
            let word = &inner[..inner.find([')', ':'])?];
            let message = format!("`$$({word})` is an attribute of the slot, and slots have no `{word}`");
            if let Some(meant) = misspelled_of_slot(word) {
                return Some((message, format!("did you mean `$$({meant})`?")));
            }
            if only_in(word.to_ascii_lowercase().as_bytes()) == Some("job") {
                let command = word.to_ascii_lowercase().replacen("request", "request_", 1);
                return Some((message, format!("write a macro of this file, such as `$({command})`")));
            }
            return is_name(word).then(|| (message, format!("write `$({word})`")));
        }
        let (open, close) = match rest.chars().next()? {
            '{' => (1, "}"),
            '(' if sign == "%" => (1, ")"),
            _ => (0, ""),
        };
        if value[..at].ends_with('$') || sign == "%" && open == 0 {
            return None;
        }
        let inner = &rest[open..];
        let end = inner.find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_')).unwrap_or(inner.len());
        let is_written = inner[end..].starts_with(close) && !inner[end..].starts_with('(');
        let word = Some(&inner[..end]).filter(|word| is_written && is_name(word))?;
        let shown = &value[at..at + 1 + open + end + close.len()];
        Some((format!("`{shown}` is not a macro, and is not expanded"), format!("write `$({word})`")))
    })
}

/// The attribute of slots that a name misspells.
fn misspelled_of_slot(word: &str) -> Option<&'static str> {
    /// Those that jobs refer to most.
    const USUAL: [&str; 6] = ["Machine", "Memory", "OpSysAndVer", "OpSysMajorVer", "TotalCpus", "TotalMemory"];
    let lower = word.to_ascii_lowercase();
    if is_known(lower.as_bytes()) || OF_JOBS.contains(&lower.as_str()) {
        return None;
    }
    let usual = Some(word).filter(|word| word.len() >= 5);
    usual.and_then(|word| near::closest_within(1, word.as_bytes(), USUAL)).or_else(|| {
        misspelled_attribute(lower.as_bytes())
            .filter(|meant| only_in(meant.to_ascii_lowercase().as_bytes()) == Some("slot"))
    })
}

/// Variables that other batch systems set for a job, and the macros of HTCondor for them.
const OF_BATCH: [(&str, &str); 17] = [
    ("LSB_JOBID", "$(Cluster)"),
    ("LSB_JOBINDEX", "$(Process)"),
    ("NSLOTS", "$(request_cpus)"),
    ("PBS_ARRAYID", "$(Process)"),
    ("PBS_ARRAY_INDEX", "$(Process)"),
    ("PBS_JOBID", "$(Cluster)"),
    ("PBS_NUM_PPN", "$(request_cpus)"),
    ("SGE_TASK_ID", "$(Process)"),
    ("SLURM_ARRAY_JOB_ID", "$(Cluster)"),
    ("SLURM_ARRAY_TASK_ID", "$(Process)"),
    ("SLURM_CPUS_ON_NODE", "$(request_cpus)"),
    ("SLURM_CPUS_PER_TASK", "$(request_cpus)"),
    ("SLURM_JOBID", "$(Cluster)"),
    ("SLURM_JOB_CPUS_PER_NODE", "$(request_cpus)"),
    ("SLURM_JOB_ID", "$(Cluster)"),
    ("SLURM_NTASKS", "$(request_cpus)"),
    ("SLURM_PROCID", "$(Process)"),
];

/// `$SLURM_ARRAY_TASK_ID`, also as `${…}` and `$(…)`, and `%j` in the name of a file.
pub(super) fn of_batch_system(name: &str, value: &str) -> Option<(String, String)> {
    let of_variable = value.match_indices('$').find_map(|(at, _)| {
        let rest = &value[at + 1..];
        let inner = rest.trim_start_matches(['{', '(']);
        let end = inner.find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_')).unwrap_or(inner.len());
        let (_, meant) = OF_BATCH.iter().find(|(known, _)| *known == &inner[..end])?;
        let close = usize::from(inner[end..].starts_with(['}', ')']));
        let shown = &rest[..rest.len() - inner.len() + end + close];
        let message = format!("`${shown}` is a variable of another batch system, which HTCondor does not set");
        Some((message, format!("write `{meant}`")))
    });
    // The patterns of Slurm for names of files.
    let patterns = [("%A_%a", "$(Cluster)_$(Process)"), ("%j", "$(Cluster).$(Process)"), ("%a", "$(Process)")];
    let of_file = || {
        let is_file = matches!(name, "output" | "error" | "log");
        // `50%job` is a name.
        let ends = |rest: &str| !rest.starts_with(|sign: char| sign.is_ascii_alphanumeric());
        let has = |pattern: &str| value.match_indices(pattern).any(|(at, _)| ends(&value[at + pattern.len()..]));
        let (pattern, meant) = patterns.iter().find(|(pattern, _)| is_file && has(pattern))?;
        let message = format!("`{pattern}` is a part of the name: it is a pattern of Slurm");
        Some((message, format!("write `{}`", value.replace(pattern, meant))))
    };
    of_variable.or_else(of_file)
}

/// `$ENV{HOME}` and `$(ENV:HOME)`, which are not calls of a function.
fn other_call(value: &str) -> Option<(String, String)> {
    value.match_indices('$').find_map(|(at, _)| {
        let (shown, meant) = misspelled_call(&value[at..])?;
        Some((format!("`{shown}` is not a call of a function"), format!("write `{meant}`")))
    })
}

/// Letters that are searched for the end of the arguments of a function.
const MAX_ARGUMENTS: usize = 256;

/// The call of a function with other brackets at the beginning of a text, `$ENV{HOME}`, or as the name of a macro, `$(ENV:HOME)`; and
/// the call that is meant.
pub(super) fn misspelled_call(text: &str) -> Option<(String, String)> {
    let is_name = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let rest = text.strip_prefix('$')?;
    if let Some(inner) = rest.strip_prefix("(ENV:").or_else(|| rest.strip_prefix("(ENV(")) {
        let name = &inner[..inner.find(|sign| !is_name(sign))?];
        let after = inner[name.len()..].trim_start_matches(')');
        let shown = &text[..text.len() - after.len()];
        let closes = if rest.starts_with("(ENV(") { "))" } else { ")" };
        return (!name.is_empty() && shown.ends_with(&format!("{name}{closes}")))
            .then(|| (shown.to_owned(), format!("$ENV({name})")));
    }
    let name = &rest[..rest.find(|sign| !is_name(sign))?];
    let after = &rest[name.len()..];
    let close = match after.chars().next()? {
        '{' => '}',
        '[' => ']',
        _ => return None,
    };
    if !FUNCTIONS.contains(&name) && !is_of_path(name) {
        return None;
    }
    let end = after.char_indices().take(MAX_ARGUMENTS).find(|(_, sign)| *sign == close)?.0;
    let inner = &after[1..end];
    Some((format!("${name}{}{inner}{close}", &after[..1]), format!("${name}({inner})")))
}

/// A variable of the shell in the environment of a job, which no shell reads: `PATH=/opt/bin:$PATH`.
pub(super) fn of_shell(value: &str) -> Option<(String, String)> {
    const VARIABLES: [&str; 8] =
        ["HOME", "USER", "LOGNAME", "PWD", "PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "HOSTNAME"];
    if value.contains('\\') {
        return None;
    }
    value.match_indices('$').find_map(|(at, _)| {
        let rest = &value[at + 1..];
        let (inner, close) = rest.strip_prefix('{').map_or((rest, ""), |inner| (inner, "}"));
        let end = inner.find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_')).unwrap_or(inner.len());
        let word = Some(&inner[..end]).filter(|word| VARIABLES.contains(word))?;
        let plain = inner[end..].starts_with(close) && !inner[end..].starts_with('(') && !value[..at].ends_with('$');
        let shown = &value[at..value.len() - inner.len() + end + close.len()];
        let message = format!("`{shown}` is passed as it is: a shell does not read it");
        plain.then(|| (message, format!("write `$ENV({word})` for its value where the job is submitted")))
    })
}

/// `$EVAL($(N) * 2)`: the argument of a function ends at the first `)`.
fn nested_function(value: &str) -> Option<(String, String)> {
    const FUNCTIONS: [&str; 4] = ["$EVAL(", "$INT(", "$REAL(", "$STRING("];
    if let Some((start, end)) = value.match_indices('$').find_map(|(at, _)| {
        let open = at + 1 + value[at + 1..].find('(')?;
        let is_nested = is_of_path(&value[at + 1..open]) && value[open + 1..].starts_with("$(");
        Some((at, open + value[open..].find(')')?)).filter(|_| is_nested)
    }) {
        let message = format!("`{})` is not a call: the argument is the name of a macro", &value[start..=end]);
        return Some((message, "write the name of the macro without `$( )`".to_owned()));
    }
    let inner = FUNCTIONS.iter().find_map(|function| {
        let at = value.to_ascii_uppercase().find(function)?;
        Some(&value[at..at + function.len() + value[at + function.len()..].find(')')?])
    })?;
    let message = format!("the argument of the function ends at the first `)`: it is `{inner})`");
    inner.contains("$(").then(|| (message, "write the names of macros in it without `$( )`".to_owned()))
}

/// A call of a function whose arguments `condor_submit` cannot use (HTCondor's `config.cpp`), with the fault and its help.
/// Arguments with macros are not looked at.
pub(super) fn odd_function(text: &str) -> Option<(String, String, String)> {
    text.match_indices('$').find_map(|(at, _)| {
        let rest = &text[at + 1..];
        let end = rest.find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'))?;
        let (name, rest) = (&rest[..end], rest[end..].strip_prefix('(')?);
        if let Some(meant) = other_function(name).filter(|_| !text[..at].ends_with('$')) {
            let message = format!("`${name}(…)` is not a function, and is not expanded");
            return Some((format!("${name}("), message, format!("write `${meant}(…)`")));
        }
        let end = rest.find([')', '$']).filter(|end| rest[*end..].starts_with(')'))?;
        let arguments = &rest[..end];
        let parts: Vec<&str> = arguments.split(',').map(str::trim).collect();
        let (fault, help) = function_fault(name, &parts).filter(|_| !text[..at].ends_with('$'))?;
        let call = format!("${name}({arguments})");
        Some((call.clone(), format!("`{call}` {fault}"), help.to_owned()))
    })
}

/// Tests for the functions of the parts of a path: `Fn`, `Fpnx`.
fn is_of_path(name: &str) -> bool {
    let letters = name.strip_prefix('F').unwrap_or_default();
    !letters.is_empty() && letters.chars().all(|letter| "abdfnpquwx".contains(letter))
}

/// The functions of submit files, beside those of the parts of a path.
const FUNCTIONS: [&str; 11] = [
    "BASENAME",
    "CHOICE",
    "DIRNAME",
    "ENV",
    "EVAL",
    "INT",
    "RANDOM_CHOICE",
    "RANDOM_INTEGER",
    "REAL",
    "STRING",
    "SUBSTR",
];

/// The function that is meant by a name which is none; `$Fz(path)` has letters that there are not.
fn other_function(name: &str) -> Option<&'static str> {
    const WORDS: [(&str, &str); 7] = [
        ("ENVIRON", "ENV"),
        ("GETENV", "ENV"),
        ("RAND", "RANDOM_INTEGER"),
        ("RANDINT", "RANDOM_INTEGER"),
        ("RANDOM", "RANDOM_CHOICE"),
        ("RANDOM_INT", "RANDOM_INTEGER"),
        ("SUBSTRING", "SUBSTR"),
    ];
    if let Some(letters) = name.strip_prefix('F').filter(|letters| letters.len() <= 5) {
        let of_path = !letters.is_empty() && letters.bytes().all(|letter| letter.is_ascii_lowercase());
        return (of_path && letters.contains(|letter: char| !"abdfnpquwx".contains(letter))).then_some("Fpnx");
    }
    let is_upper = name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    if !is_upper || FUNCTIONS.contains(&name) {
        return None;
    }
    let word = WORDS.iter().find(|(word, _)| *word == name).map(|(_, meant)| *meant);
    word.or_else(|| near::closest_within(if name.len() < 8 { 1 } else { 2 }, name.as_bytes(), FUNCTIONS))
}

/// The fault of the arguments of a function.
fn function_fault(name: &str, parts: &[&str]) -> Option<(&'static str, &'static str)> {
    let number = |at: usize| parts.get(at)?.parse::<i64>().ok();
    let is_word = |at: usize| parts.get(at).is_some_and(|part| !part.is_empty()) && number(at).is_none();
    // The letter that ends a format such as `%04d`.
    let letter = || {
        let (_, form) = parts.get(1)?.split_once('%')?;
        form.trim_start_matches(|sign: char| sign.is_ascii_digit() || ".-+ #l".contains(sign)).chars().next()
    };
    let bounds = "write `$RANDOM_INTEGER(minimum,maximum)`, perhaps with a step of at least 1";
    match name {
        "ENV" if parts == [""] => Some(("names no variable", "write `$ENV(NAME)`")),
        "RANDOM_CHOICE" if parts.len() == 1 && parts[0].contains(';') => {
            Some(("has one item, as only `,` separates", "write `$RANDOM_CHOICE(first,second)`"))
        }
        "RANDOM_CHOICE" if parts == [""] => Some(("has no items", "write `$RANDOM_CHOICE(first,second)`")),
        "RANDOM_INTEGER" if parts.len() < 2 => Some(("has no maximum", bounds)),
        "RANDOM_INTEGER" if (0..3).any(is_word) => Some(("has an argument that is not a whole number", bounds)),
        "RANDOM_INTEGER" if number(0)? > number(1)? => Some(("has a minimum above the maximum", bounds)),
        "RANDOM_INTEGER" if number(2).is_some_and(|step| step < 1) => Some(("has a step below 1", bounds)),
        "CHOICE" if parts.len() < 2 => Some(("has no list", "write `$CHOICE(index,first,second)`")),
        "CHOICE" if parts.len() > 2 && usize::try_from(number(0)?).ok().is_none_or(|at| at + 1 >= parts.len()) => {
            Some(("has an index that is not in the list", "the first item has the index 0"))
        }
        "SUBSTR" if parts.len() < 2 => Some(("has no start", "write `$SUBSTR(name,start)`, perhaps with a length")),
        "INT" if matches!(letter()?, 's' | 'f' | 'g' | 'e') => {
            Some(("has a format that is not for integers", "write a format such as `%04d`"))
        }
        "REAL" if matches!(letter()?, 's' | 'd' | 'i' | 'x') => {
            Some(("has a format that is not for reals", "write a format such as `%.2f`"))
        }
        _ => None,
    }
}

/// Commands that are the name of one file or folder.
const FILES: [&str; 11] = [
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

/// Commands that are counts or times.
const COUNTS: [&str; 8] = [
    "deferral_prep_time",
    "deferral_window",
    "job_lease_duration",
    "job_max_vacate_time",
    "keep_claim_idle",
    "max_retries",
    "next_job_start_delay",
    "stack_size",
];

/// `output = a.out # the result`: there are no comments behind a value.
fn comment(name: &str, value: &str) -> Option<(String, String)> {
    const OTHERS: [&str; 5] = ["arguments", "args", "description", "environment", "env"];
    let at = value.match_indices('#').map(|(at, _)| at).find(|at| value[..*at].ends_with([' ', '\t']))?;
    let is_text = OTHERS.contains(&name) || name.starts_with("my.") || name.ends_with("_reason");
    let is_command = is_listed(name) && !is_text && !value.contains('"');
    let message = format!("`{}` is a part of the value: comments have lines of their own", &value[at..]);
    is_command
        .then(|| (message, format!("write `{name} = {}`, and the comment on its own line", value[..at].trim_end())))
}

/// `http//example.org/x`: an address that is none without `://`, and the name of a file.
fn odd_address(name: &str, value: &str) -> Option<(String, String)> {
    const SCHEMES: [&str; 13] =
        ["docker", "oras", "http", "https", "osdf", "stash", "pelican", "s3", "gs", "ftp", "root", "davs", "gsiftp"];
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
        let behind = inner[end..].strip_prefix(close)?;
        let is_folder = end > 1 && (behind.starts_with('/') || behind.is_empty());
        is_folder.then(|| (inner[..end].to_owned(), behind.to_owned()))
    };
    if let Some((item, (name, behind))) = items.clone().find_map(|item| Some((item, of_shell(&item)?))) {
        let message = format!("`{item}` begins with a variable of the shell, which is not expanded");
        return Some((message, format!("write `$ENV({name}){behind}`")));
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

/// `$(name=5)`: the default of a macro is behind a colon.
fn misused_default(value: &str) -> Option<(String, String)> {
    value.match_indices("$(").find_map(|(at, _)| {
        let inner = &value[at + 2..];
        let end = inner.find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'))?;
        let default = inner[end..].strip_prefix('=')?;
        let default = &default[..default.find(')').filter(|_| end > 0)?];
        let message = format!("`$({}={default})` is not a macro, and is not expanded", &inner[..end]);
        Some((message, format!("write `$({}:{default})`", &inner[..end])))
    })
}

/// The value of a command that is read in an unexpected way, and its help.
pub(super) fn odd_value(name: &str, value: &str) -> Option<(String, String)> {
    if let Some(start) = value.find("$(").filter(|_| !matches!(name, "requirements" | "rank")) {
        let rest = &value[start..];
        if !rest.contains(')') {
            let end =
                rest.find(|sign: char| !(sign.is_ascii_alphanumeric() || "$(_".contains(sign))).unwrap_or(rest.len());
            let help = format!("write `{})`", &rest[..end]);
            return Some((format!("`{rest}` has no `)`, so it is not a macro"), help));
        }
    }
    if let Some(found) = misused_default(value) {
        return Some(found);
    }
    if let Some(rest) = value.strip_prefix('=').filter(|_| !name.starts_with("my.")) {
        let message = format!("the value of `{name}` begins with `=`");
        return Some((message, format!("write `{name} = {}`", rest.trim_start())));
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
    if found.is_some() {
        return found;
    }
    if value.contains('$') {
        return None;
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
        "environment" | "env" => odd_environment(value),
        "use_oauth_services" if truth_of(value.to_ascii_lowercase().as_bytes()).is_some() => {
            let message = format!("`{value}` is the name of a service here");
            Some((message, "write the names of the services, as in `use_oauth_services = box`".to_owned()))
        }
        "notify_user" if value.contains(char::is_whitespace) && !value.contains([',', '@']) => {
            let message = format!("`notify_user` is `{value}`, which is not the address of a mail");
            Some((message, "write `name@example.org`".to_owned()))
        }
        "getenv" => {
            let truth = truth_of(value.to_ascii_lowercase().as_bytes()).filter(|_| value.len() > 2)?;
            Some((format!("`{value}` is the name of a variable here"), format!("write `{truth}`")))
        }
        "machine_count" | "node_count" if number(value).is_some_and(|count| count < 1.0) => {
            let message = format!("`{name}` is {value}, so the job has no nodes");
            Some((message, "write a number of at least 1".to_owned()))
        }
        "machine_count" | "node_count" if number(value).is_none() => {
            let message = format!("`{name}` is `{value}`, and is read by its beginning");
            Some((message, "write a whole number".to_owned()))
        }
        "output_destination" if !value.contains("://") => {
            let help = "write an address, as in `s3://bucket/folder/`; a folder is `output_directory`".to_owned();
            Some((format!("`{name}` is `{value}`, which is not an address"), help))
        }
        "deferral_time" => {
            /// The time of the first job that may still be waiting: 2001.
            const LEAST: u64 = 1_000_000_000;
            let seconds = value.parse::<u64>().ok().filter(|seconds| (1..LEAST).contains(seconds))?;
            let message = format!("`{name}` is a time in seconds since 1970, so {seconds} is long ago");
            Some((message, format!("write `(CurrentTime + {seconds})` for a time after the submission")))
        }
        "success_exit_code" | "checkpoint_exit_code" => {
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
    if !matches!(name, "arguments" | "args") || is_for_shell(value) {
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
    // A `;` behind an argument, and a command of a shell.
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

/// Settings that are not separated, or separated by the sign of the other form.
fn odd_environment(value: &str) -> Option<(String, String)> {
    let words_of_shell = ["export ", "set ", "setenv "];
    if let Some(word) = words_of_shell.into_iter().find(|word| value.trim_start_matches('"').starts_with(word)) {
        let message = format!("`{}` is a part of the name of the variable: no shell reads it", word.trim());
        let rest = value.trim_matches('"')[word.len()..].trim_start();
        return Some((message, format!("write `environment = \"{rest}\"`")));
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
    let comma = words.windows(2).find(|pair| pair[0].ends_with(',') && is_setting(pair[0]) && is_setting(pair[1]));
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
    if let Some([first, ..]) = comma.filter(|_| !value.contains('\'')) {
        let message = format!("the comma is a part of the value in `{first}`: only blanks separate");
        let all: Vec<&str> = words.iter().map(|word| word.trim_end_matches(',')).collect();
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
    Some((message, "write blanks in place of `;`".to_owned()))
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
            let interprets = INTERPRETERS.contains(&base(program));
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
            let inner = value.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(value);
            // An `=` in a name is written `\=`.
            let signs = |item: &str| item.matches('=').count() - item.matches("\\=").count();
            let mut items = inner.split(';').map(str::trim);
            if let Some(item) =
                items.clone().find(|item| signs(item) > 1 && item.contains(',') && !item.contains("://"))
            {
                let target = item.split_once('=').map_or(item, |(_, target)| target.trim());
                let message = format!("`{target}` is one new name: `,` does not separate files");
                return Some((message, format!("write `{}`", item.replace(',', ";"))));
            }
            if let Some(found) = named_twice(inner) {
                return Some(found);
            }
            let item = items.find(|item| {
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
            let tagged =
                parts.is_some_and(|(image, tag)| !image.contains(['/', '.']) && !tag.is_empty() && !tag.contains('/'));
            let message = format!("`{value}` is the name of a folder here");
            tagged.then(|| (message, format!("write `docker://{value}` for an image of a registry")))
        }
        "arguments" | "args" if !value.starts_with('"') => {
            let opens = |at: usize| at == 0 || value[..at].ends_with([' ', '=']);
            let quoted = value.match_indices('\'').any(|(at, _)| opens(at) && value[at + 1..].contains('\''));
            let message = "single quotes are a part of the arguments here".to_owned();
            (quoted && !value.contains('"')).then(|| (message, format!("write `{name} = \"{value}\"`")))
        }
        _ => None,
    }
}

/// Two files with one new name, and one file with two.
fn named_twice(inner: &str) -> Option<(String, String)> {
    let pairs = || inner.split(';').filter_map(|item| item.split_once('='));
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
        let message =
            format!("the range `{first}-{last}` of `{name}` begins behind its end, so the job is put on hold");
        return Some((message, format!("write `{first}-{most},{least}-{last}`")));
    }
    let mut numbers = parts.filter(|part| !part.is_empty()).map(|part| part.parse::<u32>().unwrap_or(u32::MAX));
    let wrong = !value.chars().all(is_known) || numbers.any(|number| !(least..=most).contains(&number));
    wrong.then(|| {
        let message = format!("`{value}` is not a value of `{name}`, so the job is put on hold");
        (message, format!("write `*`, or numbers from {least} to {most}"))
    })
}
