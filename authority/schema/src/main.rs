//! `authority-schema FOLDER`: writes the generated TypeScript below the folder `pkg/src`, or says what of it is not
//! as it would be written. Called by `cargo xtask codegen`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use authority_schema::{Schemas, typescript};
use clap::Parser;

/// Writes the TypeScript that is generated from the records.
#[derive(Parser)]
struct Arguments {
    /// The folder of the package's sources, `pkg/src`.
    folder: PathBuf,
    /// Write nothing; fail when something would be written differently.
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let files = typescript::files(&Schemas::of_everything())?;
    if !arguments.check {
        return typescript::write(&arguments.folder, &files);
    }
    let differences = typescript::differences(&arguments.folder, &files)?;
    if !differences.is_empty() {
        bail!("{} are not as `cargo xtask codegen` writes them: run it and commit", differences.join(", "));
    }
    println!("{} generated files are as they should be", files.len());
    Ok(())
}
