//! What other programs take: manifests, bills of materials, the crate, the npm package, the Worker's template.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::Trial;
use crate::prerequisites::WASM_TARGET;
use crate::{npm as npm_program, process, python};

/// The manifests, against the schemas of the API; the compose file, by the program that reads it.
pub(super) fn manifests(trial: &Trial<'_>) -> Result<()> {
    let deploy = trial.folder.join("tarball/deploy");
    let python = environment(trial)?;
    let validate = python.with_file_name("kubernetes-validate");
    process::run(Command::new(validate).arg("--strict").arg(deploy.join("kubernetes/authority.yaml")))?;
    process::run(
        Command::new("docker-compose")
            .current_dir(deploy.join("compose"))
            .args(["config", "--quiet"])
            .env("AUTHORITY_VERSION", "0"),
    )
}

/// Every bill of materials, against the schema of CycloneDX.
pub(super) fn bills_of_materials(trial: &Trial<'_>) -> Result<()> {
    let program = folder(trial).join("bill_of_materials.py");
    process::run(Command::new(environment(trial)?).arg("-B").arg(program).args(trial.artifacts(".cdx.json")?))
}

/// The crate builds by itself, also for a target without a standard library, and its example does what it says.
pub(super) fn core_crate(trial: &Trial<'_>) -> Result<()> {
    let outside = tempfile::tempdir()?;
    unpack(&trial.artifact("verify-core-", ".crate")?, outside.path())?;
    let cargo = |words: &[&str]| {
        process::run(process::cargo().current_dir(outside.path()).args(words).env_remove("CARGO_TARGET_DIR"))
    };
    cargo(&["run", "--quiet", "--example", "receive"])?;
    cargo(&["build", "--quiet", "--target", WASM_TARGET])?;
    cargo(&["publish", "--dry-run", "--allow-dirty", "--quiet"])
}

/// The npm package, installed by its name into an empty project, verifies.
pub(super) fn npm(trial: &Trial<'_>) -> Result<()> {
    let project = trial.empty("npm-project")?;
    fs::write(project.join("package.json"), "{\"private\":true,\"type\":\"module\"}")?;
    let tarball = trial.artifact("verify-wasm-", ".tgz")?;
    process::run(
        npm_program::npm(&project)
            .args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
            .arg(tarball),
    )?;
    // Beside the installed package, where Node looks for it.
    for program in ["package.mjs", "delivery.mjs"] {
        fs::copy(folder(trial).join(program), project.join(program))?;
    }
    process::run(Command::new("node").current_dir(&project).arg("package.mjs").arg(trial.binary()))
}

/// The template makes a folder that is deployed dry, and whose Worker takes deliveries in workerd.
pub(super) fn worker(trial: &Trial<'_>) -> Result<()> {
    let template = trial.empty("template")?;
    unpack(&trial.artifact("create-edge-receiver-", ".tgz")?, &template)?;
    let made = trial.folder.join("edge-receiver");
    if made.exists() {
        fs::remove_dir_all(&made)?;
    }
    process::run(Command::new("node").arg(template.join("create.mjs")).arg(&made))?;
    process::run(npm_program::npm(&made).args(["install", "--ignore-scripts", "--no-audit", "--no-fund"]))?;
    for script in ["check", "types"] {
        process::run(npm_program::npm(&made).args(["run", script]).env("WRANGLER_SEND_METRICS", "false"))?;
    }
    process::run(Command::new("node").arg(folder(trial).join("worker.mjs")).arg(&made).arg(trial.binary()))
}

fn folder(trial: &Trial<'_>) -> std::path::PathBuf {
    trial.workspace.root().join("tests/release")
}

fn environment(trial: &Trial<'_>) -> Result<std::path::PathBuf> {
    python::install(trial.workspace, "release-checks", &folder(trial))
}

/// Unpacks an archive that has one folder in it, without that.
pub(super) fn unpack(archive: &Path, to: &Path) -> Result<()> {
    process::run(
        Command::new("tar")
            .args(["--extract", "--gzip", "--strip-components=1", "--file"])
            .arg(archive)
            .arg("--directory")
            .arg(to),
    )
    .with_context(|| format!("{} cannot be unpacked", archive.display()))
}
