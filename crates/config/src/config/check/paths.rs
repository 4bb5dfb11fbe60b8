//! Paths of files, folders and programs in a configuration.
//!
//! In: the name and the value of a variable. Out: the problem of the value.

use super::types::{Problem, kind};
use super::{is_variable, words};
use classmate::internal::diagnostic::Severity;

/// Those of them that are folders.
pub(super) const FOLDERS: [&str; 5] = ["LOCAL_DIR", "RELEASE_DIR", "SPOOL", "LOG", "EXECUTE"];

/// Tests whether the value of a variable (upper case) is the name of a folder or a file.
pub(super) fn is_folder(upper: &str) -> bool {
    const ENDS: [&str; 9] =
        ["_CADIR", "_CAFILE", "_CERTFILE", "_DIR", "_DIRECTORY", "_FILE", "_KEYFILE", "_LOG", "_MAPFILE"];
    let is_size = upper.starts_with("MAX_");
    let of_credentials = upper.starts_with("SEC_CREDENTIAL_DIRECTORY_");
    (FOLDERS.contains(&upper) || of_credentials || ENDS.iter().any(|end| upper.ends_with(end))) && !is_size
}

/// Tests for `SLOT<N>_EXECUTE`, the folder of the jobs of one slot.
fn is_execute_of_slot(upper: &str) -> bool {
    let number = upper.strip_prefix("SLOT").and_then(|rest| rest.strip_suffix("_EXECUTE"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Two folders, or files, where one is read: the blank is a part of its name.
pub(super) fn two_folders(upper: &str, value: &str) -> Option<Problem> {
    let (first, second) = value.split_once([' ', ','])?;
    let what = if upper.ends_with("_MAPFILE") { "file" } else { "folder" };
    let is_one = FOLDERS.contains(&upper) || what == "file" || is_execute_of_slot(upper);
    let is_two = first.starts_with('/') && second.trim_start().starts_with('/');
    let message = format!("`{upper}` is one {what}, and its name is `{value}`");
    (is_one && is_two).then(|| (Severity::Warning, message, format!("write one {what}, `{first}`")))
}

/// Tests whether a variable (upper case) is the name of one program, which HTCondor looks for under the whole value: `os_proc.cpp`,
/// `hook_utils.cpp` and `cron_job_params.cpp`.
pub(super) fn is_program(upper: &str) -> bool {
    let is_hook = upper.contains("_HOOK_") && !["_ARGS", "_TIMEOUT"].iter().any(|end| upper.ends_with(end));
    let is_cron = words::is_of_cron(upper) && upper.ends_with("_EXECUTABLE");
    matches!(upper, "MAIL" | "USER_JOB_WRAPPER") || is_hook || is_cron
}

/// The arguments after the name of a program, which are read as a part of it.
pub(super) fn with_arguments(upper: &str, value: &str) -> Option<Problem> {
    const ENDS: [&str; 5] = [".sh", ".py", ".pl", ".rb", ".exe"];
    let (program, rest) = value.split_once([' ', '\t'])?;
    let rest = rest.trim_start();
    let has_end = ENDS.iter().any(|end| program.to_ascii_lowercase().ends_with(end));
    let is_program = matches!(upper, "MAIL" | "SINGULARITY");
    let is_path = program.contains('/') || (has_end || is_program) && rest.starts_with('-');
    if !is_path || !(has_end || rest.starts_with('-')) {
        return None;
    }
    let message = format!("`{upper}` is the name of one program, and there is none called `{value}`");
    let help = match upper.strip_suffix("_EXECUTABLE") {
        Some(front) => format!("write `{front}_EXECUTABLE = {program}` and `{front}_ARGS = {rest}`"),
        None => format!("write `{program}`, or the name of a script that runs it with its arguments"),
    };
    Some((Severity::Error, message, help))
}

/// Tests whether a variable (upper case) is the path of one file or folder.
pub(super) fn is_path(upper: &str) -> bool {
    const OTHERS: [&str; 7] =
        ["STARTD_HISTORY", "BOINC_EXECUTABLE", "BOINC_INITIALDIR", "HISTORY", "LOCK", "MAIL", "SINGULARITY"];
    let is_cron = words::is_of_cron(upper) && upper.ends_with("_EXECUTABLE");
    is_cron
        || OTHERS.contains(&upper)
        || FOLDERS.contains(&upper)
        || is_execute_of_slot(upper)
        || upper.starts_with("DOCKER_VOLUME_DIR_") && !upper.ends_with("_MOUNT_IF")
        || is_folder(upper) && is_variable(upper.as_bytes())
}

/// A path that only a shell or a browser reads.
pub(super) fn odd_path(upper: &str, value: &str) -> Option<Problem> {
    const WHOLE: [&str; 5] = [
        "PER_JOB_HISTORY_DIR",
        "SEC_PASSWORD_DIRECTORY",
        "SEC_TOKEN_DIRECTORY",
        "SEC_TOKEN_SYSTEM_DIRECTORY",
        "SINGULARITY_TARGET_DIR",
    ];
    let problem = |message: String, help: String| Some((Severity::Warning, message, help));
    if let Some(rest) = value.strip_prefix("~/") {
        let message = format!("`{upper}` is `{value}`: `~` is not expanded as in a shell");
        return problem(message, format!("write `$ENV(HOME)/{rest}`, or the whole path"));
    }
    let is_account = |rest: &str| rest.starts_with(|sign: char| sign.is_ascii_alphabetic()) && rest.contains('/');
    if let Some(rest) = value.strip_prefix('~').filter(|rest| is_account(rest)) {
        let message = format!("`{upper}` is `{value}`: `~` is not expanded as in a shell");
        let user = rest.split('/').next().unwrap_or_default();
        return problem(message, format!("write the whole path, with the home of `{user}`"));
    }
    let is_truth = ["true", "false", "yes", "no"].iter().any(|word| word.eq_ignore_ascii_case(value));
    if is_truth && kind(upper).is_none() && words::is_not_boolean(upper) {
        let message = format!("`{upper}` is the name of a file or a folder, and `{value}` is not a boolean here");
        return problem(message, "write the path".to_owned());
    }
    if value.starts_with("%(") {
        let message = format!("`{upper}` is `{value}`: `%(…)` is not a macro, and is not expanded");
        return problem(message, "write `$(NAME)` for a macro, or `$ENV(NAME)` for the environment".to_owned());
    }
    if let Some(rest) = value.strip_prefix("$HOME") {
        let message = format!("`{upper}` is `{value}`: `$HOME` is a variable of the shell, and is not expanded");
        return problem(message, format!("write `$ENV(HOME){rest}`, or the whole path"));
    }
    if let Some(path) = value.strip_prefix("file://") {
        return problem(format!("`{upper}` is a path, and not the address `{value}`"), format!("write `{path}`"));
    }
    if let Some(path) = value.strip_suffix(';') {
        let message = format!("the `;` is a part of the value of `{upper}`");
        return problem(message, format!("write `{}`", path.trim_end()));
    }
    if let Some(found) = other_kind(upper, value) {
        return problem(found.0, found.1);
    }
    let is_own = FOLDERS.contains(&upper) || is_execute_of_slot(upper);
    let is_whole = is_own || WHOLE.contains(&upper) || upper.starts_with("DOCKER_VOLUME_DIR_");
    let of_log = ["_DIR", "_DIRECTORY", "_LOG", "_CREDENTIAL_DIRECTORY_KRB", "_CREDENTIAL_DIRECTORY_OAUTH"];
    let is_part = value.contains('/') && of_log.iter().any(|end| upper.ends_with(end));
    // A daemon looks for these in the folder where it happens to be.
    let is_certificate = upper.starts_with("AUTH_SSL_") && is_folder(upper);
    let is_of_daemon = is_certificate || matches!(upper, "CERTIFICATE_MAPFILE" | "LOCK");
    let is_relative = (is_whole || is_part || is_of_daemon) && value.starts_with(|sign: char| sign.is_alphabetic());
    let message = format!("`{upper}` is `{value}`, which is not an absolute path");
    let help = if is_of_daemon { "write the whole path".to_owned() } else { format!("write `/{value}`") };
    (is_relative && !value.contains(':')).then_some((Severity::Warning, message, help))
}

/// A file where HTCondor reads a folder, or a folder where it reads a file, as far as the name shows it.
fn other_kind(upper: &str, value: &str) -> Option<(String, String)> {
    const OF_FILES: [&str; 11] =
        [".cfg", ".conf", ".config", ".crt", ".jwk", ".key", ".log", ".pem", ".token", ".txt", ".use"];
    let is_of = |ends: &[&str]| ends.iter().any(|end| upper.ends_with(end));
    let lower = value.to_ascii_lowercase();
    if is_of(&["_CADIR", "_DIR", "_DIRECTORY"]) || FOLDERS.contains(&upper) {
        let end = OF_FILES.iter().find(|end| lower.ends_with(**end))?;
        let folder = value.rsplit_once('/').map_or("", |(folder, _)| folder);
        let message = format!("`{upper}` is a folder, and `{value}` looks like a file, `*{end}`");
        return (!folder.is_empty()).then(|| (message, format!("write the folder, `{folder}`")));
    }
    // A history may have parts of any names, `history.d`.
    let of_folder = lower.rsplit_once('.').is_some_and(|(_, end)| end == "d") && upper != "HISTORY";
    let is_folder = value.len() > 1 && (value.ends_with('/') || of_folder);
    let is_one = is_of(&["_CAFILE", "_CERTFILE", "_KEYFILE", "_KEY_FILE", "_MAPFILE", "_LOG", "_PASSWORD_FILE"])
        || upper == "HISTORY";
    let message = format!("`{upper}` is a file, and `{value}` looks like a folder");
    (is_folder && is_one && !upper.contains("_CREDENTIAL_")).then(|| (message, "write the name of the file".to_owned()))
}

pub(super) fn quoted(upper: &str, value: &str) -> Option<Problem> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    let message = format!("the quotes are a part of the value of `{upper}`");
    Some((Severity::Warning, message, format!("write `{upper} = {inner}`")))
}
