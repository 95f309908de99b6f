//! `cargo xtask release`: everything that is handed out, in `target/artifacts`.
//!
//! Somebody who publishes a version calls it in a clean checkout. In order: the binary, linked with musl, so that it
//! runs on any Linux kernel of its architecture; what carries it (a tarball, a Debian package, an OCI image); the npm
//! package; the built Worker as a template; the crate of the verification core; the bills of materials; and the
//! checksums of all.
//!
//! The same commit gives the same bytes, in any folder: times are those of the commit, owners and orders are fixed, and
//! the paths of this machine are mapped away. `cargo xtask prove release` builds twice and compares.
//!
//! Where the sources are published, they do not know. One setting says it ([`REPOSITORY`]), and nothing is released
//! without it. Absent on purpose: signing and uploading, which belong to whoever holds the keys.

mod archive;
mod bill_of_materials;
mod binary;
mod debian;
mod image;
mod tarball;
mod template;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::workspace::Workspace;
use crate::{package, prerequisites, process, worker};

/// The https address of the published repository.
pub(crate) const REPOSITORY: &str = "RELEASE_REPOSITORY";

/// The artifact with the checksums of all others.
pub(crate) const CHECKSUMS: &str = "SHA256SUMS";

/// One release, as its parts see it.
pub(crate) struct Release<'a> {
    workspace: &'a Workspace,
    /// Where artifacts are put.
    folder: PathBuf,
    /// Where they are put together; emptied at the start.
    staging: PathBuf,
    version: String,
    /// Unix seconds of the commit: the time of everything that has one.
    time: String,
    repository: String,
}

/// Makes all artifacts and returns their folder.
pub(crate) fn run(workspace: &Workspace) -> Result<PathBuf> {
    let release = Release::prepare(workspace)?;
    let binary = binary::build(&release)?;
    tarball::pack(&release, &binary)?;
    debian::pack(&release, &binary)?;
    image::pack(&release, &binary)?;
    package::build(workspace)?;
    package::pack(workspace, &release.folder)?;
    worker::build(workspace)?;
    template::pack(&release)?;
    core_crate(&release)?;
    bill_of_materials::write(&release)?;
    release.write_checksums()?;
    fs::remove_dir_all(&release.staging)?;
    process::run(Command::new("ls").arg("-l").arg(&release.folder))?;
    Ok(release.folder)
}

/// The folder of the artifacts.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target().join("artifacts")
}

impl<'a> Release<'a> {
    fn prepare(workspace: &'a Workspace) -> Result<Self> {
        prerequisites::node()?;
        prerequisites::release_programs()?;
        prerequisites::musl_target()?;
        let repository = std::env::var(REPOSITORY)
            .with_context(|| format!("{REPOSITORY} is not set: a release must say where it comes from"))?;
        ensure!(
            repository.starts_with("https://") && !repository.ends_with('/'),
            "{REPOSITORY} must be an https URL of a repository: https://host/owner/name"
        );
        let git =
            |words: &[&str]| process::read(Command::new("git").current_dir(workspace.root()).args(words));
        if !git(&["status", "--porcelain"])?.is_empty() {
            bail!("what is released is what is committed, and the checkout has changes that are not");
        }
        let folder = folder(workspace);
        package::replace_folder(&folder)?;
        let staging = workspace.target().join("artifacts-staging");
        package::replace_folder(&staging)?;
        let authority = workspace.packages().iter().find(|package| package.name.as_str() == "authority");
        let version = authority.context("the workspace has no package `authority`")?.version.to_string();
        Ok(Self {
            workspace,
            folder,
            staging,
            version,
            time: git(&["log", "-1", "--format=%ct"])?,
            repository,
        })
    }

    /// A file of the checkout.
    fn source(&self, path: &str) -> PathBuf {
        self.workspace.root().join(path)
    }

    fn write_checksums(&self) -> Result<()> {
        let mut names: Vec<String> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        let sums = process::read(Command::new("sha256sum").current_dir(&self.folder).args(&names))?;
        Ok(fs::write(self.folder.join(CHECKSUMS), sums + "\n")?)
    }
}

/// `verify-core` as crates.io takes it.
fn core_crate(release: &Release<'_>) -> Result<()> {
    let target = release.staging.join("crate");
    let mut cargo = process::cargo();
    cargo.current_dir(release.workspace.root()).args(["package", "--package", "verify-core", "--no-verify"]);
    process::run(cargo.arg("--target-dir").arg(&target))?;
    let name = format!("verify-core-{}.crate", release.version);
    copy(&target.join("package").join(&name), &release.folder.join(&name))
}

/// Copies one file, and makes the folders that it needs.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).with_context(|| format!("{} cannot be copied to {}", from.display(), to.display()))?;
    Ok(())
}
