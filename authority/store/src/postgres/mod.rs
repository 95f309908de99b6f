//! PostgreSQL: any number of instances, one database; all of them read committed data at once (contract 8.3).
//!
//! A use case reads, decides and writes, and no other write may come in between. Instead of locking every row that a
//! rule looks at, the writers of all instances take turns, shard by shard ([`crate::shards`]): each transaction begins
//! by locking the rows of its shards in the table `turns`, in ascending order, and holds them to its end. So the rules
//! hold as they do on SQLite, no two transactions can wait for each other, and the order of a stream's sequence
//! numbers is the order of commits. Queued jobs of the same shards share the turn and its commit (see
//! [`crate::writer`]). An instance that stops answering loses its turns through the server's own time limits.
//!
//! Instances come and go, so no instance takes back the leases of another: they run out. Deliberately absent:
//! `LISTEN` and `NOTIFY`. A notification inside a writing transaction takes a lock of the whole server at its commit,
//! and the poll of the other instances is authoritative anyway (contract 12 T5).

pub(crate) mod batch;
mod connect;
mod connection;
mod distribute;
mod indexes;
#[cfg(test)]
mod merchant_plans;
mod open;
#[cfg(test)]
mod operator_plans;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod silence;
mod turns;

use crate::driver::Dialect;
use crate::migrations;
use crate::shards::ShardSet;

pub use distribute::Distribution;
pub(crate) use distribute::distribute;
pub(crate) use open::{inspect, migrate, open};

/// See [`Dialect::waiting`].
macro_rules! waiting {
    () => {
        waiting!("")
    };
    ($of_shard:literal) => {
        concat!(
            "WITH RECURSIVE waiting (shard, endpoint_id) AS ( \
             (SELECT d.shard, d.endpoint_id FROM deliveries d WHERE d.status = 'pending'",
            $of_shard,
            " ORDER BY d.shard, d.endpoint_id LIMIT 1) \
             UNION ALL \
             SELECT n.shard, n.endpoint_id FROM waiting CROSS JOIN LATERAL ( \
                 SELECT d.shard, d.endpoint_id FROM deliveries d WHERE d.status = 'pending'",
            $of_shard,
            " AND (d.shard, d.endpoint_id) > (waiting.shard, waiting.endpoint_id) \
                 ORDER BY d.shard, d.endpoint_id LIMIT 1) n)"
        )
    };
}

/// Leases due deliveries (T4), `$5` in all: from each enabled endpoint the oldest ones that nobody holds, as far as
/// the endpoint has capacity, and from each merchant at most `$6`, or what `$7` says for that merchant. The endpoints
/// of a merchant take turns, and so do the merchants. While a hold or its health bounds an endpoint
/// ([`authority_domain::endpoint::hold::cap`]), the leases of all instances count. Otherwise the capacity is what
/// this instance wants according to `$8`, as far as the instances whose tokens do not begin with `$9` leave room
/// under the endpoint's `max_in_flight`, by default `$4`. `roomy` lists the endpoints with capacity; only their
/// deliveries are read, at most `$10` of each. `OFFSET 0` makes the server find each of them by its id, however many
/// others there are. Rows that another transaction has locked are skipped: they are being settled or leased right
/// now.
///
/// With `of_shard` each table is bound to the shard `$13`.
macro_rules! lease_due {
    ($waiting:expr) => {
        lease_due!($waiting; "", "", "", "")
    };
    (of_shard $waiting:expr) => {
        lease_due!($waiting; " AND l.shard = $13", " AND f.shard = $13", " AND w.shard = $13", "shard = $13 AND ")
    };
    ($waiting:expr; $l:literal, $f:literal, $w:literal, $leased:literal) => {
        concat!(
            $waiting,
            "rooms AS MATERIALIZED ( \
                 SELECT key AS id, value::BIGINT AS room FROM jsonb_each_text($7::jsonb)), \
             wants AS MATERIALIZED ( \
                 SELECT key AS id, (value->>0)::BIGINT AS most, (value->>1)::BIGINT AS beyond FROM jsonb_each($8::jsonb)), \
             roomy AS MATERIALIZED ( \
                 SELECT waiting.shard, waiting.endpoint_id, e.merchant_id, LEAST($10, CASE \
                     WHEN e.hold_step > 0 OR e.health_state = 'failing' OR e.hold_regained > 0 THEN \
                         CASE WHEN e.hold_step > 0 OR e.health_state = 'failing' THEN 1 ELSE LEAST(1::BIGINT << e.hold_regained::INT, \
                             COALESCE(LEAST(e.max_in_flight, e.of_merchant), $4)) END \
                         - (SELECT COUNT(*) FROM deliveries l WHERE l.shard = waiting.shard",
            $l,
            " AND l.endpoint_id = waiting.endpoint_id \
                            AND l.lease_token IS NOT NULL AND l.lease_until >= $3) \
                     ELSE (SELECT CASE WHEN o.leave > 0 \
                             THEN LEAST(COALESCE(wants.most, 8), COALESCE(wants.beyond, 0) + o.leave) ELSE 0 END FROM ( \
                         SELECT COALESCE(LEAST(e.max_in_flight, e.of_merchant), $4) \
                         - (SELECT COUNT(*) FROM deliveries l WHERE l.shard = waiting.shard",
            $l,
            " AND l.endpoint_id = waiting.endpoint_id AND l.lease_token IS NOT NULL AND l.lease_until >= $3 \
                            AND substr(l.lease_token, 1, 16) <> $9) AS leave) o) END) AS room \
                 FROM waiting CROSS JOIN LATERAL ( \
                     SELECT f.merchant_id, hold_step, hold_regained, health_state, f.max_in_flight, \
                         m.max_in_flight AS of_merchant \
                     FROM webhook_endpoints f LEFT JOIN merchants m ON m.id = f.merchant_id \
                     WHERE f.shard = waiting.shard",
            $f,
            " AND f.id = waiting.endpoint_id AND f.status = 'enabled' \
                         AND (held_until IS NULL OR held_until <= $3) OFFSET 0) e \
                     LEFT JOIN wants ON wants.id = waiting.endpoint_id), \
             due AS ( \
                 SELECT r.shard, r.endpoint_id, r.merchant_id, d.id, d.next_attempt_at, d.sequence \
                 FROM roomy r CROSS JOIN LATERAL ( \
                     SELECT w.id, w.next_attempt_at, w.sequence FROM deliveries w \
                     WHERE w.shard = r.shard",
            $w,
            " AND w.endpoint_id = r.endpoint_id AND w.status = 'pending' \
                         AND w.next_attempt_at <= $3 AND (w.lease_until IS NULL OR w.lease_until < $3) \
                     ORDER BY w.next_attempt_at, w.sequence LIMIT GREATEST(r.room, 0) FOR UPDATE SKIP LOCKED) d \
                 WHERE r.room > 0), \
             placed AS ( \
                 SELECT due.*, ROW_NUMBER() OVER (PARTITION BY endpoint_id ORDER BY next_attempt_at, sequence) AS place \
                 FROM due), \
             turns AS ( \
                 SELECT placed.*, \
                     ROW_NUMBER() OVER (PARTITION BY merchant_id ORDER BY place, next_attempt_at, sequence) AS turn \
                 FROM placed) \
             UPDATE deliveries SET lease_token = $1, lease_until = $2, retry_asked_at = NULL WHERE ",
            $leased,
            "(shard, id) IN ( \
                 SELECT shard, id FROM turns \
                 WHERE turn <= COALESCE((SELECT r.room FROM rooms r WHERE r.id = merchant_id), $6) \
                 ORDER BY turn, next_attempt_at, sequence LIMIT $5) \
             RETURNING id, cancel_asked_at IS NOT NULL"
        )
    };
}

/// What is said otherwise on Citus, which plans no statement over several shards that writes two tables, walks an index
/// or locks rows.
pub(crate) static CITUS: Dialect = Dialect {
    lease_due: lease_due!(of_shard concat!(waiting!(" AND d.shard = $13"), ", ")),
    lease_due_among: lease_due!(of_shard
        "WITH waiting (shard, endpoint_id) AS ( \
             SELECT e.shard, e.id FROM webhook_endpoints e WHERE e.shard = $13 AND e.id = ANY( \
                 ARRAY(SELECT value FROM jsonb_array_elements_text($11::jsonb)))), "
    ),
    new_delivery: "v.column1, v.column2, v.column3, v.column4, v.column5, v.column6, v.column7, v.column8, \
     v.column9, v.column10, 'pending', 0, v.column11, v.column11, v.column11, v.column12, v.column13, \
     nextval('operator_deliveries')",
    tables_apart: true,
    shards_apart: true,
    lock_rows: "",
    waiting: "WITH waiting (shard, endpoint_id) AS ( \
        SELECT DISTINCT shard, endpoint_id FROM deliveries WHERE status = 'pending')",
    ..POSTGRES
};

/// What PostgreSQL says in its own words.
pub(crate) static DIALECT: Dialect = POSTGRES;

const POSTGRES: Dialect = Dialect {
    lease_due: lease_due!(concat!(waiting!(), ", ")),
    lease_due_among: lease_due!(
        "WITH waiting (shard, endpoint_id) AS ( \
             SELECT e.shard, e.id FROM jsonb_array_elements_text($11::jsonb) a (id) \
             JOIN webhook_endpoints e ON e.id = a.id AND e.shard = ANY( \
                 ARRAY(SELECT value::SMALLINT FROM jsonb_array_elements_text($12::jsonb)))), "
    ),
    // Deliveries of the platform's endpoint are made by transactions of every shard, which do not see one another: a
    // sequence numbers them.
    new_delivery: "v.column1, v.column2, v.column3, v.column4, v.column5, v.column6, v.column7, v.column8, \
     v.column9, v.column10, 'pending', 0, v.column11, v.column11, v.column11, v.column12, v.column13, \
     CASE WHEN v.column3 = 'operator' THEN nextval('operator_deliveries') \
     ELSE (SELECT COALESCE(MAX(d.created_sequence), 0) FROM deliveries d \
           WHERE d.shard = v.column1 AND d.endpoint_id = v.column9) + v.column14 END",
    tables_apart: false,
    shards_apart: false,
    // Other clients may write beside the authority's own jobs. No key changes, so whoever refers to such a row from
    // another shard, as every delivery to the platform's endpoint does, need not wait for its holder, nor he for them.
    lock_rows: " FOR NO KEY UPDATE",
    now_ms: "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT",
    seen_now: "v.column1, (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT",
    processor_reference: "(body::jsonb #>> '{processor,reference}')",
    guards: &["events_no_update", "events_no_delete", "events_no_truncate"],
    guards_present: "SELECT tgname::text FROM pg_trigger WHERE tgrelid = 'events'::regclass AND tgenabled IN ('O', 'A')",
    begin_snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    // A round trip for all kinds is fewer than one for each.
    worth_looking_up: 1,
    has_clock: true,
    shards: ShardSet::ALL,
    waiting: waiting!(),
    known: || migrations::known(&migrations::POSTGRES),
};

#[cfg(test)]
impl From<sqlx::PgConnection> for crate::driver::Connection {
    fn from(own: sqlx::PgConnection) -> Self {
        (own, &DIALECT).into()
    }
}
