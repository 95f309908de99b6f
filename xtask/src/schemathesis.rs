//! schemathesis, always of the pinned version, and what it is let loose on: `tests/openapi/schemathesis`.
//!
//! It is a Python program. What it consists of stands in `requirements.txt` with the hash of every file; that is
//! installed into a virtual environment in the target directory, again when the pins have changed, and nothing of it
//! runs while it is being installed. `conformance.py` then starts authorities, calls schemathesis, and judges. The same
//! pins have the public library of Standard Webhooks, which `conformance.py` has verify deliveries (contract 15.12).

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process;
use crate::workspace::Workspace;

/// What the authority keeps its records in.
#[derive(Clone, Copy)]
pub(crate) enum Database {
    /// Files of its own.
    Sqlite,
    /// Databases that the built `with-postgres` makes.
    Postgres,
}

/// Holds both listeners of the built authority to their documents: at least so many cases each, drawn from a seed.
pub(crate) fn conformance(
    workspace: &Workspace,
    database: Database,
    cases: u32,
    seed: Option<u32>,
) -> Result<()> {
    let python = install(workspace)?;
    let built = workspace.target().join("debug");
    let mut command = match database {
        Database::Sqlite => Command::new(python),
        Database::Postgres => {
            let mut command = Command::new(built.join("with-postgres"));
            command.arg(python);
            command
        }
    };
    command.current_dir(folder(workspace)).args(["-B", "conformance.py", "--authority"]);
    command.arg(built.join("authority")).args(["--cases", &cases.to_string()]);
    command.args(seed.iter().flat_map(|seed| ["--seed".to_owned(), seed.to_string()]));
    if matches!(database, Database::Postgres) {
        command.args(["--merchant-database", "{database}", "--operator-database", "{database}"]);
    }
    process::run(&mut command)
}

/// Installs what `requirements.txt` names, unless that very file is installed already; the environment's Python.
fn install(workspace: &Workspace) -> Result<PathBuf> {
    let pins_path = folder(workspace).join("requirements.txt");
    let pins = fs::read(&pins_path).with_context(|| format!("{} is missing", pins_path.display()))?;
    let environment = workspace.target().join("schemathesis");
    let (python, installed) =
        (environment.join("bin/python"), environment.join("installed-requirements.txt"));
    // The interpreter may have gone since, with an upgrade of the machine.
    if python.exists() && fs::read(&installed).is_ok_and(|before| before == pins) {
        return Ok(python);
    }
    process::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
    process::run(
        Command::new(&python)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"])
            .args(["--require-hashes", "--only-binary", ":all:", "--requirement"])
            .arg(&pins_path),
    )
    .context("pip could not install what requirements.txt names: PyPI must be reachable once")?;
    fs::write(&installed, pins).with_context(|| format!("{} cannot be written", installed.display()))?;
    Ok(python)
}

fn folder(workspace: &Workspace) -> PathBuf {
    workspace.root().join("tests/openapi/schemathesis")
}
