//! Backlog counts, with a limit per endpoint that bounds their cost.
//!
//! The endpoints that have unfinished work are found by index steps alone, as for leases. So a backlog of millions
//! costs the same as one of [`COUNTED_MAX`].

/// The most deliveries that are counted per endpoint. The oldest is looked for among as many, those due first.
pub(crate) const COUNTED_MAX: i64 = 10_000;

/// The endpoints that have unfinished work, the last row null, found with one index step each. So the cost does not
/// depend on how many deliveries are pending or have ended, nor on how many endpoints are idle. Opens the statement.
macro_rules! waiting {
    () => {
        "WITH RECURSIVE waiting (endpoint_id) AS ( \
             SELECT MIN(endpoint_id) FROM deliveries WHERE status = 'pending' \
             UNION ALL \
             SELECT (SELECT MIN(n.endpoint_id) FROM deliveries n \
                     WHERE n.status = 'pending' AND n.endpoint_id > waiting.endpoint_id) \
             FROM waiting WHERE waiting.endpoint_id IS NOT NULL)"
    };
}

pub(crate) use waiting;

/// Columns `pending`, `due`, `oldest`, `first_due` of the row `e` with its `endpoint_id`; `$1` is now, `$2` is
/// [`COUNTED_MAX`].
pub(crate) const COUNTED: &str = "(SELECT COUNT(*) FROM (SELECT 1 FROM deliveries d \
         WHERE d.endpoint_id = e.endpoint_id AND d.status = 'pending' LIMIT $2) AS w) AS pending, \
     (SELECT COUNT(*) FROM (SELECT 1 FROM deliveries d WHERE d.endpoint_id = e.endpoint_id AND d.status = 'pending' \
         AND d.next_attempt_at <= $1 LIMIT $2) AS w) AS due, \
     (SELECT MIN(created_at) FROM (SELECT d.created_at FROM deliveries d \
         WHERE d.endpoint_id = e.endpoint_id AND d.status = 'pending' \
         ORDER BY d.next_attempt_at, d.sequence LIMIT $2) AS w) AS oldest, \
     (SELECT MIN(d.next_attempt_at) FROM deliveries d \
         WHERE d.endpoint_id = e.endpoint_id AND d.status = 'pending') AS first_due ";
