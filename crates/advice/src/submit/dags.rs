//! Macros that DAGs give to the jobs of a submit file.
//!
//! In: the place of a submit file. Out: the names in `VARS` of the nodes that use it, in the DAGs of its folder and of the one
//! above it. What is read may be any text: only lines that name the submit file count.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// The macros that DAGs give to submit files. Each folder is read once.
#[derive(Debug, Default)]
pub struct DagMacros {
    folders: HashMap<PathBuf, Vec<DagNodes>>,
}

impl DagMacros {
    /// Names, lower case, to which DAGs beside a submit file give values for its jobs.
    pub fn given(&mut self, file: &Path) -> BTreeSet<String> {
        let (Some(own), Some(folder)) = (file.file_name().and_then(|name| name.to_str()), file.parent()) else {
            return BTreeSet::new();
        };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let above = folder.join("..");
        let mut names = BTreeSet::new();
        for folder in [folder, &above] {
            let read = || dags_in(folder).iter().map(|dag| DagNodes::of(dag)).collect();
            let dags = self.folders.entry(folder.to_owned()).or_insert_with(read);
            names.extend(dags.iter().flat_map(|dag| dag.given(own).cloned()));
        }
        names
    }
}

/// The nodes of a DAG, and the names, lower case, to which it gives values.
#[derive(Debug, Default)]
struct DagNodes {
    /// The nodes by the name of their submit file.
    by_file: HashMap<String, BTreeSet<String>>,
    /// The names by node.
    names: HashMap<String, BTreeSet<String>>,
    /// The names of all nodes.
    of_all: BTreeSet<String>,
}

impl DagNodes {
    fn of(dag: &str) -> Self {
        const NODES: [&str; 5] = ["job", "node", "final", "provisioner", "service"];
        let dag = dag.replace("\\\r\n", " ").replace("\\\n", " ");
        let mut found = DagNodes::default();
        for line in dag.lines() {
            let mut words = line.split_whitespace();
            let (Some(kind), Some(node)) = (words.next(), words.next()) else { continue };
            if kind.eq_ignore_ascii_case("vars") {
                let rest = line.trim_start().splitn(3, char::is_whitespace).nth(2).unwrap_or_default();
                let is_all = node.eq_ignore_ascii_case("all_nodes");
                let names = if is_all { &mut found.of_all } else { found.names.entry(node.to_owned()).or_default() };
                names.extend(assigned(rest));
            } else if let Some(path) = words.next().filter(|_| NODES.iter().any(|word| kind.eq_ignore_ascii_case(word)))
            {
                let file = path.trim_matches('"').rsplit(['/', '\\']).next().unwrap_or_default();
                found.by_file.entry(file.to_owned()).or_default().insert(node.to_owned());
            }
        }
        found
    }

    /// The names that it gives to the nodes that use a submit file.
    fn given(&self, file: &str) -> impl Iterator<Item = &String> {
        let nodes = self.by_file.get(file);
        let of_nodes = nodes.into_iter().flatten().filter_map(|node| self.names.get(node)).flatten();
        of_nodes.chain(self.of_all.iter().filter(move |_| nodes.is_some()))
    }
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
        let given = |dag: &str| {
            DagNodes::of(dag).given("run.sub").cloned().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
        };
        assert_eq!(given(dag), ["all", "k", "last", "more", "name", "size"]);
        assert_eq!(given("VARS ALL_NODES all=\"1\"\nJOB c other.sub\n"), [""; 0]);
    }

    #[test]
    fn a_folder_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let dag = folder.path().join("all.dag");
        std::fs::write(&dag, "JOB a a.sub\nJOB b b.sub\nVARS a x=\"1\"\nVARS b y=\"1\"\n").unwrap();
        let mut macros = DagMacros::default();
        let mut given = |file: &str| macros.given(&folder.path().join(file)).into_iter().collect::<Vec<_>>();
        assert_eq!(given("a.sub"), ["x"]);
        std::fs::remove_file(dag).unwrap();
        assert_eq!(given("b.sub"), ["y"]);
        assert_eq!(given("c.sub"), [""; 0]);
    }
}
