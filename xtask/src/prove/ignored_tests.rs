//! Proofs that are a test of `tests/tests`, which the test command runs with small numbers or leaves out.

use anyhow::Result;
use clap::Args;

use crate::workspace::Workspace;
use crate::{prerequisites, process};

/// The crash campaign of the delivery engine: `delivery_campaign`, how long, how much, and on what.
#[derive(Args)]
pub(crate) struct DeliveryCampaign {
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

impl DeliveryCampaign {
    pub(super) fn run(&self, workspace: &Workspace) -> Result<()> {
        let mut variables = vec![("CAMPAIGN_KILLS", self.kills.to_string())];
        variables.extend(self.seed.map(|seed| ("CAMPAIGN_SEED", seed.to_string())));
        variables.extend(self.rate.map(|rate| ("CAMPAIGN_RATE", rate.to_string())));
        for database in ["sqlite", "postgres"] {
            if self.database.as_deref().is_none_or(|only| only == database) {
                let test = format!("proof_on_{database}");
                run(workspace, ["tests", "delivery_campaign", &test], &variables)?;
            }
        }
        Ok(())
    }
}

/// What slow receivers cost everybody else (contract 15.4, 18.4-1): `noisy_neighbour.rs`.
#[derive(Args)]
pub(crate) struct NoisyNeighbour {
    /// Events measured on each side.
    #[arg(long, default_value_t = 1_000)]
    events: u32,
}

impl NoisyNeighbour {
    /// Measures on both databases.
    pub(super) fn run(&self, workspace: &Workspace) -> Result<()> {
        let variables = [("NEIGHBOUR_EVENTS", self.events.to_string())];
        ["proof_on_sqlite", "proof_on_postgres"]
            .iter()
            .try_for_each(|test| run(workspace, ["tests", "noisy_neighbour", test], &variables))
    }
}

/// Many writers of orders that merchants share with one another, through two instances (contract 8.3):
/// `api/partners/writers.rs`.
#[derive(Args)]
pub(crate) struct Partners {
    /// For how long they write.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

impl Partners {
    /// Writes on PostgreSQL; on SQLite there is one writer at a time.
    pub(super) fn run(&self, workspace: &Workspace) -> Result<()> {
        let variables = [("PARTNERS_SECONDS", self.seconds.to_string())];
        run(workspace, ["tests", "api", "partners::writers::proof_on_postgres"], &variables)
    }
}

/// The power cut on SQLite: `power_cut`, how often.
#[derive(Args)]
pub(crate) struct PowerCut {
    /// Cuts, each behind another write.
    #[arg(long, default_value_t = 1_000)]
    cuts: u32,
    /// What they are drawn from; another one each time when it is left out. It is printed.
    #[arg(long)]
    seed: Option<u64>,
}

impl PowerCut {
    pub(super) fn run(&self, workspace: &Workspace) -> Result<()> {
        let mut variables = vec![("POWER_CUT_CUTS", self.cuts.to_string())];
        variables.extend(self.seed.map(|seed| ("POWER_CUT_SEED", seed.to_string())));
        run(workspace, ["tests", "power_cut", "proof"], &variables)
    }
}

/// Runs one test that `cargo xtask test` leaves out, with its output visible: `name` in `tests/<file>` of a package.
/// `variables` are its numbers.
pub(super) fn run(
    workspace: &Workspace,
    [package, file, name]: [&str; 3],
    variables: &[(&str, String)],
) -> Result<()> {
    prerequisites::postgres()?;
    let arguments = ["test", "--release", "--package", package, "--test", file, "--", name];
    process::run(
        process::cargo_in(workspace)
            .args(arguments)
            .args(["--exact", "--ignored", "--nocapture"])
            .envs(variables.iter().map(|(variable, value)| (variable, value))),
    )
}
