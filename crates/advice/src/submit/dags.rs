//! Macros that DAGs give to the jobs of a submit file.
//!
//! In: the place of a submit file. Out: the names in `VARS` of the nodes that use it, in the DAGs of its folder and of the one
//! above it. What is read may be any text: only lines that name the submit file count.

use std::collections::BTreeSet;
use std::path::Path;

/// Names, lower case, to which DAGs beside a submit file give values for its jobs.
pub fn given_by_dags(file: &Path) -> BTreeSet<String> {
    let (Some(own), Some(folder)) = (file.file_name().and_then(|name| name.to_str()), file.parent()) else {
        return BTreeSet::new();
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let above = folder.join("..");
    let texts = [folder, &above].into_iter().flat_map(dags_in);
    texts.flat_map(|text| given(&text, own)).collect()
}

/// The texts of the files in a folder that are DAGs by their names.
fn dags_in(folder: &Path) -> Vec<String> {
    /// Names of a folder that are looked at.
    const MAX_NAMES: usize = 10_000;
    /// Files that are read, and bytes of one.
    const MAX_FILES: usize = 64;
    const MAX_BYTES: u64 = 4 << 20;
    const ENDS: [&str; 5] = [".dag", ".sub", ".submit", ".txt", ".dagman"];
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.take(MAX_NAMES).filter_map(|entry| Some(entry.ok()?.path()));
    let is_dag = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
        let is_text = ENDS.iter().any(|end| name.ends_with(end)) || !name.contains('.');
        name.ends_with(ENDS[0]) || name.contains("dag") && is_text
    };
    let is_small = |path: &Path| path.metadata().is_ok_and(|data| data.is_file() && data.len() <= MAX_BYTES);
    let mut paths: Vec<_> = paths.filter(|path| is_dag(path) && is_small(path)).collect();
    paths.sort();
    let texts = paths.iter().take(MAX_FILES).filter_map(|path| std::fs::read(path).ok());
    texts.map(|text| String::from_utf8_lossy(&text).into_owned()).collect()
}

/// The names, lower case, that a DAG gives to the nodes that use a submit file.
fn given(dag: &str, own: &str) -> BTreeSet<String> {
    const NODES: [&str; 5] = ["job", "node", "final", "provisioner", "service"];
    let dag = dag.replace("\\\r\n", " ").replace("\\\n", " ");
    let words = |line: &str| -> Vec<String> { line.split_whitespace().take(3).map(ToOwned::to_owned).collect() };
    let is_own = |path: &str| path.trim_matches('"').rsplit(['/', '\\']).next() == Some(own);
    let nodes: BTreeSet<String> = dag
        .lines()
        .map(words)
        .filter(|line| matches!(line.as_slice(), [kind, _, path] if NODES.contains(&kind.to_ascii_lowercase().as_str()) && is_own(path)))
        .filter_map(|line| line.into_iter().nth(1))
        .collect();
    let of_nodes = dag.lines().filter_map(|line| {
        let mut parts = line.trim_start().splitn(3, char::is_whitespace);
        let is_vars = parts.next()?.eq_ignore_ascii_case("vars");
        let node = parts.next()?.trim();
        let is_ours = nodes.contains(node) || node.eq_ignore_ascii_case("all_nodes") && !nodes.is_empty();
        (is_vars && is_ours).then(|| parts.next()).flatten()
    });
    of_nodes.flat_map(assigned).collect()
}

/// The names before `="value"` in the rest of a `VARS` line, lower case.
fn assigned(rest: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), rest);
    while let Some((front, value)) = rest.split_once('=') {
        let name = front.split_whitespace().next_back().unwrap_or_default();
        let Some(value) = value.trim_start().strip_prefix('"').filter(|_| !name.is_empty()) else { break };
        found.push(name.to_ascii_lowercase());
        // A backslash hides a quote.
        let mut is_hidden = false;
        let end = value.find(|sign: char| {
            let ends = sign == '"' && !is_hidden;
            is_hidden = sign == '\\' && !is_hidden;
            ends
        });
        let Some(end) = end else { break };
        rest = &value[end + 1..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_belong_to_the_nodes_of_a_file() {
        let dag = "JOB a sub/run.sub\nNODE b \"run.sub\" DIR x\nJOB c other.sub\n\
                   VARS a Size=\"1\" name = \"with \\\"quote\\\" = 2\" last=\"x\"\nvars b PREPEND k=\"v\"\nVARS c no=\"1\"\n\
                   VARS ALL_NODES all=\"1\" \\\n  more=\"2\"\nPARENT a CHILD c\n";
        let names: Vec<String> = given(dag, "run.sub").into_iter().collect();
        assert_eq!(names, ["all", "k", "last", "more", "name", "size"]);
        assert_eq!(given("VARS ALL_NODES all=\"1\"\nJOB c other.sub\n", "run.sub"), BTreeSet::new());
    }
}
