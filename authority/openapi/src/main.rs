//! `authority-openapi FOLDER --client FOLDER`: writes the OpenAPI documents into `docs/openapi` and the client's part
//! of the npm package into `pkg/src/client`, or says which of them are not as they would be written. Called by
//! `cargo xtask codegen`.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use authority_openapi::{client, documents};
use clap::Parser;

/// Writes the OpenAPI documents and what the client is made of.
#[derive(Parser)]
struct Arguments {
    /// The folder of the documents, `docs/openapi`.
    folder: PathBuf,
    /// The folder of the client's sources, `pkg/src/client`.
    #[arg(long)]
    client: PathBuf,
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
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for document in documents()? {
        files.push((arguments.folder.join(document.file), document.text()?));
    }
    files.extend(client::files()?.into_iter().map(|(name, text)| (arguments.client.join(name), text)));
    let mut differences = Vec::new();
    for (path, text) in files {
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
