//! Programs that the documents print for other languages, run before anybody copies them.
//!
//! A suite is one kind of sample: where they lie is its own affair, how they are run stands in `tests/samples/<name>`.
//! `cargo xtask test samples` runs each suite in the languages that every machine of this project has, `cargo xtask
//! prove samples` in all languages and with random inputs. Nothing is installed: what a suite needs is asked of
//! [`crate::prerequisites`], which names the packages that are missing.

mod api;
mod receive;

use anyhow::{Result, bail};
use clap::Args;

use crate::hardening;
use crate::workspace::Workspace;

/// One kind of sample.
struct Suite {
    /// Its folder in `tests/samples`.
    name: &'static str,
    /// What the test command does.
    test: fn(&Workspace) -> Result<()>,
    /// What the proof does.
    prove: fn(&Workspace, &Numbers) -> Result<()>,
}

const SUITES: [Suite; 2] = [
    Suite { name: "receive", test: receive::test, prove: receive::prove },
    Suite { name: "api", test: api::test, prove: api::prove },
];

/// Which samples a proof runs, and over how many random inputs.
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

/// Runs every suite as the test command does.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    SUITES.iter().try_for_each(|suite| (suite.test)(workspace))
}

/// Runs the suites named, or all of them, in all languages.
pub(crate) fn prove(workspace: &Workspace, numbers: &Numbers) -> Result<()> {
    let only = &numbers.suites;
    if let Some(unknown) = only.iter().find(|name| SUITES.iter().all(|suite| suite.name != **name)) {
        bail!("there is no suite {unknown}; the suites are {}", SUITES.map(|suite| suite.name).join(", "));
    }
    let chosen = SUITES.iter().filter(|suite| only.is_empty() || only.iter().any(|name| name == suite.name));
    chosen.into_iter().try_for_each(|suite| {
        println!("\n=== {} ===", suite.name);
        (suite.prove)(workspace, numbers)
    })
}
