//! npm, always from a lock file and never with install scripts.
//!
//! What is installed is exactly what `package-lock.json` names, and no package gets to run code while it is
//! being installed: the binaries used here (workerd, the TypeScript compiler) lie in their packages as files. The lock
//! files name the address of every package (`resolved`), as npm writes them unless its settings say otherwise: without,
//! npm reads a description of all versions of each, and takes half as long again.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process;

/// Installs what `folder/package-lock.json` names, unless that very lock file is installed already.
pub(crate) fn install(folder: &Path) -> Result<()> {
    let lock_path = folder.join("package-lock.json");
    let lock = fs::read(&lock_path).with_context(|| format!("{} is missing", lock_path.display()))?;
    let installed = folder.join("node_modules/.installed-lock.json");
    if fs::read(&installed).is_ok_and(|before| before == lock) {
        return Ok(());
    }
    process::run(npm(folder).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])).context(
        "npm could not install the packages that the lock file names: the npm registry must be reachable once",
    )?;
    fs::write(&installed, lock).with_context(|| format!("{} cannot be written", installed.display()))
}

/// `npm` in a folder.
pub(crate) fn npm(folder: &Path) -> Command {
    let mut command = Command::new("npm");
    command.current_dir(folder);
    command
}

/// Node's test runner in a folder, to be given its files.
pub(crate) fn tests(folder: &Path) -> Command {
    let mut command = Command::new("node");
    command.current_dir(folder).args(["--test", "--test-reporter", "spec"]);
    command
}

/// A program that `folder`'s packages brought along, called in that folder.
pub(crate) fn tool(folder: &Path, name: &str) -> Command {
    let mut command = Command::new(folder.join("node_modules/.bin").join(name));
    command.current_dir(folder);
    command
}
