//! schemathesis, always of the pinned version: it holds both listeners to the OpenAPI documents that they serve, and
//! asks for whatever these allow and forbid (`tests/openapi/schemathesis`).
//!
//! It is a Python program, in an environment of its own (`python.rs`). `conformance.py` starts authorities, calls
//! schemathesis, and judges. The same pins have the public library of Standard Webhooks, which `conformance.py` has
//! verify deliveries (contract 15.12).

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{process, programs, python};

/// What the authority keeps its records in.
#[derive(Clone, Copy)]
pub(crate) enum Database {
    /// Files of its own.
    Sqlite,
    /// Databases that the built `with-postgres` makes.
    Postgres,
}

/// Generated requests per listener, at least, and what they are drawn from: every run of the tests makes the same ones.
const CASES: u32 = 2_000;
const SEED: u32 = 1;

/// What the test command does.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    programs::authority(workspace)?;
    conformance(workspace, Database::Sqlite, CASES, Some(SEED))
}

/// Holds both listeners of the built authority to their documents: at least so many cases each, drawn from a seed.
pub(crate) fn conformance(
    workspace: &Workspace,
    database: Database,
    cases: u32,
    seed: Option<u32>,
) -> Result<()> {
    let python = python::install(workspace, "schemathesis", &folder(workspace))?;
    let built = workspace.target().join("debug");
    let mut command = match database {
        Database::Sqlite => Command::new(python),
        Database::Postgres => {
            let mut command = Command::new(built.join("with-postgres"));
            command.arg(python);
            command
        }
    };
    command.current_dir(folder(workspace)).args(["-B", "conformance.py", "--authority"]);
    command.arg(built.join("authority")).args(["--cases", &cases.to_string()]);
    command.args(seed.iter().flat_map(|seed| ["--seed".to_owned(), seed.to_string()]));
    if matches!(database, Database::Postgres) {
        command.args(["--merchant-database", "{database}", "--operator-database", "{database}"]);
    }
    process::run(&mut command)
}

fn folder(workspace: &Workspace) -> PathBuf {
    workspace.root().join("tests/openapi/schemathesis")
}
