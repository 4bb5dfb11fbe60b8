//! Notations of macros and functions in submit files that are not theirs, and calls with arguments that no function takes.
//!
//! In: the value of a command. Out: a message and a help.

use super::attributes::{is_known, misspelled_attribute, only_in};
use classmate::internal::builtin::near;

/// Macros of jobs, lower case, that other notations name.
pub(super) const OF_JOBS: [&str; 7] = ["process", "procid", "cluster", "clusterid", "item", "step", "row"];

/// `$Process`, `${Process}` and `%(Process)`, which are not macros.
pub(super) fn other_notation(name: &str, value: &str) -> Option<(String, String)> {
    // A shell may have variables called like the others.
    let is_of_shell = matches!(name, "arguments" | "environment");
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
pub(super) fn misspelled_of_slot(word: &str) -> Option<&'static str> {
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
pub(super) const OF_BATCH: [(&str, &str); 17] = [
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
pub(super) fn other_call(value: &str) -> Option<(String, String)> {
    value.match_indices('$').find_map(|(at, _)| {
        let (shown, meant) = misspelled_call(&value[at..])?;
        Some((format!("`{shown}` is not a call of a function"), format!("write `{meant}`")))
    })
}

/// Letters that are searched for the end of the arguments of a function.
pub(super) const MAX_ARGUMENTS: usize = 256;

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
        // `LIBRARIES=/x:$LIBRARIES` adds to a variable of the same value.
        let is_own = |word: &str| word.len() > 2 && value.contains(&format!("{word}="));
        let word = Some(&inner[..end]).filter(|word| VARIABLES.contains(word) || is_own(word))?;
        let plain = inner[end..].starts_with(close) && !inner[end..].starts_with('(') && !value[..at].ends_with('$');
        let shown = &value[at..value.len() - inner.len() + end + close.len()];
        let message = format!("`{shown}` is passed as it is: a shell does not read it");
        plain.then(|| (message, format!("write `$ENV({word})` for its value where the job is submitted")))
    })
}

/// `$EVAL($(N) * 2)`: the argument of a function ends at the first `)`.
pub(super) fn nested_function(value: &str) -> Option<(String, String)> {
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
        if is_function(name) && !rest.contains(')') && !text[..at].ends_with('$') {
            let call = format!("${name}({rest}");
            let message = format!("`{call}` has no `)`, so it is not a call");
            return Some((call, message, "add the `)`".to_owned()));
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
pub(super) fn is_of_path(name: &str) -> bool {
    let letters = name.strip_prefix('F').unwrap_or_default();
    !letters.is_empty() && letters.chars().all(|letter| "abdfnpquwx".contains(letter))
}

/// Tests for the name of a function of submit files.
fn is_function(name: &str) -> bool {
    is_of_path(name) || FUNCTIONS.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The functions of submit files, beside those of the parts of a path.
pub(super) const FUNCTIONS: [&str; 11] = [
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
pub(super) fn other_function(name: &str) -> Option<&'static str> {
    const WORDS: [(&str, &str); 7] = [
        ("ENVIRON", "ENV"),
        ("GETENV", "ENV"),
        ("RAND", "RANDOM_INTEGER"),
        ("RANDINT", "RANDOM_INTEGER"),
        ("RANDOM", "RANDOM_CHOICE"),
        ("RANDOM_INT", "RANDOM_INTEGER"),
        ("SUBSTRING", "SUBSTR"),
    ];
    // `$env(HOME)`: the names are in upper case (`config.cpp`).
    let upper = FUNCTIONS.into_iter().find(|known| known.eq_ignore_ascii_case(name) && *known != name);
    if upper.is_some() {
        return upper;
    }
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
pub(super) fn function_fault(name: &str, parts: &[&str]) -> Option<(&'static str, &'static str)> {
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
        "RANDOM_CHOICE" if parts == [""] => Some(("has no items", "write `$RANDOM_CHOICE(first,second)`")),
        // One word may be the name of a macro with the items.
        "RANDOM_CHOICE" if parts.len() == 1 && parts[0].contains([';', ' ']) && !parts[0].contains('$') => {
            Some(("has one item, as only `,` separates", "write `$RANDOM_CHOICE(first,second)`"))
        }
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

/// `$(name=5)`: the default of a macro follows a colon.
pub(super) fn misused_default(value: &str) -> Option<(String, String)> {
    value.match_indices("$(").find_map(|(at, _)| {
        let inner = &value[at + 2..];
        let end = inner.find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'))?;
        let default = inner[end..].strip_prefix('=')?;
        let default = &default[..default.find(')').filter(|_| end > 0)?];
        let message = format!("`$({}={default})` is not a macro, and is not expanded", &inner[..end]);
        Some((message, format!("write `$({}:{default})`", &inner[..end])))
    })
}
