//! Snapshots of a running cluster, for which Slurm's commands are scripts that print what real ones printed.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use super::listings::snapshots;

/// A command of Slurm: prints a recorded file, and fails for arguments that no release of Slurm was recorded with.
const COMMAND: &str = r#"#!/bin/sh
case "${0##*/} $*" in
"sprio -l") file=sprio.txt ;;
"squeue --json" | "squeue --all --states=all --json") file=squeue.json ;;
"scontrol -a -o show jobs") file=scontrol.jobs ;;
"scontrol -a -o show nodes") file=scontrol.nodes ;;
"scontrol show config") file=scontrol.config ;;
"scontrol -a -o show partitions") file=scontrol.partitions ;;
"scontrol -o show assoc_mgr flags=assoc") file=scontrol.assoc_mgr ;;
"sacctmgr -i dump recorded file="*) exec cp "$RECORDED/sacctmgr.dump" "${4#file=}" ;;
"sacctmgr -P show qos") file=sacctmgr.qos ;;
*) exit 1 ;;
esac
exec cat "$RECORDED/$file"
"#;

/// A folder with the commands, and one with what they print.
struct Cluster {
    folder: tempfile::TempDir,
    files: BTreeMap<String, String>,
}

impl Cluster {
    fn new(mut files: BTreeMap<String, String>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (commands, recorded) = (folder.path().join("bin"), folder.path().join("recorded"));
        std::fs::create_dir(&commands).unwrap();
        std::fs::create_dir(&recorded).unwrap();
        for name in ["sprio", "squeue", "scontrol", "sacctmgr"] {
            std::fs::write(commands.join(name), COMMAND).unwrap();
            std::fs::set_permissions(commands.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        files.remove("sshare");
        let config = format!(
            "Configuration data as of 2026-01-01T00:00:00\nAccountingStorageType   = accounting_storage/slurmdbd\n\
            ClusterName             = recorded\nSLURM_CONF              = {}/slurm.conf\n",
            recorded.display()
        );
        files.insert("scontrol.config".to_owned(), config);
        for (name, text) in &files {
            std::fs::write(recorded.join(name), text).unwrap();
        }
        Cluster { folder, files }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let path = format!("{}:/usr/bin:/bin", self.folder.path().join("bin").display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
        command.env("PATH", path).env("RECORDED", self.folder.path().join("recorded"));
        command.env("TMPDIR", self.folder.path().join("recorded"));
        command.args(arguments).current_dir(self.folder.path()).output().unwrap()
    }

    fn printed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn names(folder: &Path) -> BTreeSet<String> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    files.collect()
}

#[test]
fn everything_that_a_running_cluster_prints_is_saved() {
    let mut clusters = 0;
    for (name, files) in snapshots() {
        let cluster = Cluster::new(files);
        assert_eq!(cluster.printed(&["snapshot", "--slurm", "saved"]), "", "{name}");
        let saved = cluster.folder.path().join("saved");
        assert_eq!(names(&saved), cluster.files.keys().cloned().collect(), "{name}");
        for (file, text) in &cluster.files {
            assert_eq!(&std::fs::read_to_string(saved.join(file)).unwrap(), text, "{name} {file}");
        }
        clusters += 1;
    }
    assert_eq!(clusters, 12);
}

#[test]
fn a_running_cluster_is_saved_with_pseudonyms_and_has_the_same_priorities() {
    let mut priorities = 0;
    for (name, files) in snapshots() {
        let cluster = Cluster::new(files);
        cluster.printed(&["snapshot", "--slurm", "named"]);
        let saving = cluster.run(&["snapshot", "--slurm", "--anonymize", "unnamed"]);
        let said = String::from_utf8(saving.stderr).unwrap();
        assert!(saving.status.success(), "{name}: {said}");
        // The folder with the names is gone, so no message leads to it.
        assert!(!said.contains("classmate-snapshot"), "{name}: {said}");
        let left = names(&cluster.folder.path().join("recorded"));
        assert_eq!(left, cluster.files.keys().cloned().collect(), "{name}");
        let unnamed = cluster.printed(&["sprio", "unnamed"]);
        assert_eq!(cluster.printed(&["sprio", "named"]), unnamed, "{name}");
        priorities += unnamed.lines().count() - 1;
    }
    assert!(priorities > 100, "{priorities}");
}

#[test]
fn a_command_that_fails_is_named_without_the_folder_that_is_gone() {
    let (_, files) = snapshots().pop_first().unwrap();
    let cluster = Cluster::new(files);
    std::fs::remove_file(cluster.folder.path().join("recorded/sacctmgr.qos")).unwrap();
    let saving = cluster.run(&["snapshot", "--slurm", "--anonymize", "unnamed"]);
    let said = String::from_utf8(saving.stderr).unwrap();
    assert_eq!(saving.status.code(), Some(1));
    assert!(said.contains("not saved: sacctmgr.qos (sacctmgr -P show qos)\n"), "{said}");
    assert!(said.contains("error: some of the cluster could not be read, so nothing was saved\n"), "{said}");
    assert!(!said.contains("classmate-snapshot") && !cluster.folder.path().join("unnamed").exists(), "{said}");
    // With the names, the other files are saved.
    let saving = cluster.run(&["snapshot", "--slurm", "named"]);
    assert_eq!(saving.status.code(), Some(1));
    assert!(
        String::from_utf8(saving.stderr).unwrap().contains("error: some of the cluster was not saved in `named`\n")
    );
    let mut saved = cluster.files.clone();
    saved.remove("sacctmgr.qos");
    assert_eq!(names(&cluster.folder.path().join("named")), saved.into_keys().collect());
}

/// A service manager ends a command that takes long: nothing goes on, and the folder with the names is gone.
#[test]
fn a_signal_ends_the_commands_of_slurm_and_removes_the_folder_with_the_names() {
    let (_, files) = snapshots().pop_first().unwrap();
    let cluster = Cluster::new(files);
    let place = cluster.folder.path();
    let own = place.join("own");
    std::fs::create_dir(&own).unwrap();
    let slow = "#!/bin/sh\ntouch \"$RECORDED/started\"\nsleep 4\ntouch \"$RECORDED/finished\"\n";
    for name in ["sprio", "squeue", "scontrol", "sacctmgr"] {
        std::fs::write(place.join("bin").join(name), slow).unwrap();
    }
    for (signal, status) in [("TERM", 143), ("INT", 130)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
        command.env("PATH", format!("{}:/usr/bin:/bin", place.join("bin").display())).env("TMPDIR", &own);
        command.env("RECORDED", place.join("recorded")).current_dir(place).stderr(std::process::Stdio::piped());
        let child = command.args(["snapshot", "--slurm", "--anonymize", "unnamed"]).spawn().unwrap();
        let started = place.join("recorded/started");
        while !started.exists() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let kill = format!("kill -s {signal} {}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.as_str()), (Some(status), ""), "{signal}");
        assert!(names(&own).is_empty() && !place.join("unnamed").exists(), "{signal}");
        std::fs::remove_file(started).unwrap();
    }
    std::thread::sleep(std::time::Duration::from_secs(5));
    assert!(!place.join("recorded/finished").exists() && !place.join("recorded/started").exists());
}

#[test]
fn a_file_of_the_cluster_that_is_wrong_is_named_without_the_folder_that_is_gone() {
    let (_, mut files) = snapshots().pop_first().unwrap();
    files.insert("slurm.conf".to_owned(), "PriorityWeightAge=many\n".to_owned());
    let cluster = Cluster::new(files);
    let saving = cluster.run(&["snapshot", "--slurm", "--anonymize", "unnamed"]);
    let said = String::from_utf8(saving.stderr).unwrap();
    assert_eq!(saving.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: slurm.conf:1:"), "{said}");
    assert!(!cluster.folder.path().join("unnamed").exists());
}

#[test]
fn without_slurm_there_is_one_message_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
    // Only the programs that the script itself needs.
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for program in ["sh", "mkdir", "rmdir"] {
        let known = ["/bin", "/usr/bin"].map(|place| Path::new(place).join(program));
        std::os::unix::fs::symlink(known.iter().find(|path| path.exists()).unwrap(), bin.join(program)).unwrap();
    }
    let output = command.env("PATH", &bin).args(["snapshot", "--slurm", "saved"]).current_dir(folder.path()).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    let expected =
        "scontrol, squeue, sprio and sacctmgr were not found\nerror: some of the cluster was not saved in `saved`";
    assert!(message.starts_with(expected) && !message.contains("not saved:"), "{message}");
    assert!(!folder.path().join("saved").exists());
}
