//! Submit commands, and names that look like misspellings of them.

use classmate::internal::builtin::near;

/// Commands of `condor_submit` 25.14 whose misspellings are recognized, lower case: without those of cloud jobs, most
/// of those of grid jobs, `request_<resource>` and attributes (`+Name`, `MY.Name`).
const COMMANDS: &[&str] = &[
    "accounting_group",
    "accounting_group_user",
    "allow_startup_script",
    "allowed_execute_duration",
    "allowed_job_duration",
    "append_files",
    "arguments",
    "batch_name",
    "batch_project",
    "batch_queue",
    "batch_runtime",
    "buffer_block_size",
    "buffer_files",
    "buffer_size",
    "checkpoint_destination",
    "checkpoint_exit_code",
    "compress_files",
    "concurrency_limits",
    "concurrency_limits_expr",
    "container_image",
    "container_service_names",
    "container_target_dir",
    "copy_to_spool",
    "core_size",
    "coresize",
    "cron_day_of_month",
    "cron_day_of_week",
    "cron_hour",
    "cron_minute",
    "cron_month",
    "cron_prep_time",
    "cron_window",
    "cuda_version",
    "dagman_log",
    "deferral_prep_time",
    "deferral_time",
    "deferral_window",
    "delegate_job_gsi_credentials_lifetime",
    "description",
    "docker_image",
    "docker_network_type",
    "docker_override_entrypoint",
    "docker_pull_policy",
    "dont_encrypt_input_files",
    "dont_encrypt_output_files",
    "email_attributes",
    "encrypt_execute_directory",
    "encrypt_input_files",
    "encrypt_output_files",
    "environment",
    "erase_output_and_error_on_restart",
    "error",
    "executable",
    "fetch_files",
    "file_remaps",
    "get_env",
    "getenv",
    "gpus_maximum_capability",
    "gpus_maximum_runtime",
    "gpus_minimum_capability",
    "gpus_minimum_memory",
    "gpus_minimum_runtime",
    "grid_resource",
    "hold",
    "hold_kill_sig",
    "image_size",
    "initial_dir",
    "initialdir",
    "input",
    "jar_files",
    "java_vm_args",
    "job_ad_information_attrs",
    "job_batch_id",
    "job_batch_name",
    "job_iwd",
    "job_lease_duration",
    "job_machine_attrs",
    "job_machine_attrs_history_length",
    "job_max_vacate_time",
    "keep_claim_idle",
    "keystore_alias",
    "keystore_file",
    "keystore_passphrase_file",
    "kill_sig",
    "kill_sig_timeout",
    "leave_in_queue",
    "load_profile",
    "local_files",
    "log",
    "log_xml",
    "machine_count",
    "manifest",
    "manifest_dir",
    "match_list_length",
    "max_idle",
    "max_job_retirement_time",
    "max_materialize",
    "max_retries",
    "max_transfer_input_mb",
    "max_transfer_output_mb",
    "next_job_start_delay",
    "nice_user",
    "noop_job",
    "noop_job_exit_code",
    "noop_job_exit_signal",
    "notification",
    "notify_user",
    "on_exit_hold",
    "on_exit_hold_reason",
    "on_exit_hold_subcode",
    "on_exit_remove",
    "output",
    "output_destination",
    "periodic_hold",
    "periodic_hold_reason",
    "periodic_hold_subcode",
    "periodic_release",
    "periodic_remove",
    "periodic_vacate",
    "preferences",
    "preserve_relative_executable",
    "preserve_relative_paths",
    "priority",
    "public_input_files",
    "rank",
    "remote_initialdir",
    "remove_kill_sig",
    "request_cpus",
    "request_disk",
    "request_gpus",
    "request_memory",
    "require_cuda_version",
    "require_gpus",
    "requirements",
    "retry_request_memory",
    "retry_request_memory_increase",
    "retry_request_memory_max",
    "retry_until",
    "rlimit_as",
    "run_as_owner",
    "scitoken_file",
    "scitokens_file",
    "send_credential",
    "shell",
    "should_transfer_files",
    "skip_filechecks",
    "starter_debug",
    "starter_log",
    "stream_error",
    "stream_input",
    "stream_output",
    "submit_event_notes",
    "success_exit_code",
    "suppress_notification",
    "tool_daemon_args",
    "tool_daemon_arguments",
    "tool_daemon_cmd",
    "tool_daemon_error",
    "tool_daemon_input",
    "tool_daemon_output",
    "transfer_checkpoint_files",
    "transfer_error",
    "transfer_executable",
    "transfer_input",
    "transfer_input_files",
    "transfer_output",
    "transfer_output_files",
    "transfer_output_remaps",
    "transfer_plugins",
    "ulog_execute_attrs",
    "universe",
    "use_oauth_services",
    "use_scitoken",
    "use_scitokens",
    "use_x509userproxy",
    "vacate_reason",
    "vm_checkpoint",
    "vm_disk",
    "vm_macaddr",
    "vm_memory",
    "vm_networking",
    "vm_networking_type",
    "vm_no_output_vm",
    "vm_type",
    "want_graceful_removal",
    "want_io_proxy",
    "want_name_tag",
    "when_to_transfer_output",
    "x509_user_proxy",
    "x509userproxy",
];

/// The command that a name (lower case) probably misspells. Resources can have any name, so a `request_` name must lack
/// a letter, have one too many, or have letters swapped.
pub(super) fn misspelled_command(name: &str) -> Option<&'static str> {
    if name.len() < 6 || COMMANDS.contains(&name) || !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    {
        return None;
    }
    // Many commands are also known by the name of their attribute: `JobBatchName`.
    if COMMANDS.iter().any(|known| known.bytes().filter(|byte| *byte != b'_').eq(name.bytes())) {
        return None;
    }
    if let Some(resource) = name.strip_prefix("request_") {
        let known = near::closest_within(1, name.as_bytes(), COMMANDS.iter().copied())?;
        let sorted = |name: &str| {
            let mut letters = name.as_bytes().to_vec();
            letters.sort_unstable();
            letters
        };
        let other = known.strip_prefix("request_")?;
        return (resource.len() != other.len() || sorted(resource) == sorted(other)).then_some(known);
    }
    let allowed = if name.len() < 10 { 1 } else { 2 };
    near::closest_within(allowed, name.as_bytes(), COMMANDS.iter().copied().filter(|known| known.len() >= 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_known_and_names_of_their_own_are_not() {
        for (name, known) in [
            ("requirments", "requirements"),
            ("request_cpu", "request_cpus"),
            ("reqest_memory", "request_memory"),
            ("request_memroy", "request_memory"),
            ("excutable", "executable"),
            ("transfer_input_file", "transfer_input_files"),
        ] {
            assert_eq!(misspelled_command(name), Some(known), "{name}");
        }
        for name in [
            "requirements",
            "request_fpus",
            "request_mgpus_x",
            "my_input",
            "inputs2",
            "dir",
            "infile",
            "rank",
            "jobbatchname",
            "initial_dir",
        ] {
            assert_eq!(misspelled_command(name), None, "{name}");
        }
    }

    #[test]
    fn commands_are_sorted() {
        assert!(COMMANDS.is_sorted());
    }
}
