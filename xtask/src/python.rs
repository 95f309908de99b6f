//! Virtual environments for the Python programs of the tests.
//!
//! What one consists of stands in a `requirements.txt` with the hash of every file. It is installed into the target
//! directory, again when the pins have changed, and nothing of it runs while it is being installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process;
use crate::workspace::Workspace;

/// Installs what `folder/requirements.txt` names into the environment `name`, unless that very file is installed
/// already; the environment's Python.
pub(crate) fn install(workspace: &Workspace, name: &str, folder: &Path) -> Result<PathBuf> {
    let pins_path = folder.join("requirements.txt");
    let pins = fs::read(&pins_path).with_context(|| format!("{} is missing", pins_path.display()))?;
    let environment = workspace.target().join(name);
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
