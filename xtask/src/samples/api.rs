//! The samples of the OpenAPI documents (`x-codeSamples`): each operation called in each language.
//!
//! Each is taken out of `docs/openapi`, gets the ids of records in place of its placeholders, and runs against a real
//! authority. It must make the request of its operation and print the answer that the document promises.

use anyhow::Result;

use super::Numbers;
use crate::workspace::Workspace;
use crate::{npm, package, prerequisites, process, programs};

/// By the labels that the samples have in the documents.
const EVERYWHERE: &str = "curl verify-wasm/client Python";
const ALL: &str = "curl verify-wasm/client Python Go PHP Ruby Java";

/// Every operation in what the test command needs for other reasons, and with curl. The package is built already.
pub(super) fn test(workspace: &Workspace) -> Result<()> {
    run(workspace, EVERYWHERE)
}

/// The same in all languages.
pub(super) fn prove(workspace: &Workspace, _: &Numbers) -> Result<()> {
    prerequisites::node()?;
    prerequisites::python()?;
    prerequisites::sample_programs()?;
    package::build(workspace)?;
    run(workspace, ALL)
}

fn run(workspace: &Workspace, languages: &str) -> Result<()> {
    prerequisites::curl()?;
    let folder = workspace.root().join("tests/samples/api");
    npm::install(&folder)?;
    let authority = programs::authority(workspace)?;
    process::run(
        npm::tests(&folder)
            .arg("samples.test.mjs")
            .env("AUTHORITY_BINARY", authority)
            .env("SAMPLE_LANGUAGES", languages)
            .env("SAMPLE_BUILDS", workspace.target().join("samples/api")),
    )
}
