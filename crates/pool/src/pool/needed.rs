//! The slot attributes that the negotiator itself uses; only these and those named by expressions are kept.
//!
//! Out: a selection of attributes, to which the names in expressions are added.

use crate::pool::attribute::names_with;
use classmate::internal::format::selection::Selection;
use classmate::internal::name::Name;
use classmate::internal::program::mentions::foresee;

/// Strings that are not defined in files: the negotiator adds submitter attributes to requests, and `splitTime` makes ads.
const DEFINED_ELSEWHERE: [&str; 3] = ["SubmitterGroup", "SubmitterNegotiatingGroup", "Type"];

/// The attributes that the negotiator itself uses, without those that expressions name.
///
/// ```
/// use classmate::ClassAd;
/// use classmate_pool::internal::pool::needed::asked;
/// let slot = ClassAd::parse(b"[Name = \"s\"; Site = \"x\"; Arch = \"y\"; Requirements = Site == \"x\"]")?;
/// assert_eq!(asked().project(&slot).to_string(), r#"[ Name = "s"; Site = "x"; Requirements = Site == "x" ]"#);
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn asked() -> Selection {
    let mut named = Selection::of(names_with("negotiator").map(Name::new), foresee);
    named.defined_elsewhere(DEFINED_ELSEWHERE.map(Name::new));
    // Attributes of the dynamic slots in a partitionable one, and of its consumption policy.
    named.with_prefix(b"Child").with_prefix(b"Consumption").listed_by(Name::new("MachineResources"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use classmate::internal::ad::ClassAd;

    /// Texts in the sources that look like attributes and are none of slots.
    const OTHERS: [&str; 68] = [
        // States, kinds and activities.
        "Busy",
        "Claimed",
        "Drained",
        "Draining",
        "Dynamic",
        "Idle",
        "Machine",
        "Matched",
        "Preempting",
        "Slot",
        "Suspended",
        "Unclaimed",
        // Attributes of jobs, submitters, requests and logs.
        "AcctGroup",
        "AcctGroupUser",
        "ClusterId",
        "CollectorPlace",
        "DeferralPrepTime",
        "DeferralTime",
        "DeferralWindow",
        "Floor",
        "HoldReason",
        "JobStatus",
        "JobUniverse",
        "LastUpdateTime",
        "RemoteHost",
        "Owner",
        "ProcId",
        "RequestCpus",
        "RequestDisk",
        "RequestMemory",
        "ScheddInterval",
        "ServerTime",
        "SubmitterAutoregroup",
        "SubmitterGroup",
        "SubmitterGroupQuota",
        "SubmitterGroupResourcesInUse",
        "SubmitterNegotiatingGroup",
        "SubmitterUserPrio",
        "SubmitterUserResourcesInUse",
        "SubmittorPrio",
        "WantMatchDiagnostics",
        // What explanations look at beside what a cycle does (`selection_to_explain`).
        "AvailableGPUs",
        "ClockDay",
        "ClockMin",
        "GPUs",
        "TotalSlotCpus",
        "TotalSlotDisk",
        "TotalSlotGPUs",
        "TotalSlotMemory",
        // Days.
        "Friday",
        "Monday",
        "Saturday",
        "Sunday",
        "Thursday",
        "Tuesday",
        "Wednesday",
        // Of Slurm, for which slots are kept whole; a reason.
        "Dependency",
        "PartitionName",
        // Beginnings of names, and what is no attribute at all.
        "Ceiling",
        "ClassMatcher",
        "LiveUsage",
        "NegotiatorMatchExpr",
        "Request",
        "ResourcesInUseByUser",
        "ResourcesInUseByUsersGroup",
        "True",
        // Units.
        "KiB",
        "MiB",
    ];

    /// Every text in the code of a file that is spelled as an attribute: `"CamelCase"`. Those in Rust's own attributes name types.
    fn spelled(code: &str, found: &mut Vec<String>) {
        let code = code.split("#[cfg(test)]\nmod tests").next().unwrap();
        for line in code.lines().filter(|line| !["//", "#["].iter().any(|begin| line.trim_start().starts_with(begin))) {
            for text in line.split('"').skip(1).step_by(2) {
                let first = text.bytes().next().is_some_and(|first| first.is_ascii_uppercase());
                let rest = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                if first && rest && text.bytes().any(|byte| byte.is_ascii_lowercase()) {
                    found.push(text.to_owned());
                }
            }
        }
    }

    fn read(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // What is written for others, and what goes on for several cycles, for which slots are kept whole.
            let apart = ["advertisement.rs", "play.rs", "needed.rs"].map(|name| folder.join(name));
            if path.is_dir() {
                read(&path, found);
            } else if !apart.contains(&path) {
                spelled(&std::fs::read_to_string(&path).unwrap(), found);
            }
        }
    }

    #[test]
    fn whatever_a_cycle_asks_for_by_name_is_kept() {
        let mut found = Vec::new();
        for folder in ["src/pool", "src/negotiate", "../advice/src/explain"] {
            read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
        }
        assert!(found.len() > 100 && found.contains(&"DaemonShutdownFast".to_owned()), "{found:?}");
        found.retain(|text| !text.starts_with("Child") && !text.starts_with("Consumption"));
        found.retain(|text| !names_with("negotiator").any(|name| name == text) && !OTHERS.contains(&text.as_str()));
        assert!(found.is_empty(), "not `@negotiator` in attributes.txt, nor known to be something else: {found:?}");
    }

    #[test]
    fn a_slot_whose_expressions_may_look_at_all_of_it_stays_whole() {
        let text = |more: &str| format!("[ A = 1; B = 2; Name = \"s\"; X = {more} ]");
        let kept = |more: &str| asked().project(&ClassAd::parse(text(more).as_bytes()).unwrap()).len();
        for more in [
            "size(MY) > 3",
            "eval(\"B\")",
            "MY[strcat(A)]",
            "MY[Type]",
            "TARGET[Name]",
            ".B",
            "unparse(B)",
            "unresolved(X)",
            "TARGET",
            "parent.b",
        ] {
            assert_eq!(kept(more), 4, "{more}");
        }
        assert_eq!(kept("MY.A > 1"), 3);
        assert_eq!(kept("countMatches(TARGET.Wanted, {[A = 1], B}) > 1"), 4);
        assert_eq!(kept("time() > 1"), 2);
    }

    #[test]
    fn what_a_selecting_attribute_can_select_is_kept() {
        let kept = |text: &str| asked().project(&ClassAd::parse(text.as_bytes()).unwrap()).to_string();
        // By its own value, and by those in ads that are written in the slot; the rest goes.
        let own = "[ A = 1; B = 2; C = 3; Which = \"b\"; X = MY[Which] ]";
        assert_eq!(kept(own), "[ B = 2; X = MY[Which]; Which = \"b\" ]");
        let inside = "[ A = 1; B = 2; C = 3; L = { [ Which = \"A\" ],[ Which = 7 ] }; \
                      X = evalInEachContext(TARGET[Which],L) ]";
        let ad = ClassAd::parse(kept(inside).as_bytes()).unwrap();
        assert!(ad.contains("A") && !ad.contains("B") && !ad.contains("C") && ad.len() == 3, "{ad}");
        // What is computed could be any name.
        for text in [
            "[ A = 1; B = 2; C = 3; Which = strcat(\"b\"); X = MY[Which] ]",
            "[ A = 1; B = 2; C = 3; L = { [ Which = strcat(\"A\") ] }; X = TARGET[Which] ]",
        ] {
            assert!(ClassAd::parse(kept(text).as_bytes()).unwrap().contains("C"), "{text}");
        }
        let mut some = asked();
        some.defined_elsewhere([Name::new("Which")]);
        assert_eq!(some.project(&ClassAd::parse(own.as_bytes()).unwrap()).len(), 5);
    }

    #[test]
    fn the_text_of_a_subscript_names_an_attribute() {
        // Whether such a name was seen before or not.
        let text = b"[X = MY[\"NeverSeenBeforeHere\"]; NeverSeenBeforeHere = 1; B = 2]";
        assert_eq!(asked().project(&ClassAd::parse(text).unwrap()).len(), 2);
    }
}
