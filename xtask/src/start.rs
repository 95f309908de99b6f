//! Runs the README and `docs/start.md` block by block, as a reader does who begins in an empty folder (`tests/start`),
//! and the chapters of `docs/operations.md` that lead from an empty machine to an upgraded and restored service.
//!
//! The blocks go to real shells word for word, and call the real programs. `cargo xtask test start` uses what is built
//! already: `cargo` and `npm` are small programs there that hand it out, so that no release build and no registry is
//! waited for. `cargo xtask prove start` has no such programs: it clones what is committed, builds it anew, and
//! installs the newest frameworks. Only `cargo xtask test` is not run: it takes minutes, and may be what runs this.
//!
//! The documents write below `/etc`, `/var/lib` and `/var/backups`, and listen on fixed ports. So everything runs in
//! namespaces of its own (`private.sh`), where those folders are copies and, in the test, all ports are free. A machine
//! that refuses namespaces, as most containers do, gets other ports and folders in the text, and cannot run the proof.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::workspace::Workspace;
use crate::{consumer, npm, prerequisites, process, programs};

/// The first Node.js that has SQLite without a flag.
const NODE_WITH_SQLITE: (u32, u32) = (22, 13);

/// The ports of the documents.
const PORTS: [u16; 3] = [8080, 8081, 3000];

/// Runs the documents with what is built.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    let folder = folder(workspace);
    npm::install(&folder)?;
    let node = pinned_node(&folder);
    if !node.is_dir() && !has_sqlite(&node_version()?) {
        println!("not run: there is no pinned Node.js for this machine, and its own has no SQLite");
        return Ok(());
    }
    let authority = programs::authority(workspace)?;
    let namespaces = ["--mount", "--net"];
    let may = may_unshare(&namespaces);
    if !may {
        println!("this machine refuses namespaces: other ports and folders stand in the documents' place");
    }
    let mut runner = if may { private(&folder, &namespaces) } else { Command::new("node") };
    process::run(
        tests(&mut runner, &folder)?
            .env("START_NODE", node)
            .env("START_PRIVATE", if may { "yes" } else { "no" })
            .env("AUTHORITY_BINARY", authority),
    )
}

/// Runs the documents from a clone.
pub(crate) fn prove(workspace: &Workspace) -> Result<()> {
    prerequisites::node()?;
    let folder = folder(workspace);
    if !may_unshare(&["--mount"]) {
        bail!("the proof needs a mount namespace: run it as root outside of a container");
    }
    for port in PORTS {
        if TcpListener::bind(("127.0.0.1", port)).is_err() {
            bail!("port {port} is taken, and the documents use it: stop what listens there");
        }
    }
    let mut runner = private(&folder, &["--mount"]);
    let tests = tests(&mut runner, &folder)?.env("START_PROOF", "yes").env("START_PRIVATE", "yes");
    if !has_sqlite(&node_version()?) {
        npm::install(&folder)?;
        println!("the Node.js of this machine has no SQLite: the pinned one is used");
        tests.env("START_NODE", pinned_node(&folder));
    }
    process::run(tests)
}

fn folder(workspace: &Workspace) -> PathBuf {
    workspace.root().join("tests/start")
}

/// Where the lock file's Node.js is, if there is one for this machine.
fn pinned_node(folder: &Path) -> PathBuf {
    folder.join("node_modules/node-22/bin")
}

fn node_version() -> Result<String> {
    process::read(Command::new("node").arg("--version"))
}

fn has_sqlite(version: &str) -> bool {
    let mut numbers = version.trim_start_matches('v').split('.').map_while(|number| number.parse().ok());
    let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else { return false };
    (major, minor) >= NODE_WITH_SQLITE
}

fn may_unshare(namespaces: &[&str]) -> bool {
    let mut unshare = Command::new("unshare");
    unshare.args(namespaces).args(["mount", "-t", "tmpfs", "tmpfs", "/var/lib"]);
    unshare.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// `node` in namespaces of its own.
fn private(folder: &Path, namespaces: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    command.args(namespaces).arg(folder.join("private.sh")).arg("node");
    command
}

fn tests<'c>(runner: &'c mut Command, folder: &Path) -> Result<&'c mut Command> {
    // One document after the other: they use the same ports.
    let options = ["--test", "--test-concurrency", "1", "--test-reporter", "spec"];
    Ok(runner.current_dir(folder).args(options).args(consumer::test_files(folder)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_has_sqlite_from_22_13_on() {
        for version in ["v22.13.0", "v22.23.3", "v24.0.1", "v100.0.0"] {
            assert!(has_sqlite(version), "{version}");
        }
        for version in ["v22.12.9", "v20.20.2", "v18.0.0", "22", ""] {
            assert!(!has_sqlite(version), "{version}");
        }
    }
}
