//! `cargo xtask codegen`: the TypeScript types of events and records, written from the authority's own structs.
//!
//! The crate `authority-schema` writes them, since this program does not name the authority. They are committed: people
//! read them, and a change of a record shows in its review as the change of the package that it is.

use anyhow::Result;

use crate::process;
use crate::workspace::Workspace;

/// Writes the generated files below `pkg/src`, or fails when they would be written differently.
pub(crate) fn run(workspace: &Workspace, check: bool) -> Result<()> {
    let mut cargo = process::cargo();
    cargo.current_dir(workspace.root()).args([
        "run",
        "--quiet",
        "--package",
        "authority-schema",
        "--",
        "pkg/src",
    ]);
    if check {
        cargo.arg("--check");
    }
    process::run(&mut cargo)
}
