//! What slow receivers cost everybody else (contract 15.4, 18.4-1): `tests/tests/noisy_neighbour.rs`.

use anyhow::Result;
use clap::Args;

use super::ignored_test;
use crate::workspace::Workspace;

/// How much.
#[derive(Args)]
pub(crate) struct Numbers {
    /// Events measured on each side.
    #[arg(long, default_value_t = 1_000)]
    events: u32,
}

/// Measures on both databases.
pub(super) fn run(workspace: &Workspace, numbers: &Numbers) -> Result<()> {
    let variables = [("NEIGHBOUR_EVENTS", numbers.events.to_string())];
    ["proof_on_sqlite", "proof_on_postgres"]
        .iter()
        .try_for_each(|test| ignored_test(workspace, ["tests", "noisy_neighbour", test], &variables))
}
