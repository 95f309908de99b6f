//! `authority-openapi FOLDER`: writes the OpenAPI documents into `docs/openapi`, or says which of them are not as
//! they would be written. Called by `cargo xtask codegen`.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use authority_openapi::documents;
use clap::Parser;

/// Writes the OpenAPI documents.
#[derive(Parser)]
struct Arguments {
    /// The folder of the documents, `docs/openapi`.
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
    let mut differences = Vec::new();
    for document in documents()? {
        let path = arguments.folder.join(document.file);
        let text = document.text()?;
        if fs::read_to_string(&path).is_ok_and(|before| before == text) {
            continue;
        }
        if arguments.check {
            differences.push(path.display().to_string());
        } else {
            fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
        }
    }
    if !differences.is_empty() {
        bail!("{} are not as `cargo xtask codegen` writes them: run it and commit", differences.join(", "));
    }
    Ok(())
}
