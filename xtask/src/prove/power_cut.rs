//! The power cut on SQLite: `tests/tests/power_cut`, with other numbers.

use anyhow::Result;
use clap::Args;

use super::ignored_test;
use crate::workspace::Workspace;

/// How often.
#[derive(Args)]
pub(crate) struct Numbers {
    /// Cuts, each behind another write.
    #[arg(long, default_value_t = 1_000)]
    cuts: u32,
    /// What they are drawn from; another one each time when it is left out. It is printed.
    #[arg(long)]
    seed: Option<u64>,
}

/// Cuts the power.
pub(super) fn run(workspace: &Workspace, numbers: &Numbers) -> Result<()> {
    let mut variables = vec![("POWER_CUT_CUTS", numbers.cuts.to_string())];
    variables.extend(numbers.seed.map(|seed| ("POWER_CUT_SEED", seed.to_string())));
    ignored_test(workspace, ["tests", "power_cut", "proof"], &variables)
}
