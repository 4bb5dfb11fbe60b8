//! Values of another shape than a submit command reads: a boolean where files are named, a list for one file, a second command.
//!
//! In: a command and its value. Out: a message and a help, for findings of the rule `odd-command`.

use super::commands::{CommandKind, is_listed, kind};
use super::submit_odd::is_for_shell;
use super::submit_programs::words;
use crate::submit::queue::number;
use classmate::internal::builtin::near;

/// Commands that are lists of the names of attributes, variables or files.
const LISTS: [&str; 11] = [
    "container_service_names",
    "dont_encrypt_input_files",
    "dont_encrypt_output_files",
    "email_attributes",
    "encrypt_input_files",
    "encrypt_output_files",
    "jar_files",
    "job_ad_information_attrs",
    "job_machine_attrs",
    "transfer_checkpoint_files",
    "transfer_output_files",
];

/// Commands that are the name of one file.
const FILES: [&str; 8] =
    ["error", "executable", "initialdir", "input", "log", "output", "scitokens_file", "x509userproxy"];

/// Commands that are names of other things.
const NAMES: [&str; 4] = ["accounting_group", "container_image", "docker_image", "transfer_input_files"];

/// Texts of any form.
const TEXTS: [&str; 6] = ["arguments", "args", "batch_name", "description", "environment", "env"];

/// Commands of a few words, and these: `condor_submit` takes any.
const WORDS: [(&str, &[&str]); 3] =
    [("docker_pull_policy", &["always"]), ("vm_networking_type", &["nat", "bridge"]), ("vm_type", &["kvm", "xen"])];

/// Commands that are whole numbers: `condor_submit` cuts others.
const WHOLE: [&str; 6] =
    ["checkpoint_exit_code", "machine_count", "match_list_length", "max_retries", "priority", "success_exit_code"];

/// The finding about a value of another shape.
pub(super) fn odd_shape(name: &str, value: &str) -> Option<(String, String)> {
    typographic(name, value)
        .or_else(|| typographic_dash(name, value))
        .or_else(|| truth_for_name(name, value))
        .or_else(|| joined_names(name, value))
        .or_else(|| of_environment(name, value))
        .or_else(|| several_files(name, value))
        .or_else(|| second_command(name, value))
        .or_else(|| not_a_macro(name, value))
        .or_else(|| no_reference(name, value))
        .or_else(|| odd_name(name, value))
        .or_else(|| other_word(name, value))
        .or_else(|| relative_folder(name, value))
        .or_else(|| out_of_range(name, value))
}

/// `arguments = –n 5`: the dash of a word processor begins no option and no number. Texts in quotes may have it.
fn typographic_dash(name: &str, value: &str) -> Option<(String, String)> {
    const DASHES: [char; 4] = ['\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}'];
    if !matches!(name, "arguments" | "arguments2") {
        return None;
    }
    let is_option = |word: &&str| {
        let rest = word.trim_start_matches(DASHES);
        let begins = rest.trim_start_matches('-').starts_with(|sign: char| sign.is_ascii_alphanumeric());
        rest.len() < word.len() && begins
    };
    let word = words(value).into_iter().find(is_option)?;
    let dash = word.chars().next()?;
    let option = word.trim_start_matches(DASHES).trim_start_matches('-');
    let is_number = option.starts_with(|sign: char| sign.is_ascii_digit());
    let dashes = word.trim_end_matches(option).chars().count();
    let help = match option.split('=').next().map_or(0, str::len) {
        length if is_number || length == 1 => format!("write `-{option}`"),
        _ if dashes > 1 => format!("write `--{option}`"),
        _ => format!("write `--{option}` or `-{option}`"),
    };
    let what = if is_number { "number" } else { "option" };
    Some((format!("`{dash}` in `{word}` is an ordinary character, and begins no {what}"), help))
}

/// `arguments = “--name x”`: quotes of a word processor are ordinary characters.
fn typographic(name: &str, value: &str) -> Option<(String, String)> {
    const QUOTES: [char; 5] = ['“', '”', '„', '‘', '’'];
    const PROSE: [&str; 4] = ["batch_name", "description", "jobbatchname", "submit_note"];
    let is_opened = |(at, sign): &(usize, char)| {
        let is_first = value[..*at].chars().next_back().is_none_or(|before| " \t=,".contains(before));
        is_first && QUOTES.contains(sign) && value[at + sign.len_utf8()..].contains(QUOTES)
    };
    let is_prose = PROSE.contains(&name) || name.ends_with("_reason");
    if is_prose || value.contains(['"', '\'']) {
        return None;
    }
    let (_, sign) = value.char_indices().find(is_opened)?;
    let message = format!("`{sign}` is an ordinary character, and quotes nothing");
    Some((message, "write `\"` or `'`".to_owned()))
}

/// `encrypt_input_files = true`: what is named `true`.
fn truth_for_name(name: &str, value: &str) -> Option<(String, String)> {
    let is_truth = ["true", "false", "yes", "no"].iter().any(|word| value.eq_ignore_ascii_case(word));
    let is_name = LISTS.contains(&name) || FILES.contains(&name) || NAMES.contains(&name);
    let help = match name {
        "x509userproxy" => "write `use_x509userproxy = true`, or the name of a file".to_owned(),
        "transfer_input_files" | "transfer_output_files" => {
            "write `should_transfer_files`, or names of files".to_owned()
        }
        _ if LISTS.contains(&name) => "write names, separated by commas".to_owned(),
        _ => "write a name, or remove the command".to_owned(),
    };
    (is_truth && is_name).then(|| (format!("`{value}` is a name here, and `{name}` is not a boolean"), help))
}

/// `email_attributes = A; B`
fn joined_names(name: &str, value: &str) -> Option<(String, String)> {
    if (LISTS.contains(&name) || name == "transfer_input_files")
        && let Some(item) = value.split(',').map(str::trim).find(|item| are_files_with_colons(item))
    {
        let message = format!("`{item}` is one name: `:` does not separate files");
        return Some((message, format!("write `{}`", item.replace(':', ", "))));
    }
    let is_list = LISTS.contains(&name) && name != "transfer_output_files";
    let parts: Vec<&str> = value.split(';').map(str::trim).filter(|part| !part.is_empty()).collect();
    (is_list && value.contains(';')).then(|| {
        let message = format!("`{value}` is one name: `;` does not separate");
        (message, format!("write `{name} = {}`", parts.join(", ")))
    })
}

/// Tests for names of files with colons between them, as in a path of classes: `a.jar:lib/b.jar`.
fn are_files_with_colons(item: &str) -> bool {
    let is_file = |part: &str| {
        let (front, end) = part.rsplit_once('.').unwrap_or_default();
        let is_ending = (1..=5).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric());
        !front.is_empty() && is_ending && end.starts_with(|sign: char| sign.is_ascii_alphabetic())
    };
    item.contains(':') && !item.contains(['"', '$', ' ']) && item.split(':').all(is_file)
}

/// `getenv = HOME=/tmp`, `getenv = $HOME` and `getenv = HOME; PATH`
fn of_environment(name: &str, value: &str) -> Option<(String, String)> {
    if name != "getenv" {
        return None;
    }
    let mut items = value.split([',', ' ']).filter(|item| !item.is_empty());
    let truth = items.clone().find(|item| ["true", "false"].iter().any(|word| item.eq_ignore_ascii_case(word)));
    if let Some(truth) = truth.filter(|_| items.clone().nth(1).is_some()) {
        let message = format!("`{truth}` is the name of a variable in a list of names");
        return Some((message, "write `getenv = true` for all variables, or their names alone".to_owned()));
    }
    if let Some(item) = items.clone().find(|item| item.contains(';')) {
        let message = format!("the `;` is a part of `{item}`: blanks and `,` separate");
        return Some((message, format!("write `getenv = {}`", value.replace(';', ","))));
    }
    let item = items.find(|item| item.contains('=') || item.starts_with('$') && !item.contains('('))?;
    let plain = item.trim_start_matches(['$', '{']).split(['=', '}']).next().unwrap_or_default();
    let help = if item.contains('=') {
        format!("write `environment = \"{item}\"` for a value of its own")
    } else {
        format!("write `{plain}`")
    };
    Some((format!("`{item}` is not the name of a variable"), help))
}

/// `input = a.txt, b.txt` and `input = data/`
fn several_files(name: &str, value: &str) -> Option<(String, String)> {
    if !FILES.contains(&name) || value.contains(['(', '"']) && !value.contains("$(") {
        return None;
    }
    if name == "input" && value.ends_with('/') {
        let message = format!("`{name}` is the name of a file, and `{value}` is a folder");
        return Some((message, format!("write `transfer_input_files = {value}`")));
    }
    let is_file = |part: &str| {
        part.trim()
            .rsplit_once('.')
            .is_some_and(|(_, end)| (1..=5).contains(&end.len()) && end.bytes().any(|byte| byte.is_ascii_alphabetic()))
    };
    let several = value.contains(',') && !value.contains('$') && value.split(',').all(is_file);
    let message = format!("`{name}` is the name of one file, `{value}`");
    let help =
        if name == "input" { format!("write `transfer_input_files = {value}`") } else { "write one name".to_owned() };
    several.then_some((message, help))
}

/// `output = a.out error = a.err`: the rest of the line is a part of the value.
fn second_command(name: &str, value: &str) -> Option<(String, String)> {
    let is_expression = kind(name) == Some(CommandKind::Expression) || name.starts_with("my.");
    // A macro may be a part of another value.
    let is_text = TEXTS.contains(&name) || name.ends_with("_reason") || name.ends_with("_notes");
    if !is_listed(name) || is_expression || is_text || matches!(name, "requirements" | "rank") {
        return None;
    }
    let at = value.match_indices('=').map(|(at, _)| at).find(|at| {
        let before = value[..*at].trim_end();
        let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        let is_other = word.len() < before.len() && is_listed(&word.to_ascii_lowercase());
        // A file of the job may have the name of a command: `a = b; log = c`.
        let is_item = before[..before.len() - word.len()].trim_end().ends_with([';', ',']);
        is_other && !is_item && !value[at + 1..].starts_with('=')
    })?;
    let before = value[..at].trim_end();
    let start = before.rfind(char::is_whitespace)? + 1;
    let message = format!("`{}` is a part of the value of `{name}`", &value[start..]);
    Some((message, format!("write `{}` on a line of its own", &value[start..])))
}

/// `$(date +%F)` and `$((1 + 2))`: the text in parentheses is no name, and it is not expanded.
fn not_a_macro(name: &str, value: &str) -> Option<(String, String)> {
    let is_expression = kind(name) == Some(CommandKind::Expression) || matches!(name, "requirements" | "rank");
    if is_expression || is_for_shell(value) || name.starts_with("my.") || name.ends_with("_reason") {
        return None;
    }
    value.match_indices("$(").find_map(|(at, _)| {
        let inner = &value[at + 2..];
        let end = inner.find(|sign: char| !(sign.is_ascii_alphanumeric() || "_.".contains(sign)))?;
        let sign = inner[end..].chars().next()?;
        let is_command = end > 0 && " %+-*/".contains(sign);
        let is_sum = end == 0 && sign == '(' && inner.contains("))");
        let close = inner.find(if is_sum { "))" } else { ")" })? + if is_sum { 2 } else { 1 };
        if !(is_command || is_sum) || value[..at].ends_with('$') || inner[..close].contains('$') {
            return None;
        }
        let shown = &value[at..at + 2 + close];
        let help = if is_sum {
            let sum = inner[1..close - 2].trim();
            format!("write `number = {sum}` above, and `$INT(number)` here")
        } else if sign == ' ' {
            "no command is run: write the value, or use `include command`".to_owned()
        } else {
            format!("write `number = $({}){}` above, and `$INT(number)` here", &inner[..end], &inner[end..close - 1])
        };
        Some((format!("`{shown}` is not a macro, and is not expanded"), help))
    })
}

/// `$$[Memory]`, `$$([Memory / 1024)` and `$ENV HOME`, which are not references.
fn no_reference(name: &str, value: &str) -> Option<(String, String)> {
    // Programs may have variables of this form, and names of files have none.
    let is_path = FILES.contains(&name) || LISTS.contains(&name) || name == "transfer_input_files";
    if let Some((at, end)) = value.find("${").and_then(|at| Some((at, at + value[at..].find('}')?))).filter(|_| is_path)
    {
        let inner = &value[at + 2..end];
        let message = format!("`${{{inner}}}` is not a macro, and is not expanded");
        return Some((message, format!("write `$({inner})`")));
    }
    if let Some(at) = value.find("$$[") {
        let inner = value[at + 3..].split(']').next().unwrap_or_default();
        let message = format!("`$$[{inner}]` is passed as it is");
        return Some((message, format!("write `$$({inner})`, or `$$([{inner}])` for an expression")));
    }
    if let Some(at) = value.find("$$([").filter(|at| !value[*at..].contains("])")) {
        let inner = value[at + 4..].split(')').next().unwrap_or_default();
        return Some((format!("`$$([{inner})` has no `])`, and is passed as it is"), format!("write `$$([{inner}])`")));
    }
    let rest = &value[value.find("$ENV ")? + 5..];
    let word = rest.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_')).next()?;
    (!word.is_empty()).then(|| (format!("`$ENV {word}` is passed as it is"), format!("write `$ENV({word})`")))
}

/// Services, images and programs under names that they cannot have.
fn odd_name(name: &str, value: &str) -> Option<(String, String)> {
    match name {
        "use_oauth_services" if value.contains("://") => {
            let message = format!("`{value}` is an address, and services have names");
            Some((message, "write the names of the services, as in `use_oauth_services = box`".to_owned()))
        }
        "container_image" | "docker_image" if value.contains("::") => {
            let message = format!("`{value}` is not the name of an image");
            Some((message, format!("write `{}`", value.replace("::", ":"))))
        }
        // Neither `docker_proc.cpp` nor Apptainer takes it; `docker:27` is an image that is called `docker`.
        "container_image"
            if value
                .strip_prefix("docker:")
                .is_some_and(|rest| !rest.starts_with("//") && rest.contains([':', '/'])) =>
        {
            let message = format!("`{value}` is not the name of an image: expected `//` after `docker:`");
            Some((message, format!("write `{}`", value.replacen("docker:", "docker://", 1))))
        }
        "container_image" if value.starts_with("docker://") && value.strip_suffix(".sif").is_some() => {
            let message = format!("`{value}` is an image of a registry, and a `.sif` is a file");
            Some((message, format!("write `{}`", value.replacen("docker://", "", 1))))
        }
        "docker_image" if value.strip_suffix(".sif").is_some() => {
            let message = format!("`{value}` is a file, and a `docker_image` is an image of a registry");
            Some((message, format!("write `container_image = {value}`, and `universe = container`")))
        }
        "container_image" if value.contains("://hub.docker.com/") => {
            let image = value.rsplit("/r/").next().unwrap_or(value).trim_start_matches("library/");
            let message = format!("`{value}` is a page, and not an image");
            Some((message, format!("write `docker://{image}`")))
        }
        "executable" if [" && ", " | ", "; "].iter().any(|sign| value.contains(sign)) => {
            let message = format!("`{name}` is the name of one file, `{value}`: no shell reads it");
            Some((message, "write a script with the command line, and make it the `executable`".to_owned()))
        }
        _ => None,
    }
}

/// A word that nothing understands.
fn other_word(name: &str, value: &str) -> Option<(String, String)> {
    // A site may have networks of its own.
    const NETWORKS: [&str; 3] = ["host", "nat", "none"];
    if name == "docker_network_type" && !NETWORKS.iter().any(|known| known.eq_ignore_ascii_case(value)) {
        let lower = value.to_ascii_lowercase();
        let meant = near::closest_within(1, lower.as_bytes(), NETWORKS).filter(|_| lower.len() > 3)?;
        return Some((format!("`{value}` is probably not a value of `{name}`"), format!("write `{meant}`")));
    }
    if name == "getenv" && ["all", "any", "everything"].iter().any(|word| value.eq_ignore_ascii_case(word)) {
        let message = format!("`{name} = {value}` copies only a variable that is called `{value}`");
        return Some((message, "write `getenv = true` for all variables".to_owned()));
    }
    let (_, words) = WORDS.iter().find(|(known, _)| *known == name)?;
    let is_known = value.contains('$') || words.iter().any(|word| value.eq_ignore_ascii_case(word));
    let list: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    (!is_known).then(|| (format!("`{value}` is not a value of `{name}`"), format!("write {}", list.join(" or "))))
}

/// `mount_under_scratch = tmp`: folders of the machine have absolute paths.
fn relative_folder(name: &str, value: &str) -> Option<(String, String)> {
    let is_name = |item: &&str| item.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
    let mut items = value.split([',', ' ', '\t']).filter(|item| !item.is_empty());
    let item = items.find(|item| !item.starts_with('/')).filter(is_name).filter(|_| name == "mount_under_scratch")?;
    let message = format!("`{item}` in `{name}` is not an absolute path");
    Some((message, format!("write `/{item}`")))
}

/// A number that cannot be meant.
fn out_of_range(name: &str, value: &str) -> Option<(String, String)> {
    let amount = || number(value).filter(|_| !value.contains('$'));
    match name {
        "checkpoint_exit_code" if amount()? == 0.0 => {
            let message = "`checkpoint_exit_code` is 0, so a job that ends well starts again, without end";
            Some((message.to_owned(), "write another code, such as `85`".to_owned()))
        }
        "retry_until" if value.parse::<i64>().is_ok_and(|code| !(0..=255).contains(&code)) => {
            let message = format!("`{name}` is {value}: programs end with a code from 0 to 255");
            Some((message, "write a code that the program has, or a condition".to_owned()))
        }
        "retry_until" if ["true", "false"].iter().any(|word| value.eq_ignore_ascii_case(word)) => {
            let code = i32::from(value.eq_ignore_ascii_case("true"));
            let message = format!("`{name}` is `{value}`, which `condor_submit` takes as the exit code {code}");
            Some((message, format!("write a condition, such as `ExitCode == {code}`")))
        }
        "job_lease_duration" if (0.0..20.0).contains(&amount()?) && amount()? > 0.0 => {
            let message = format!("`{name}` is {value} seconds, and `condor_submit` makes it 20");
            Some((message, "write a number of seconds of at least 20".to_owned()))
        }
        "allowed_execute_duration" | "allowed_job_duration" if amount()? < 60.0 => {
            let message = format!("`{name}` is {value} seconds, and the job is held after them");
            Some((message, format!("write `{value} * 60` for minutes, `{value} * 3600` for hours")))
        }
        "deferral_time" if amount()? > 1e11 => {
            let message = format!("`{name}` is a time in seconds since 1970, and this one is in milliseconds");
            Some((message, format!("write {}", amount()? / 1000.0)))
        }
        "gpus_minimum_capability" | "gpus_maximum_capability" if amount()? >= 20.0 => {
            let message = format!("`{name}` is {value}, and no GPU has such a capability");
            Some((message, format!("write `{}`", amount()? / 10.0)))
        }
        "kill_sig_timeout" if !value.contains('$') && !value.is_empty() && value.parse::<i64>().is_err() => {
            let help = "write a number of seconds".to_owned();
            Some((format!("`{name}` is `{value}`, and is read by its beginning"), help))
        }
        "kill_sig" | "remove_kill_sig" | "hold_kill_sig"
            if value.starts_with(|sign: char| sign.is_ascii_digit()) && value.parse::<u32>().is_err() =>
        {
            let help = "write one signal, such as `SIGTERM` or `15`".to_owned();
            Some((format!("`{name}` is `{value}`, and is read by its beginning"), help))
        }
        _ if WHOLE.contains(&name) && amount()?.fract() != 0.0 => {
            let message = format!("`{name}` is {value}, and counts as {}", amount()?.trunc());
            Some((message, "write a whole number".to_owned()))
        }
        "max_retries" if ["true", "false"].iter().any(|word| value.eq_ignore_ascii_case(word)) => {
            Some((format!("`{name}` is `{value}`, which is a boolean"), "write a number, such as `3`".to_owned()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_shapes_are_found_and_plain_values_are_not() {
        for (name, value) in [
            ("encrypt_input_files", "true"),
            ("email_attributes", "RemoteHost; ExitCode"),
            ("jar_files", "main.jar:lib/math.jar"),
            ("transfer_input_files", "run.sh, a.csv:b.csv"),
            ("priority", "2.5"),
            ("kill_sig_timeout", "2 * 60"),
            ("hold_kill_sig", "15 9"),
            ("getenv", "HOME=/tmp"),
            ("input", "a.txt, b.txt"),
            ("output", "out/$(Process).out error = err.txt"),
            ("arguments", "--date $(date +%F)"),
            ("arguments", "--seed $((100 + 3))"),
            ("output", "$(Process+1).out"),
            ("vm_type", "virtualbox"),
            ("checkpoint_exit_code", "0"),
            ("arguments", "“--name x”"),
            ("environment", "A=“b c”"),
            ("output", "‘a.out’"),
        ] {
            assert!(odd_shape(name, value).is_some(), "{name} = {value}");
        }
        for (name, value) in [
            ("encrypt_input_files", "*.key"),
            ("jar_files", "main.jar, math.jar"),
            ("transfer_input_files", "https://example.org:8443/a.csv, run-10:30.log, osdf:///a/b.csv"),
            ("priority", "-5"),
            ("kill_sig_timeout", "120"),
            ("kill_sig", "15"),
            ("getenv", "HOME, PATH"),
            ("getenv", "true"),
            ("output", "out/a,b"),
            ("input", "$(Process).txt"),
            ("arguments", "-c 'echo $(date +%F)'"),
            ("arguments", "output = 3"),
            ("transfer_output_remaps", "\"a = b\""),
            ("checkpoint_exit_code", "85"),
            ("arguments", "\"--title 'He said “yes”'\""),
            ("arguments", "--title l’été"),
            ("batch_name", "“first run”"),
            ("allowed_job_duration", "3600"),
        ] {
            assert!(odd_shape(name, value).is_none(), "{name} = {value}");
        }
    }
}
