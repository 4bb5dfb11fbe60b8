//! Options of programs that daemons run, and lists of words of which HTCondor ignores the others.
//!
//! In: the name and the value of a variable. Out: the problem of a word that is not one of those that are known.

use super::types::Problem;
use classmate::internal::builtin::near;
use classmate::internal::diagnostic::Severity;

/// The arguments of a program that all begin with a dash.
pub(super) fn options(upper: &str, value: &str) -> Option<Problem> {
    let first = value.split_whitespace().next().filter(|word| !word.starts_with(['-', '$', '"']))?;
    let message = format!("`{first}` in `{upper}` is not an option of the program");
    Some((Severity::Warning, message, format!("write `-{first}`")))
}

/// The words after an option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Argument {
    /// There is none.
    No,
    /// The next word, if it does not begin with a dash.
    Perhaps,
    /// The next word.
    Next,
    /// The option itself may go on after a colon.
    Colon,
    /// The option may go on after a colon, and takes the next word.
    ColonAndNext,
}

use Argument::{Colon, ColonAndNext, Next, No, Perhaps};

/// The options of `condor_gpu_discovery`, in its order, with the letters that are enough: 0 where all of them are needed
/// (`condor_gpu_discovery.cpp`).
const OF_GPU_DISCOVERY: [(&str, usize, Argument); 27] = [
    ("help", 1, No),
    ("properties", 1, No),
    ("extra", 3, No),
    ("nested", 2, No),
    ("not-nested", 6, No),
    ("no-nested", 5, No),
    ("dynamic", 3, No),
    ("cron", 4, No),
    ("mixed", 3, No),
    ("hetero", 3, No),
    ("opencl", 0, No),
    ("cuda", 0, No),
    ("hip", 0, No),
    ("verbose", 4, No),
    ("diagnostic", 4, No),
    ("repeat", 0, Perhaps),
    ("divide", 0, Perhaps),
    ("packed", 0, No),
    ("config", 0, No),
    ("tag", 3, Next),
    ("by-index", 4, No),
    ("uuid", 2, No),
    ("short-uuid", 0, No),
    ("prefix", 3, Next),
    ("device", 3, Next),
    ("simulate", 3, Colon),
    ("fix-hip-guid", 7, ColonAndNext),
];

/// Options for tests of `condor_gpu_discovery`.
const OF_TESTS: [(&str, usize, Argument); 3] = [("nvcuda", 0, No), ("cudart", 6, No), ("dirty-environment", 4, No)];

/// Finds an option of `condor_gpu_discovery` as `is_dash_arg_prefix` does.
fn option_of_discovery(word: &str) -> Option<Argument> {
    let plain = word.strip_prefix('-')?;
    let (plain, is_whole) = plain.strip_prefix('-').map_or((plain, false), |rest| (rest, true));
    let is = |(name, least, argument): &&(&str, usize, Argument)| {
        let plain =
            if matches!(argument, Colon | ColonAndNext) { plain.split(':').next().unwrap_or_default() } else { plain };
        let least = if is_whole || *least == 0 { name.len() } else { *least };
        plain.len() >= least && name.starts_with(plain)
    };
    OF_GPU_DISCOVERY.iter().chain(&OF_TESTS).find(is).map(|(.., argument)| *argument)
}

/// The arguments of `condor_gpu_discovery`: with one that it does not know, it ends with an error, and there are no GPUs.
pub(super) fn gpu_discovery(upper: &str, value: &str) -> Option<Problem> {
    if upper == "STARTD_DETECT_GPUS" {
        // `ResAttributes.cpp`
        let is = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(value));
        if is(&["false", "0"]) {
            return None;
        }
        if is(&["true", "1"]) {
            let message = format!("`{upper}` is `{value}`, and the startd does not look for GPUs");
            let help =
                "write arguments of `condor_gpu_discovery`, such as `-properties`, or remove the line".to_owned();
            return Some((Severity::Error, message, help));
        }
    }
    if let Some(found) = options(upper, value) {
        return Some(found);
    }
    if value.contains(['"', '\'', '$']) {
        return None;
    }
    let mut words = value.split_whitespace().peekable();
    while let Some(word) = words.next() {
        match option_of_discovery(word) {
            Some(Next | ColonAndNext) => {
                words.next();
            }
            Some(Perhaps) => {
                words.next_if(|next| !next.starts_with('-'));
            }
            Some(No | Colon) => {}
            None => {
                let message = format!("`{word}` in `{upper}` is not an option of `condor_gpu_discovery`");
                let effect = "the program ends with an error, and there are no GPUs";
                let plain = word.trim_start_matches('-');
                let known = OF_GPU_DISCOVERY.iter().map(|(name, ..)| *name);
                let meant = near::closest_within(near::allowance(plain.as_bytes()), plain.as_bytes(), known);
                let help =
                    meant.map_or_else(|| effect.to_owned(), |meant| format!("did you mean `-{meant}`? {effect}"));
                return Some((Severity::Error, message, help));
            }
        }
    }
    None
}

/// Lists of words of which others are ignored, and what a word of them is.
const WORDS: [(&[&str], &str, &[&str]); 4] = [
    // `CollectorDaemon::Config` in `collector.cpp` compares with the types of ads.
    (
        &["CONDOR_VIEW_CLASSAD_TYPES"],
        "a type of ads",
        &[
            "Accounting",
            "Collector",
            "DaemonMaster",
            "Defrag",
            "Generic",
            "Grid",
            "HAD",
            "Machine",
            "Negotiator",
            "Scheduler",
            "StartD",
            "Storage",
            "Submitter",
        ],
    ),
    // `dagman_main.cpp`
    (&["DAGMAN_NODE_RECORD_INFO"], "information of a node", &["RETRY"]),
    // Levels of access (`condor_perms.h`).
    (
        &["SEC_IMPERSONATION_TOKEN_LIMITS", "SEC_TOKEN_REQUEST_LIMITS"],
        "a level of access",
        &[
            "ADMINISTRATOR",
            "ADVERTISE_MASTER",
            "ADVERTISE_SCHEDD",
            "ADVERTISE_STARTD",
            "CLIENT",
            "CONFIG",
            "DAEMON",
            "NEGOTIATOR",
            "READ",
            "WRITE",
        ],
    ),
    // `generic_stats_ParseConfigString` in `generic_stats.cpp`, and its callers.
    (
        &["STATISTICS_TO_PUBLISH"],
        "a kind of statistics",
        &["ALL", "COLLECTOR", "DAEMONCORE", "DC", "DEFAULT", "NONE", "SCHEDD", "SCHEDULER", "STARTER", "TRANSFER"],
    ),
];

/// Tests for a list (upper case) of which the words are known.
pub(super) fn is_list_of_words(upper: &str) -> bool {
    WORDS.iter().any(|(lists, ..)| lists.contains(&upper))
}

/// A word of a list that is almost one of those that count. Others may be of a later version.
pub(super) fn near_word(upper: &str, value: &str) -> Option<Problem> {
    let (_, what, known) = WORDS.iter().find(|(lists, ..)| lists.contains(&upper))?;
    let words = value.split([',', ' ', '\t', '\n']).map(|word| word.split(':').next().unwrap_or_default());
    let unknown = words.filter(|word| !word.is_empty() && !known.iter().any(|one| one.eq_ignore_ascii_case(word)));
    let mut slips = unknown.filter_map(|word| {
        let allowed = near::allowance(word.as_bytes()).max(1);
        Some((word, near::closest_within(allowed, word.as_bytes(), known.iter().copied())?))
    });
    let (word, meant) = slips.find(|(word, _)| word.len() >= 4)?;
    let message = format!("`{word}` in `{upper}` is not {what}, and has no effect");
    Some((Severity::Error, message, format!("did you mean `{meant}`?")))
}

/// Spans of time with their names, `1m:60 1h:3600` (`ParseEMAHorizonConfiguration` in `generic_stats.cpp`).
pub(super) fn timespans(upper: &str, value: &str) -> Option<Problem> {
    let mut rest = value;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ',']);
        if rest.is_empty() {
            return None;
        }
        let parts = rest.split_once(':').and_then(|(_, after)| {
            let end = after.trim_start_matches(|sign: char| sign.is_ascii_digit());
            (end.len() < after.len() && (end.is_empty() || end.starts_with([' ', '\t', '\n', ',']))).then_some(end)
        });
        let Some(end) = parts else {
            let word = rest.split([' ', '\t', '\n', ',']).next().unwrap_or_default();
            let message =
                format!("`{word}` in `{upper}` is not a name and a number of seconds: daemons end with an error");
            return Some((Severity::Error, message, "write names and seconds, as in `1m:60 1h:3600`".to_owned()));
        };
        rest = end;
    }
}

/// Folders that jobs get in the place of those of the machine: the starter looks for each of them as it is written, and goes on without
/// one that is not there (`vanilla_proc.cpp`). The whole may be an expression.
pub(super) fn absolute_folders(upper: &str, value: &str) -> Option<Problem> {
    let is_name = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
    let words: Vec<&str> = value.split([',', ' ', '\t', '\n']).filter(|word| !word.is_empty()).collect();
    let is_list = words.iter().all(|word| is_name(word)) && words.iter().any(|word| word.contains('/'));
    let is_temporary = words.len() == 1 && matches!(words.first(), Some(&"tmp"));
    let word = words.iter().find(|word| !word.starts_with('/')).filter(|_| is_list || is_temporary)?;
    let message = format!("`{word}` in `{upper}` is not an absolute path");
    Some((Severity::Error, message, format!("write `/{word}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(found: Option<Problem>) -> String {
        found.map_or_else(String::new, |(_, message, help)| format!("{message}: {help}"))
    }

    #[test]
    fn options_of_the_discovery_are_read_as_the_program_reads_them() {
        for value in [
            "-extra",
            "-ext -dyn -divide 2",
            "-properties -extra -repeat -packed",
            "--extra -by-index",
            "-device 0,1 -tag GPUS",
            "-sim:4,2",
            "-short-uuid -prefix CUDA",
            "-fix-hip-guid:1 ff",
            "false",
            "0",
        ] {
            assert_eq!(message(gpu_discovery("STARTD_DETECT_GPUS", value)), "", "{value}");
        }
        for value in ["-extras", "-ex", "--ext", "-div 2", "-extra 2", "true", "1", "extra", "-extra -by_index"] {
            assert_ne!(message(gpu_discovery("STARTD_DETECT_GPUS", value)), "", "{value}");
        }
    }

    #[test]
    fn spans_of_time_have_names_and_seconds() {
        for value in ["1m:60", "1m:60 1h:3600, 1d:86400", ""] {
            assert_eq!(message(timespans("DCSTATISTICS_TIMESPANS", value)), "", "{value}");
        }
        for value in ["60", "1m, 5m", "1m:60 5m", "1m:1m"] {
            assert_ne!(message(timespans("DCSTATISTICS_TIMESPANS", value)), "", "{value}");
        }
    }

    #[test]
    fn folders_are_absolute() {
        let found = |value| message(absolute_folders("MOUNT_UNDER_SCRATCH", value));
        for value in ["/tmp", "/tmp, /var/tmp", "/tmp /dev/shm", "ScratchDirs", "ifThenElse(a, \"/tmp\", \"\")"] {
            assert_eq!(found(value), "", "{value}");
        }
        for value in ["tmp", "/tmp, var/tmp", "tmp, /var/tmp"] {
            assert_ne!(found(value), "", "{value}");
        }
    }
}
