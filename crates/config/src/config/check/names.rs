//! Names of knobs by what they look like. One file of more than 600 lines: each rule is of one kind of names, and all share the lists of
//! known names.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use hashbrown::HashMap;

use super::is_variable;
use crate::config::knob;
use crate::config::name_list::{entry, has_no_default, names};
use crate::config::setting::is_number;
use crate::config::table;
use classmate::internal::builtin::near;

/// Names that begin so belong to the negotiator: one that is not known is a mistake.
pub(super) const FAMILY: [&str; 8] =
    ["NEGOTIATOR_", "NEGOTIATION_", "GROUP_", "PREEMPTION_", "ACCOUNTANT_", "PRIORITY_", "CONCURRENCY_LIMIT_", "HFS_"];

// Lists of `data/names.txt`.
pub(super) const DAEMONS: &str = "daemons";
const MORE_DAEMONS: &str = "more daemons";
const OF_SLOT_TYPE: &str = "variables of a slot type";
const OF_SLOT: &str = "variables of a slot";
pub(super) const LEVELS: &str = "access levels";
const OF_LEVEL: &str = "variables of an access level";
const REMOVED: &str = "removed variables";
const OLDER: &str = "older names";
const WRONG: &str = "wrong names";
const MANUAL: &str = "names of the manual";

/// The variable that took the place of an older one (upper case), or an empty name.
pub(super) fn newer(upper: &[u8]) -> Option<String> {
    let upper = std::str::from_utf8(upper).ok()?;
    // `SLOT_TYPE_1_STARTD_EXPRS`
    let of_type = upper.strip_prefix("SLOT_TYPE_").and_then(|rest| rest.strip_suffix("_STARTD_EXPRS"));
    if let Some(number) = of_type.filter(|number| is_number(number.as_bytes())) {
        return Some(format!("SLOT_TYPE_{number}_STARTD_ATTRS"));
    }
    Some(entry(OLDER, upper)?.split_once(':').map_or("", |(_, now)| now).to_owned())
}

/// Finds a variable (upper case) that only earlier versions read: the one that took its place, or an empty name.
pub(super) fn removed(upper: &[u8]) -> Option<String> {
    let upper = std::str::from_utf8(upper).ok()?;
    if let Some(found) = entry(REMOVED, upper) {
        return Some(found.split_once(':').map_or("", |(_, now)| now).to_owned());
    }
    // `HOSTALLOW_NEGOTIATOR_SCHEDD`: a level of access, perhaps of one daemon.
    let host = upper.strip_prefix("HOST").filter(|rest| rest.starts_with("ALLOW_") || rest.starts_with("DENY_"));
    if let Some(now) = host {
        let level = now.split_once('_').map_or("", |(_, level)| level);
        let is_level = names(LEVELS).any(|known| {
            let daemon = level.strip_prefix(known).map(|rest| rest.strip_prefix('_').unwrap_or(rest));
            daemon.is_some_and(|daemon| daemon.is_empty() || names(DAEMONS).any(|known| known == daemon))
        });
        // There are no such levels any more.
        let is_gone = ["OWNER", "SOAP"].contains(&level);
        return is_level.then(|| if is_gone { String::new() } else { now.to_owned() });
    }
    of_virtual_machines(upper).or_else(|| upper.starts_with("SOAP_SSL_").then(String::new))
}

/// The variable that took the place of one of virtual machines, as slots were called: `VIRTUAL_MACHINE_TYPE_1`, `VM1_USER`.
fn of_virtual_machines(upper: &str) -> Option<String> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    for (then, now) in [("NUM_VIRTUAL_MACHINES_TYPE_", "NUM_SLOTS_TYPE_"), ("VIRTUAL_MACHINE_TYPE_", "SLOT_TYPE_")] {
        if let Some(number) = upper.strip_prefix(then).filter(|number| is_number(number)) {
            return Some(format!("{now}{number}"));
        }
    }
    let (number, what) = upper.strip_prefix("VM")?.split_once('_')?;
    let is_known = is_number(number) && names(OF_SLOT).any(|known| known == what);
    is_known.then(|| format!("SLOT{number}_{what}"))
}

/// Ends of names for the security of a level, and those that are meant.
const ENDS: [(&str, &str); 4] = [
    ("_ENCRYPTION_METHODS", "_CRYPTO_METHODS"),
    ("_CRYPTO_METHOD", "_CRYPTO_METHODS"),
    ("_AUTH_METHODS", "_AUTHENTICATION_METHODS"),
    ("_AUTHENTICATION_METHOD", "_AUTHENTICATION_METHODS"),
];

/// The variable that is read in place of a name that the manual has.
pub(super) fn of_manual(name: &[u8]) -> Option<&'static str> {
    let upper = String::from_utf8(name.to_ascii_uppercase()).ok()?;
    entry(MANUAL, &upper)?.split_once(':').map(|(_, meant)| meant)
}

/// The variable that a name means that is made of the words of one, with another word or in another order: `ALLOW_ADMIN`,
/// `MAX_RUNNING_JOBS`, `SCHEDD_ALLOW_WRITE`, `SEC_ENCRYPTION`, `SLOT_1_START`.
pub(super) fn of_words(name: &[u8]) -> Option<String> {
    let upper = String::from_utf8(name.to_ascii_uppercase()).ok()?;
    if let Some((_, meant)) = entry(WRONG, &upper).and_then(|found| found.split_once(':')) {
        return Some(meant.to_owned());
    }
    if let Some(what) = upper.strip_prefix("SEC_")
        && names(OF_LEVEL).any(|known| known == what)
    {
        return Some(format!("SEC_DEFAULT_{what}"));
    }
    // Without the beginning of such names, and with a word that is nearly one of theirs.
    let secure = format!("SEC_{upper}");
    if OF_LEVELS.contains(&secure) {
        return Some(secure);
    }
    let of_end = |(wrong, meant): &(&str, &str)| Some(format!("{}{meant}", upper.strip_suffix(wrong)?));
    if let Some(meant) = ENDS.iter().find_map(of_end).filter(|meant| OF_LEVELS.contains(meant)) {
        return Some(meant);
    }
    let is_access = |level: &str| names(LEVELS).any(|known| known == level);
    for daemon in names(DAEMONS) {
        let after = |front: &str| upper.strip_prefix(front)?.strip_prefix(daemon)?.strip_prefix('_');
        // The level comes before the daemon (`IpVerify`), and the daemon has levels of its own by its prefix (`SecMan`).
        for front in ["ALLOW_", "DENY_"] {
            let level = after("").and_then(|rest| rest.strip_prefix(front)).or_else(|| after(front));
            if let Some(level) = level.filter(|level| is_access(level)) {
                return Some(format!("{front}{level}_{daemon}"));
            }
        }
        if let Some(what) = after("SEC_").filter(|what| names(OF_LEVEL).any(|known| known == *what))
            && !is_access(daemon)
        {
            return Some(format!("{daemon}.SEC_DEFAULT_{what}"));
        }
    }
    if let Some((number, what)) = upper.strip_prefix("SLOT_").and_then(|rest| rest.split_once('_'))
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        if is_of_slot_type(what) {
            let is_alone = is_of_slot_type_alone(what);
            let of_one = if is_alone { String::new() } else { format!("SLOT{number}_{what}` or `") };
            return Some(format!("{of_one}SLOT_TYPE_{number}_{what}"));
        }
        if names(OF_SLOT).any(|known| known == what) {
            return Some(format!("SLOT{number}_{what}"));
        }
    }
    if let Some(meant) = of_other_word(&upper) {
        return Some(meant);
    }
    // Other underscores: `MACHINE_MAX_VACATE_TIME`.
    let own = without_underscores(&upper);
    if own.len() >= 10
        && let Some(meant) =
            BY_LETTERS.get(&own).and_then(|known| known.iter().find(|known| known.len() != upper.len()))
    {
        return Some((*meant).to_owned());
    }
    if upper.matches('_').count() < 2 {
        return None;
    }
    let mut alike = BY_WORDS.get(&sorted_words(&upper))?.iter().filter(|known| known.len() == upper.len());
    let first = alike.next()?;
    alike.next().is_none().then(|| (*first).to_owned())
}

/// The variable of the table that a name means which has another word for one of its words: `PER_JOB_HISTORY_DIRECTORY`.
fn of_other_word(upper: &str) -> Option<String> {
    const WORDS: [(&str, &str); 22] = [
        ("AUTH", "AUTHENTICATION"),
        ("COUNT", "NUM"),
        ("CPU", "CPUS"),
        ("DIR", "DIRECTORY"),
        ("ENABLED", "ENABLE"),
        ("FILENAME", "FILE"),
        ("FREQUENCY", "INTERVAL"),
        ("HOSTS", "HOST"),
        ("LIMIT", "MAX"),
        ("LIST", "NAMES"),
        ("LOGS", "LOG"),
        ("MAXIMUM", "MAX"),
        ("MEM", "MEMORY"),
        ("MINIMUM", "MIN"),
        ("NUMBER", "NUM"),
        ("OWNER", "USER"),
        ("PATH", "DIR"),
        ("PERIOD", "INTERVAL"),
        ("PLUGIN", "PLUGINS"),
        ("PRIORITY", "PRIO"),
        ("SIZE", "LOG"),
        ("TIME", "TIMEOUT"),
    ];
    let words: Vec<&str> = upper.split('_').collect();
    if words.len() < 3 {
        return None;
    }
    let known = |at: usize, other: &str| {
        let mut all = words.clone();
        all[at] = other;
        let name = all.join("_");
        (table::entry(name.as_bytes()).is_some() || has_no_default(name.as_bytes())).then_some(name)
    };
    words.iter().enumerate().find_map(|(at, word)| {
        WORDS.iter().find_map(|(one, two)| {
            if word == one {
                known(at, two)
            } else if word == two {
                known(at, one)
            } else {
                None
            }
        })
    })
}

fn without_underscores(name: &str) -> String {
    name.replace('_', "")
}

fn sorted_words(name: &str) -> Vec<&str> {
    let mut words: Vec<&str> = name.split('_').collect();
    words.sort_unstable();
    words
}

/// The names of the table and of the execution point by their letters.
static BY_LETTERS: LazyLock<HashMap<String, Vec<&str>>> = LazyLock::new(|| {
    let mut known: HashMap<String, Vec<&str>> = HashMap::new();
    for name in TABLE.iter().copied().chain(names("read by the STARTD")) {
        known.entry(without_underscores(name)).or_default().push(name);
    }
    known
});

/// The names of the table by their words in order.
static BY_WORDS: LazyLock<HashMap<Vec<&str>, Vec<&str>>> = LazyLock::new(|| {
    let mut known: HashMap<Vec<&str>, Vec<&str>> = HashMap::new();
    for name in TABLE.iter() {
        known.entry(sorted_words(name)).or_default().push(name);
    }
    known
});

/// The level in the name of a variable for the security of one, `SEC_<level>_ENCRYPTION`, that there is not.
pub(super) fn unknown_level(name: &[u8]) -> Option<String> {
    let upper = String::from_utf8(name.to_ascii_uppercase()).ok()?;
    let rest = upper.strip_prefix("SEC_")?;
    let level = names(OF_LEVEL).find_map(|what| rest.strip_suffix(what)?.strip_suffix('_'))?;
    let is_of_method = ["TOKEN", "PASSWORD", "CREDENTIAL", "ISSUED", "TCP", "SCITOKENS"];
    let known = |level: &str| level == "DEFAULT" || names(LEVELS).any(|known| known == level);
    let is_known = known(level) || is_of_method.iter().any(|word| level.starts_with(word));
    (!is_known && level.bytes().all(|byte| byte.is_ascii_alphabetic())).then(|| level.to_owned())
}

/// The level of access that a word means which is none: by its letters, or as its beginning, `ADMIN`.
pub(super) fn near_level(word: &str) -> Option<&'static str> {
    const SHORTEST: usize = 3;
    let mut begun = names(LEVELS).filter(|level| word.len() >= SHORTEST && level.starts_with(word));
    let only = begun.next().filter(|_| begun.next().is_none());
    only.or_else(|| near::closest(word.as_bytes(), names(LEVELS).chain(["DEFAULT"])))
}

/// Returns true for the name (upper case) of a setting of the log of one of HTCondor's daemons: `TRUNC_SCHEDD_LOG_ON_OPEN`
/// (`dprintf_config.cpp`).
pub(super) fn is_of_log(upper: &[u8]) -> bool {
    const FORMS: [(&str, &str); 3] = [("MAX_NUM_", "_LOG"), ("MAX_", "_LOG"), ("TRUNC_", "_LOG_ON_OPEN")];
    let Ok(name) = std::str::from_utf8(upper) else { return false };
    let daemon = FORMS.iter().find_map(|(front, end)| name.strip_prefix(front)?.strip_suffix(end));
    daemon.is_some_and(|daemon| names(DAEMONS).any(|known| known == daemon))
}

/// Returns true if a name (upper case) is of those that every daemon has: `NEGOTIATOR_ARGS`, `MAX_NEGOTIATOR_LOG`.
/// `own_daemons` are the daemons, upper case, that the configuration itself names.
pub(super) fn is_of_every_daemon(upper: &[u8], own_daemons: &BTreeSet<Vec<u8>>) -> bool {
    const LOGS: [&str; 5] = ["MAX_", "MAX_NUM_", "TRUNC_", "KEEP_", "PREFIX_"];
    let Ok(name) = std::str::from_utf8(upper) else { return false };
    let of = |daemon: &str| {
        let behind = name.strip_prefix(daemon).and_then(|rest| rest.strip_prefix('_'));
        let generic = |rest: &str| {
            names("variables of every daemon").any(|known| {
                rest.strip_prefix(known)
                    .is_some_and(|more| more.is_empty() || more.starts_with('_') || known.ends_with('_'))
            })
        };
        // The log's own: `MAX_NEGOTIATOR_LOG`, `TRUNC_NEGOTIATOR_MATCH_LOG_ON_OPEN`.
        let before = LOGS.iter().any(|before| {
            let rest = name.strip_prefix(before).and_then(|rest| rest.strip_prefix(daemon));
            rest.is_some_and(|rest| rest.starts_with('_') && rest.contains("_LOG"))
        });
        behind.is_some_and(generic) || before
    };
    // Of the names that the configuration gives, those that the name has, perhaps after one of a log's.
    let ends = name.match_indices('_').map(|(end, _)| end);
    let starts = std::iter::once(0).chain(ends.clone().map(|at| at + 1));
    let starts = starts.filter(|start| LOGS.contains(&&name[..*start]) || *start == 0);
    let mut own =
        starts.flat_map(|start| ends.clone().filter(move |end| *end > start).map(move |end| &name[start..end]));
    names(DAEMONS).chain(names(MORE_DAEMONS)).any(of) || own.any(|one| own_daemons.contains(one.as_bytes()) && of(one))
}

/// Tests whether the startd reads a variable (upper case) for each type of slots.
pub(super) fn is_of_slot_type(upper: &str) -> bool {
    names(OF_SLOT_TYPE).any(|known| known == upper)
}

/// Tests whether the startd reads a variable (upper case) for each type of slots, and not for one slot, which has attributes of its own
/// (`publish_static` in `Resource.cpp`).
pub(super) fn is_of_slot_type_alone(upper: &str) -> bool {
    is_of_slot_type(upper) && upper != "STARTD_ATTRS"
}

/// The knob of a type of slots that a name is but for a slip: `SLOT_TYPE_1_PARTITONABLE`.
pub(super) fn of_slot_type(name: &[u8]) -> Option<String> {
    const PREFIX: &[u8] = b"SLOT_TYPE_";
    let prefix = name.get(..PREFIX.len()).filter(|start| start.eq_ignore_ascii_case(PREFIX))?;
    let rest = &name[prefix.len()..];
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let what = rest[digits..].strip_prefix(b"_").filter(|what| digits > 0 && what.len() >= 5)?;
    let known = near::closest_within(if what.len() < 8 { 1 } else { 2 }, what, names(OF_SLOT_TYPE))?;
    let front = String::from_utf8_lossy(&name[..name.len() - what.len()]);
    (!known.as_bytes().eq_ignore_ascii_case(what)).then(|| format!("{front}{known}"))
}

/// The variable of one slot that a name is but for a letter: `SLOT1_USERS`. Also one for a type of slots alone,
/// `SLOT1_PARTITIONABLE`.
pub(super) fn of_slot(name: &[u8]) -> Option<String> {
    let upper = String::from_utf8_lossy(name).to_ascii_uppercase();
    let rest = upper.strip_prefix("SLOT")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let what = rest[digits..].strip_prefix('_').filter(|_| digits > 0)?;
    if is_of_slot_type_alone(what) {
        return Some(format!("SLOT_TYPE_{}_{what}", &rest[..digits]));
    }
    let known = near::closest_within(1, what.as_bytes(), names(OF_SLOT))?;
    (known != what).then(|| format!("SLOT{}_{known}", &rest[..digits]))
}

/// The names that are made of levels.
static OF_LEVELS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let plain = ["ALLOW", "DENY", "SETTABLE_ATTRS"];
    let plain = plain.iter().flat_map(|front| names(LEVELS).map(move |level| format!("{front}_{level}")));
    let secure = names(LEVELS).chain(["DEFAULT"]);
    plain.chain(secure.flat_map(|level| names(OF_LEVEL).map(move |what| format!("SEC_{level}_{what}")))).collect()
});

/// The knob made of a level of access or of the number of a type of slots that a name is but for a slip, `DENY_WRTE`,
/// `SEC_CLEINT_ENCRYPTION`, `NUM_SLOT_TYPE_1`; the name of a daemon can follow a level.
pub(super) fn of_pattern(name: &[u8]) -> Option<String> {
    let upper = String::from_utf8(name.to_ascii_uppercase()).ok()?;
    let digits: String = upper.chars().filter(char::is_ascii_digit).collect();
    if !digits.is_empty() {
        let front = format!("SLOT_TYPE_{digits}");
        let mut known: Vec<String> = names(OF_SLOT_TYPE).map(|what| format!("{front}_{what}")).collect();
        known.extend([format!("NUM_SLOTS_TYPE_{digits}"), front]);
        let is_digit = |byte: &u8| byte.is_ascii_digit();
        let together = upper.as_bytes().split(|byte| !is_digit(byte)).filter(|run| !run.is_empty()).count() == 1;
        return closest_but_itself(1, &upper, &known)
            .filter(|_| together && !upper.starts_with(&known[known.len() - 1]));
    }
    let daemon =
        names(DAEMONS).find_map(|daemon| upper.strip_suffix(daemon)?.strip_suffix('_').map(|front| (front, daemon)));
    // A level may be called like a daemon.
    let whole = of_level(&upper);
    if whole.is_some() || OF_LEVELS.contains(&upper) {
        return whole;
    }
    let (front, daemon) = daemon?;
    of_level(front).map(|known| format!("{known}_{daemon}"))
}

/// The name made of a level that a name is but for a letter; of `SEC_<level>_…` one in either part.
fn of_level(name: &str) -> Option<String> {
    let one = closest_but_itself(1, name, &OF_LEVELS);
    if one.is_some() || OF_LEVELS.iter().any(|known| known == name) {
        return one;
    }
    let rest = name.strip_prefix("SEC_")?;
    rest.match_indices('_').find_map(|(at, _)| {
        let (level, what) = (&rest.as_bytes()[..at], &rest.as_bytes()[at + 1..]);
        let level = near::closest_within(1, level, names(LEVELS).chain(["DEFAULT"]))?;
        near::closest_within(1, what, names(OF_LEVEL)).map(|what| format!("SEC_{level}_{what}"))
    })
}

/// The nearest of some names; none if it is one of them.
fn closest_but_itself(allowed: usize, name: &str, known: &[String]) -> Option<String> {
    if known.iter().any(|known| known == name) {
        return None;
    }
    near::closest_within(allowed, name.as_bytes(), known.iter().map(String::as_str)).map(str::to_owned)
}

/// The concurrency limit that `LIMIT_XSW` means, where its value is a number.
pub(super) fn of_turned_limit(name: &[u8], value: &[u8]) -> Option<String> {
    let front = name.get(..6).filter(|front| front.eq_ignore_ascii_case(b"LIMIT_"))?;
    let resource = String::from_utf8_lossy(&name[front.len()..]);
    // Others have names of several words, as variables have.
    let is_resource = !resource.is_empty() && !resource.contains('_');
    (is_resource && is_number(value.trim_ascii())).then(|| format!("{resource}_LIMIT"))
}

/// The concurrency limit that a name is but for a slip, `XSW_LIMT`, where its value is a number.
pub(super) fn of_limit(name: &[u8], value: &[u8]) -> Option<String> {
    let at = memchr::memrchr(b'_', name).filter(|at| *at > 0)? + 1;
    let slip = near::distance(&name[at..], b"LIMIT", 1) == Some(1);
    let front = String::from_utf8_lossy(&name[..at]);
    (slip && is_number(value.trim_ascii())).then(|| format!("{front}LIMIT"))
}

/// The beginnings of variables whose ends are names from a list, or numbers.
const BEFORE_MEMBERS: [&str; 19] = [
    "BENCHMARKS_",
    "CLASSAD_USER_MAPDATA_",
    "CLASSAD_USER_MAPFILE_",
    "DOCKER_VOLUME_DIR_",
    "JOB_DEFAULT_",
    "JOB_ROUTER_ROUTE_",
    "JOB_ROUTER_TRANSFORM_",
    "JOB_TRANSFORM_",
    "MACHINE_RESOURCE_",
    "MACHINE_RESOURCE_INVENTORY_",
    "MODIFY_REQUEST_EXPR_",
    "NUM_SLOTS_TYPE_",
    "SCHEDD_CRON_",
    "STARTD_CRON_",
    "SUBMIT_REQUIREMENT_",
    "SYSTEM_PERIODIC_HOLD_",
    "SYSTEM_PERIODIC_RELEASE_",
    "SYSTEM_PERIODIC_REMOVE_",
    "SYSTEM_PERIODIC_VACATE_",
];

/// Beginnings that no variable of a member of a list has, although its list has them, and those that it has (`JobRouter.cpp`,
/// `userMap.cpp`, `schedd.cpp`).
const WRONG_BEGINNINGS: [(&str, &str); 9] = [
    ("CLASSAD_USER_MAP_", "CLASSAD_USER_MAPFILE_"),
    ("JOB_ROUTER_POST_ROUTE_TRANSFORM_", "JOB_ROUTER_TRANSFORM_"),
    ("JOB_ROUTER_POST_TRANSFORM_", "JOB_ROUTER_TRANSFORM_"),
    ("JOB_ROUTER_PRE_ROUTE_TRANSFORM_", "JOB_ROUTER_TRANSFORM_"),
    ("JOB_ROUTER_PRE_TRANSFORM_", "JOB_ROUTER_TRANSFORM_"),
    ("SCHEDD_CLASSAD_USER_MAPDATA_", "CLASSAD_USER_MAPDATA_"),
    ("SCHEDD_CLASSAD_USER_MAPFILE_", "CLASSAD_USER_MAPFILE_"),
    ("SCHEDD_JOB_TRANSFORM_", "JOB_TRANSFORM_"),
    ("SCHEDD_SUBMIT_REQUIREMENT_", "SUBMIT_REQUIREMENT_"),
];

/// The variable of a member of a list that a name is but for its beginning, or a letter of it: `JOB_TRANSFORMS_Site`.
pub(super) fn of_member(name: &[u8]) -> Option<String> {
    let starts =
        |wrong: &str| name.get(..wrong.len()).is_some_and(|front| front.eq_ignore_ascii_case(wrong.as_bytes()));
    let is_name = |rest: &[u8]| !rest.is_empty() && !rest.eq_ignore_ascii_case(b"NAMES");
    let wrong = WRONG_BEGINNINGS.iter().find(|(wrong, _)| starts(wrong) && is_name(&name[wrong.len()..]));
    if let Some((wrong, meant)) = wrong {
        return Some(format!("{meant}{}", String::from_utf8_lossy(&name[wrong.len()..])));
    }
    // A beginning that is right is not a slip, nor one of another variable.
    let is_right = |end: usize| BEFORE_MEMBERS.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(&name[..end]));
    let ends = || memchr::memchr_iter(b'_', name).map(|at| at + 1).filter(|end| *end < name.len());
    if ends().any(is_right) {
        return None;
    }
    let slips = ends().filter_map(|end| {
        let long = BEFORE_MEMBERS.into_iter().filter(|known| known.len() >= 11);
        Some((near::closest_within(1, &name[..end], long)?, end))
    });
    let (known, end) = slips.max_by_key(|(_, end)| *end)?;
    Some(format!("{known}{}", String::from_utf8_lossy(&name[end..])))
}

/// The hooks that daemons run, after the keyword and `_HOOK_` (`enum_utils.cpp`).
pub(super) const HOOKS: [&str; 13] = [
    "FETCH_WORK",
    "REPLY_FETCH",
    "REPLY_CLAIM",
    "EVICT_CLAIM",
    "EVICT_JOB",
    "SHADOW_PREPARE_JOB",
    "PREPARE_JOB",
    "PREPARE_JOB_BEFORE_TRANSFER",
    "UPDATE_JOB_INFO",
    "JOB_EXIT",
    "TRANSLATE_JOB",
    "JOB_FINALIZE",
    "JOB_CLEANUP",
];

/// Tests for a hook, or a variable of one, such as `PREPARE_JOB_ARGS`.
pub(super) fn is_hook(what: &str) -> bool {
    HOOKS.iter().any(|hook| what.strip_prefix(hook).is_some_and(|end| end.is_empty() || end.starts_with('_')))
}

/// Tests for what is not a hook, and has a word of one: it is not the folder of a keyword's hooks.
pub(super) fn is_like_hook(what: &str) -> bool {
    const OTHERS: [&str; 5] = ["DIR", "DIRECTORY", "FOLDER", "LOG", "PATH"];
    let words = || what.split('_');
    let has_word = words().any(|word| HOOKS.iter().any(|hook| hook.split('_').any(|other| other == word)));
    !is_hook(what) && has_word && !words().any(|word| OTHERS.contains(&word))
}

/// The hook that is meant by one that there is not, whose words are beginnings of words of it: `PRE_JOB`.
pub(super) fn hook_begun(what: &str) -> Option<&'static str> {
    let mut alike = HOOKS.into_iter().filter(|hook| {
        let (words, own): (Vec<&str>, Vec<&str>) = (hook.split('_').collect(), what.split('_').collect());
        words.len() == own.len() && words.iter().zip(&own).all(|(word, own)| own.len() >= 3 && word.starts_with(own))
    });
    alike.next().filter(|_| alike.next().is_none())
}

/// The variable of a hook that a name is but for a slip: `SITE_HOOK_PREPARE_JOBB`.
pub(super) fn of_hook(name: &[u8]) -> Option<String> {
    /// Words that one of them has, which mean it alone.
    const SHORT: [(&str, &str); 9] = [
        ("CLEANUP", "JOB_CLEANUP"),
        ("EXIT", "JOB_EXIT"),
        ("FETCH", "FETCH_WORK"),
        ("FINALIZE", "JOB_FINALIZE"),
        ("PREPARE", "PREPARE_JOB"),
        ("PREPARE_BEFORE_TRANSFER", "PREPARE_JOB_BEFORE_TRANSFER"),
        ("TRANSLATE", "TRANSLATE_JOB"),
        ("UPDATE", "UPDATE_JOB_INFO"),
        ("UPDATE_JOB", "UPDATE_JOB_INFO"),
    ];
    let upper = String::from_utf8_lossy(name).to_ascii_uppercase();
    let (front, what) = upper.split_once("_HOOK_")?;
    let known = is_hook(what);
    // `SITE_HOOK_PREPARE` lacks the rest of a name.
    let begun = || SHORT.iter().find(|(word, _)| *word == what).map(|(_, hook)| *hook);
    // `SITE_HOOK_JOB_PREPARE` has the words in another order.
    let turned = || HOOKS.into_iter().find(|hook| sorted_words(hook) == sorted_words(what));
    let meant = near::closest_within(2, what.as_bytes(), HOOKS).or_else(begun).or_else(turned).filter(|_| !known)?;
    Some(format!("{front}_HOOK_{meant}"))
}

/// The names of the table, and of variables without a default.
static TABLE: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let without = names("variables without a default").filter(|name| name.len() >= 8);
    table::entries().map(|(name, _)| name).chain(without).collect()
});

/// The names of the table, and of variables without a default.
pub(super) fn known_names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().copied()
}

/// The knob with a default, of any daemon, that a name is but for one letter. Names that differ in a digit are meant.
pub(super) fn of_table(name: &[u8]) -> Option<String> {
    fn digits(name: &[u8]) -> impl Iterator<Item = &u8> {
        name.iter().filter(|byte| byte.is_ascii_digit())
    }
    if name.len() < 6 {
        return None;
    }
    let alike = |known: &&str| known.len() >= 5 && digits(known.as_bytes()).eq(digits(name));
    let lengths = name.len() - 1..=name.len() + 1;
    let known = lengths.filter_map(|length| BY_LENGTH.get(length)).flatten().copied();
    near::closest_within(1, name, known.filter(alike)).map(str::to_owned)
}

/// The variable of any daemon that a name is but for swapped neighbours or a doubled letter, in the whole of a short name or in
/// one of its words: `STRAT`, `MAX_EVENTD_OLG`.
pub(super) fn of_slip(name: &[u8]) -> Option<String> {
    /// The letters of the shortest word that is taken for a misspelled one.
    const SHORTEST: usize = 3;
    let upper = String::from_utf8_lossy(name).to_ascii_uppercase();
    let is_known = |name: &str| is_variable(name.as_bytes()) || is_of_every_daemon(name.as_bytes(), &BTreeSet::new());
    let mut at = 0;
    for word in upper.split('_') {
        let (before, after) = (&upper[..at], &upper[at + word.len()..]);
        at += word.len() + 1;
        let length = word.len();
        let lengths = length.max(SHORTEST + 1) - 1..=length;
        let mut near = lengths.filter_map(|length| WORDS.get(length)).flatten();
        let meant = near.find(|known| {
            near::is_slip(word.as_bytes(), known.as_bytes()) && is_known(&format!("{before}{known}{after}"))
        });
        if let Some(meant) = meant {
            return Some(format!("{before}{meant}{after}"));
        }
    }
    None
}

/// The names of the table by their lengths: of a name, only those nearly as long are compared.
static BY_LENGTH: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
    let mut known: Vec<Vec<&str>> = vec![Vec::new(); TABLE.iter().map(|name| name.len() + 1).max().unwrap_or_default()];
    for name in TABLE.iter().copied() {
        known[name.len()].push(name);
    }
    known
});

/// The words of the names of variables, by their lengths.
static WORDS: LazyLock<Vec<BTreeSet<&str>>> = LazyLock::new(|| {
    let knobs = knob::all().filter(|knob| !knob.is_family()).map(|knob| knob.name);
    let all = TABLE.iter().copied().chain(knobs).chain(names(DAEMONS)).flat_map(|name| name.split('_'));
    let mut words: Vec<BTreeSet<&str>> = Vec::new();
    for word in all.filter(|word| word.bytes().all(|byte| byte.is_ascii_uppercase())) {
        if words.len() <= word.len() {
            words.resize_with(word.len() + 1, BTreeSet::new);
        }
        words[word.len()].insert(word);
    }
    words
});

/// The ends of the variables of one cron job, after its name (HTCondor's `cron_job_params.cpp` and its users).
pub(super) const OF_CRON_JOB: [&str; 15] = [
    "ARGS",
    "CONDITION",
    "CONFIG_VAL_PROG",
    "CWD",
    "ENV",
    "EXECUTABLE",
    "JOB_LOAD",
    "KILL",
    "METRICS",
    "MODE",
    "PERIOD",
    "PREFIX",
    "RECONFIG",
    "RECONFIG_RERUN",
    "SLOTS",
];

/// The beginnings of the names of variables of cron jobs.
pub(super) const CRON_PREFIXES: [&str; 3] = ["STARTD_CRON_", "SCHEDD_CRON_", "BENCHMARKS_"];

/// The variable of a cron job that a name (upper case) is but for the name of the job; `near` finds a listed job, behind its prefix, and
/// `is_job` tells whether there is a job of this name.
pub(super) fn of_other_job<'a>(
    upper: &str,
    has: &dyn Fn(&str, &str) -> bool,
    near: &dyn Fn(&str) -> Option<&'a str>,
    is_job: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let prefix = CRON_PREFIXES.into_iter().find(|start| upper.starts_with(start))?;
    let rest = &upper[prefix.len()..];
    let parts = || rest.match_indices('_').map(|(at, _)| (&rest[..at], &rest[at + 1..]));
    if parts().any(|(job, _)| has(prefix, job) || is_job(&format!("{prefix}{job}"))) {
        return None;
    }
    let mut known = parts().filter(|(job, end)| !job.is_empty() && OF_CRON_JOB.contains(end));
    known.find_map(|(job, end)| Some(format!("{}_{end}", near(&format!("{prefix}{job}"))?)))
}

/// Other words for the ends of variables of cron jobs.
const CRON_WORDS: [(&str, &str); 14] = [
    ("ARGUMENT", "ARGS"),
    ("ARGUMENTS", "ARGS"),
    ("COMMAND", "EXECUTABLE"),
    ("CRON", "PERIOD"),
    ("DIR", "CWD"),
    ("ENVIRONMENT", "ENV"),
    ("EXEC", "EXECUTABLE"),
    ("FREQUENCY", "PERIOD"),
    ("INITIALDIR", "CWD"),
    ("INTERVAL", "PERIOD"),
    ("PATH", "EXECUTABLE"),
    ("PROGRAM", "EXECUTABLE"),
    ("SCRIPT", "EXECUTABLE"),
    ("TYPE", "MODE"),
];

/// The variable of a cron job that a name (upper case) is but for its end; `has` tells of a prefix and a name if there is such a job.
pub(super) fn of_cron_job(upper: &str, has: &dyn Fn(&str, &str) -> bool) -> Option<String> {
    let prefix = CRON_PREFIXES.into_iter().find(|start| upper.starts_with(start))?;
    let rest = &upper[prefix.len()..];
    let parts = rest.match_indices('_').map(|(at, _)| (&rest[..at], &rest[at + 1..]));
    let ends: Vec<&str> = parts.filter(|(job, _)| has(prefix, job)).map(|(_, end)| end).collect();
    // One job may begin with the name of another.
    if ends.iter().any(|end| OF_CRON_JOB.contains(end)) {
        return None;
    }
    let end = ends.into_iter().min_by_key(|end| end.len())?;
    let word = CRON_WORDS.iter().find(|(word, _)| *word == end).map(|(_, meant)| *meant);
    let near = || near::closest_within(near::allowance(end.as_bytes()).max(2), end.as_bytes(), OF_CRON_JOB);
    let meant = word.or_else(near)?;
    Some(format!("{}{meant}", &upper[..upper.len() - end.len()]))
}
