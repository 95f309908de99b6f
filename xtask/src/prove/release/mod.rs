//! What `cargo xtask release` makes, tried as those meet it who have nothing else: no part runs from the source tree.
//!
//! The release is made twice, here and in a clone with folders of its own, and must be the same to the byte. Then each
//! artifact is unpacked into an empty place and does its work there. It needs root, for other roots and other users,
//! and the programs that it names.

mod carriers;
mod debian;
mod packages;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::workspace::Workspace;
use crate::{package, prerequisites, process, release};

/// How much of it.
#[derive(Args)]
pub(crate) struct Extent {
    /// Make the release once and try it, without the second one to compare with, which takes as long as all else.
    #[arg(long)]
    once: bool,
}

/// Tries a release.
pub(super) fn run(workspace: &Workspace, extent: &Extent) -> Result<()> {
    prerequisites::present(
        &[
            (&["debootstrap", "--version"], "debootstrap"),
            (&["docker-compose", "--version"], "docker-compose"),
            (&["systemd-analyze", "--version"], "systemd"),
            (&["umoci", "--version"], "umoci"),
        ],
        "trying a release",
    )?;
    prerequisites::python()?;
    let artifacts = release::run(workspace)?;
    if !extent.once {
        reproduced(workspace, &artifacts)?;
    }
    let folder = workspace.target().join("release-trial");
    package::replace_folder(&folder)?;
    let trial = Trial { workspace, artifacts, folder };
    carriers::tarball(&trial)?;
    carriers::image(&trial)?;
    debian::install(&trial)?;
    packages::manifests(&trial)?;
    packages::bills_of_materials(&trial)?;
    packages::core_crate(&trial)?;
    packages::npm(&trial)?;
    packages::worker(&trial)?;
    println!("every part of the release ran from its artifact");
    Ok(())
}

/// The artifacts, and a folder to unpack them in.
struct Trial<'a> {
    workspace: &'a Workspace,
    artifacts: PathBuf,
    folder: PathBuf,
}

impl Trial<'_> {
    /// The one artifact of this beginning and end.
    fn artifact(&self, beginning: &str, end: &str) -> Result<PathBuf> {
        let mut found = self.artifacts(end)?;
        found.retain(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(beginning))
        });
        ensure!(found.len() == 1, "{} artifacts are called {beginning}…{end}", found.len());
        found.pop().context("one was found")
    }

    fn artifacts(&self, end: &str) -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(&self.artifacts)?.collect::<Result<Vec<_>, _>>()?;
        let named = entries.into_iter().map(|entry| entry.path());
        Ok(named.filter(|path| path.to_string_lossy().ends_with(end)).collect())
    }

    /// An empty folder below this trial's.
    fn empty(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder.join(name);
        package::replace_folder(&folder)?;
        Ok(folder)
    }

    /// The released binary.
    fn binary(&self) -> PathBuf {
        self.folder.join("tarball/authority")
    }
}

/// A second release, from a clone elsewhere, is the same to the byte.
fn reproduced(workspace: &Workspace, artifacts: &Path) -> Result<()> {
    let elsewhere = workspace.target().join("released-again");
    if elsewhere.exists() {
        fs::remove_dir_all(&elsewhere)?;
    }
    process::run(Command::new("git").args(["clone", "--quiet"]).arg(workspace.root()).arg(&elsewhere))?;
    process::run(
        process::cargo().current_dir(&elsewhere).args(["xtask", "release"]).env_remove("CARGO_TARGET_DIR"),
    )?;
    let sums = |folder: &Path| fs::read_to_string(folder.join(release::CHECKSUMS));
    let (first, second) = (sums(artifacts)?, sums(&elsewhere.join("target/artifacts"))?);
    ensure!(first == second, "the second release differs:\n{first}\n{second}");
    println!("released twice, {} artifacts, the same bytes", first.lines().count());
    Ok(fs::remove_dir_all(&elsewhere)?)
}

/// Plays an order through in a root of its own, as this user: `dev --once` fails unless every event arrived verified.
fn plays_an_order(root: &Path, user: Option<&str>, binary: &str, data: &str) -> Result<()> {
    let mut chroot = Command::new("chroot");
    chroot.args(user.map(|user| format!("--userspec={user}"))).arg(root);
    process::run(
        chroot
            .args([binary, "dev", "--once", "--json", "--data", data])
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin"),
    )
}
