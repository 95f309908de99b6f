//! Both listeners held to the documents they serve (`tests/openapi/schemathesis`), over many more requests than the test
//! command has time for.

use anyhow::Result;
use clap::Args;

use crate::workspace::Workspace;
use crate::{prerequisites, process, schemathesis};

const CASES: u32 = 50_000;

/// How much.
#[derive(Args)]
pub(crate) struct Numbers {
    /// Requests per listener, at least.
    #[arg(long, default_value_t = CASES)]
    cases: u32,
    /// What they are drawn from; another one each time when it is left out. It is printed.
    #[arg(long)]
    seed: Option<u32>,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { cases: CASES, seed: None }
    }
}

/// The time goes into making requests, so a build with its assertions costs little.
pub(super) fn run(workspace: &Workspace, numbers: &Numbers) -> Result<()> {
    prerequisites::python()?;
    let arguments = ["build", "--quiet", "--workspace", "--bin", "authority"];
    process::run(process::cargo().current_dir(workspace.root()).args(arguments))?;
    schemathesis::conformance(workspace, numbers.cases, numbers.seed)
}
