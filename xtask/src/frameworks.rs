//! Tests the npm package's adapters in the web frameworks that they are for.
//!
//! The frameworks come from a lock file of their own in `pkg/test/frameworks`; the package is the packed one, installed
//! in the folder above. Next.js is built there as well. Whether the frameworks' own types agree with the adapters' is
//! asked first.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{consumer, npm, process};

/// Packs the built package, installs it for the frameworks and runs their tests.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    let package = workspace.root().join("pkg");
    let frameworks = package.join("test/frameworks");
    npm::install(&frameworks)?;
    consumer::install(workspace, &package, &package.join("test"))?;
    process::run(npm::tool(&package, "tsc").args(["--project", "test/frameworks/types/tsconfig.json"]))?;
    process::run(npm::tests(&frameworks).args(consumer::test_files(&frameworks)?))
}
