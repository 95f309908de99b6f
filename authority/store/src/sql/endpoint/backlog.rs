//! Backlog counts, with a limit per endpoint that bounds their cost.
//!
//! The endpoints that have unfinished work are found by index steps alone, as for leases. So a backlog of millions
//! costs the same as one of [`COUNTED_MAX`].

/// The most deliveries that are counted per endpoint. The oldest is looked for among as many, those due first.
pub(crate) const COUNTED_MAX: i64 = 10_000;

/// Columns `pending`, `due`, `oldest`, `first_due` of the row `e` with its `shard` and `endpoint_id`; `$1` is now, `$2`
/// is [`COUNTED_MAX`].
pub(crate) const COUNTED: &str = "(SELECT COUNT(*) FROM (SELECT 1 FROM deliveries d \
         WHERE d.shard = e.shard AND d.endpoint_id = e.endpoint_id AND d.status = 'pending' LIMIT $2) AS w) AS pending, \
     (SELECT COUNT(*) FROM (SELECT 1 FROM deliveries d \
         WHERE d.shard = e.shard AND d.endpoint_id = e.endpoint_id AND d.status = 'pending' AND d.next_attempt_at <= $1 LIMIT $2) AS w) AS due, \
     (SELECT MIN(created_at) FROM (SELECT d.created_at FROM deliveries d \
         WHERE d.shard = e.shard AND d.endpoint_id = e.endpoint_id AND d.status = 'pending' \
         ORDER BY d.next_attempt_at, d.sequence LIMIT $2) AS w) AS oldest, \
     (SELECT MIN(d.next_attempt_at) FROM deliveries d \
         WHERE d.shard = e.shard AND d.endpoint_id = e.endpoint_id AND d.status = 'pending') AS first_due ";
