//! The samples of the documents, in every language, with as many random inputs as are asked for.

use anyhow::Result;
use clap::Args;

use crate::hardening;
use crate::samples::{self, Random};
use crate::workspace::Workspace;

/// Which samples, and how many random inputs.
#[derive(Args)]
pub(crate) struct Numbers {
    /// Suites to run; all of them when none is named.
    suites: Vec<String>,
    /// Random inputs to draw. A sample gets those that its settings allow.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(2_000..))]
    count: u64,
    /// What they are made of. The same seed gives the same inputs.
    #[arg(long, default_value_t = hardening::SEED)]
    seed: u64,
}

/// Runs them.
pub(super) fn run(workspace: &Workspace, numbers: &Numbers) -> Result<()> {
    samples::prove(workspace, &numbers.suites, Random { count: numbers.count, seed: numbers.seed })
}
