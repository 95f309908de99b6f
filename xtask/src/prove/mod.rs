//! `cargo xtask prove`: the proofs that take too long for `cargo xtask test`. One file per proof; those that are a test
//! with other numbers share one.
//!
//! A proof is code that a test runs with small numbers; here it runs in a release build, with the numbers that are
//! asked for. It prints its figures as a table and the seed with which a run can be repeated, and fails when it finds
//! anything. What is proved, and what was found, is in `docs/reliability.md` and `docs/hardening.md`.

mod api_conformance;
mod ignored_tests;
mod monitoring;
mod release;
mod simulation;
mod soak;
mod upgrade;
mod verify_differential;

use anyhow::Result;
use clap::{Command, CommandFactory as _, Parser, Subcommand};

use crate::workspace::Workspace;
use crate::{samples, start};

/// What can be proved.
#[derive(Subcommand)]
pub(crate) enum Proof {
    /// Tens of thousands of generated requests to each listener: every answer is as its OpenAPI document says.
    ApiConformance(api_conformance::Numbers),
    /// Kills instances under load, restarts the database, and accounts for every delivery.
    DeliveryCampaign(ignored_tests::DeliveryCampaign),
    /// Has Prometheus check and test the alert rules, and answer every panel's query from a live authority.
    Monitoring,
    /// Measures one merchant's latency beside one, 33 and 500 endpoints that take 14 s over each request.
    NoisyNeighbour(ignored_tests::NoisyNeighbour),
    /// Eight writers of shared orders through two instances, for a minute: no deadlock, nothing untold.
    Partners(ignored_tests::Partners),
    /// Takes the power away behind any write to a SQLite database, and looks for what was acknowledged.
    PowerCut(ignored_tests::PowerCut),
    /// Makes the release twice, compares, and runs every part of it from its artifact.
    Release(release::Extent),
    /// Runs the documents' samples in every language, over all vectors and a hundred thousand random deliveries.
    Samples(samples::Numbers),
    /// Ten thousand days in simulated time, every request and every row judged.
    Simulation(simulation::Numbers),
    /// Half of what the authority can carry, for half an hour: memory, file handles, log and tables stay as they are.
    Soak(soak::Numbers),
    /// Runs every block of the README and of `docs/start.md` in a fresh clone, with a release build.
    Start,
    /// Exchanges instances of the version before under load: no 5xx, nothing lost, nothing twice.
    Upgrade(upgrade::From),
    /// Gives a hundred thousand random deliveries to the verification core natively, in Node and in workerd.
    VerifyDifferential(verify_differential::Numbers),
    /// Everything above, one after the other, with the usual numbers.
    All,
}

/// Runs a proof, or all of them, up to the first that fails.
pub(crate) fn run(workspace: &Workspace, proof: &Proof) -> Result<()> {
    match proof {
        Proof::ApiConformance(numbers) => api_conformance::run(workspace, numbers),
        Proof::DeliveryCampaign(numbers) => numbers.run(workspace),
        Proof::Monitoring => monitoring::run(workspace),
        Proof::NoisyNeighbour(numbers) => numbers.run(workspace),
        Proof::Partners(numbers) => numbers.run(workspace),
        Proof::PowerCut(numbers) => numbers.run(workspace),
        Proof::Release(extent) => release::run(workspace, extent),
        Proof::Samples(numbers) => samples::prove(workspace, numbers),
        Proof::Simulation(numbers) => simulation::run(workspace, numbers),
        Proof::Soak(numbers) => soak::run(workspace, numbers),
        Proof::Start => start::prove(workspace),
        Proof::Upgrade(from) => upgrade::run(workspace, from),
        Proof::VerifyDifferential(numbers) => verify_differential::run(workspace, numbers),
        Proof::All => all()?.iter().try_for_each(|proof| run(workspace, proof)),
    }
}

/// A proof as it is when nobody names a number.
#[derive(Parser)]
struct Usual {
    #[command(subcommand)]
    proof: Proof,
}

/// Each with its usual numbers, in the order of [`Proof`].
fn all() -> Result<Vec<Proof>> {
    let usual = |name| Ok(Usual::try_parse_from(["prove", name])?.proof);
    let command = Usual::command();
    command.get_subcommands().map(Command::get_name).filter(|name| *name != "all").map(usual).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_proof_has_its_usual_numbers() {
        let proofs = all().unwrap();
        assert!(matches!(proofs.first(), Some(Proof::ApiConformance(_))));
        assert_eq!(proofs.len(), Usual::command().get_subcommands().count() - 1);
    }
}
