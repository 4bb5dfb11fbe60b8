//! Names of files and folders in submit files that are read as they are.
//!
//! In: a command and its value. Out: a message and a help, for findings of the rule `odd-command`.

use super::submit_programs::base;

/// The lists of files that are transferred.
const LISTS: [&str; 3] = ["transfer_input_files", "transfer_output_files", "transfer_checkpoint_files"];

/// The finding about a name with a wildcard, and a folder of a container that is not an absolute path.
pub(super) fn odd_name(name: &str, value: &str) -> Option<(String, String)> {
    if name == "container_target_dir" {
        let plain = value.trim_matches('"');
        let is_relative = !plain.is_empty() && !plain.starts_with(['/', '$']);
        let message = format!("`{name}` is `{value}`, and the folder of a container is an absolute path");
        return is_relative.then(|| (message, format!("write `{name} = /{}`", plain.trim_start_matches("./"))));
    }
    if !LISTS.contains(&name) {
        return None;
    }
    // The output of a job has its names on the machine where it runs.
    if name == "transfer_output_files" {
        let mut items = value.split(',').map(|item| item.trim().trim_matches('"'));
        let is_elsewhere =
            |item: &&str| is_known_address(item) || item.starts_with("/home/") || item.starts_with("/Users/");
        if let Some(item) = items.find(is_elsewhere) {
            let message = format!("`{item}` is not a file that the job makes in its folder");
            let base = base(item);
            let help = if item.contains("://") {
                format!("write `{base}`, and `output_destination` or `transfer_output_remaps` with the address")
            } else {
                format!("write `{base}`, and `transfer_output_remaps = \"{base} = {item}\"`")
            };
            return Some((message, help));
        }
    }
    // HTCondor's `file_transfer.cpp` opens each item by its name; an address may have any sign.
    let items = value.split(',').map(|item| item.trim().trim_matches('"'));
    let is_pattern = |item: &str| item.contains(['*', '?']) || item.contains('[') && item.contains(']');
    let item = items.into_iter().find(|item| is_pattern(item) && !item.contains("://") && !item.contains('$'))?;
    let sign = item.chars().find(|sign| "*?[".contains(*sign)).unwrap_or('*');
    let message = format!("`{item}` is the name of one file: `{sign}` is not a wildcard in `{name}`");
    let folder = item.rsplit_once('/').map(|(folder, _)| folder).filter(|folder| !folder.contains('*'));
    let help = match folder {
        Some(folder) => format!("write the folder, `{folder}/`, or the files one by one"),
        None if name == "transfer_input_files" => "write the files one by one, or `queue … matching files`".to_owned(),
        None => "write the files one by one, or the folder that they are in".to_owned(),
    };
    Some((message, help))
}

/// The pairs of a list of new names: a `;` in a new name is written `\;` (`filename_remap_find` in HTCondor's
/// `filename_tools_cpp.cpp`).
pub(super) fn remaps(list: &str) -> impl Iterator<Item = &str> + Clone {
    let mut is_escaped = false;
    list.split(move |sign: char| {
        let divides = sign == ';' && !is_escaped;
        is_escaped = sign == '\\';
        divides
    })
}

/// Tests for an address of a usual kind; a job may have plugins for others, which bring such files.
fn is_known_address(item: &str) -> bool {
    const SCHEMES: [&str; 10] = ["davs", "file", "ftp", "gs", "http", "https", "osdf", "pelican", "s3", "stash"];
    item.split_once("://").is_some_and(|(scheme, _)| SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_are_letters_of_names() {
        assert!(odd_name("transfer_input_files", "a, data/*.csv").is_some());
        assert!(odd_name("transfer_output_files", "*.root").is_some());
        assert!(odd_name("transfer_input_files", "a.csv, https://x.org/*?a=b, $(dir)/*.x").is_none());
        assert!(odd_name("container_target_dir", "scratch").is_some());
        assert!(odd_name("container_target_dir", "/scratch").is_none());
        assert!(odd_name("arguments", "*.csv").is_none());
    }
}
