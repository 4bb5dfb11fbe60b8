//! Submit files of jobs in grids, clouds and virtual machines: commands that are missing, or are not taken.
//!
//! In: all values of a file. Out: the findings, each with its statement.

use super::refusals::{Assigned, Reading, error, warning};
use super::relations::Values;
use super::submit_requests::is_amount;
use super::submit_values::grid_fault;

/// The commands that jobs on EC2 need, of each row one.
const EC2: &[&[&str]] = &[
    &["ec2_access_key_id", "aws_access_key_id_file"],
    &["ec2_secret_access_key", "aws_secret_access_key_file"],
    &["ec2_ami_id"],
];

/// The commands that jobs on the Google Compute Engine need.
const GCE: &[&[&str]] = &[&["gce_image"], &["gce_machine_type"]];

/// The commands that jobs on Azure need.
const AZURE: &[&[&str]] =
    &[&["azure_image"], &["azure_location"], &["azure_size"], &["azure_admin_username"], &["azure_admin_key"]];

impl Reading {
    /// Reports the resource of a grid job.
    pub(super) fn grid(&mut self, statements: &[String]) {
        if let Some((value, at)) = self.value(&["grid_resource"]).cloned() {
            let is_reported = self.found.iter().any(|(of, _)| *of == at);
            let finding = match grid_fault(&value).or_else(|| self.cloud(&value)) {
                Some((message, help)) => Some(error(message, &statements[at], help)),
                None => parts_of_cloud(&value)
                    .filter(|_| !is_reported)
                    .map(|(message, help)| warning(message, &statements[at], help).code("odd-command")),
            };
            self.found.extend(finding.map(|finding| (at, finding)));
        }
        self.volumes(statements);
    }

    /// The command that a kind of cloud needs and the file does not have.
    fn cloud(&self, resource: &str) -> Option<(String, String)> {
        let mut words = resource.split_whitespace();
        let kind = words.next()?.to_ascii_lowercase();
        let needed: &[&[&str]] = match kind.as_str() {
            "ec2" => EC2,
            "gce" => GCE,
            "azure" => AZURE,
            _ => return None,
        };
        if kind == "ec2" && words.next().is_none() {
            let help = "write `ec2 https://…` with the address of the service".to_owned();
            return Some(("`grid_resource` of EC2 has no address".to_owned(), help));
        }
        let missing = needed.iter().find(|names| !names.iter().any(|name| self.may_give(name)))?;
        let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
        Some((format!("`{kind}` needs {}", names.join(" or ")), format!("add `{} = …`", missing[0])))
    }

    /// Tests for a command, or the attribute that it sets: `ec2_ami_id`, `+EC2AmiID`.
    fn may_give(&self, command: &str) -> bool {
        let attribute = command.replace('_', "");
        self.may_have(command) || self.may_have(&attribute) || self.may_have(&format!("my.{attribute}"))
    }

    /// Volumes of EC2 without the zone that they are in.
    fn volumes(&mut self, statements: &[String]) {
        let Some((_, at)) = self.value(&["ec2_ebs_volumes"]).cloned() else { return };
        if !self.may_give("ec2_availability_zone") {
            let message = "`ec2_ebs_volumes` needs `ec2_availability_zone`";
            self.found.push((at, error(message, &statements[at], "add `ec2_availability_zone = …`")));
        }
    }

    /// Checkpoints of a virtual machine with a network, which need output on eviction.
    fn checkpoint_and_network(&mut self, statements: &[String]) {
        let is_on =
            |name: &str| self.value(&[name]).is_some_and(|(value, _)| Values::True.has(&value.to_ascii_lowercase()));
        let when = self.value(&["when_to_transfer_output"]);
        let is_allowed =
            when.is_some_and(|(value, _)| value.eq_ignore_ascii_case("ON_EXIT_OR_EVICT") || value.contains('$'));
        if is_allowed
            || !is_on("vm_checkpoint")
            || !is_on("vm_networking")
            || self.is_of_items("when_to_transfer_output")
        {
            return;
        }
        let Some((_, at)) = self.value(&["vm_checkpoint"]).cloned() else { return };
        let message = "`vm_checkpoint` with `vm_networking` needs `when_to_transfer_output = ON_EXIT_OR_EVICT`";
        self.found.push((at, error(message, &statements[at], "add it, or remove one of the two")));
    }

    /// Files of Xen that its kernel needs, or does not take.
    fn xen(&mut self, statements: &[String]) {
        let is_xen = self.value(&["vm_type"]).is_some_and(|(kind, _)| kind.eq_ignore_ascii_case("xen"));
        let Some((kernel, of_kernel)) = self.value(&["xen_kernel"]).filter(|_| is_xen).cloned() else { return };
        let is_file = !["included", "vmx"].iter().any(|word| kernel.eq_ignore_ascii_case(word));
        if let Some((_, at)) = self.value(&["xen_initrd"]).filter(|_| !is_file).cloned() {
            let message = format!("`xen_initrd` cannot be used with `xen_kernel = {kernel}`");
            self.found
                .push((at, error(message, &statements[at], "write the file of a kernel, or remove `xen_initrd`")));
        } else if is_file && !kernel.contains('$') && !self.may_have("xen_root") {
            let message = "`xen_kernel` is a file, and needs `xen_root`";
            self.found.push((of_kernel, error(message, &statements[of_kernel], "add `xen_root = /dev/sda1`")));
        }
    }

    /// Commands of virtual machines that are missing, or are not taken.
    pub(super) fn virtual_machine(&mut self, statements: &[String]) {
        let is_plain = |(value, _): &&Assigned| !value.contains('$');
        if let Some((value, at)) = self.value(&["vm_disk"]).filter(is_plain).cloned() {
            let odd = |disk: &str| !(3..=4).contains(&(disk.matches(':').count() + 1));
            let permits = |disk: &&str| disk.split(':').nth(2).is_some_and(|way| !matches!(way, "r" | "w" | "rw"));
            if let Some(disk) = value.split(',').map(str::trim).find(|disk| odd(disk)) {
                let message = format!("`{disk}` is not a disk of a virtual machine");
                let help = "write `file:device:permission`, as in `disk.img:sda1:w`, perhaps with `:format`";
                self.found.push((at, error(message, &statements[at], help)));
            } else if let Some(disk) = value.split(',').map(str::trim).find(permits) {
                let message = format!("the permission of the disk `{disk}` is not `r`, `w` or `rw`");
                let help = "write `file:device:w`, or `r` for a disk that is only read";
                self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
            }
        }
        if let Some((value, at)) = self.value(&["vm_memory"]).filter(is_plain).cloned()
            && (value.parse::<f64>().is_ok_and(|memory| memory <= 0.0) || !is_amount(&value))
        {
            let message =
                format!("`vm_memory` is `{value}`: expected a number of MiB, or one with a unit such as `GB`");
            self.found.push((at, error(message, &statements[at], "write `vm_memory = 512`")));
        }
        if let Some((value, at)) = self.value(&["vm_macaddr"]).filter(is_plain).cloned() {
            let is_byte = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
            if value.split(':').count() != 6 || !value.split(':').all(is_byte) {
                let message = format!("`{value}` is not the address of a network card");
                let help = "write six bytes, as in `00:11:22:33:44:55`";
                self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
            }
        }
        let all = ["input", "output", "error", "stdin", "stdout", "stderr"];
        let streams = all.into_iter().find_map(|name| Some((name, self.value(&[name])?.1)));
        if let Some((name, at)) = streams {
            let message = format!("`{name}` cannot be used in the vm universe");
            self.found.push((at, error(message, &statements[at], format!("remove `{name}`"))));
        }
        if let Some((_, at)) = self.value(&["vm_type"]).filter(|(kind, _)| kind.eq_ignore_ascii_case("xen")).cloned()
            && !self.may_have("xen_kernel")
        {
            let help = "add `xen_kernel = included`, or the name of a file";
            self.found.push((at, error("`vm_type = xen` needs `xen_kernel`", &statements[at], help)));
        }
        self.checkpoint_and_network(statements);
        self.xen(statements);
    }
}

/// The resource of a cloud without a part that the job is put on hold for (`gcejob.cpp` and `azurejob.cpp`), and a service of EC2
/// that is not an address (`amazonCommands.cpp`).
fn parts_of_cloud(value: &str) -> Option<(String, String)> {
    let words: Vec<&str> = value.split_whitespace().collect();
    let lacks = |what: &str| (format!("`{value}` lacks a part of the resource"), format!("write {what}"));
    match words.as_slice() {
        _ if value.contains('$') => None,
        [kind, service, ..] if kind.eq_ignore_ascii_case("ec2") && !service.contains("://") => {
            let message = format!("`{service}` is not the address of a service of EC2");
            Some((message, "write `ec2 https://…`, with the address of the service".to_owned()))
        }
        [kind, rest @ ..] if kind.eq_ignore_ascii_case("gce") && rest.len() < 3 => Some(lacks(
            "the address, the project and the zone, as in `gce https://www.googleapis.com/compute/v1 project us-east1-b`",
        )),
        [kind] if kind.eq_ignore_ascii_case("azure") => Some(lacks("the number of the subscription after `azure`")),
        _ => None,
    }
}
