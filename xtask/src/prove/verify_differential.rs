//! The differential test of the verification core, with as many deliveries as are asked for.

use anyhow::Result;
use clap::Args;

use crate::workspace::Workspace;
use crate::{consumer, hardening, package, prerequisites};

/// How many, and of what.
#[derive(Args)]
pub(crate) struct Numbers {
    /// Deliveries, each of them natively, in Node and in workerd.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(2_000..))]
    count: u64,
    /// What they are made of. The same seed gives the same deliveries.
    #[arg(long, default_value_t = hardening::SEED)]
    seed: u64,
}

/// Runs it.
pub(super) fn run(workspace: &Workspace, numbers: &Numbers) -> Result<()> {
    prerequisites::node()?;
    package::build(workspace)?;
    consumer::test_differential(workspace, numbers.count, numbers.seed)
}
