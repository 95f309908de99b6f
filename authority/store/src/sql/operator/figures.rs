//! Figures over the whole database, for the operators of the service (contract 6.2, 15.11).

use authority_domain::Timestamp;
use rand::SeedableRng as _;
use rand::distr::{Alphanumeric, SampleString as _};
use rand::rngs::StdRng;

use crate::migrations::{FOUND, Found};
use crate::sql::endpoint::backlog::{COUNTED, COUNTED_MAX};
use crate::sql::{Across, Query, Result, Row, Tx, fields, query};

/// The delivery backlog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueFigures {
    /// Deliveries that have not ended.
    pub pending: i64,
    /// Of these, the due ones, including those in flight.
    pub due: i64,
    /// Deliveries that are leased.
    pub leased: i64,
    /// Since when the oldest delivery that is due could have been sent: those of an endpoint that is held back wait for
    /// the end of the hold.
    pub oldest_due_at: Option<Timestamp>,
}

/// The number of bytes that the write probe writes.
const PROBE_BYTES: usize = 64 * 1024;

/// Text that cannot be compressed, as PostgreSQL would: then the probe took no room on a full disk.
fn filler(now: Timestamp) -> String {
    let mut dice = StdRng::seed_from_u64(now.as_ms().unsigned_abs());
    Alphanumeric.sample_string(&mut dice, PROBE_BYTES)
}

impl Tx {
    /// The backlog at `now`, counted up to 10,000 of each endpoint, so that the cost does not grow with the millions
    /// that are pending or have ended.
    pub async fn queue_figures(&mut self, now: Timestamp) -> Result<QueueFigures> {
        let mut query = Query::across(Across::CLAIMS, self.conn.dialect().waiting);
        query.push(
            " SELECT CAST(COALESCE(SUM(pending), 0) AS BIGINT) AS pending, CAST(COALESCE(SUM(due), 0) AS BIGINT) AS due, \
                 MIN(CASE WHEN held_until > first_due THEN held_until ELSE first_due END) AS oldest, MAX(l.leased) AS leased \
             FROM (SELECT COUNT(*) AS leased FROM deliveries WHERE lease_token IS NOT NULL AND lease_until >= $1) AS l \
             LEFT JOIN (SELECT ",
        );
        let held = ", (SELECT held_until FROM webhook_endpoints h WHERE h.shard = e.shard AND h.id = e.endpoint_id) AS held_until ";
        query
            .push(COUNTED)
            .push(held)
            .push("FROM waiting e WHERE e.endpoint_id IS NOT NULL) AS counted ON TRUE");
        let row = query.bind(now.as_ms()).bind(COUNTED_MAX).read_one::<Row>(&mut self.conn).await?;
        let oldest: Option<Timestamp> = row.read("oldest")?;
        Ok(fields!(row => QueueFigures {
            pending, due, leased;
            oldest_due_at: oldest.filter(|oldest| *oldest <= now),
        }))
    }

    /// Since when the oldest unattended delivery has been due: one of an enabled endpoint that has nothing in flight.
    /// A slow receiver has something in flight as long as workers run, so it does not make an instance unready.
    pub async fn oldest_unattended(&mut self, now: Timestamp) -> Result<Option<Timestamp>> {
        // Finds the endpoints that have unfinished work by index steps alone, as for leases.
        let mut query = Query::across(Across::CLAIMS, self.conn.dialect().waiting);
        query.push(
            " SELECT MIN(since) FROM (SELECT CASE WHEN e.held_until > due_at THEN e.held_until ELSE due_at END AS since \
                 FROM (SELECT shard, endpoint_id, (SELECT MIN(d.next_attempt_at) FROM deliveries d \
                         WHERE d.shard = waiting.shard AND d.endpoint_id = waiting.endpoint_id AND d.status = 'pending') AS due_at \
                     FROM waiting) AS first \
                 JOIN webhook_endpoints e ON e.shard = first.shard AND e.id = first.endpoint_id \
                 WHERE e.status = 'enabled' AND NOT EXISTS ( \
                     SELECT 1 FROM deliveries l WHERE l.shard = e.shard AND l.endpoint_id = e.id AND l.lease_token IS NOT NULL \
                         AND l.lease_until >= $1)) AS unattended \
             WHERE since <= $1",
        );
        let oldest: Option<i64> = query.bind(now.as_ms()).read_one(&mut self.conn).await?;
        Ok(oldest.map(Timestamp::from_ms))
    }

    /// Whether this program still works with the schema: a newer program may have migrated it meanwhile.
    pub async fn schema_fits(&mut self) -> Result<bool> {
        let known = (self.conn.dialect().known)();
        let found = query(FOUND).bind(known.newest).bind(known.first).read_one(&mut self.conn).await?;
        Ok(Found::new(found).fits(known.newest))
    }

    /// Writes in order to test writing: fails while the disk is full or the database is read-only.
    pub async fn write_probe(&mut self, now: Timestamp) -> Result<()> {
        query(
            "INSERT INTO write_probe (id, written_at, filler) VALUES (1, $1, $2) \
             ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at, filler = excluded.filler",
        )
        .binds((now.as_ms(), filler(now)))
        .run(&mut self.conn)
        .await
    }

    /// The number of endpoints in each state of health, and of `disabled` ones.
    pub async fn endpoint_states(&mut self) -> Result<Vec<(String, i64)>> {
        Ok(Query::across(
            Across::OPERATOR,
            "SELECT CASE WHEN status = 'disabled' THEN status ELSE health_state END AS state, COUNT(*) \
             FROM webhook_endpoints WHERE deleted_at IS NULL GROUP BY 1 ORDER BY 1",
        )
        .read(&mut self.conn)
        .await?)
    }
}
