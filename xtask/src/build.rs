//! `cargo xtask build`: everything that is shipped, in the order in which the parts need each other.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{package, prerequisites, process, worker};

/// Builds the npm package, the Worker and the authority.
pub(crate) fn everything(workspace: &Workspace) -> Result<()> {
    prerequisites::node()?;
    web_parts(workspace)?;
    process::run(process::cargo_in(workspace).args(["build", "--release", "--package", "authority"]))
}

/// Builds what runs outside the authority: the npm package and the Worker.
pub(crate) fn web_parts(workspace: &Workspace) -> Result<()> {
    package::build(workspace)?;
    worker::build(workspace)
}
