//! Writes that travel together, on PostgreSQL: one statement with a part for each, and the counts of all parts as its
//! one row. Foreign keys are judged at its end, so that a part may refer to what another one makes.

use std::fmt::Write;

use sqlx::{Error, PgConnection, Row};

use super::waiting::Waiting;

/// What stands before the `n`-th part.
pub(super) fn before(n: usize) -> String {
    if n == 0 { "WITH w0 AS (".to_owned() } else { format!(", w{n} AS (") }
}

/// What stands behind each.
pub(super) const AFTER: &str = " RETURNING 1)";

/// Runs them; tells how many rows each touched.
pub(super) async fn send(conn: &mut PgConnection, mut waiting: Waiting) -> Result<Vec<u64>, Error> {
    let mut counts = String::from(" SELECT ");
    for n in 0..waiting.touches.len() {
        let comma = if n == 0 { "" } else { ", " };
        // Writing to a string does not fail.
        let _ = write!(counts, "{comma}(SELECT COUNT(*) FROM w{n})");
    }
    waiting.query.push(counts);
    let row = waiting.query.build().fetch_one(conn).await?;
    (0..waiting.touches.len()).map(|n| Ok(row.try_get::<i64, _>(n)?.unsigned_abs())).collect()
}
