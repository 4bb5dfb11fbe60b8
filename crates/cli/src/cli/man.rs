//! `classmate man [DIR]`

use std::io::Write;
use std::path::PathBuf;

use clap::CommandFactory;

use crate::cli::{Cli, Failure, print, raw_output};

/// Write the manual pages of the command and its subcommands.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate man > classmate.1
  classmate man man1              # write man1/classmate.1, man1/classmate-explain.1 and others")]
pub(super) struct ManArguments {
    /// Directory for all pages, created if it does not exist; without it, print the page of the command
    directory: Option<PathBuf>,
}

pub(super) fn run(arguments: &ManArguments) -> Result<(), Failure> {
    let command = Cli::command();
    if let Some(directory) = &arguments.directory {
        let written = std::fs::create_dir_all(directory).and_then(|()| clap_mangen::generate_to(command, directory));
        return written.map_err(|error| Failure::writing(directory.display(), &error));
    }
    print(raw_output(), |out| {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        out.write_all(&page)
    })
}
