//! Has the packed npm package used by everything that its users use: runtimes, bundlers, frameworks, a browser.
//!
//! The consumers are in `pkg/consumers`: their tools and runtimes come from one lock file, the package is installed in
//! `apps/` from the tarball and nothing else is, and a test per kind of consumer has it judge the shared vectors. What
//! linters say of the tarball, and what is in it, is tested there too.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{consumer, npm, process};

/// Packs the built package, installs it for the consumers and runs their tests.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    let package = workspace.root().join("pkg");
    let consumers = package.join("consumers");
    npm::install(&consumers)?;
    let tarball = consumer::install(workspace, &package, &consumers.join("apps"))?;
    process::run(
        npm::tests(&consumers)
            .env("VERIFY_WASM_TARBALL", tarball)
            // One after the other: bundlers use every core there is by themselves.
            .args(["--test-concurrency", "1"])
            .args(consumer::test_files(&consumers)?),
    )
}
