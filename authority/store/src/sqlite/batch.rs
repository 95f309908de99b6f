//! Writes that travel together, on SQLite: statements behind one another in one text, which the driver prepares once
//! and runs on its thread without coming back between them. Placeholders are counted through.

use futures_util::TryStreamExt;
use sqlx::{Either, Error, Executor, SqliteConnection};

use super::waiting::Waiting;

/// What stands before the `n`-th statement.
pub(super) fn before(n: usize) -> &'static str {
    if n == 0 { "" } else { "; " }
}

/// What stands behind each.
pub(super) const AFTER: &str = "";

/// Runs them in their order; tells how many rows each touched.
pub(super) async fn send(conn: &mut SqliteConnection, mut waiting: Waiting) -> Result<Vec<u64>, Error> {
    let mut touched = Vec::with_capacity(waiting.touches.len());
    let mut done = conn.fetch_many(waiting.query.build());
    while let Some(step) = done.try_next().await? {
        if let Either::Left(statement) = step {
            touched.push(statement.rows_affected());
        }
    }
    Ok(touched)
}
