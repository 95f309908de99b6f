//! `cargo xtask examples`: takes the examples of the OpenAPI documents anew from a running authority, and writes the
//! documents with them.
//!
//! Not a part of `codegen`: ids and times are others at every run, so they are taken when there is something to be seen
//! that was not there before. That they are what their schemas say is asked by the tests of `authority-openapi`.

use std::process::Command;

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{codegen, process, programs};

/// Builds the authority, has it do business and writes down what it says.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let authority = programs::authority(workspace)?;
    process::run(
        Command::new("node")
            .current_dir(workspace.root().join("tests/openapi"))
            .arg("examples.mjs")
            .env("AUTHORITY_BINARY", authority),
    )?;
    codegen::run(workspace, false)
}
