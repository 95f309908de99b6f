//! The crash campaign of the delivery engine: `tests/tests/delivery_campaign`, with other numbers.

use anyhow::Result;
use clap::Args;

use super::ignored_test;
use crate::workspace::Workspace;

/// How long, how much, and on what.
#[derive(Args)]
pub(crate) struct Numbers {
    /// Instances killed.
    #[arg(long, default_value_t = 200)]
    kills: u32,
    /// What everything random is drawn from; another one each time when it is left out. It is printed.
    #[arg(long)]
    seed: Option<u64>,
    /// Writes per second of all clients together.
    #[arg(long)]
    rate: Option<u32>,
    /// `sqlite` or `postgres`; both, one after the other, when it is left out.
    #[arg(long, value_parser = ["sqlite", "postgres"])]
    database: Option<String>,
}

/// Runs the campaign.
pub(super) fn run(workspace: &Workspace, numbers: &Numbers) -> Result<()> {
    let mut variables = vec![("CAMPAIGN_KILLS", numbers.kills.to_string())];
    variables.extend(numbers.seed.map(|seed| ("CAMPAIGN_SEED", seed.to_string())));
    variables.extend(numbers.rate.map(|rate| ("CAMPAIGN_RATE", rate.to_string())));
    for database in ["sqlite", "postgres"] {
        if numbers.database.as_deref().is_none_or(|only| only == database) {
            let test = format!("proof_on_{database}");
            ignored_test(workspace, ["tests", "delivery_campaign", &test], &variables)?;
        }
    }
    Ok(())
}
