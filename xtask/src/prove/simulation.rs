//! The deterministic simulation of the delivery engine: `tests/simulation`, for as long as is asked for.

use anyhow::Result;
use clap::Args;

use crate::process;
use crate::workspace::Workspace;

/// How long, and what decides everything.
#[derive(Args)]
pub(crate) struct Numbers {
    /// Simulated days.
    #[arg(long, default_value_t = 10_000)]
    days: u32,
    /// The seed, or the first one.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many seeds, one after the other.
    #[arg(long, default_value_t = 1)]
    seeds: u32,
}

/// Runs the simulation.
pub(super) fn run(workspace: &Workspace, numbers: &Numbers) -> Result<()> {
    let Numbers { days, seed, seeds } = numbers;
    let numbers =
        [("--days", days.to_string()), ("--seed", seed.to_string()), ("--seeds", seeds.to_string())];
    process::run(
        process::cargo_in(workspace)
            .args(["run", "--release", "--package", "simulation", "--"])
            .args(numbers.iter().flat_map(|(option, value)| [*option, value])),
    )
}
