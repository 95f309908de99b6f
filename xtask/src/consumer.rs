//! Tests the npm package as its users have it: packed, installed from the tarball, then imported by name.
//!
//! `pkg/test` is the consumer. Its own `node_modules` holds the installed package and nothing else; the tools
//! the tests use (TypeScript, miniflare) are found one folder up, in `pkg/node_modules`. Tests that need more than that
//! (drivers of databases) lie in folders of their own with a lock file each; they find the same installed package.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::workspace::Workspace;
use crate::{hardening, npm, process};

/// The folders of `pkg/test` whose tests have a lock file of their own.
const WITH_PACKAGES: [&str; 1] = ["stores"];

/// Packs the built package, installs it into `pkg/test` and runs the tests there.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    let package = workspace.root().join("pkg");
    let consumer = package.join("test");
    install(workspace, &package, &consumer)?;
    for folder in WITH_PACKAGES {
        npm::install(&consumer.join(folder))?;
    }
    let folders: Vec<_> =
        [consumer.clone()].into_iter().chain(WITH_PACKAGES.map(|folder| consumer.join(folder))).collect();
    for folder in &folders {
        for project in named(&folder.join("types"), "tsconfig.")? {
            process::run(
                npm::tool(&package, "tsc").arg("--project").arg(folder.join("types").join(project)),
            )?;
        }
    }
    let deliveries = hardening::deliveries(workspace, hardening::DELIVERIES, hardening::SEED)?;
    let counted = hardening::counted_module(workspace)?;
    for folder in &folders {
        process::run(
            npm::tests(folder)
                .env("DELIVERIES", &deliveries)
                .env("COUNTED_MODULE", &counted)
                .args(test_files(folder)?),
        )?;
    }
    Ok(())
}

/// Runs the differential test alone, over so many deliveries of a seed.
pub(crate) fn test_differential(workspace: &Workspace, count: u64, seed: u64) -> Result<()> {
    let package = workspace.root().join("pkg");
    let consumer = package.join("test");
    install(workspace, &package, &consumer)?;
    process::run(
        npm::tests(&consumer)
            .env("DELIVERIES", hardening::deliveries(workspace, count, seed)?)
            .arg("differential.test.mjs"),
    )
}

/// The files named `*.test.mjs` and `*.test.cjs`, in order.
pub(crate) fn test_files(folder: &Path) -> Result<Vec<OsString>> {
    named(folder, ".test.")
}

/// The files of a folder whose names have `part` in them, in order; none when there is no such folder.
fn named(folder: &Path, part: &str) -> Result<Vec<OsString>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let mut names = entries.map(|entry| Ok(entry?.file_name())).collect::<Result<Vec<_>>>()?;
    names.retain(|name| name.to_string_lossy().contains(part));
    names.sort();
    Ok(names)
}

/// Packs `package`, installs it in the folder `consumer` beside nothing else, and returns the tarball.
pub(crate) fn install(workspace: &Workspace, package: &Path, consumer: &Path) -> Result<PathBuf> {
    let tarballs = &workspace.target().join("npm");
    fs::create_dir_all(tarballs).with_context(|| format!("{} cannot be made", tarballs.display()))?;
    let name =
        process::read(npm::npm(package).args(["pack", "--silent", "--pack-destination"]).arg(tarballs))?;
    let tarball = tarballs.join(name);
    let modules = consumer.join("node_modules");
    if modules.exists() {
        // npm keeps an installed package of the same version, even when the tarball has changed.
        fs::remove_dir_all(&modules).with_context(|| format!("{} cannot be emptied", modules.display()))?;
    }
    process::run(
        npm::npm(consumer)
            .args(["install", "--no-save", "--no-package-lock", "--ignore-scripts", "--offline"])
            .args(["--no-audit", "--no-fund"])
            .arg(&tarball),
    )?;
    Ok(tarball)
}
