//! Both listeners held to the documents they serve (`tests/openapi/schemathesis`), over many more requests than the
//! test command has time for, and on PostgreSQL too.

use anyhow::Result;
use clap::Args;

use crate::schemathesis::{self, Database};
use crate::workspace::Workspace;
use crate::{prerequisites, programs};

/// How much.
#[derive(Args)]
pub(crate) struct Numbers {
    /// Requests per listener, at least.
    #[arg(long, default_value_t = 50_000)]
    cases: u32,
    /// What they are drawn from; another one each time when it is left out. It is printed.
    #[arg(long)]
    seed: Option<u32>,
    /// `sqlite` or `postgres`; both, one after the other, when it is left out.
    #[arg(long, value_parser = ["sqlite", "postgres"])]
    database: Option<String>,
}

/// Nearly all the time goes into making the requests: a build with its assertions costs little.
pub(super) fn run(workspace: &Workspace, numbers: &Numbers) -> Result<()> {
    prerequisites::python()?;
    prerequisites::postgres()?;
    programs::build(workspace, &["--bin", "authority", "--bin", "with-postgres"])?;
    for (name, database) in [("sqlite", Database::Sqlite), ("postgres", Database::Postgres)] {
        if numbers.database.as_deref().is_none_or(|wanted| wanted == name) {
            schemathesis::conformance(workspace, database, numbers.cases, numbers.seed)?;
        }
    }
    Ok(())
}
