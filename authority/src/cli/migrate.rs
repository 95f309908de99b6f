//! `authority migrate`: brings the database schema up to date and exits.

use super::serve::block_on;
use super::{Exit, Failure, Process, args};
use crate::config::read_database_url;
use crate::service::migrate_store;

/// Runs the migrations. Creates the SQLite file if it does not exist.
pub(super) fn run(_: &args::Migrate, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let url = read_database_url(process.environment)?;
    block_on(async { Ok(migrate_store(&url).await?) })?;
    writeln!(process.stderr, "authority: the schema is up to date")?;
    Ok(Exit::Done)
}
