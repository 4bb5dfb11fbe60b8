//! The conditions that `condor_submit` adds to the Requirements of a job, recognized in a job ad.
//!
//! In: a job, and a condition in its Requirements. Out: what of the submit file adds the condition. The conditions are those that
//! `requirements` beside it writes (`SetRequirements`, `submit_utils.cpp`): whatever the Requirements of the submit file are, it
//! writes them again.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::CRON;
use super::attributes::is_measured;

use classmate::internal::syntax::expr::NodeId;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::view::RefScope;
use classmate::{ClassAd, Expr, Name, ParseOptions};
use classmate_config::internal::config::table::default_text;

/// Tests if a slot has a release by which a job can say when its files are transferred.
pub(super) const TRANSFERS_ON_SUCCESS: &str = "versioncmp(split(TARGET.CondorVersion)[1],\"8.9.7\") >= 0";
/// Tests if a slot has a release that finds the disk space for a job without this condition.
pub(super) const FINDS_DISK: &str = "versionGE(split(TARGET.CondorVersion)[1],\"25.12.0\")";

/// The part of a submit file that makes `condor_submit` add a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The files of the job are not transferred, so a slot has to share them.
    SharedFiles,
    /// The files of the job are transferred.
    Transfer,
    /// The URL of a file has to be transferred by a plugin.
    Plugin,
    /// The universe `docker`.
    Docker,
    /// The time at which the job starts.
    Deferral,
    /// An amount of something that slots have.
    Request,
    /// Another command.
    Command(&'static str),
}

/// Another command of the submit file, for which `condor_submit` writes another condition.
pub(crate) struct OtherCommand {
    /// The command.
    pub(crate) command: &'static str,
    /// The condition.
    condition: &'static str,
    /// Attributes that the job has with the command, or does not have.
    pub(crate) attributes: Vec<(&'static str, Literal)>,
}

impl OtherCommand {
    /// The condition as an expression.
    pub(crate) fn condition(&self) -> Option<Expr> {
        parse_expr(self.condition.as_bytes(), &ParseOptions::default()).ok()
    }
}

impl Origin {
    /// The command that may do instead.
    pub(crate) fn other(self) -> Option<OtherCommand> {
        match self {
            Origin::SharedFiles => Some(OtherCommand {
                command: "should_transfer_files = YES",
                condition: "TARGET.HasFileTransfer",
                attributes: vec![("ShouldTransferFiles", Literal::Str("YES".into()))],
            }),
            Origin::Docker => Some(OtherCommand {
                command: "universe = container",
                condition: "TARGET.HasContainer && TARGET.HasDockerURL",
                attributes: vec![
                    ("WantDocker", Literal::Undefined),
                    ("WantContainer", Literal::Bool(true)),
                    ("WantDockerImage", Literal::Bool(true)),
                ],
            }),
            _ => None,
        }
    }

    /// The command of the submit file of a job; none if it can be one of several.
    pub(crate) fn command(self, job: &ClassAd) -> Option<&'static str> {
        let is_set = |(_, attribute): &&(&str, &str)| job.contains(*attribute);
        match self {
            Origin::Docker => Some("universe = docker"),
            Origin::Deferral => Some(CRON.iter().find(is_set).map_or("deferral_time", |(command, _)| command)),
            Origin::Command(command) => Some(command),
            Origin::SharedFiles | Origin::Transfer | Origin::Plugin | Origin::Request => None,
        }
    }

    /// The origin of a condition of a job; none if the submit file may contain the condition itself.
    ///
    /// Releases of HTCondor write the same conditions in several ways, so those that name the same attributes are taken for them.
    pub(crate) fn of(job: &ClassAd, condition: &Expr) -> Option<Self> {
        /// Nodes and references of a condition that `condor_submit` adds, and more.
        const MAX_NODES: NodeId = 1000;
        const MAX_REFERENCES: usize = 100;
        if condition.root() - condition.tree().first_of(condition.root()) > MAX_NODES {
            return None;
        }
        let references = condition.tree().outer_references(condition.root());
        if references.len() > MAX_REFERENCES {
            return None;
        }
        let names: Vec<&[u8]> = references.iter().map(|found| found.name.folded()).collect();
        let (first, text) = (*names.first()?, plain(condition));
        let only = |known: &[&str]| names.iter().all(|name| known.iter().any(|known| known.as_bytes() == *name));
        let has = |known: &str| names.contains(&known.as_bytes());
        if only(&["filesystemdomain"]) && references.len() > 1 {
            return Some(Origin::SharedFiles);
        }
        if has("deferraltime") && only(&DEFERRAL) {
            return Some(Origin::Deferral);
        }
        let requested = |name: &[u8]| Some(str::from_utf8(name).ok()?.strip_prefix("request")?.to_owned());
        // What the scopes are the wrong way around in is not from it.
        let is_swapped = references.iter().any(|found| match found.scope {
            RefScope::My => !found.name.folded().starts_with(b"request"),
            RefScope::Target => found.name.folded().starts_with(b"request"),
            RefScope::Either => false,
        });
        let is_request =
            |name: &&[u8]| !is_swapped && requested(name).is_some_and(|of| text == format!("{of}>=request{of}"));
        if names.iter().any(is_request)
            || ["disk>=diskusage", "totaldisk>=diskusage"].contains(&text.as_str())
            || has("requestdisk") && only(&["condorversion", "disk", "requestdisk"]) && text.contains("versionge")
            || has("requestgpus") && only(&["requiregpus", "availablegpus", "requestgpus"])
        {
            return Some(Origin::Request);
        }
        if text == plain_text(TRANSFERS_ON_SUCCESS) || names.len() > 1 && only(&TRANSFER) {
            return Some(Origin::Transfer);
        }
        let universe = |number: i64| job.eval_int("JobUniverse") == Some(number);
        let is_set = |name: &str| job.eval_bool(name) == Some(true);
        Some(match first {
            b"hasfiletransferpluginmethods" => Origin::Plugin,
            b"hasfiletransfer" => Origin::Transfer,
            b"hasjobtransferplugins" => Origin::Command("transfer_plugins"),
            b"hasperfileencryption" => Origin::Command("encrypt_input_files"),
            b"hasencryptexecutedirectory" => Origin::Command("encrypt_execute_directory"),
            b"hasselfcheckpointtransfers" => Origin::Command("checkpoint_exit_code"),
            b"hascommonfilestransfer" if is_set("RequireCommonFilesTransfer") => Origin::Transfer,
            b"hastdp" => Origin::Command("tool_daemon_cmd"),
            b"hasjobdeferral" => Origin::Deferral,
            b"ocu" if is_set("OCUWanted") => Origin::Command("+OCUWanted"),
            b"cudaversion" if has("cudamaxsupportedversion") => Origin::Command("cuda_version"),
            b"hasjava" if universe(super::requirements::JAVA) => Origin::Command("universe = java"),
            b"hasdocker" if is_set("WantDocker") => Origin::Docker,
            b"dockernetworktype" if is_set("WantDocker") => Origin::Command("docker_network_type"),
            b"hascontainer" | b"hasdockerurl" | b"hassif" | b"hassandboximage" if is_set("WantContainer") => {
                Origin::Command("container_image")
            }
            _ if universe(super::requirements::VM) && only(&MACHINE) => Origin::Command("universe = vm"),
            _ => return None,
        })
    }
}

/// Attributes in the condition on the time.
const DEFERRAL: [&str; 4] = ["scheddinterval", "deferraltime", "deferralpreptime", "deferralwindow"];

/// Attributes in the condition that a slot gets the files of a job, one way or another.
const TRANSFER: [&str; 7] = [
    "filesystemdomain",
    "hasfiletransfer",
    "hasjobtransferplugins",
    "hasperfileencryption",
    "condorversion",
    "hascommonfilestransfer",
    "hasfiletransferpluginmethods",
];

/// Attributes in the conditions of virtual machines.
const MACHINE: [&str; 14] = [
    "hasvm",
    "vm_type",
    "jobvmtype",
    "vm_availnum",
    "totalmemory",
    "vm_memory",
    "jobvmmemory",
    "vm_hardwarevt",
    "vm_networking",
    "vm_networking_types",
    "jobvmnetworkingtype",
    "vm_ckptmac",
    "vm_all_guest_macs",
    "jobvmnetworking",
];

/// A condition without blanks, parentheses and scopes, in lower case.
fn plain(condition: &Expr) -> String {
    plain_text(&format!("{condition:#}"))
}

fn plain_text(text: &str) -> String {
    let mut text = text.to_ascii_lowercase().replace("target.", "").replace("my.", "");
    text.retain(|c| !matches!(c, ' ' | '(' | ')'));
    text
}

/// The attributes of a job that HTCondor sets, whatever the submit file says, in lower case: who submits it, and where; what can
/// not be changed or is proven by credentials; and what is measured of it.
static OF_HTCONDOR: LazyLock<HashSet<Vec<u8>>> = LazyLock::new(|| {
    const NAMES: [&str; 6] =
        ["gpususage", "ntdomain", "acctgroupuser", "filesystemdomain", "uiddomain", "lastremotehost"];
    let lists = ["SYSTEM_IMMUTABLE_JOB_ATTRS", "SYSTEM_SECURE_JOB_ATTRS", "SYSTEM_STARTD_JOB_ATTRS"];
    let listed = lists.iter().filter_map(|list| default_text(list.as_bytes()));
    let listed = listed.flat_map(|list| list.split(|one: char| one == ',' || one.is_ascii_whitespace()));
    listed.chain(NAMES).map(|name| name.to_ascii_lowercase().into_bytes()).collect()
});

/// Attributes of a job, lower case, that change when it is held, or released.
pub(crate) const OF_HOLDS: [&[u8]; 12] = [
    b"enteredcurrentstatus",
    b"holdreason",
    b"holdreasoncode",
    b"holdreasonsubcode",
    b"jobstatus",
    b"lastholdreason",
    b"lastholdreasoncode",
    b"lastholdreasonsubcode",
    b"lastjobstatus",
    b"numholds",
    b"numholdsbyreason",
    b"releasereason",
];

/// Tests if HTCondor sets an attribute of a job, whatever the submit file says.
pub(crate) fn is_of_htcondor(name: Name) -> bool {
    OF_HTCONDOR.contains(name.folded()) || is_measured(name)
}

/// The method of the URLs that a plugin has to transfer, by the condition for it.
pub(crate) fn method(condition: &Expr) -> Option<String> {
    let text = format!("{condition:#}");
    let (_, rest) = text.split_once("(\"")?;
    let (method, _) = rest.split_once('"')?;
    Some(method.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::submit::{SubmitContext, jobs};
    use classmate::internal::syntax::expr::NodeId;
    use classmate::internal::syntax::operator::BinaryOp;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Recorded {
        name: String,
        submit: String,
    }

    fn parsed(text: &str) -> Expr {
        parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap()
    }

    /// The conditions of an expression that `&&` joins, also in parentheses.
    fn conditions(expr: &Expr) -> Vec<Expr> {
        let tree = expr.tree();
        let all = |id: NodeId| tree.flattened(BinaryOp::And, tree.bare(id));
        let mut waiting = vec![expr.root()];
        let mut found = Vec::new();
        while let Some(id) = waiting.pop() {
            match all(id).as_slice() {
                [_] => found.push(expr.part(tree.bare(id))),
                parts => waiting.extend(parts),
            }
        }
        found
    }

    /// Conditions that the Requirements of a submit file can replace, as they name the platform or a resource of the pool.
    const REPLACED: [&str; 2] = ["TARGET.Arch", "TARGET.OpSys"];

    /// In `data/submit.jsonl` are submit files with all commands for which `condor_submit` adds conditions. Those without
    /// `requirements` have no other conditions.
    #[test]
    fn all_conditions_that_are_added_have_an_origin() {
        let records = include_str!("../../tests/data/submit.jsonl").lines();
        let records: Vec<Recorded> = records.map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut seen = 0;
        for Recorded { name, submit } in records {
            if submit.to_ascii_lowercase().contains("requirements") {
                continue;
            }
            for job in jobs(&name, submit.as_bytes(), &SubmitContext::default(), None).unwrap() {
                for one in conditions(&job.get("Requirements").unwrap()) {
                    let text = format!("{one:#}");
                    let is_of_resource = text.contains("Request") && !text.contains("versionGE");
                    if is_of_resource || REPLACED.iter().any(|part| text.starts_with(part)) {
                        continue;
                    }
                    seen += 1;
                    assert!(text == "true" || Origin::of(&job, &one).is_some(), "{name}: {text}");
                }
            }
        }
        assert!(seen > 150, "{seen}");
    }

    #[test]
    fn conditions_of_the_submit_file_have_none() {
        let job = ClassAd::parse(b"[JobUniverse = 5; RequestMemory = 10; FileSystemDomain = \"x\"]").unwrap();
        for text in [
            "TARGET.HasDocker",
            "TARGET.HasJava",
            "TARGET.VM_Memory > 5",
            "TARGET.HasContainer",
            "TARGET.FileSystemDomain == \"x\"",
            "TARGET.Memory >= RequestMemory * 2",
            "TARGET.Memory >= 10",
            "TARGET.HAS_CVMFS_x",
            "versionGE(split(TARGET.CondorVersion)[1],\"23.0.0\")",
            "time() > 5",
        ] {
            assert_eq!(Origin::of(&job, &parsed(text)), None, "{text}");
        }
        let origin = |text: &str| Origin::of(&job, &parsed(text));
        assert_eq!(origin("TARGET.FileSystemDomain == MY.FileSystemDomain"), Some(Origin::SharedFiles));
        assert_eq!(origin("TARGET.Memory >= RequestMemory"), Some(Origin::Request));
        assert_eq!(origin("(time() + 60) >= (DeferralTime - DeferralPrepTime)"), Some(Origin::Deferral));
        let plugin = parsed("stringListIMember(\"s3\",TARGET.HasFileTransferPluginMethods)");
        assert_eq!((Origin::of(&job, &plugin), method(&plugin).as_deref()), (Some(Origin::Plugin), Some("s3")));
    }
}
