//! What is printed on a terminal fits it: 80 columns, and wide ones are used.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test")]

use std::process::Command;

use rexpect::session::spawn_command;

/// Longest wait for an answer, in milliseconds.
const PATIENCE: u64 = 60_000;

/// Commands of which nothing is left out at 80 columns, with exit status 0.
const COMMANDS: &[&[&str]] = &[
    &["explain", "examples/pool", "--job", "1.0", "--details", "--policies"],
    &["explain", "examples/stuck", "--job", "1.0", "--details", "--policies"],
    &["explain", "examples/stuck", "--slot", "slot1@m05.example.org", "--details"],
    &["explain", "examples/stuck", "--all", "--details"],
    &["explain", "examples/pool", "--submitter", "carol@pool.test"],
    &["explain", "examples/groups", "--group", "chemistry"],
    &["whatif", "examples/groups", "--set", "GROUP_QUOTA_chemistry = 5"],
    &["test", "examples/policy/start.toml", "examples/policy/owner.toml"],
    &["lint", "examples/pool/config"],
    &["match", "--job", "examples/pool/jobs.ads", "--slots", "examples/pool/slots.ads"],
    &["ads", "examples/pool/slots.ads", "--attributes", "Name,Cpus,Memory,State", "--format", "table"],
    &["config", "check", "examples/pool/config"],
    &["lint", "--list"],
    &["functions"],
    &["compare", "tests/data/runs/condor", "tests/data/runs/slurm"],
];

/// Commands with tables of many columns, the least useful of which are left out at 80 columns.
const WIDE: &[&[&str]] = &[
    &["negotiate", "examples/pool"],
    &["negotiate", "examples/groups"],
    &["negotiate", "examples/slurm", "--policy", "slurm"],
    &["negotiate", "examples/dirac", "--policy", "dirac"],
    &["autoclusters", "examples/pool"],
    &["autoclusters", "examples/explosion"],
    &["quotas", "examples/groups"],
    &["report", "examples/groups", "--format", "text"],
    &["taskqueues", "examples/dirac"],
    &["userprio", "examples/pool", "-allusers"],
    &["userprio", "examples/pool", "-all", "-allusers"],
    &["simulate", "--workload", "examples/simulate/trace.swf", "--slots", "128"],
    &["sprio", "examples/slurm"],
    &["sprio", "examples/slurm", "-l"],
    &["sshare", "examples/slurm", "-a", "-l"],
];

/// The lines of the result that a command prints on a terminal of so many columns, without colours.
fn printed(arguments: &[&str], columns: &str) -> Vec<String> {
    // Messages are on another stream.
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" \"$@\" 2>/dev/null", env!("CARGO_BIN_EXE_classmate")]);
    command.args(arguments).env("COLUMNS", columns).env("NO_COLOR", "1").env("TERM", "xterm");
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut session = spawn_command(command, Some(PATIENCE)).unwrap();
    // A session gives each byte as a character.
    let bytes: Vec<u8> = session.exp_eof().unwrap().chars().map(|byte| byte as u8).collect();
    let text = String::from_utf8(bytes).unwrap();
    assert!(!text.contains('\u{1b}'), "{arguments:?} prints colours: {text}");
    text.lines().map(|line| line.trim_end_matches('\r').to_owned()).collect()
}

fn piped(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
    command.args(arguments).env("COLUMNS", "80").current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

/// Without what folding changes: the order of what is no blank, for headings have several lines, and a word that is longer than
/// a line is folded too.
fn unfolded(text: &str) -> String {
    let mut characters: Vec<char> = text.split_whitespace().flat_map(str::chars).collect();
    characters.sort_unstable();
    characters.into_iter().collect()
}

/// The words of a text.
fn words(text: &str) -> std::collections::BTreeSet<&str> {
    text.split_whitespace().collect()
}

#[test]
fn wide_tables_leave_out_columns_and_split_no_word() {
    const HIDDEN: &str = "not shown in this width: ";
    for arguments in WIDE {
        let whole = piped(arguments);
        let known = words(&whole);
        let narrow = printed(arguments, "80");
        for line in &narrow {
            assert!(line.chars().count() <= 80, "{arguments:?}: {line:?}");
        }
        let rows: Vec<&str> = narrow.iter().map(String::as_str).filter(|line| !line.starts_with(HIDDEN)).collect();
        let rows = rows.join("\n");
        assert_eq!(words(&rows).difference(&known).next(), None, "{arguments:?}: {rows}");
        let wide = printed(arguments, "300").join("\n");
        assert!(!wide.contains(HIDDEN), "{arguments:?}: {wide}");
        assert_eq!(words(&wide), known, "{arguments:?}");
    }
}

/// Tests if a line of a help is an example.
fn is_example(line: &str) -> bool {
    line.starts_with("  ") && !line.starts_with("   ") && line.contains("classmate ")
}

/// Examples are typed as they are printed, and the lines of legends go on under their texts.
#[test]
fn help_folds_no_example_and_keeps_legends_aligned() {
    let policy = printed(&["policy", "--help"], "80");
    let example =
        "  classmate policy equal 'Owner == \"ann\" || Owner == \"bob\"' 'stringListIMember(Owner, \"ann,bob\")'";
    assert!(policy.iter().any(|line| line == example), "{policy:#?}");
    let quotas = printed(&["quotas", "--help"], "80");
    let at = quotas.iter().position(|line| line.starts_with("  CONFIGURED  ")).unwrap();
    let text = [
        "  CONFIGURED  GROUP_QUOTA_<group>, or GROUP_QUOTA_DYNAMIC_<group> as a",
        "              percentage of what static quotas leave",
    ];
    assert_eq!(quotas[at..at + 2], text);
    for arguments in
        [&["--help"][..], &["explain", "--help"], &["quotas", "--help"], &["userprio", "--help"], &["policy", "--help"]]
    {
        for line in printed(arguments, "80") {
            assert!(is_example(&line) || line.chars().count() <= 80, "{arguments:?}: {line:?}");
        }
    }
}

#[test]
fn wide_characters_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slots.ads");
    std::fs::write(&path, "Name = \"東京\"\nCpus = 1\n\nName = \"slot2\"\nCpus = 22\n").unwrap();
    let path = path.to_str().unwrap();
    let lines = printed(&["ads", path, "--attributes", "Name,Cpus", "--format", "table"], "80");
    assert_eq!(lines, ["Name   Cpus", "東京      1", "slot2    22"]);
}

#[test]
fn lines_fit_a_terminal_and_nothing_is_lost() {
    for arguments in COMMANDS {
        let whole = piped(arguments);
        for columns in [80, 200] {
            let lines = printed(arguments, &columns.to_string());
            for line in &lines {
                let text = line.trim_start();
                // A word of an expression that is longer than the line stays whole.
                let fits = line.chars().count() <= columns || !text.contains(' ');
                assert!(fits, "{arguments:?} at {columns}: {} in {line:?}", line.chars().count());
            }
            assert_eq!(unfolded(&lines.join("\n")), unfolded(&whole), "{arguments:?} at {columns}");
        }
    }
}

#[test]
fn an_explanation_without_details_has_at_most_twelve_lines() {
    let jobs = |pool: &'static str, numbers: &[&'static str]| {
        numbers.iter().map(move |job| vec!["explain", pool, "--job", job]).collect::<Vec<_>>()
    };
    let mut commands = jobs("examples/stuck", &["1.0", "2.0", "3.0", "4.0", "5.0"]);
    commands.extend(jobs("examples/groups", &["1.0", "2.24", "3.11", "4.0"]));
    commands.extend(jobs("examples/pool", &["1.0", "1.13", "2.13", "3.13"]));
    let slots = ["slot1@m01.example.org", "slot1@m05.example.org"];
    commands.extend(slots.map(|slot| vec!["explain", "examples/stuck", "--slot", slot]));
    commands.extend(["examples/stuck", "examples/groups"].map(|pool| vec!["explain", pool, "--all"]));
    // Twelve causes, each of which is longer than a line of 80 columns.
    let job = |number: u32| {
        let condition =
            format!("TARGET.ALongNameOfAnAttribute{number} == \"a value that is as long as its name, {number}\"");
        format!("ClusterId = {number}\nProcId = 0\nJobStatus = 1\nUser = \"a@x\"\nRequirements = {condition}\n\n")
    };
    let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/long-causes.ads");
    std::fs::write(file, (1..=12).map(job).collect::<String>()).unwrap();
    commands.push(vec!["explain", "examples/pool", "--jobs", file, "--all"]);
    for arguments in commands {
        for columns in [80, 200] {
            let lines = printed(&arguments, &columns.to_string());
            assert!(lines.len() <= 12, "{arguments:?} at {columns}: {lines:#?}");
            let text = |line: &String| line.chars().count() <= columns || !line.trim_start().contains(' ');
            assert!(lines.iter().all(text), "{arguments:?} at {columns}: {lines:#?}");
        }
        assert!(piped(&arguments).lines().count() <= 12, "{arguments:?}");
    }
}

#[test]
fn a_pipe_and_a_wide_terminal_have_one_line_for_each_row() {
    for arguments in COMMANDS {
        let whole = piped(arguments);
        let lines = printed(arguments, "1000");
        assert_eq!(lines.len(), whole.lines().count(), "{arguments:?}");
    }
}

#[test]
fn help_fits_a_terminal() {
    for columns in [60, 80] {
        for line in printed(&["explain", "--help"], &columns.to_string()) {
            // The usage and the examples are commands, which stay whole.
            let command = ["classmate ", "Usage: "].iter().any(|start| line.trim_start().starts_with(start));
            let fits = line.chars().count() <= columns || command;
            assert!(fits, "{columns} columns: {line}");
        }
    }
}

#[test]
fn excerpts_of_long_lines_fit_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.conf");
    let clauses: Vec<String> = (0..30).map(|at| format!("TARGET.Attribute{at} > {at}")).collect();
    std::fs::write(&path, format!("START = {} && 1 =?= 1.0\n", clauses.join(" && "))).unwrap();
    let lines = printed(&["lint", path.to_str().unwrap()], "80");
    assert!(lines.iter().all(|line| line.chars().count() <= 80 || line.contains("long.conf")), "{lines:#?}");
    let caret = lines.iter().position(|line| line.contains("^^^^^^^^^")).unwrap();
    let at = lines[caret].find('^').unwrap();
    let byte = lines[caret - 1].char_indices().nth(at).unwrap().0;
    assert!(lines[caret - 1][byte..].starts_with("1 =?= 1.0"), "{lines:#?}");
}

#[test]
fn clauses_without_blanks_fit_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.toml");
    let names: Vec<String> = (0..20).map(|at| format!("user{at}")).collect();
    let text = format!(
        "ads.job = '[ Requirements = stringListMember(TARGET.Owner,\"{names}\")&&(TARGET.A||TARGET.B) ]'\n\
         ads.slot = '[ Owner = \"user3\"; A = false; B = false; Requirements = true ]'\n\
         [[test]]\nname = 't'\njob = 'job'\nslot = 'slot'\nmatch = true\n",
        names = names.join(",")
    );
    std::fs::write(&path, text).unwrap();
    let lines = printed(&["test", "--coverage", path.to_str().unwrap()], "80");
    assert!(lines.iter().any(|line| line.contains("user19")), "{lines:#?}");
    let long = |line: &&String| line.chars().count() > 80 && !line.contains("t.toml");
    assert_eq!(lines.iter().find(long), None, "{lines:#?}");
    let expression = format!("TARGET.Cpus>1&&member(TARGET.Owner,{{\"{}\"}})&&1=?=1.0", names.join("\",\""));
    let lines = printed(&["lint", "-e", &format!("{expression}&&{expression}")], "80");
    assert_eq!(lines.iter().find(long), None, "{lines:#?}");
}

/// The names of the subcommands in a help, below a heading.
fn listed(help: &[String]) -> Vec<String> {
    let lines = help.iter().skip_while(|line| !line.starts_with("Usage:")).take_while(|line| *line != "Options:");
    let name = |line: &String| {
        line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?.split(' ').next().map(str::to_owned)
    };
    lines.filter_map(name).collect()
}

#[test]
fn help_fits_a_terminal_of_80_columns() {
    let help = printed(&["--help"], "80");
    let names = listed(&help);
    assert!(names.len() > 30 && names.contains(&"verify".to_owned()), "{help:#?}");
    for name in std::iter::once("").chain(names.iter().map(String::as_str)) {
        for form in ["-h", "--help"] {
            let arguments: Vec<&str> = [name, form].into_iter().filter(|word| !word.is_empty()).collect();
            // Examples stay as they are typed.
            let is_wide = |line: &String| line.chars().count() > 80 && !is_example(line);
            let wide: Vec<String> = printed(&arguments, "80").into_iter().filter(is_wide).collect();
            assert!(wide.is_empty(), "{arguments:?}: {wide:#?}");
        }
    }
}

#[test]
fn help_and_usage_errors_obey_the_variables_of_colors() {
    let is_colored = |arguments: &[&str], variable: &str, value: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_classmate"));
        command.args(arguments).env_remove("NO_COLOR").env_remove("FORCE_COLOR").env(variable, value);
        let output = command.output().unwrap();
        [output.stdout, output.stderr].concat().contains(&0x1b)
    };
    for arguments in [&["--help"][..], &["whatif", "--help"], &["negotiate", "-h"], &["negotiate", "--nonsense"]] {
        assert!(is_colored(arguments, "FORCE_COLOR", "1"), "{arguments:?}");
        assert!(!is_colored(arguments, "FORCE_COLOR", "0") && !is_colored(arguments, "TERM", "xterm"), "{arguments:?}");
        let never = [arguments, &["--color", "never"]].concat();
        assert!(!is_colored(&never, "FORCE_COLOR", "1"), "{arguments:?}");
    }
    // What a message repeats of the arguments stays harmless.
    assert!(!is_colored(&["negotiate", "--\u{1b}[31m"], "FORCE_COLOR", "1"));
}

/// The text on standard error of a terminal while a simulation runs.
fn progress(variable: &str, value: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" \"$@\" >/dev/null", env!("CARGO_BIN_EXE_classmate")]);
    // With 128 slots, it would be over before anything is drawn.
    command.args(["simulate", "--workload", "examples/simulate/trace.swf"]);
    command.env_remove("NO_COLOR").env("TERM", "xterm").env(variable, value);
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    spawn_command(command, Some(PATIENCE)).unwrap().exp_eof().unwrap()
}

#[test]
fn progress_is_drawn_only_where_escape_sequences_are_wanted() {
    assert!(progress("TERM", "xterm").contains('\u{1b}'));
    assert!(!progress("TERM", "dumb").contains('\u{1b}'));
    assert!(!progress("NO_COLOR", "1").contains('\u{1b}'));
}

#[test]
fn a_row_of_a_cycle_is_a_line_in_80_columns_and_all_columns_are_there_in_200() {
    let (narrow, wide) =
        (printed(&["negotiate", "examples/groups"], "80"), printed(&["negotiate", "examples/groups"], "200"));
    let left_out = |lines: &[String]| lines.iter().filter(|line| line.starts_with("not shown in this")).count();
    // Of a table, what follows a folded cell is indented.
    let tables = narrow.iter().take_while(|line| !line.starts_with("30 slots"));
    let folded: Vec<&String> =
        tables.filter(|line| line.starts_with("   ") && line.chars().any(char::is_lowercase)).collect();
    assert!(folded.is_empty(), "{folded:#?}");
    assert!(left_out(&narrow) > 0, "{narrow:#?}");
    assert_eq!(left_out(&wide), 0, "{wide:#?}");
}
