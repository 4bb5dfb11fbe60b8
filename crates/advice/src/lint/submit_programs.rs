//! The program of a job, its arguments and the files that it gets, which do not fit each other.
//!
//! In: the values of a file. Out: warnings of the rule `odd-command`.

use super::refusals::{Reading, warning};
use super::submit_odd::{NUMBERS, is_for_shell};
use crate::submit::queue::number;

/// A statement, a message and a help.
type Misfit = Option<(usize, String, String)>;

/// Programs that run the script in their first argument.
const INTERPRETERS: [&str; 9] = ["python", "python2", "python3", "perl", "Rscript", "julia", "ruby", "bash", "sh"];

/// Programs that run the one argument after `-c`.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "ksh", "zsh"];

/// The last part of a path.
pub(super) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Tests whether a program runs the script in its first argument.
pub(super) fn interprets(program: &str) -> bool {
    let name = base(program);
    INTERPRETERS.contains(&name) || name.starts_with("python3.")
}

/// The arguments, as they are written. Text in quotes is one of them, although `condor_submit` separates it too where the whole value has
/// no quotes around it.
pub(super) fn words(arguments: &str) -> Vec<&str> {
    let inner = arguments.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(arguments);
    let mut quote = None;
    let words = inner.split(|sign: char| {
        match quote {
            Some(open) if open == sign => quote = None,
            None if matches!(sign, '\'' | '"') => quote = Some(sign),
            _ => {}
        }
        quote.is_none() && sign.is_whitespace()
    });
    words.filter(|word| !word.is_empty()).collect()
}

/// `$(Process) + 1`: the sum of a number of the job and a whole number. `-` and `*` may be arguments: standard input, all files.
fn sum_of_macro(value: &str) -> Option<String> {
    let words = words(value);
    let is_number = |word: &str| NUMBERS.iter().any(|known| known.eq_ignore_ascii_case(word));
    let is_integer = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let apart = words.windows(3).find(|part| {
        let is_pair = is_number(part[0]) && is_integer(part[2]) || is_integer(part[0]) && is_number(part[2]);
        is_pair && part[1] == "+"
    });
    let joined = words
        .iter()
        .find(|word| word.split_once('+').is_some_and(|(macro_, integer)| is_number(macro_) && is_integer(integer)));
    apart.map(|part| part.join(" ")).or_else(|| joined.map(|word| (*word).to_owned()))
}

impl Reading {
    /// Reports a program, arguments and files that do not fit each other.
    pub(super) fn programs(&mut self, statements: &[String]) {
        let found = [
            self.repeated_program(),
            self.one_argument(),
            self.missing_script(),
            self.plain_interpreter(),
            self.moved_file(),
            self.of_shell_in_arguments(),
            self.threads(),
            self.stream_as_output(),
            self.same_code(),
            self.class_name(),
            self.no_sum(),
        ];
        for (at, message, help) in found.into_iter().flatten() {
            // What another rule says of the statement is enough.
            if !self.found.iter().any(|(of, _)| *of == at) {
                self.found.push((at, warning(message, &statements[at], help).code("odd-command")));
            }
        }
    }

    /// `arguments = $(Process) + 1`
    fn no_sum(&self) -> Misfit {
        /// Programs that compute.
        const COMPUTE: [&str; 6] = ["awk", "bc", "echo", "expr", "python", "python3"];
        let (arguments, at) = self.arguments()?;
        let sum = sum_of_macro(arguments)?;
        let computes = self.program().is_none_or(|program| {
            let name = base(program);
            COMPUTE.contains(&name) || SHELLS.contains(&name)
        });
        let message =
            format!("`{sum}` is not computed: the arguments are this text, with the number in place of the macro");
        let help = "define a macro, `number = $(Process) + 1`, and write `$INT(number)`".to_owned();
        (!computes && !is_for_shell(arguments)).then_some((at, message, help))
    }

    fn arguments(&self) -> Option<(&str, usize)> {
        self.value(&["arguments"]).map(|(text, at)| (text.as_str(), *at))
    }

    fn program(&self) -> Option<&str> {
        self.value(&["executable"]).map(|(text, _)| text.as_str())
    }

    fn transfers_always(&self) -> bool {
        let is_yes = |text: &str| ["yes", "true", "always"].iter().any(|word| text.eq_ignore_ascii_case(word));
        self.value(&["should_transfer_files"]).is_some_and(|(text, _)| is_yes(text))
    }

    /// The files that are transferred to the job.
    fn inputs(&self) -> Vec<&str> {
        let list = self.value(&["transfer_input_files"]).map_or("", |(text, _)| text.trim_matches('"'));
        list.split(',').map(str::trim).filter(|item| !item.is_empty()).collect()
    }

    /// The name of the program as the first of its arguments.
    fn repeated_program(&self) -> Misfit {
        let (program, (arguments, at)) = (self.program()?, self.arguments()?);
        let first = *words(arguments).first()?;
        let is_script =
            base(program).contains('.') && !program.contains('$') && program.strip_suffix(".class").is_none();
        let message = format!("`{first}` is the program, and here its first argument as well");
        let rest = words(arguments)[1..].join(" ");
        let is_same = first == program || first.trim_start_matches("./") == base(program);
        (is_script && is_same).then(|| (at, message, format!("write `arguments = {rest}`")))
    }

    /// `bash -c echo hello`: the shell takes one argument after `-c`.
    fn one_argument(&self) -> Misfit {
        let (program, (arguments, at)) = (self.program()?, self.arguments()?);
        let words = words(arguments);
        let option = words.iter().position(|word| matches!(*word, "-c" | "-lc" | "-ec"))?;
        let (first, rest) = (words.get(option + 1)?, words.get(option + 2)?);
        if !SHELLS.contains(&base(program)) || first.contains(['\'', '"', '\\']) || rest.starts_with('#') {
            return None;
        }
        let message = format!("the shell runs `{first}` alone: `-c` takes one argument");
        let command = words[option + 1..].join(" ");
        let before = words[..=option].join(" ");
        (!command.contains('\'')).then(|| (at, message, format!("write `arguments = \"{before} '{command}'\"`")))
    }

    /// A script that an interpreter runs, and that is not transferred.
    fn missing_script(&self) -> Misfit {
        const ENDS: [&str; 7] = [".py", ".sh", ".R", ".r", ".pl", ".jl", ".rb"];
        let (program, (arguments, at)) = (self.program()?, self.arguments()?);
        let script = *words(arguments).first()?;
        let is_script = ENDS.iter().any(|end| script.ends_with(end)) && !script.starts_with(['/', '-', '$', '~']);
        if !is_script || !interprets(program) || !self.transfers_always() || self.includes || script.contains('$') {
            return None;
        }
        let may_hold = |item: &&str| {
            let is_above = *item == "." || script.strip_prefix(*item).is_some_and(|rest| rest.starts_with('/'));
            let is_folder = is_above || !base(item).contains('.') || item.ends_with('/');
            is_folder || item.contains(['$', '*']) || base(item) == base(script)
        };
        let message =
            format!("`{script}` is not among the files that are transferred, so there is no such file for the job");
        let help = format!("add `{script}` to `transfer_input_files`");
        (!self.inputs().iter().any(may_hold) && !self.has_image()).then_some((at, message, help))
    }

    fn has_image(&self) -> bool {
        ["container_image", "docker_image", "my.singularityimage"].iter().any(|name| self.may_have(name))
    }

    /// `executable = python3`: a file of the folder of the submission, and not a program of the system.
    fn plain_interpreter(&self) -> Misfit {
        let (program, at) = self.value(&["executable"])?;
        let is_there = self.value(&["transfer_executable"]).is_some() || self.has_image() || self.includes;
        let universe = self.value(&["universe"]).map_or("vanilla", |(name, _)| name.as_str());
        let is_plain = matches!(universe.to_ascii_lowercase().as_str(), "vanilla" | "local" | "scheduler");
        let message = format!("`{program}` is looked for in the folder of the submission: no `PATH` is searched");
        let help = format!("write the whole path, such as `/usr/bin/{program}`");
        let folder = ["initialdir", "initial_dir", "iwd"].iter().any(|name| self.may_have(name));
        (INTERPRETERS.contains(&program.as_str()) && is_plain && !is_there && !folder).then_some((*at, message, help))
    }

    /// An argument that names a transferred file by the path that it has where the job is submitted.
    fn moved_file(&self) -> Misfit {
        let (arguments, at) = self.arguments()?;
        if !self.transfers_always() || self.may_have("preserve_relative_paths") || self.includes {
            return None;
        }
        let inputs = self.inputs();
        let path = |word: &str| word.rsplit('=').next().unwrap_or(word).trim_matches('\'').to_owned();
        let is_moved = |path: &&String| {
            let plain = path.trim_start_matches("./");
            let is_path = plain.contains('/') && path.contains('/') && !path.ends_with('/') && !path.contains("://");
            is_path && inputs.contains(&path.as_str()) && !base(path).is_empty()
        };
        let all: Vec<String> = words(arguments).into_iter().map(path).collect();
        let moved = all.iter().find(is_moved)?;
        let message = format!("`{moved}` is transferred as `{}`, without its folder", base(moved));
        Some((at, message, format!("write `{}`", base(moved))))
    }

    /// `~/data` and `$HOME/data` in arguments, which no shell reads.
    fn of_shell_in_arguments(&self) -> Misfit {
        const VARIABLES: [&str; 6] = ["HOME", "USER", "PWD", "TMPDIR", "HOSTNAME", "_CONDOR_SCRATCH_DIR"];
        let (arguments, at) = self.arguments()?;
        // The entry point of an image may be a shell.
        if self.has_image()
            || is_for_shell(arguments)
            || words(arguments).iter().any(|word| matches!(*word, "-c" | "eval"))
        {
            return None;
        }
        words(arguments).into_iter().find_map(|word| {
            let path = word.rsplit('=').next().unwrap_or(word);
            if let Some(rest) = path.strip_prefix("~/") {
                let message = format!("`{path}` is passed as it is: a shell does not read it");
                return Some((at, message, format!("write `$ENV(HOME)/{rest}`")));
            }
            let inner = path.strip_prefix('$')?.trim_start_matches('{');
            let end = inner.find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_')).unwrap_or(inner.len());
            let name = VARIABLES.into_iter().find(|name| *name == &inner[..end])?;
            let message = format!("`${name}` is passed as it is: a shell does not read it");
            let help = match name {
                "HOME" | "USER" => format!("write `$ENV({name})` for its value where the job is submitted"),
                _ => "read the variable in the program".to_owned(),
            };
            (!inner[end..].starts_with('(')).then_some((at, message, help))
        })
    }

    /// More threads than cores.
    fn threads(&self) -> Misfit {
        const VARIABLES: [&str; 4] =
            ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"];
        const OPTIONS: [&str; 11] = [
            "--threads",
            "--nthreads",
            "--num-threads",
            "--num_threads",
            "--cores",
            "--ncores",
            "--cpus",
            "--ncpus",
            "--num-cpus",
            "--num_cpus",
            "--nproc",
        ];
        let (cores, _) = self.value(&["request_cpus"])?;
        let cores: u32 = cores.parse().ok()?;
        let more = |text: &str| text.trim_matches(['"', '\'']).parse::<u32>().is_ok_and(|number| number > cores);
        let of_environment = self.value(&["environment"]).and_then(|(text, at)| {
            let mut settings =
                text.trim_matches('"').split([';', ' ']).filter_map(|setting| setting.trim().split_once('='));
            let (name, count) = settings.find(|(name, count)| VARIABLES.contains(name) && more(count))?;
            Some((*at, format!("`{name}={count}`")))
        });
        let of_arguments = || {
            let (arguments, at) = self.arguments()?;
            let words = words(arguments);
            let option = words.iter().enumerate().find_map(|(at, word)| {
                let (name, count) = word.split_once('=').or_else(|| Some((*word, *words.get(at + 1)?)))?;
                (OPTIONS.contains(&name) && more(count)).then(|| format!("`{name} {count}`"))
            })?;
            Some((at, option))
        };
        let (at, shown) = of_environment.or_else(of_arguments)?;
        let message = format!("{shown} is more than the {cores} of `request_cpus`");
        Some((at, message, "write one number in both, such as `$(request_cpus)`".to_owned()))
    }

    /// The stream of the job, or its log, among the files that the job makes.
    fn stream_as_output(&self) -> Misfit {
        let (files, at) = self.value(&["transfer_output_files"])?;
        let (name, file) = ["output", "error", "log"].into_iter().find_map(|name| {
            let (file, _) = self.value(&[name])?;
            files.split(',').any(|item| item.trim() == file).then_some((name, file))
        })?;
        let message = format!("`{file}` is the `{name}` of the job, which is brought back without being listed");
        Some((*at, message, format!("remove it: the job has no file `{file}`, and would be held")))
    }

    /// One code for a checkpoint and for success.
    fn same_code(&self) -> Misfit {
        let (checkpoint, _) = self.value(&["checkpoint_exit_code"])?;
        let (success, at) = self.value(&["success_exit_code"])?;
        let message = format!("`success_exit_code` is that of a checkpoint, {success}, so the job never ends");
        (number(checkpoint)? == number(success)?).then(|| (*at, message, "write another code".to_owned()))
    }

    /// `arguments = Main.class` in the java universe, which takes the name of the class.
    fn class_name(&self) -> Misfit {
        let (universe, _) = self.value(&["universe"])?;
        let (arguments, at) = self.arguments()?;
        let first = *words(arguments).first().filter(|_| universe.eq_ignore_ascii_case("java"))?;
        let class = first.strip_suffix(".class").or_else(|| first.strip_suffix(".java"))?;
        let message = format!("`{first}` is the name of a file, and the first argument is the name of a class");
        Some((at, message, format!("write `{class}`")))
    }
}
