//! `authority completion` and `authority man`: what shells and `man` know of the commands, written from the very
//! arguments that the program reads.

use std::fs;

use clap::Command;

use super::{Exit, Failure, Process, args};

/// Prints the script that completes commands and options.
pub(super) fn completion(
    arguments: &args::Completion,
    mut command: Command,
    process: &mut Process<'_>,
) -> Result<Exit, Failure> {
    // The generator panics when its writer fails, so it writes into memory.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "authority", &mut script);
    process.stdout.write_all(&script)?;
    Ok(Exit::Done)
}

/// Writes one page per command.
pub(super) fn man(arguments: &args::Man, command: Command) -> Result<Exit, Failure> {
    let folder = &arguments.folder;
    fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command, folder))
        .map(|()| Exit::Done)
        .map_err(|error| Failure::Failed(format!("{} cannot be written: {error}", folder.display())))
}
