//! Builds programs of the workspace that a step runs.

use std::process::Command;

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{prerequisites, process};

/// Builds what is named, as arguments of `cargo build`, for debugging: with the features of the whole workspace, as the
/// tests are built, so that nothing is compiled twice.
pub(crate) fn build(workspace: &Workspace, targets: &[&str]) -> Result<()> {
    let mut build = linting_cargo(workspace)?;
    build.args(["build", "--quiet"]).args(process::ALL_OTHERS).args(targets);
    process::run(&mut build)
}

/// A cargo whose compiler is clippy's: each crate of the workspace that it compiles is checked as by
/// `cargo clippy -- --deny warnings`. Compiling takes no longer for it, while a check of its own takes nearly half as
/// long as compiling. What another cargo has compiled of the workspace is not reused.
pub(crate) fn linting_cargo(workspace: &Workspace) -> Result<Command> {
    prerequisites::checkers()?;
    let mut cargo = process::cargo();
    cargo
        .current_dir(workspace.root())
        .env("RUSTC_WORKSPACE_WRAPPER", prerequisites::sysroot()?.join("bin/clippy-driver"))
        .env("CLIPPY_ARGS", "--deny__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    Ok(cargo)
}
