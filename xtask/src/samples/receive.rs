//! The samples of `docs/receive.md`: a webhook verified with the standard library of each language.
//!
//! Each sample gets every delivery of `tests/vectors/verification.json`, the ones that lead a language's own parser
//! astray, and in the proof random ones with their native verdicts. It must give the verdict of the contract to all of
//! them. That the document prints the samples as they are is tested beside it.

use std::path::Path;

use anyhow::Result;

use super::Numbers;
use crate::workspace::Workspace;
use crate::{hardening, npm, prerequisites, process};

/// In the words of `tests/samples/receive/languages.mjs`: those that the test command needs for other reasons.
const EVERYWHERE: &str = "python node";
const ALL: &str = "python node go php ruby java";

/// The document, and the samples in Python and Node.
pub(super) fn test(workspace: &Workspace) -> Result<()> {
    run(workspace, EVERYWHERE, &[], None)
}

/// The same in all languages, and the script that sends an event.
pub(super) fn prove(workspace: &Workspace, numbers: &Numbers) -> Result<()> {
    prerequisites::node()?;
    prerequisites::python()?;
    prerequisites::sample_programs()?;
    let deliveries = hardening::deliveries(workspace, numbers.count, numbers.seed)?;
    run(workspace, ALL, &["send.test.mjs"], Some(&deliveries))
}

fn run(workspace: &Workspace, languages: &str, also: &[&str], deliveries: Option<&Path>) -> Result<()> {
    let folder = workspace.root().join("tests/samples/receive");
    process::run(
        npm::tests(&folder)
            .args(["document.test.mjs", "samples.test.mjs"])
            .args(also)
            .env("SAMPLE_LANGUAGES", languages)
            .env("SAMPLE_BUILDS", workspace.target().join("samples/receive"))
            .envs(deliveries.map(|path| ("DELIVERIES", path))),
    )
}
