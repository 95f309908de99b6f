//! SQLite: one file, one writing process, one writing connection; readers see committed snapshots (contract 8.4).
//!
//! WAL with `synchronous=FULL`: a commit that was answered survives a power cut. Writes that are queued together
//! share one fsync (see [`crate::writer`]), so that FULL costs next to nothing under load. A lock file keeps a second
//! `serve` away from the same database, which is why a starting process may take back every lease it finds.

pub(crate) mod batch;
mod connection;
#[cfg(test)]
mod delivery_plans;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod large;
#[cfg(test)]
mod merchant_plans;
mod open;
#[cfg(test)]
mod operator_plans;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod share_plans;
#[cfg(test)]
mod upkeep_plans;

use sqlx::SqliteConnection;

use crate::driver::{Connection, Dialect, Held};
use crate::migrations;
use crate::shards::ShardSet;

pub(crate) use open::{ServerLock, inspect, make_private, open};

impl From<SqliteConnection> for Connection {
    fn from(own: SqliteConnection) -> Self {
        Self::Sqlite(Held::Own(own), &DIALECT)
    }
}

/// See [`Dialect::waiting`].
macro_rules! waiting {
    () => {
        "WITH RECURSIVE waiting (shard, endpoint_id) AS ( \
             SELECT 0, MIN(endpoint_id) FROM deliveries WHERE shard = 0 AND status = 'pending' \
             UNION ALL \
             SELECT 0, (SELECT MIN(n.endpoint_id) FROM deliveries n \
                        WHERE n.shard = 0 AND n.status = 'pending' AND n.endpoint_id > waiting.endpoint_id) \
             FROM waiting WHERE waiting.endpoint_id IS NOT NULL)"
    };
}

/// Leases due deliveries (T4), `$5` in all: from each enabled endpoint the oldest ones that nobody holds, as far as
/// the endpoint has capacity, and from each merchant at most `$6`, or what `$7` says for that merchant. The endpoints
/// of a merchant take turns, and so do the merchants. While a hold or its health bounds an endpoint
/// ([`authority_domain::endpoint::hold::cap`]), the leases of all instances count. Otherwise the capacity is what
/// this instance wants according to `$8`, as far as the instances whose tokens do not begin with `$9` leave room
/// under the endpoint's `max_in_flight`, by default `$4`. `roomy` lists the endpoints with capacity; only their
/// deliveries are read, `$10` of each. Of endpoints without due deliveries no row is read: where many wait for their
/// next attempts, those rows lie all over the file.
macro_rules! lease_due {
    ($waiting:expr) => {
        concat!(
            $waiting,
            "rooms (id, room) AS MATERIALIZED (SELECT key, value FROM json_each($7)), \
             wants (id, most, beyond) AS MATERIALIZED ( \
                 SELECT key, json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each($8)), \
             roomy (endpoint_id, merchant_id, room) AS MATERIALIZED ( \
                 SELECT e.id, e.merchant_id, CASE \
                     WHEN e.hold_step > 0 OR e.health_state = 'failing' OR e.hold_regained > 0 THEN \
                         CASE WHEN e.hold_step > 0 OR e.health_state = 'failing' THEN 1 ELSE MIN(1 << e.hold_regained, \
                             COALESCE(MIN(e.max_in_flight, m.max_in_flight), e.max_in_flight, m.max_in_flight, $4)) END \
                         - (SELECT COUNT(*) FROM deliveries l WHERE l.shard = 0 AND l.endpoint_id = e.id \
                            AND l.lease_token IS NOT NULL AND l.lease_until >= $3) \
                     ELSE (SELECT CASE WHEN o.leave > 0 \
                             THEN MIN(COALESCE(w.most, 8), COALESCE(w.beyond, 0) + o.leave) ELSE 0 END FROM ( \
                         SELECT COALESCE(MIN(e.max_in_flight, m.max_in_flight), e.max_in_flight, m.max_in_flight, $4) \
                         - (SELECT COUNT(*) FROM deliveries l WHERE l.shard = 0 AND l.endpoint_id = e.id \
                            AND l.lease_token IS NOT NULL AND l.lease_until >= $3 AND substr(l.lease_token, 1, 16) <> $9) AS leave) o) END \
                 FROM waiting CROSS JOIN webhook_endpoints e ON e.shard = 0 AND e.id = waiting.endpoint_id \
                     LEFT JOIN merchants m ON m.id = e.merchant_id LEFT JOIN wants w ON w.id = e.id \
                 WHERE EXISTS (SELECT 1 FROM deliveries w WHERE w.shard = 0 AND w.endpoint_id = waiting.endpoint_id \
                         AND w.status = 'pending' AND w.next_attempt_at <= $3) \
                     AND e.status = 'enabled' AND (e.held_until IS NULL OR e.held_until <= $3)) \
             UPDATE deliveries SET lease_token = $1, lease_until = $2, retry_asked_at = NULL WHERE shard = 0 AND id IN ( \
                 SELECT id FROM ( \
                     SELECT id, next_attempt_at, sequence, merchant_id, \
                         ROW_NUMBER() OVER (PARTITION BY merchant_id ORDER BY place, next_attempt_at, sequence) AS turn \
                     FROM ( \
                         SELECT d.id, d.next_attempt_at, d.sequence, r.merchant_id, r.room, \
                             ROW_NUMBER() OVER (PARTITION BY r.endpoint_id ORDER BY d.next_attempt_at, d.sequence) AS place \
                         FROM roomy r CROSS JOIN deliveries d ON d.shard = 0 AND d.id IN ( \
                             SELECT w.id FROM deliveries w WHERE w.shard = 0 AND w.endpoint_id = r.endpoint_id AND w.status = 'pending' \
                                 AND w.next_attempt_at <= $3 AND (w.lease_until IS NULL OR w.lease_until < $3) \
                             ORDER BY w.next_attempt_at, w.sequence LIMIT $10) \
                         WHERE r.room > 0) \
                     WHERE place <= room) \
                 WHERE turn <= COALESCE((SELECT r.room FROM rooms r WHERE r.id = merchant_id), $6) \
                 ORDER BY turn, next_attempt_at, sequence LIMIT $5) \
             RETURNING id, cancel_asked_at IS NOT NULL"
        )
    };
}

/// What SQLite says in its own words.
pub(crate) static DIALECT: Dialect = Dialect {
    lease_due: lease_due!(concat!(waiting!(), ", ")),
    lease_due_among: lease_due!(
        // There is one shard, whatever `$12` says.
        "WITH waiting (shard, endpoint_id) AS (SELECT 0, value FROM json_each($11) WHERE $12 <> ''), "
    ),
    new_delivery: "v.column1, v.column2, v.column3, v.column4, v.column5, v.column6, v.column7, v.column8, \
     v.column9, v.column10, 'pending', 0, v.column11, v.column11, v.column11, v.column12, v.column13, \
     (SELECT COALESCE(MAX(d.created_sequence), 0) FROM deliveries d WHERE d.shard = v.column1 AND d.endpoint_id = v.column9) \
         + v.column14",
    // Nobody else writes.
    tables_apart: true,
    shards_apart: false,
    lock_rows: "",
    now_ms: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    seen_now: "v.column1, CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    processor_reference: "json_extract(body, '$.processor.reference')",
    guards: &["events_no_update", "events_no_delete"],
    guards_present: "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'events'",
    begin_snapshot: "BEGIN",
    // A job that reads the row for itself needs one statement as well.
    worth_looking_up: 2,
    has_clock: false,
    shards: ShardSet::ONLY,
    waiting: waiting!(),
    known: || migrations::known(&migrations::SQLITE),
};
