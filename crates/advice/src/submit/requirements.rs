//! The Requirements of a job: those of its submit file, and the conditions that `condor_submit` adds.
//!
//! In: the commands of a submit file, and the job with its other attributes. Out: the text of an expression. The order of the
//! conditions is that of the tool.

use std::collections::{BTreeMap, HashSet};

use super::added::{FINDS_DISK, Origin, TRANSFERS_ON_SUCCESS};
use super::attributes::unquoted;
use super::{CRON, SubmitFile, is_true};

use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::print::Style;
use classmate::{ClassAd, EvalOptions, Expr, ParseOptions, Scope, Value};
use classmate_config::ConfigError;
use classmate_pool::internal::queue::cluster::whole;

/// The default of `SCHEDD_INTERVAL`, in seconds.
const SCHEDD_INTERVAL: i64 = 300;

/// The numbers of universes.
pub(super) const VANILLA: i64 = 5;
const SCHEDULER: i64 = 7;
pub(super) const GRID: i64 = 9;
pub(super) const PARALLEL: i64 = 11;
const LOCAL: i64 = 12;
pub(super) const VM: i64 = 13;
pub(super) const JAVA: i64 = 10;

/// The conditions on the platform of a slot, which is that of the access point.
const OF_ARCH: &str = "(TARGET.Arch == \"X86_64\")";
const OF_SYSTEM: &str = "(TARGET.OpSys == \"LINUX\")";

/// The names that the Requirements of a file mention, lower case.
struct Mentioned(HashSet<Vec<u8>>);

impl Mentioned {
    fn any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.0.contains(name.to_ascii_lowercase().as_bytes()))
    }

    fn none(&self, name: &str) -> bool {
        !self.any(&[name])
    }
}

/// The names of the operating system of a slot.
const OPERATING_SYSTEM: [&str; 6] =
    ["OpSys", "OpSysAndVer", "OpSysLongName", "OpSysShortName", "OpSysName", "OpSysLegacy"];

/// The Requirements of a changed job with the conditions that `condor_submit` adds only because these no longer name what they
/// did before the change; none if it adds none.
pub(crate) fn completed(before: &ClassAd, after: &ClassAd) -> Option<Expr> {
    let added = |job: &ClassAd| {
        let job = &whole(job);
        let requirements = job.get("Requirements")?;
        let names = requirements.tree().names(requirements.root()).map(|name| name.folded().to_vec());
        let mentioned = Mentioned(names.collect());
        let is_set = |attribute: &str| job.eval_bool(attribute) == Some(true);
        let (universe, mut all) = (job.eval_int("JobUniverse").unwrap_or(VANILLA), Vec::new());
        if mentioned.none("Arch") && universe != JAVA {
            all.push(OF_ARCH.to_owned());
        }
        if !mentioned.any(&OPERATING_SYSTEM) && !is_set("WantDocker") && !is_set("WantContainer") {
            all.push(OF_SYSTEM.to_owned());
        }
        // A request that is removed is undefined.
        let mut requested = job.clone();
        let is_undefined =
            |name| job.get(name).is_some_and(|expr| matches!(expr.as_literal(), Some(Literal::Undefined)));
        requested.retain(|name| !is_undefined(name));
        resources(&requested, universe, &mentioned, &mut all);
        Some((requirements, all))
    };
    let ((_, known), (requirements, mut all)) = (added(before)?, added(after)?);
    let is_unknown = |condition: &String| condition.contains("DiskUsage") && !after.contains("DiskUsage");
    all.retain(|condition| !known.contains(condition) && !is_unknown(condition));
    let text = std::iter::once(format!("({requirements:#})")).chain(all.iter().cloned()).collect::<Vec<_>>();
    (!all.is_empty()).then(|| parse_expr(text.join(" && ").as_bytes(), &ParseOptions::default()).ok()).flatten()
}

/// The line of a submit file by which another condition takes the place of one on the platform that `condor_submit` adds; none if
/// the condition is another, or may be in the file.
pub(crate) fn platform_line(job: &ClassAd, condition: &Expr, after: &Expr) -> Option<String> {
    let requirements = job.get("Requirements")?;
    let tree = requirements.tree();
    let parts = tree.flattened(BinaryOp::And, requirements.root()).into_iter();
    let all: Vec<Expr> = parts.map(|id| requirements.part(tree.bare(id))).collect();
    let is_of_platform = |one: &Expr| [OF_ARCH, OF_SYSTEM].contains(&format!("({one:#})").as_str());
    let is_written = |one: &Expr| !is_of_platform(one) && Origin::of(job, one).is_none();
    let text = condition.to_string();
    let place = all.iter().position(|one| one.to_string() == text).filter(|_| is_of_platform(condition))?;
    match all.iter().position(is_written) {
        None => Some(format!("requirements = {after:#}")),
        Some(own) if own < place => Some(format!("in requirements, add `{after:#}`")),
        Some(_) => None,
    }
}

/// The number that an attribute is, if it is written as one.
fn number(job: &ClassAd, attribute: &str) -> Option<f64> {
    let expr = job.get(attribute)?;
    let tree = expr.tree();
    match tree.node(tree.bare(expr.root())) {
        Node::Literal(Literal::Int(value)) => Some(*value as f64),
        Node::Literal(Literal::Real(value)) => Some(*value),
        _ => None,
    }
}

/// Returns true if a job requests more of a resource than every slot has.
fn requests(job: &ClassAd, attribute: &str, least: f64) -> bool {
    job.contains(attribute) && number(job, attribute).is_none_or(|value| value > least)
}

/// The method of a URL, without what is before `+`, `-` or `.` in it; none for other texts.
fn method(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    scheme.rsplit(['+', '-', '.']).next().filter(|_| is_scheme && !rest.is_empty())
}

/// Adds the conditions on what a job requests.
fn resources(job: &ClassAd, universe: i64, mentioned: &Mentioned, all: &mut Vec<String>) {
    let is_vm = universe == VM;
    let disk = "(TARGET.Disk >= RequestDisk)";
    match (mentioned.none("Disk"), job.contains("RequestDisk")) {
        (true, true) if !requests(job, "RequestDisk", 0.0) => {}
        (true, true) if universe == VANILLA => {
            all.push(format!("({FINDS_DISK} || {disk})"));
        }
        (true, true) => all.push(disk.to_owned()),
        (true, false) if is_vm => all.push("(TARGET.TotalDisk >= DiskUsage)".to_owned()),
        (true, false) => all.push("(TARGET.Disk >= DiskUsage)".to_owned()),
        (false, true) if !is_vm => all.push(disk.to_owned()),
        (false, _) => {}
    }
    let is_set = |attribute: &str| job.eval_bool(attribute) == Some(true);
    if is_vm {
        let kind = job.eval_string("JobVMType").unwrap_or_default();
        if !kind.eq_ignore_ascii_case("xen") {
            all.push("(TARGET.TotalMemory >= MY.JobVMMemory)".to_owned());
        }
        if mentioned.none("VM_Memory") {
            all.push("(TARGET.VM_Memory >= MY.JobVMMemory)".to_owned());
        }
        if is_set("JobVMHardwareVT") && mentioned.none("VM_HardwareVT") {
            all.push("TARGET.VM_HardwareVT".to_owned());
        }
        if is_set("JobVMNetworking") {
            if mentioned.none("VM_Networking") {
                all.push("TARGET.VM_Networking".to_owned());
            }
            if job.contains("JobVMNetworkingType") {
                all.push("stringListIMember(JobVMNetworkingType,TARGET.VM_Networking_Types,\",\")".to_owned());
            }
        }
    } else if requests(job, "RequestMemory", 1.0) {
        all.push("(TARGET.Memory >= RequestMemory)".to_owned());
    }
    if universe != GRID && mentioned.none("Cpus") && requests(job, "RequestCpus", 1.0) {
        all.push("(TARGET.Cpus >= RequestCpus)".to_owned());
    }
    let others = job.names().filter(|name| name.folded().starts_with(b"request"));
    let mut others: Vec<String> = others.map(|name| name.display().into_owned()).collect();
    others.sort_by_key(|name| name.to_ascii_lowercase());
    let options = EvalOptions::default();
    for request in others {
        let resource = &request[7..];
        let is_known = ["cpus", "disk", "memory"].iter().any(|known| resource.eq_ignore_ascii_case(known));
        if is_known || resource.len() < 2 || resource.starts_with('_') || !mentioned.none(resource) {
            continue;
        }
        let require = format!("Require{resource}");
        match Scope::new(job, &options).eval_attr(request.as_str()) {
            Ok(value @ (Value::Int(_) | Value::Real(_) | Value::Undefined))
                if value.as_number().is_none_or(|value| value > 0.0) =>
            {
                all.push(if job.contains(require.as_str()) {
                    format!("(countMatches(MY.{require},TARGET.Available{resource}) >= {request})")
                } else {
                    format!("(TARGET.{resource} >= {request})")
                });
            }
            Ok(Value::Str(text)) if !text.as_bytes().is_empty() => {
                all.push(format!("regexp({request}, TARGET.{resource})"));
            }
            _ => {}
        }
    }
}

impl SubmitFile<'_> {
    /// The Requirements of a job in a universe, given by its number and name.
    pub(super) fn requirements(&self, job: &mut ClassAd, universe: i64, name: &str) -> Result<String, ConfigError> {
        let own = self.expr("requirements")?;
        let mentioned = own.iter().flat_map(|own| own.tree().names(own.root()).collect::<Vec<_>>());
        let mentioned = Mentioned(mentioned.map(|name| name.folded().to_vec()).collect());
        let old = |own: &Expr| String::from_utf8_lossy(&own.to_text(Style::Old)).into_owned();
        let mut all: Vec<String> = own.iter().map(|own| format!("({})", old(own))).collect();
        if universe == GRID {
            let resource = self.text(job, "grid_resource", "GridResource")?.unwrap_or_default();
            let kind = resource.split_ascii_whitespace().next().unwrap_or_default();
            if !kind.eq_ignore_ascii_case("condor") {
                return Ok(all.pop().unwrap_or_else(|| "true".to_owned()));
            }
        }
        let image = self.platform(job, (universe, name), &mentioned, &mut all)?;
        resources(job, universe, &mentioned, &mut all);
        if mentioned.none("HasTDP") && self.text(job, "tool_daemon_cmd", "ToolDaemonCmd")?.is_some() {
            all.push("TARGET.HasTDP".to_owned());
        }
        if mentioned.none("EncryptExecuteDirectory")
            && self.truth(job, "encrypt_execute_directory", "EncryptExecuteDirectory")?
        {
            all.push("TARGET.HasEncryptExecuteDirectory".to_owned());
        }
        if !matches!(universe, SCHEDULER | GRID | LOCAL) {
            all.extend(self.transfer(job, &mentioned, image)?);
        }
        if job.contains("DeferralTime") || CRON.iter().any(|(_, attribute)| job.contains(*attribute)) {
            if universe != LOCAL {
                all.push("TARGET.HasJobDeferral".to_owned());
            }
            if !job.contains("ScheddInterval") {
                job.insert("ScheddInterval", SCHEDD_INTERVAL);
            }
            let begin = "(time() + ScheddInterval) >= (DeferralTime - DeferralPrepTime)";
            all.push(format!("(({begin}) && (time() < (DeferralTime + DeferralWindow)))"));
        }
        let is_checkpointed =
            self.value("checkpoint_exit_code")?.is_some() || job.eval_bool("WantFTOnCheckpoint") == Some(true);
        if is_checkpointed && mentioned.none("HasSelfCheckpointTransfers") {
            all.push("TARGET.HasSelfCheckpointTransfers".to_owned());
        }
        if let Some(version) = self.text(job, "cuda_version", "CUDAVersion")? {
            let parts: Vec<Option<i64>> = version.split('.').map(|part| part.parse().ok()).collect();
            let version = match parts[..] {
                [Some(major), Some(minor)] => major.checked_mul(1000).and_then(|major| major.checked_add(minor % 100)),
                [Some(major)] if major < 1000 => Some(major * 1000),
                [major] => major,
                _ => None,
            };
            if let Some(version) = version {
                job.insert("CUDAVersion", version);
                all.push("CUDAVersion <= TARGET.CUDAMaxSupportedVersion".to_owned());
            }
        }
        if job.eval_bool("OCUWanted") == Some(true) {
            all.push("TARGET.OCU =?= true".to_owned());
        }
        Ok(all.join(" && "))
    }

    /// Adds the conditions on what a machine is and can run. Returns the image that is transferred with the job's files.
    fn platform(
        &self,
        job: &mut ClassAd,
        (universe, name): (i64, &str),
        mentioned: &Mentioned,
        all: &mut Vec<String>,
    ) -> Result<Option<String>, ConfigError> {
        if name == "java" {
            all.push("TARGET.HasJava".to_owned());
            return Ok(None);
        }
        if mentioned.none("Arch") {
            all.push(OF_ARCH.to_owned());
        }
        if universe == VM {
            for (attribute, condition) in [
                ("HasVM", "(TARGET.HasVM =?= true)"),
                ("VM_Type", "(TARGET.VM_Type == MY.JobVMType)"),
                ("VM_AvailNum", "(TARGET.VM_AvailNum > 0)"),
            ] {
                if mentioned.none(attribute) {
                    all.push(condition.to_owned());
                }
            }
            // VMs with the same address cannot run on one machine.
            if job.eval_bool("JobVMCheckpoint") == Some(true) && mentioned.none("VM_CkptMac") {
                let is_free = "stringListIMember(MY.VM_CkptMac,TARGET.VM_All_Guest_Macs,\",\") == FALSE";
                let unknown = "(MY.VM_CkptMac =?= UNDEFINED) || (TARGET.VM_All_Guest_Macs =?= UNDEFINED)";
                all.push(format!("({unknown} || ({is_free}))"));
            }
            return Ok(None);
        }
        if name == "docker" {
            job.insert("WantDocker", true);
            all.push("TARGET.HasDocker".to_owned());
            if let Some(image) = self.text(job, "docker_image", "DockerImage")? {
                job.insert("DockerImage", unquoted(&image));
            }
            if let Some(network) = self.text(job, "docker_network_type", "DockerNetworkType")? {
                job.insert("DockerNetworkType", network.as_str());
                if !matches!(network.as_str(), "host" | "none" | "nat") {
                    all.push("StringListMember(My.DockerNetworkType, TARGET.DockerNetworks)".to_owned());
                }
            }
            return Ok(None);
        }
        let has_images = matches!(universe, VANILLA | LOCAL);
        let (image, docker) = (self.value("container_image")?, self.value("docker_image")?);
        let Some(image) =
            image.map(|image| (image, false)).or(docker.map(|image| (image, true))).filter(|_| has_images)
        else {
            if !mentioned.any(&OPERATING_SYSTEM) {
                all.push(OF_SYSTEM.to_owned());
            }
            return Ok(None);
        };
        let (image, is_docker) = image;
        job.insert("WantContainer", true);
        job.insert(if is_docker { "DockerImage" } else { "ContainerImage" }, unquoted(&image));
        let (kind, wanted) = if is_docker || image.starts_with("docker:") {
            ("HasDockerURL", "WantDockerImage")
        } else if image.to_ascii_lowercase().ends_with("sif") {
            ("HasSIF", "WantSIF")
        } else {
            ("HasSandboxImage", "WantSandboxImage")
        };
        job.insert(wanted, true);
        all.push(format!("TARGET.HasContainer && TARGET.{kind}"));
        let stays = self.value("transfer_container")?.is_some_and(|value| !is_true(&value))
            || job.eval_bool("TransferContainer") == Some(false);
        let is_pulled = is_docker || ["docker://", "oras://"].iter().any(|prefix| image.starts_with(prefix));
        Ok(Some(image).filter(|_| !stays && !is_pulled))
    }

    /// The condition that a machine gets the files of a job, which may include an image.
    fn transfer(
        &self,
        job: &mut ClassAd,
        mentioned: &Mentioned,
        image: Option<String>,
    ) -> Result<Option<String>, ConfigError> {
        let same = "(TARGET.FileSystemDomain == MY.FileSystemDomain)";
        let knows_domain = mentioned.any(&["FileSystemDomain"]);
        let stated = job.eval_string("ShouldTransferFiles").unwrap_or_default().to_ascii_uppercase();
        let always = matches!(stated.as_str(), "YES" | "TRUE" | "ALWAYS");
        if matches!(stated.as_str(), "NO" | "FALSE" | "NEVER") {
            return Ok((!knows_domain).then(|| same.to_owned()));
        }
        if mentioned.any(&["HasFileTransfer", "HasJobTransferPlugins"]) {
            return Ok(None);
        }
        let plugins = self.text(job, "transfer_plugins", "TransferPlugins")?.unwrap_or_default();
        let mut all = match plugins.as_str() {
            "" => vec!["TARGET.HasFileTransfer".to_owned()],
            _ => vec!["TARGET.HasJobTransferPlugins".to_owned()],
        };
        let mut is_encrypted = false;
        for (command, attribute) in [
            ("encrypt_input_files", "EncryptInputFiles"),
            ("encrypt_output_files", "EncryptOutputFiles"),
            ("dont_encrypt_input_files", "DontEncryptInputFiles"),
            ("dont_encrypt_output_files", "DontEncryptOutputFiles"),
        ] {
            is_encrypted |= self.text(job, command, attribute)?.is_some();
        }
        if is_encrypted && mentioned.none("HasPerFileEncryption") {
            all.push("TARGET.HasPerFileEncryption".to_owned());
        }
        let when = self.text(job, "when_to_transfer_output", "WhenToTransferOutput")?.unwrap_or_default();
        if self.text(job, "transfer_checkpoint_files", "TransferCheckpoint")?.is_some()
            || self.truth(job, "preserve_relative_paths", "PreserveRelativePaths")?
            || when.eq_ignore_ascii_case("ON_SUCCESS")
        {
            all.push(TRANSFERS_ON_SUCCESS.to_owned());
        }
        if job.eval_bool("RequireCommonFilesTransfer") == Some(true) {
            all.push("TARGET.HasCommonFilesTransfer >= 2".to_owned());
        }
        let methods = self.methods(job, &plugins, image)?;
        if !methods.is_empty() {
            job.insert("WantTransferPluginMethods", methods.join(",").as_str());
        }
        if mentioned.none("HasFileTransferPluginMethods") {
            let condition = |method| format!("stringListIMember(\"{method}\",TARGET.HasFileTransferPluginMethods)");
            all.extend(methods.iter().map(condition));
        }
        let all = all.join(" && ");
        Ok(Some(if always || knows_domain { format!("({all})") } else { format!("({same} || ({all}))") }))
    }

    /// The methods of the URLs of a job's files that its own plugins do not provide.
    fn methods(&self, job: &ClassAd, plugins: &str, image: Option<String>) -> Result<Vec<String>, ConfigError> {
        let provided: Vec<String> = plugins
            .split(';')
            .filter_map(|plugin| plugin.split_once('='))
            .flat_map(|(methods, _)| methods.split([',', ' ']))
            .map(str::to_ascii_lowercase)
            .collect();
        let list = self.either("transfer_input_files", "TransferInputFiles")?.map(|(_, list)| list);
        let list = list.or_else(|| job.eval_string("TransferInput")).unwrap_or_default();
        let mut urls: Vec<String> = list.trim_matches('"').split(',').map(|file| file.trim().to_owned()).collect();
        urls.extend(image);
        urls.extend(self.text(job, "output_destination", "OutputDestination")?);
        let remaps = self.text(job, "transfer_output_remaps", "TransferOutputRemaps")?.unwrap_or_default();
        let targets = remaps.trim_matches('"').split(';').filter_map(|remap| remap.split_once('='));
        urls.extend(targets.map(|(_, target)| target.trim().to_owned()));
        let mut found = BTreeMap::new();
        for method in urls.iter().filter_map(|url| method(url)) {
            let folded = method.to_ascii_lowercase();
            if !provided.contains(&folded) {
                found.entry(folded).or_insert_with(|| method.to_owned());
            }
        }
        Ok(found.into_values().collect())
    }
}
