//! `classmate completions SHELL`

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::{Cli, Failure, print, raw_output};

/// Print a script that completes command lines in a shell.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate completions bash > classmate.bash
  classmate completions zsh > _classmate

bash reads the files in ~/.local/share/bash-completion/completions, zsh those in a directory of $fpath, fish those in \
~/.config/fish/completions. Packages install the scripts.")]
pub(super) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

pub(super) fn run(arguments: &CompletionsArguments) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "classmate", &mut text);
    print(raw_output(), |out| out.write_all(&text))
}
