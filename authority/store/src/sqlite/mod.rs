//! SQLite: one file, one writing process, one writing connection; readers see committed snapshots (contract 8.4).
//!
//! WAL with `synchronous=FULL`: a commit that was answered survives a power cut. Writes that are queued together
//! share one fsync (see [`crate::writer`]), so that FULL costs next to nothing under load. A lock file keeps a second
//! `serve` away from the same database, which is why a starting process may take back every lease it finds.

mod batch;
mod connection;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod merchant_plans;
mod open;
#[cfg(test)]
mod operator_plans;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod share_plans;

use sqlx::SqliteConnection;

use batch::push_in;
pub(crate) use open::{ServerLock, inspect, known_version, make_private, open};
pub(crate) use session::Session;
use session::one_row;

use crate::unfinished::all_waiting;

/// The processor's name for a payment, as the index `payments_by_processor_reference` has it.
const PROCESSOR_REFERENCE: &str = "json_extract(body, '$.processor.reference')";

pub(crate) type Db = sqlx::Sqlite;
pub(crate) type DbConnection = write_buffer::Connection;
pub(crate) type RawConnection = SqliteConnection;
pub(crate) type DbRow = sqlx::sqlite::SqliteRow;

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
                         - (SELECT COUNT(*) FROM deliveries l WHERE l.endpoint_id = e.id AND l.lease_token IS NOT NULL \
                            AND l.lease_until >= $3) \
                     ELSE (SELECT CASE WHEN o.leave > 0 \
                             THEN MIN(COALESCE(w.most, 8), COALESCE(w.beyond, 0) + o.leave) ELSE 0 END FROM ( \
                         SELECT COALESCE(MIN(e.max_in_flight, m.max_in_flight), e.max_in_flight, m.max_in_flight, $4) \
                         - (SELECT COUNT(*) FROM deliveries l WHERE l.endpoint_id = e.id AND l.lease_token IS NOT NULL \
                            AND l.lease_until >= $3 AND substr(l.lease_token, 1, 16) <> $9) AS leave) o) END \
                 FROM waiting CROSS JOIN webhook_endpoints e ON e.id = waiting.endpoint_id \
                     LEFT JOIN merchants m ON m.id = e.merchant_id LEFT JOIN wants w ON w.id = e.id \
                 WHERE EXISTS (SELECT 1 FROM deliveries w WHERE w.endpoint_id = waiting.endpoint_id \
                         AND w.status = 'pending' AND w.next_attempt_at <= $3) \
                     AND e.status = 'enabled' AND (e.held_until IS NULL OR e.held_until <= $3)) \
             UPDATE deliveries SET lease_token = $1, lease_until = $2, retry_asked_at = NULL WHERE id IN ( \
                 SELECT id FROM ( \
                     SELECT id, next_attempt_at, sequence, merchant_id, \
                         ROW_NUMBER() OVER (PARTITION BY merchant_id ORDER BY place, next_attempt_at, sequence) AS turn \
                     FROM ( \
                         SELECT d.id, d.next_attempt_at, d.sequence, r.merchant_id, r.room, \
                             ROW_NUMBER() OVER (PARTITION BY r.endpoint_id ORDER BY d.next_attempt_at, d.sequence) AS place \
                         FROM roomy r CROSS JOIN deliveries d ON d.id IN ( \
                             SELECT w.id FROM deliveries w WHERE w.endpoint_id = r.endpoint_id AND w.status = 'pending' \
                                 AND w.next_attempt_at <= $3 AND (w.lease_until IS NULL OR w.lease_until < $3) \
                             ORDER BY w.next_attempt_at, w.sequence LIMIT $10) \
                         WHERE r.room > 0) \
                     WHERE place <= room) \
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
    lease_due!("WITH waiting (endpoint_id) AS (SELECT value FROM json_each($11)), ");

/// The columns of a new delivery, whose position continues from the endpoint's last one.
pub(crate) const NEW_DELIVERY: &str = "v.column1, v.column2, v.column3, v.column4, v.column5, v.column6, v.column7, v.column8, 'pending', 0, \
     v.column9, v.column9, v.column9, v.column10, v.column11, \
     (SELECT COALESCE(MAX(d.created_sequence), 0) FROM deliveries d WHERE d.endpoint_id = v.column7) + v.column12";

/// The end of a statement that locks the rows it read. Empty here, because nobody else writes.
pub(crate) const LOCK_ROWS: &str = "";

/// The database's own time in milliseconds.
pub(crate) const NOW_MS: &str = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/// What is inserted of an instance that is seen now.
pub(crate) const SEEN_NOW: &str = "v.column1, CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/// The triggers that prevent changes to events (T3), by name.
pub(crate) const GUARDS: [&str; 2] = ["events_no_update", "events_no_delete"];

/// Which of them exist and are not switched off.
pub(crate) const GUARDS_PRESENT: &str =
    "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'events'";
