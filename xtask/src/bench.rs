//! `cargo xtask bench`: benchmarks that anyone can rerun. The measuring is in `bench/`; here is what it needs.

use std::process::Command;

use anyhow::Result;
use clap::Subcommand;

use crate::workspace::Workspace;
use crate::{package, prerequisites, process};

/// What can be measured.
#[derive(Subcommand)]
pub(crate) enum Benchmark {
    /// Verification in Node: the npm package beside `node:crypto` alone.
    Verify,
    /// The authority on SQLite: from the operator's request to the receiver's door.
    Deliver,
}

/// Builds what is measured and measures it.
pub(crate) fn run(workspace: &Workspace, benchmark: &Benchmark) -> Result<()> {
    match benchmark {
        Benchmark::Verify => {
            prerequisites::node()?;
            package::build(workspace)?;
            process::run(Command::new("node").current_dir(workspace.root()).arg("bench/verify/run.mjs"))
        }
        Benchmark::Deliver => {
            let arguments = ["run", "--release", "--package", "tests", "--bin", "bench-deliver"];
            process::run(process::cargo().current_dir(workspace.root()).args(arguments))
        }
    }
}
