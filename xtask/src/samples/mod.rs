//! Programs that the documents print for other languages, run before anybody copies them.
//!
//! A suite is one kind of sample: where they lie is its own affair, how they are run stands in `tests/samples/<name>`.
//! `cargo xtask test samples` runs each suite in the languages that every machine of this project has, `cargo xtask
//! prove samples` in all languages and with random inputs. Nothing is installed: what a suite needs is asked of
//! [`crate::prerequisites`], which names the packages that are missing.

mod api;
mod receive;

use anyhow::{Result, bail};

use crate::workspace::Workspace;

/// One kind of sample.
struct Suite {
    /// Its folder in `tests/samples`.
    name: &'static str,
    /// What the test command does.
    test: fn(&Workspace) -> Result<()>,
    /// What the proof does.
    prove: fn(&Workspace, Random) -> Result<()>,
}

const SUITES: [Suite; 2] = [
    Suite { name: "receive", test: receive::test, prove: receive::prove },
    Suite { name: "api", test: api::test, prove: api::prove },
];

/// Random inputs of a proof. The same seed gives the same inputs.
#[derive(Clone, Copy)]
pub(crate) struct Random {
    /// How many.
    pub(crate) count: u64,
    /// What they are made of.
    pub(crate) seed: u64,
}

/// Runs every suite as the test command does.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    SUITES.iter().try_for_each(|suite| (suite.test)(workspace))
}

/// Runs the suites named, or all of them, in all languages.
pub(crate) fn prove(workspace: &Workspace, only: &[String], random: Random) -> Result<()> {
    if let Some(unknown) = only.iter().find(|name| SUITES.iter().all(|suite| suite.name != **name)) {
        bail!("there is no suite {unknown}; the suites are {}", SUITES.map(|suite| suite.name).join(", "));
    }
    let chosen = SUITES.iter().filter(|suite| only.is_empty() || only.iter().any(|name| name == suite.name));
    chosen.into_iter().try_for_each(|suite| {
        println!("\n=== {} ===", suite.name);
        (suite.prove)(workspace, random)
    })
}
