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

mod batch;
mod connection;
pub(crate) mod failure;
mod indexes;
#[cfg(test)]
mod merchant_plans;
mod open;
#[cfg(test)]
mod operator_plans;
#[cfg(test)]
mod plans;
mod turns;

use sqlx::PgConnection;

use batch::push_in;
pub(crate) use open::{clock_ms, inspect, known_version, migrate, open};
pub(crate) use session::Session;
use session::one_row;

use crate::unfinished::all_waiting;

/// The processor's name for a payment, as the index `payments_by_processor_reference` has it.
const PROCESSOR_REFERENCE: &str = "(body::jsonb #>> '{processor,reference}')";

pub(crate) type Db = sqlx::Postgres;
pub(crate) type DbConnection = write_buffer::Connection;
pub(crate) type RawConnection = PgConnection;
pub(crate) type DbRow = sqlx::postgres::PgRow;

#[path = "../sql/access.rs"]
mod access;
#[path = "../sql/alerts.rs"]
mod alerts;
#[path = "../sql/all_deliveries.rs"]
mod all_deliveries;
#[path = "../sql/api_keys.rs"]
mod api_keys;
#[path = "../sql/audit.rs"]
mod audit;
#[path = "../sql/backlog.rs"]
mod backlog;
#[path = "../sql/bodies.rs"]
mod bodies;
#[path = "../sql/change_marks.rs"]
mod change_marks;
#[path = "../sql/checkouts.rs"]
mod checkouts;
#[path = "../sql/checkpoints.rs"]
mod checkpoints;
#[path = "../sql/connections.rs"]
mod connections;
#[path = "../sql/console_sessions.rs"]
mod console_sessions;
#[path = "../sql/day_figures.rs"]
mod day_figures;
#[path = "../sql/deliveries.rs"]
mod deliveries;
#[path = "../sql/delivery_history.rs"]
mod delivery_history;
#[path = "../sql/endpoint_health.rs"]
mod endpoint_health;
#[path = "../sql/endpoint_rows.rs"]
mod endpoint_rows;
#[path = "../sql/endpoints.rs"]
mod endpoints;
#[path = "../sql/events.rs"]
mod events;
#[path = "../sql/external_references.rs"]
mod external_references;
#[path = "../sql/figures.rs"]
mod figures;
#[path = "../sql/first_reads.rs"]
mod first_reads;
#[path = "../sql/health_figures.rs"]
mod health_figures;
#[path = "../sql/inspect.rs"]
mod inspect;
#[path = "../sql/inspect_orders.rs"]
mod inspect_orders;
#[path = "../sql/inspect_records.rs"]
mod inspect_records;
#[path = "../sql/inspect_shares.rs"]
mod inspect_shares;
#[path = "../sql/instances.rs"]
mod instances;
#[path = "../sql/leased_rows.rs"]
mod leased_rows;
#[path = "../sql/look_ahead.rs"]
mod look_ahead;
#[path = "../sql/lookup_kinds.rs"]
mod lookup_kinds;
#[path = "../sql/lookups.rs"]
mod lookups;
#[path = "../sql/merchants.rs"]
mod merchants;
#[path = "../sql/operator_reads.rs"]
mod operator_reads;
#[path = "../sql/order_numbers.rs"]
mod order_numbers;
#[path = "../sql/order_story.rs"]
mod order_story;
#[path = "../sql/order_surroundings.rs"]
mod order_surroundings;
#[path = "../sql/orders.rs"]
mod orders;
#[path = "../sql/owners.rs"]
mod owners;
#[path = "../sql/page_rows.rs"]
mod page_rows;
#[path = "../sql/partner_orders.rs"]
mod partner_orders;
#[path = "../sql/payments.rs"]
mod payments;
#[path = "../sql/portal_sessions.rs"]
mod portal_sessions;
#[path = "../sql/prefetch.rs"]
mod prefetch;
#[path = "../sql/processor_reports.rs"]
mod processor_reports;
#[path = "../sql/recovered_deliveries.rs"]
mod recovered_deliveries;
#[path = "../sql/recoveries.rs"]
mod recoveries;
#[path = "../sql/refunds.rs"]
mod refunds;
#[path = "../sql/requests.rs"]
mod requests;
#[path = "../sql/retention.rs"]
mod retention;
#[path = "../sql/rows.rs"]
mod rows;
#[path = "../sql/sandbox_clock.rs"]
mod sandbox_clock;
#[path = "../sql/sealed.rs"]
mod sealed;
#[path = "../sql/search.rs"]
mod search;
#[path = "../sql/session.rs"]
mod session;
#[path = "../sql/settlements.rs"]
mod settlements;
#[path = "../sql/shares.rs"]
mod shares;
#[path = "../sql/shipments.rs"]
mod shipments;
#[path = "../sql/signing_secrets.rs"]
mod signing_secrets;
#[path = "../sql/streams.rs"]
mod streams;
#[path = "../sql/subscriptions.rs"]
mod subscriptions;
#[path = "../sql/transaction_cache.rs"]
mod transaction_cache;
#[path = "../sql/undelivered.rs"]
mod undelivered;
#[path = "../sql/write_batch.rs"]
mod write_batch;
#[path = "../sql/write_buffer.rs"]
pub(crate) mod write_buffer;

/// Leases due deliveries (T4), `$5` in all: from each enabled endpoint the oldest ones that nobody holds, as far as
/// the endpoint has capacity, and from each merchant at most `$6`, or what `$7` says for that merchant. The endpoints
/// of a merchant take turns, and so do the merchants. While a hold or its health bounds an endpoint
/// ([`authority_domain::endpoint::hold::cap`]), the leases of all instances count. Otherwise the capacity is what
/// this instance wants according to `$8`, as far as the instances whose tokens do not begin with `$9` leave room
/// under the endpoint's `max_in_flight`, by default `$4`. `roomy` lists the endpoints with capacity; only their
/// deliveries are read, at most `$10` of each. `OFFSET 0` makes the server find each of them by its id, however many
/// others there are. Rows that another transaction has locked are skipped: they are being settled or leased right
/// now.
macro_rules! lease_due {
    ($waiting:expr) => {
        concat!(
            $waiting,
            "rooms AS MATERIALIZED ( \
                 SELECT key AS id, value::BIGINT AS room FROM jsonb_each_text($7::jsonb)), \
             wants AS MATERIALIZED ( \
                 SELECT key AS id, (value->>0)::BIGINT AS most, (value->>1)::BIGINT AS beyond FROM jsonb_each($8::jsonb)), \
             roomy AS MATERIALIZED ( \
                 SELECT waiting.endpoint_id, e.merchant_id, LEAST($10, CASE \
                     WHEN e.hold_step > 0 OR e.health_state = 'failing' OR e.hold_regained > 0 THEN \
                         CASE WHEN e.hold_step > 0 OR e.health_state = 'failing' THEN 1 ELSE LEAST(1::BIGINT << e.hold_regained::INT, \
                             COALESCE(LEAST(e.max_in_flight, e.of_merchant), $4)) END \
                         - (SELECT COUNT(*) FROM deliveries l WHERE l.endpoint_id = waiting.endpoint_id \
                            AND l.lease_token IS NOT NULL AND l.lease_until >= $3) \
                     ELSE (SELECT CASE WHEN o.leave > 0 \
                             THEN LEAST(COALESCE(wants.most, 8), COALESCE(wants.beyond, 0) + o.leave) ELSE 0 END FROM ( \
                         SELECT COALESCE(LEAST(e.max_in_flight, e.of_merchant), $4) \
                         - (SELECT COUNT(*) FROM deliveries l WHERE l.endpoint_id = waiting.endpoint_id \
                            AND l.lease_token IS NOT NULL AND l.lease_until >= $3 \
                            AND substr(l.lease_token, 1, 16) <> $9) AS leave) o) END) AS room \
                 FROM waiting CROSS JOIN LATERAL ( \
                     SELECT f.merchant_id, hold_step, hold_regained, health_state, f.max_in_flight, \
                         m.max_in_flight AS of_merchant \
                     FROM webhook_endpoints f LEFT JOIN merchants m ON m.id = f.merchant_id \
                     WHERE f.id = waiting.endpoint_id AND f.status = 'enabled' \
                         AND (held_until IS NULL OR held_until <= $3) OFFSET 0) e \
                     LEFT JOIN wants ON wants.id = waiting.endpoint_id), \
             due AS ( \
                 SELECT r.endpoint_id, r.merchant_id, d.id, d.next_attempt_at, d.sequence \
                 FROM roomy r CROSS JOIN LATERAL ( \
                     SELECT w.id, w.next_attempt_at, w.sequence FROM deliveries w \
                     WHERE w.endpoint_id = r.endpoint_id AND w.status = 'pending' \
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
             UPDATE deliveries SET lease_token = $1, lease_until = $2, retry_asked_at = NULL WHERE id IN ( \
                 SELECT id FROM turns \
                 WHERE turn <= COALESCE((SELECT r.room FROM rooms r WHERE r.id = merchant_id), $6) \
                 ORDER BY turn, next_attempt_at, sequence LIMIT $5) \
             RETURNING id"
        )
    };
}

/// Leases due deliveries of all endpoints.
pub(crate) const LEASE_DUE: &str = lease_due!(all_waiting!());

/// Leases due deliveries of the endpoints in `$11` only.
pub(crate) const LEASE_DUE_AMONG: &str =
    lease_due!("WITH waiting (endpoint_id) AS (SELECT jsonb_array_elements_text($11::jsonb)), ");

/// The columns of a new delivery. Its position continues from the endpoint's last one. Deliveries of the platform's
/// endpoint are made by transactions of every shard, which do not see one another: a sequence numbers them.
pub(crate) const NEW_DELIVERY: &str = "v.column1, v.column2, v.column3, v.column4, v.column5, v.column6, v.column7, v.column8, 'pending', 0, \
     v.column9, v.column9, v.column9, v.column10, v.column11, \
     CASE WHEN v.column2 = 'operator' THEN nextval('operator_deliveries') \
     ELSE (SELECT COALESCE(MAX(d.created_sequence), 0) FROM deliveries d WHERE d.endpoint_id = v.column7) \
         + v.column12 END";

/// The end of a statement that locks the rows it read. Other clients may write beside the authority's own jobs.
pub(crate) const LOCK_ROWS: &str = " FOR UPDATE";

/// The database's own time in milliseconds.
pub(crate) const NOW_MS: &str = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT";

/// What is inserted of an instance that is seen now.
pub(crate) const SEEN_NOW: &str = "v.column1, (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT";

/// The triggers that prevent changes to events (T3), by name.
pub(crate) const GUARDS: [&str; 3] = ["events_no_update", "events_no_delete", "events_no_truncate"];

/// Which of them exist and are not switched off.
pub(crate) const GUARDS_PRESENT: &str =
    "SELECT tgname::text FROM pg_trigger WHERE tgrelid = 'events'::regclass AND tgenabled IN ('O', 'A')";
