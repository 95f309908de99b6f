//! Many writers of orders that merchants share with one another, through two instances (contract 8.3):
//! `tests/tests/api/partners/writers.rs`.

use anyhow::Result;
use clap::Args;

use super::ignored_test;
use crate::workspace::Workspace;

/// How much.
#[derive(Args)]
pub(crate) struct Numbers {
    /// For how long they write.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

/// Writes on PostgreSQL; on SQLite there is one writer at a time.
pub(super) fn run(workspace: &Workspace, numbers: &Numbers) -> Result<()> {
    let variables = [("PARTNERS_SECONDS", numbers.seconds.to_string())];
    ignored_test(workspace, ["tests", "api", "partners::writers::proof_on_postgres"], &variables)
}
