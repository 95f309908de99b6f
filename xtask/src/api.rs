//! Tests what the OpenAPI documents are good for: a linter, a client made from them, and a browser that reads them.
//!
//! The tools come from the lock file of `tests/openapi`. The committed documents are linted; types are generated from
//! the merchant's and a client is compiled against them; then the tests run against a real authority: they catch up
//! with the event history and ask for a refund through that client, and open all pages in Chromium. A picture of each
//! goes into the folder that `SCREENSHOTS` names; without it none is made. The package's client, whose operations are
//! written from the document, runs against such an authority too (`tests/client`), through a network that loses,
//! repeats and breaks off; and so does `authority mcp`, which the public client of that protocol speaks to
//! (`tests/mcp`).

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{consumer, npm, process, programs};

/// Lints, generates, compiles and runs.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    let folder = workspace.root().join("tests/openapi");
    npm::install(&folder)?;
    let documents = ["merchant", "operator"].map(|name| format!("../../docs/openapi/{name}.json"));
    process::run(
        npm::tool(&folder, "redocly")
            .args(["lint", "--config", "redocly.yaml", "--format", "summary"])
            .args(&documents)
            // It would tell its makers, and ask them for a newer version.
            .envs([("REDOCLY_TELEMETRY", "off"), ("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true")]),
    )?;
    let [merchant, _] = &documents;
    process::run(npm::tool(&folder, "openapi-typescript").args([
        merchant,
        "--output",
        "generated/merchant.ts",
    ]))?;
    process::run(npm::tool(&folder, "tsc").args(["--project", "tsconfig.json"]))?;
    let authority = programs::authority(workspace)?;
    let [client, mcp] = ["tests/client", "tests/mcp"].map(|folder| workspace.root().join(folder));
    npm::install(&client)?;
    npm::install(&mcp)?;
    for folder in [&folder, &client, &mcp] {
        let mut tests = npm::tests(folder);
        process::run(tests.args(consumer::test_files(folder)?).env("AUTHORITY_BINARY", &authority))?;
    }
    Ok(())
}
