//! schemathesis, always of the pinned version, and what it is let loose on: `tests/openapi/schemathesis`.
//!
//! It is a Python program. What it consists of stands in `requirements.txt` with the hash of every file; that is
//! installed into a virtual environment in the target directory, again when the pins have changed, and nothing of it runs
//! while it is being installed. `conformance.py` then starts authorities, calls schemathesis, and judges.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process;
use crate::workspace::Workspace;

/// Holds both listeners of the built authority to their documents: at least so many cases each, drawn from a seed.
pub(crate) fn conformance(workspace: &Workspace, cases: u32, seed: Option<u32>) -> Result<()> {
    let mut command = Command::new(install(workspace)?);
    command.current_dir(folder(workspace)).args(["-B", "conformance.py"]);
    command.arg("--authority").arg(workspace.target().join("debug/authority"));
    command.args(["--cases", &cases.to_string()]);
    if let Some(seed) = seed {
        command.args(["--seed", &seed.to_string()]);
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
