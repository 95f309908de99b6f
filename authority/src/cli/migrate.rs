//! `authority migrate`: brings the schema up to date and ends.

use authority_store::Access;

use super::serve::block_on;
use super::{Exit, Failure, Process, args};
use crate::config::read_database_url;
use crate::service::open_store;

/// Opens the database, which migrates it.
pub(super) fn run(_: &args::Migrate, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let url = read_database_url(process.environment)?;
    block_on(async {
        open_store(&url, Access::Shared).await?.close().await;
        Ok(())
    })?;
    writeln!(process.stderr, "authority: the schema is up to date")?;
    Ok(Exit::Done)
}
