//! Submit files as a whole: commands that are missing, that exclude each other, or that nothing reads.
//!
//! In: all values of a file. Out: the findings, each with its statement.

use super::commands::needs;
use super::refusals::{EXECUTABLE, Reading, error, itself, refers_to, warning};
use super::slips::Slips;
use super::submit_items::without_same_parts;
use super::submit_notations::of_shell;
use super::submit_odd::SCHEMES;
use super::submit_queue::{items, numbered};
use crate::submit::queue::{ItemKind, ItemList, QueueStatement};
use classmate::internal::builtin::near;

/// Commands that exclude each other.
pub(super) const EXCLUSIVE: [(&str, &str); 3] = [
    ("container_image", "docker_image"),
    ("concurrency_limits", "concurrency_limits_expr"),
    ("output_destination", "output_directory"),
];

impl Reading {
    /// Reports the parts that the whole file lacks or contradicts.
    pub(super) fn whole(&mut self, statements: &[String]) {
        if !self.open.is_empty() && self.queued.is_none() {
            let at = statements.len() - 1;
            self.found.push((at, error("`if` without `endif`", &statements[at], "write `endif`")));
        }
        let universe = self.value(&["universe"]).cloned();
        let at = universe.as_ref().map_or_else(|| self.queue(), |(_, at)| *at);
        let name = universe.map_or_else(String::new, |(name, _)| name.to_ascii_lowercase());
        let has = |names: &[&str]| self.has(names);
        let missing = match name.as_str() {
            "container" | "docker" if has(&["container_image"]) && name == "docker" => {
                Some(("`container_image` in the docker universe", "write `universe = container`"))
            }
            "docker" if !has(&["docker_image", "dockerimage"]) => {
                Some(("the docker universe needs `docker_image`", "add `docker_image = …`"))
            }
            "container" if !has(&["container_image", "docker_image", "containerimage", "dockerimage"]) => {
                Some(("the container universe needs `container_image`", "add `container_image = …`"))
            }
            "grid" | "9" if !has(&["grid_resource"]) => {
                Some(("the grid universe needs `grid_resource`", "add `grid_resource = …`"))
            }
            "vm" | "13" if !has(&["vm_memory", "request_memory"]) => {
                Some(("the vm universe needs `vm_memory`", "add `vm_memory = …`"))
            }
            "vm" | "13" if self.value(&["vm_type"]).is_some_and(|(kind, _)| kind.eq_ignore_ascii_case("vmware")) => {
                Some(("`vmware` is no longer a type of virtual machines", "write `vm_type = kvm`"))
            }
            "vm" | "13" if !has(&["vm_disk"]) && has(&["vm_type"]) => {
                Some(("the vm universe needs `vm_disk`", "add `vm_disk = …`"))
            }
            "parallel" | "mpi" | "11" | "8" if !has(&["machine_count", "machinecount", "node_count", "nodecount"]) => {
                Some(("the parallel universe needs `machine_count`", "add `machine_count = …`"))
            }
            "java" | "10" if !has(&["arguments"]) => {
                Some(("the java universe needs the name of a class", "add `arguments = Class`"))
            }
            _ => None,
        };
        let runs = !matches!(name.as_str(), "docker" | "container" | "grid" | "9") && !name.contains('$');
        let image = has(&["container_image", "docker_image", "containerimage", "dockerimage"]);
        let place = self.place_of_universe(&name).unwrap_or(at);
        if let Some((message, help)) = missing {
            self.found.push((place, error(message, &statements[place], help)));
        } else if runs
            && !image
            && !self.may_have("my.isbuildjob")
            && !EXECUTABLE.iter().any(|name| self.may_have(name))
        {
            let at = self.queue();
            self.found.push((at, error("there is no `executable`", &statements[at], "add `executable = …`")));
        }
        match name.as_str() {
            "grid" | "9" => self.grid(statements),
            "vm" | "13" => self.virtual_machine(statements),
            _ => {}
        }
        if matches!(name.as_str(), "scheduler" | "7")
            && let Some((_, at)) = self.value(&["deferral_time"]).cloned()
        {
            let message = "`deferral_time` cannot be used in the scheduler universe";
            self.found.push((at, error(message, &statements[at], "write `universe = local`")));
        }
        self.both_forms(statements);
        self.transfers(statements);
        self.ignored_commands(statements);
        self.mail(statements);
        self.reasons(statements);
        self.shell_variables(statements);
        self.of_containers(statements);
        self.buckets(statements);
        self.schemes(statements);
        self.shared_files(statements);
        self.overwritten(statements);
        self.clusters(statements);
        self.unread_commands(&name, statements);
        self.policies(statements);
        self.companions(&name, statements);
        self.programs(statements);
        let slips = Slips { values: &self.values, statements }.check();
        self.found.extend(slips);
        for (one, other) in EXCLUSIVE {
            if let (Some((_, a)), Some((_, b))) = (self.value(&[one]), self.value(&[other])) {
                let at = *a.max(b);
                let message = format!("`{one}` and `{other}` cannot be used together");
                self.found.push((at, error(message, &statements[at], "remove one of them")));
            }
        }
        if let Some((value, at)) = self.value(&["requirements"]).cloned()
            && itself(&value)
        {
            let help = "write `$(requirements)` for the earlier value";
            self.found.push((at, error("`requirements` refers to itself", &statements[at], help)));
        }
    }

    /// The statement in which something of a universe is to be changed, if it is not the one that names it: the command of another
    /// universe, and the program that is to be a class.
    fn place_of_universe(&self, universe: &str) -> Option<usize> {
        let command = match universe {
            "docker" => "container_image",
            // `arguments =` without a value.
            "java" | "10" => return self.values.get("arguments").and_then(|all| all.last()).map(|(_, at)| *at),
            _ => return None,
        };
        self.value(&[command]).map(|(_, at)| *at)
    }

    /// Commands that `condor_submit` does not read without another one, or in another universe.
    pub(super) fn unread_commands(&mut self, universe: &str, statements: &[String]) {
        const UNIVERSES: [&str; 7] = ["grid", "vm", "parallel", "mpi", "container", "docker", "java"];
        if universe.contains('$') || universe.bytes().any(|byte| byte.is_ascii_digit()) {
            return;
        }
        let mut found = Vec::new();
        for (name, all) in &self.values {
            let Some(needs) = needs(name) else { continue };
            let is_there = |need: &&str| *need == universe || self.values.contains_key(*need);
            let attribute = |need: &str| format!("my.{}", need.replace('_', ""));
            let is_met = needs.iter().any(|need| {
                let plain = need.replace('_', "");
                is_there(need) || self.values.contains_key(&attribute(need)) || self.values.contains_key(&plain)
            });
            let is_used = self.values.values().flatten().chain(&self.expanded).any(|(text, _)| refers_to(text, name));
            let Some((_, at)) = all.last().filter(|_| !is_met && !is_used) else { continue };
            let (first, is_universe) = (needs[0], UNIVERSES.contains(&needs[0]));
            let (message, help) = if is_universe {
                (format!("`{name}` is not read in this universe"), format!("it is a command of `universe = {first}`"))
            } else {
                (format!("`{name}` is not read without `{first}`"), format!("set `{first}` too, or remove it"))
            };
            found.push((*at, warning(message, &statements[*at], help).code("odd-command")));
        }
        self.found.extend(found);
    }

    /// The log of the events of a job in the file of its output.
    pub(super) fn shared_files(&mut self, statements: &[String]) {
        let Some((log, at)) = self.value(&["log"]).cloned() else { return };
        let is_it = |name: &&str| self.value(&[*name]).is_some_and(|(value, _)| *value == log);
        let Some(other) = ["output", "error"].into_iter().find(is_it).filter(|_| log != "/dev/null") else { return };
        let message = format!("`log` and `{other}` are one file, `{log}`, and overwrite each other");
        let help = "give each a file of its own";
        self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
    }

    /// Commands in the old and the new form, which need the word that both are meant.
    pub(super) fn both_forms(&mut self, statements: &[String]) {
        const FORMS: [(&str, &str, &str); 8] = [
            ("arguments", "arguments2", "allow_arguments_v1"),
            ("environment", "environment2", "allow_environment_v1"),
            ("tool_daemon_args", "tool_daemon_arguments", ""),
            ("tool_daemon_args", "tool_daemon_arguments2", "allow_arguments_v1"),
            ("tool_daemon_arguments", "tool_daemon_arguments2", "allow_arguments_v1"),
            ("java_vm_args", "java_vm_arguments", ""),
            ("java_vm_args", "java_vm_arguments2", "allow_arguments_v1"),
            ("java_vm_arguments", "java_vm_arguments2", "allow_arguments_v1"),
        ];
        for (old, new, allows) in FORMS {
            let (Some(_), Some((_, at))) = (self.value(&[old]), self.value(&[new]).cloned()) else { continue };
            if !allows.is_empty() && self.may_have(allows) {
                continue;
            }
            let message = format!("`{old}` and `{new}` cannot be used together");
            let more = if allows.is_empty() { String::new() } else { format!(", or write `{allows} = true`") };
            self.found.push((at, error(message, &statements[at], format!("remove one of them{more}"))));
        }
    }

    /// The number of jobs that the file queues, as far as it is known: 2 for the lines of a file and the paths of patterns.
    pub(super) fn jobs(&self) -> usize {
        let arguments = self.queue_text();
        let Ok(statement) = QueueStatement::parse(&arguments) else { return 0 };
        let several = matches!(statement.list, ItemList::Lines(_) | ItemList::File(_))
            || matches!(statement.kind, ItemKind::Paths(_));
        let count = statement.jobs().unwrap_or_default();
        if several { count * 2 } else { count * items(&statement) }
    }

    /// Requests that differ from job to job, and a rank by the number of the job: each job is an autocluster of its own.
    fn clusters(&mut self, statements: &[String]) {
        /// Jobs of which the negotiator looks at each alone.
        const MANY: usize = 1000;
        const REQUESTS: [&str; 5] = ["request_cpus", "request_disk", "request_gpus", "request_memory", "rank"];
        if self.jobs() < MANY {
            return;
        }
        let differs = |name: &&str| {
            self.value(&[*name]).is_some_and(|(value, _)| {
                let lower = value.to_ascii_lowercase();
                let mut words = lower.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'));
                ["$(process)", "$(procid)"].iter().any(|macro_| lower.contains(macro_))
                    || words.any(|word| word == "procid")
            })
        };
        let Some(name) = REQUESTS.iter().find(|name| differs(name)) else { return };
        let Some((_, at)) = self.value(&[*name]).cloned() else { return };
        let jobs = self.jobs();
        let message = format!("`{name}` differs in all {jobs} jobs, so each is an autocluster of its own");
        let help = "write one value for all jobs, or a few: the negotiator looks at each autocluster";
        self.found.push((at, warning(message, &statements[at], help).code("per-job-attribute")));
    }

    /// The file of the output of several jobs, which overwrite each other's.
    pub(super) fn overwritten(&mut self, statements: &[String]) {
        let arguments = self.queue_text();
        let statement = QueueStatement::parse(&arguments).ok();
        let several = statement.as_ref().is_some_and(|queue| {
            matches!(queue.list, ItemList::Lines(_) | ItemList::File(_)) || matches!(queue.kind, ItemKind::Paths(_))
        });
        let jobs = statement.as_ref().and_then(|queue| Some(queue.jobs()? * items(queue))).unwrap_or_default();
        // How many items there are is not known.
        let (jobs, all) = if several { (2, "all jobs".to_owned()) } else { (jobs, format!("all {jobs} jobs")) };
        // A folder of its own keeps files apart.
        let has_folder =
            ["initialdir", "initial_dir", "iwd", "job_iwd", "my.iwd"].iter().any(|name| self.may_have(name));
        if jobs < 2 || has_folder || self.may_have("noop_job") || self.includes {
            return;
        }
        // The number of the cluster is the same for all of its jobs, and that of a step for one job of each item.
        let items = if several { 2 } else { statement.as_ref().map_or(1, items) };
        let steps = if several { 1 } else { jobs / items.max(1) };
        let of_items: Vec<String> = statement.as_ref().map_or_else(Vec::new, |queue| {
            let names = queue.names.iter().copied().chain(["item", "row", "itemindex"]);
            names.map(|name| format!("$({})", name.to_ascii_lowercase())).collect()
        });
        let is_shared = |value: &str| {
            let varied = statement.as_ref().map(|queue| without_same_parts(value, queue));
            let plain = varied.as_deref().unwrap_or(value);
            let plain = plain.to_ascii_lowercase().replace("$(clusterid)", "").replace("$(cluster)", "");
            let rest = of_items.iter().fold(plain.replace("$(step)", ""), |rest, name| rest.replace(name, ""));
            let of_step = steps == 1 || plain.contains("$(step)");
            let of_item = items == 1 || of_items.iter().any(|name| plain.contains(name));
            let is_device = value.starts_with("/dev/") || value.eq_ignore_ascii_case("nul");
            !(rest.contains('$') || is_device || of_step && of_item)
        };
        let shared = |name: &&str| self.value(&[*name]).is_some_and(|(value, _)| is_shared(value));
        let name = ["output", "error"].into_iter().find(shared);
        if let Some((name, (value, at))) = name.and_then(|name| Some((name, self.value(&[name]).cloned()?))) {
            let message = format!("{all} write their `{name}` into one file, `{value}`");
            let help = format!("write `{}`", numbered(&value));
            self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
        }
        let Some((value, at)) = self.value(&["transfer_output_remaps"]).cloned() else { return };
        // Who numbers one of the files knows about the others.
        let plain = Some(value.trim_matches('"')).filter(|value| is_shared(value)).unwrap_or_default();
        let target = plain.split(';').find_map(|item| {
            let (_, target) = item.split_once('=')?;
            Some(target.trim().to_owned()).filter(|target| is_shared(target) && !target.ends_with('/'))
        });
        if let Some(target) = target.filter(|target| !target.contains("://")) {
            let message = format!("{all} bring back one file, `{target}`, and overwrite each other's");
            let help = format!("write `{}`", numbered(&target));
            self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
        }
    }

    /// Commands of containers in a job without an image.
    pub(super) fn of_containers(&mut self, statements: &[String]) {
        const IMAGES: [&str; 4] = ["container_image", "docker_image", "containerimage", "dockerimage"];
        let universe = self.value(&["universe"]).map_or("", |(name, _)| name.as_str());
        // Another universe is reported, and a macro may be any.
        if IMAGES.iter().any(|name| self.may_have(name))
            || !matches!(universe.to_ascii_lowercase().as_str(), "" | "vanilla" | "5")
        {
            return;
        }
        let Some((_, at)) = self.value(&["container_target_dir"]).cloned() else { return };
        let message = "`container_target_dir` has no effect: the job has no `container_image`";
        self.found.push((at, warning(message, &statements[at], "add `container_image = …`").code("odd-command")));
    }

    /// `htps://example.org/x`: an address of a scheme that is almost another one, without a plugin of the job's own.
    fn schemes(&mut self, statements: &[String]) {
        const NAMES: [&str; 4] =
            ["transfer_input_files", "output_destination", "transfer_output_remaps", "container_image"];
        const MORE: [&str; 9] = ["box", "data", "dav", "file", "ftps", "gdrive", "onedrive", "roots", "srm"];
        if self.may_have("transfer_plugins") {
            return;
        }
        let meant_of = |item: &str| {
            let address = item.rsplit('=').next().unwrap_or(item).trim();
            let (scheme, rest) = address.split_once("://").filter(|(scheme, _)| scheme.len() > 3)?;
            let is_known = SCHEMES.iter().chain(&MORE).any(|known| known.eq_ignore_ascii_case(scheme));
            let meant = near::closest_within(1, scheme.to_ascii_lowercase().as_bytes(), SCHEMES)?;
            (!is_known && meant.len() > 3).then(|| (scheme.to_owned(), format!("write `{meant}://{rest}`")))
        };
        for name in NAMES {
            let Some((value, at)) = self.value(&[name]).cloned() else { continue };
            let Some((scheme, help)) = value.trim_matches('"').split([',', ';']).find_map(meant_of) else { continue };
            let message = format!("no plugin of HTCondor transfers addresses that begin with `{scheme}:`");
            self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
        }
    }

    /// Addresses of buckets without the keys by which they are signed, unless the job's own Requirements ask for a plugin.
    fn buckets(&mut self, statements: &[String]) {
        const KEYS: [[&str; 5]; 2] = [
            [
                "s3_access_key_id_file",
                "aws_access_key_id_file",
                "gs_access_key_id_file",
                "ec2accesskeyid",
                "my.ec2accesskeyid",
            ],
            [
                "s3_secret_access_key_file",
                "aws_secret_access_key_file",
                "gs_secret_access_key_file",
                "ec2secretaccesskey",
                "my.ec2secretaccesskey",
            ],
        ];
        let asks = |value: &str| value.to_ascii_lowercase().contains("hasfiletransferpluginmethods");
        let own = self.value(&["requirements"]).is_some_and(|(value, _)| asks(value) || value.contains('$'));
        let Some(missing) = KEYS.iter().find(|names| !names.iter().any(|name| self.may_have(name))) else { return };
        let is_of_bucket = |item: &&str| {
            let item = item.trim().to_ascii_lowercase();
            item.starts_with("s3://") || item.starts_with("gs://")
        };
        let names: [&[&str]; 2] = [&["transfer_input_files"], &["output_destination"]];
        let values = names.iter().filter_map(|names| self.value(names));
        let has_bucket = |value: &str| value.trim_matches('"').split(',').any(|item| is_of_bucket(&item));
        let Some(at) = values.filter(|(value, _)| has_bucket(value)).map(|(_, at)| *at).next() else { return };
        if own || self.may_have("transfer_plugins") {
            return;
        }
        let message = format!("addresses of buckets need `{}`", missing[0]);
        self.found.push((at, error(message, &statements[at], format!("add `{} = …`", missing[0]))));
    }

    /// Commands that `condor_submit` ignores beside others.
    pub(super) fn ignored_commands(&mut self, statements: &[String]) {
        const IGNORED: [(&str, &str); 5] = [
            ("accounting_group", "my.accountinggroup"),
            ("retry_request_memory_increase", "retry_request_memory"),
            ("requirements", "my.requirements"),
            ("ec2_keypair_file", "ec2_keypair"),
            ("ec2_iam_profile_name", "ec2_iam_profile_arn"),
        ];
        for (name, other) in IGNORED {
            let Some((_, at)) = self.value(&[name]).filter(|_| self.value(&[other]).is_some()).cloned() else {
                continue;
            };
            let other = other.replace("my.", "+");
            let message = format!("`{name}` is ignored, as `{other}` is set too");
            self.found.push((at, warning(message, &statements[at], "remove one of them").code("odd-command")));
        }
    }

    /// The address of a mail that is never sent. Without `notification`, the access point may have another default than `never`.
    pub(super) fn mail(&mut self, statements: &[String]) {
        const NAMES: [&str; 3] = ["notification", "jobnotification", "my.jobnotification"];
        let is_never = |value: &str| matches!(value.to_ascii_lowercase().as_str(), "never" | "0");
        let when = NAMES.iter().find_map(|name| self.values.get(*name)?.last());
        if !when.is_some_and(|(value, _)| is_never(value)) {
            return;
        }
        let mut names = ["notify_user", "email_attributes"].into_iter();
        let Some((name, at)) = names.find_map(|name| Some((name, self.value(&[name])?.1))) else { return };
        if self.found.iter().any(|(of, _)| *of == at) {
            return;
        }
        let message = format!("`{name}` has no effect: `notification` is `never`");
        let help = "write `notification = complete`, `error` or `always`";
        self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
    }

    /// The reason of a policy that the file does not have: it is for the job's own policy alone.
    pub(super) fn reasons(&mut self, statements: &[String]) {
        const ENDS: [&str; 2] = ["reason", "subcode"];
        for (policy, attribute) in [("periodic_hold", "periodichold"), ("on_exit_hold", "onexithold")] {
            let names = [policy.to_owned(), attribute.to_owned(), format!("my.{attribute}")];
            if self.includes || names.iter().any(|name| self.values.contains_key(name)) {
                continue;
            }
            let of = |end: &'static str| Some((end, self.value(&[&format!("{policy}_{end}")])?.1));
            let Some((end, at)) = ENDS.into_iter().find_map(of) else { continue };
            let message = format!("`{policy}_{end}` has no effect: `{policy}` is false by default");
            let help = format!("set `{policy}` too, or remove it");
            self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
        }
        let exit_codes = ["checkpoint_exit_code", "my.successcheckpointexitcode", "successcheckpointexitcode"];
        if self.includes || exit_codes.iter().any(|name| self.values.contains_key(*name)) {
            return;
        }
        let Some((_, at)) = self.value(&["transfer_checkpoint_files"]).cloned() else { return };
        let message =
            "`transfer_checkpoint_files` has no effect: without `checkpoint_exit_code` there is no checkpoint";
        let help = "set `checkpoint_exit_code` too, or remove it";
        self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
    }

    /// Variables of a shell in the environment.
    pub(super) fn shell_variables(&mut self, statements: &[String]) {
        let Some((value, at)) = self.value(&["environment"]).cloned() else { return };
        let Some((message, help)) = of_shell(&value) else { return };
        if !self.found.iter().any(|(of, _)| *of == at) {
            self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
        }
    }

    /// `should_transfer_files = NO` with files to transfer, and `IF_NEEDED` with output of evicted jobs.
    pub(super) fn transfers(&mut self, statements: &[String]) {
        let is =
            |name: &str, word: &str| self.value(&[name]).is_some_and(|(value, _)| value.eq_ignore_ascii_case(word));
        if is("should_transfer_files", "IF_NEEDED")
            && is("when_to_transfer_output", "ON_EXIT_OR_EVICT")
            && let Some((_, at)) = self.value(&["should_transfer_files"]).cloned()
        {
            let message = "`ON_EXIT_OR_EVICT` cannot be used with `should_transfer_files = IF_NEEDED`";
            self.found.push((at, error(message, &statements[at], "write `should_transfer_files = YES`, or `ON_EXIT`")));
        }

        let no =
            |(value, _): &&(String, usize)| ["no", "false", "never"].iter().any(|no| value.eq_ignore_ascii_case(no));
        let Some((_, at)) = self.value(&["should_transfer_files"]).filter(no).cloned() else { return };
        let exit = |(value, _): &&(String, usize)| value.to_ascii_lowercase().starts_with("on_");
        let image = self.value(&["container_image"]).cloned();
        let is_local = |image: &str| {
            ["docker://", "oras://", "/"].iter().any(|start| image.starts_with(start)) || image.contains('$')
        };
        let may_stay = self.may_have("transfer_container") || self.may_have("transfercontainer");
        if let Some((image, of_image)) = image.filter(|(image, _)| !is_local(image) && !may_stay) {
            let message = format!("`should_transfer_files` is off, and the image `{image}` is a file to transfer");
            let help =
                "write `should_transfer_files = YES`, or `transfer_container = false` for an image that is there";
            self.found.push((of_image, error(message, &statements[of_image], help)));
            return;
        }
        let files = ["transfer_input_files", "transfer_output_files"];
        let other = files.into_iter().find_map(|name| Some((name, self.value(&[name])?.1)));
        let when =
            self.value(&["when_to_transfer_output"]).filter(exit).map(|(_, at)| ("when_to_transfer_output", *at));
        if let Some((name, _)) = other.or(when) {
            let message = format!("`should_transfer_files` is off, and `{name}` is set");
            self.found.push((at, error(message, &statements[at], format!("remove `{name}`, or write `YES`"))));
        }
    }
}
