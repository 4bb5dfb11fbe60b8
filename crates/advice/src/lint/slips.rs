//! Commands of a submit file that are each valid, and whose values do not fit each other or the way in which they are read.
//!
//! In: the values that a file gives. Out: warnings of the rule `odd-command`.

use std::collections::{BTreeMap, BTreeSet};

use super::refusals::{Assigned, Refused, warning};
use super::submit_programs::base;
use crate::submit::bytes;

/// The values of a file, and its statements.
pub(super) struct Slips<'r> {
    pub(super) values: &'r BTreeMap<String, Vec<Assigned>>,
    pub(super) statements: &'r [String],
}

/// A statement, a message and a help.
type Slip<'r> = (usize, String, String);

impl<'r> Slips<'r> {
    pub(super) fn check(&self) -> Vec<Refused> {
        let all = [
            self.arithmetic(),
            self.left_behind(),
            self.nodes(),
            self.one_name(),
            self.contents(),
            self.encrypted(),
            self.deferral(),
            self.small_increase(),
        ];
        let found = all.into_iter().flatten().chain(self.twice());
        let place = |(at, message, help): Slip<'_>| {
            let statement = self.statements.get(at).map_or("", String::as_str);
            (at, warning(message, statement, help).code("odd-command"))
        };
        found.map(place).collect()
    }

    /// The one value of a command that has one.
    fn value(&self, name: &str) -> Option<(&'r str, usize)> {
        match self.values.get(name)?.as_slice() {
            [(value, at)] => Some((value.trim(), *at)),
            _ => None,
        }
    }

    fn either(&self, names: [&str; 2]) -> Option<(&'r str, usize)> {
        names.into_iter().find_map(|name| self.value(name))
    }

    fn has(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.values.contains_key(*name))
    }

    fn is_plain_universe(&self) -> bool {
        let universe = self.value("universe").map_or("vanilla", |(universe, _)| universe);
        universe.eq_ignore_ascii_case("vanilla") && !self.has(&["container_image", "docker_image"])
    }

    /// An amount that a command and an attribute give, with different values.
    fn twice(&self) -> impl Iterator<Item = Slip<'r>> + use<'_, 'r> {
        /// Commands, their attributes, and the bytes of a number without a unit.
        const PAIRS: [(&str, &str, u64); 4] = [
            ("request_cpus", "my.requestcpus", 1),
            ("request_gpus", "my.requestgpus", 1),
            ("request_memory", "my.requestmemory", 1 << 20),
            ("request_disk", "my.requestdisk", 1 << 10),
        ];
        PAIRS.into_iter().filter_map(|(command, attribute, unit)| {
            let ((one, first), (other, second)) = (self.value(command)?, self.value(attribute)?);
            let differ = (bytes(one, unit)? - bytes(other, unit)?).abs() > 0.5;
            let message = format!("`{command}` is `{one}`, and this sets the same attribute to `{other}`");
            differ.then(|| (first.max(second), message, "remove one of the two".to_owned()))
        })
    }

    /// `$(Process)*100` in arguments, which is text.
    fn arithmetic(&self) -> Option<Slip<'r>> {
        const NUMBERS: [&str; 4] = ["$(process)", "$(procid)", "$(step)", "$(row)"];
        let (value, at) = self.value("arguments")?;
        // A program may compute it.
        if value.contains(['\'', '`']) || value.split_whitespace().any(|word| matches!(word, "-c" | "-e" | "-r")) {
            return None;
        }
        let is_product = |word: &&str| {
            let lower = word.to_ascii_lowercase();
            let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            NUMBERS.iter().any(|name| {
                let after = lower.strip_prefix(name).and_then(|rest| rest.strip_prefix(['*', '+', '-']));
                let before = lower.strip_suffix(name).and_then(|rest| rest.strip_suffix('*'));
                let is_range = lower.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
                after.is_some_and(is_number) && !is_range || before.is_some_and(is_number)
            })
        };
        let word = value.trim_matches('"').split_whitespace().find(is_product)?;
        let message = format!("`{word}` is passed as it is: arguments are not computed");
        let inner = word.replace("$(", "").replace(')', "");
        let help = format!("write `number = {inner}` above, and `$INT(number)` here");
        Some((at, message, help))
    }

    /// A factor, where HTCondor adds an amount (`SetBuiltInOnEvictCheck` in HTCondor's `submit_utils.cpp`).
    fn small_increase(&self) -> Option<Slip<'r>> {
        /// Bytes: more may be meant as a step, and a request above the other is not made larger by so little.
        const MOST: f64 = 16.0 * 1024.0 * 1024.0;
        const LEAST: f64 = 1024.0 * 1024.0 * 1024.0;
        let (value, at) = self.value("retry_request_memory_increase")?;
        let (request, _) = self.value("request_memory")?;
        let is_small = bytes(value, 1 << 20)? <= MOST && bytes(request, 1 << 20)? >= LEAST;
        let number = value.trim_end_matches(|sign: char| sign.is_ascii_alphabetic() || sign == ' ');
        let message =
            format!("each try gets {number} MiB more: this is added to `request_memory`, which is `{request}`");
        let help = format!("write an amount with a unit, as in `{number}GB`, or `RequestMemory * 2`");
        is_small.then_some((at, message, help))
    }

    /// A program of the submit machine that no job gets.
    fn left_behind(&self) -> Option<Slip<'r>> {
        let (no, at) = self.value("transfer_executable")?;
        let (program, _) = self.value("executable").filter(|(program, _)| !program.contains('$'))?;
        let (always, _) = self.value("should_transfer_files")?;
        let is_relative = !program.starts_with('/');
        let is_lost = no.eq_ignore_ascii_case("false") && always.eq_ignore_ascii_case("yes") && is_relative;
        // A program that is looked for in the `PATH` of the machine (HTCondor's `os_proc.cpp`).
        let others = ["my.transferinput", "my.preserverelativeexecutable"];
        let inputs = self.values.get("transfer_input_files").into_iter().flatten();
        let first = program.trim_start_matches("./").split('/').next().unwrap_or(program);
        let may_bring = |item: &str| base(item) == first || item.ends_with('/') || item.contains(['$', '"', '?']);
        let mut files = inputs.flat_map(|(list, _)| list.split(',')).peekable();
        // Scripts are rarely there.
        let is_found = files.peek().is_some() && !base(program).contains('.');
        let is_brought = is_found || files.any(|item| may_bring(item.trim()));
        if !is_lost || is_brought || !self.is_plain_universe() || self.has(&others) {
            return None;
        }
        let message = format!("`{program}` is not on the execute machine: it is relative, and is not transferred");
        Some((at, message, "remove the command, or write the path that the program has on execute machines".to_owned()))
    }

    /// The output of all nodes of a parallel job.
    fn nodes(&self) -> Option<Slip<'r>> {
        let (universe, _) = self.value("universe")?;
        let (count, _) = self.either(["machine_count", "node_count"])?;
        let several = universe.eq_ignore_ascii_case("parallel") && count.parse::<u32>().is_ok_and(|count| count > 1);
        let own = |value: &str| value.to_ascii_lowercase().contains("node)");
        let shared = ["output", "error"].into_iter().filter(|_| several).find_map(|name| {
            let (value, at) = self.value(name)?;
            (!own(value) && !value.starts_with("/dev/")).then_some((name, value, at))
        });
        let (name, value, at) = shared?;
        // Who tells apart one of the two knows of nodes.
        let other = if name == "output" { "error" } else { "output" };
        let is_told = self.value(other).is_some_and(|(value, _)| own(value));
        let message = format!("all {count} nodes write their `{name}` into one file, `{value}`");
        is_told.then(|| (at, message, "write `$(Node)` as a part of the name".to_owned()))
    }

    /// Two files that get one name in the directory of the job.
    fn one_name(&self) -> Option<Slip<'r>> {
        let (value, at) = self.value("transfer_input_files").filter(|_| !self.has(&["preserve_relative_paths"]))?;
        let mut names: BTreeMap<&str, &str> = BTreeMap::new();
        let files =
            value.split(',').map(str::trim).filter(|file| !file.ends_with('/') && !file.contains(['$', '"', '?']));
        for file in files.filter(|file| !file.is_empty()) {
            let base = base(file);
            if let Some(first) = names.insert(base, file).filter(|first| *first != file) {
                let message = format!("`{first}` and `{file}` are both `{base}` in the directory of the job");
                return Some((at, message, "rename one of them, or set `preserve_relative_paths = true`".to_owned()));
            }
        }
        None
    }

    /// `data/`, of which the contents are transferred, and `data/x` in the arguments.
    fn contents(&self) -> Option<Slip<'r>> {
        let (value, at) = self.value("transfer_input_files").filter(|_| !self.has(&["preserve_relative_paths"]))?;
        let items: BTreeSet<&str> = value.split(',').map(str::trim).collect();
        let (arguments, _) = self.value("arguments")?;
        let word = arguments.trim_matches('"').split_whitespace().find(|word| {
            let folder = word.split_once('/').map_or("", |(folder, _)| folder);
            let is_name = !folder.is_empty() && !matches!(folder, "." | "..") && !folder.contains(['$', '=', ':']);
            is_name && items.contains(&word[..=folder.len()]) && !items.contains(folder)
        })?;
        let folder = word.split_once('/').map_or("", |(folder, _)| folder);
        let message = format!("`{folder}/` transfers what is in `{folder}`, so the job has no `{word}`");
        Some((at, message, format!("write `{folder}` without the `/`")))
    }

    /// A file that is to be encrypted, and is none of those that are transferred.
    fn encrypted(&self) -> Option<Slip<'r>> {
        let (names, at) = self.value("encrypt_input_files").or_else(|| self.value("dont_encrypt_input_files"))?;
        let (value, _) = self.value("transfer_input_files").filter(|_| !self.has(&["my.transferinput"]))?;
        let others = ["executable", "input"].into_iter().filter_map(|name| Some(self.value(name)?.0));
        let files: Vec<&str> = value.split(',').map(str::trim).filter(|file| !file.is_empty()).collect();
        let is_pattern = |text: &str| text.contains(['$', '*', '?', '"']);
        // What has no `.` may be a folder with any files.
        if is_pattern(names) || files.iter().any(|file| is_pattern(file) || !base(file).contains('.')) {
            return None;
        }
        let files: Vec<&str> = files.into_iter().chain(others).collect();
        let mut names = names.split([',', ' ']).filter(|name| !name.is_empty());
        let missing = names.find(|name| !files.iter().any(|file| file == name || base(file) == base(name)))?;
        let message = format!("`{missing}` is not transferred, so there is nothing to encrypt");
        Some((at, message, "write a name that is in `transfer_input_files`".to_owned()))
    }

    /// A delay where a time is asked for.
    fn deferral(&self) -> Option<Slip<'r>> {
        /// The year 2001.
        const EARLIEST: i64 = 1_000_000_000;
        let (value, at) =
            self.value("deferral_time").filter(|_| !self.has(&["deferral_window", "my.deferralwindow"]))?;
        let mut factors = value.split('*').map(|factor| factor.trim().parse::<i64>().ok());
        let time = factors.try_fold(1_i64, |product, factor| product.checked_mul(factor?))?;
        let message = format!("`deferral_time` is a time in seconds since 1970, and {time} is long past");
        (0 < time && time < EARLIEST).then(|| (at, message, format!("write `deferral_time = QDate + {value}`")))
    }
}
