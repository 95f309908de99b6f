//! Builds programs of the workspace that a step runs.

use std::path::PathBuf;

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{compiler, process};

/// Builds the authority; where it is.
pub(crate) fn authority(workspace: &Workspace) -> Result<PathBuf> {
    build(workspace, &["--bin", "authority"])?;
    Ok(workspace.target().join("debug/authority"))
}

/// Builds what is named, as arguments of `cargo build`, for debugging: with the features of the whole workspace, as the
/// tests are built, so that nothing is compiled twice.
pub(crate) fn build(workspace: &Workspace, targets: &[&str]) -> Result<()> {
    let mut build = compiler::cargo(workspace)?;
    build.args(["build", "--quiet"]).args(process::ALL_OTHERS).args(targets);
    process::run(&mut build)
}
