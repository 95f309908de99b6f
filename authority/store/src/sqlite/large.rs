//! A SQLite database with a large history, beside which the cost of the frequent queries is looked at: counted in steps
//! of SQLite's virtual machine, which do not depend on the machine or its load, and read from the query plan.
//!
//! The tables hold one merchant's 50,000 events and orders, 100,000 finished deliveries, 50,000 pending deliveries of
//! a dead endpoint, and five of a live one.

use std::fmt::Debug;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use authority_domain::{MerchantId, Tenant};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::driver::query;
use crate::sql::Tx;
use crate::store_url::Access;

/// Steps between two calls of the counter: the resolution of what is measured.
pub(super) const RESOLUTION: u16 = 50;

pub(super) const MANY: i64 = 50_000;

const FILL: [&str; 10] = [
    "INSERT INTO merchants (id, slug, status, body, created_at, updated_at) VALUES ('mer', 'acme', 'active', '{}', 0, 0)",
    "INSERT INTO webhook_endpoints (id, merchant_id, livemode, url, enabled_events, status, api_version, secret_hint, \
         health_state, consecutive_failures, metadata, resource_version, created_sequence, created_at, updated_at) \
     SELECT value, 'mer', TRUE, 'https://example.com/', '[]', 'enabled', '2026-09-01', '', 'unknown', 0, '{}', 1, \
         key, 0, 0 FROM json_each('[\"dead\", \"live\", \"idle\"]')",
    "INSERT INTO events (merchant_id, livemode, sequence, id, type, resource_id, created_at, body) \
     WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 50000) \
     SELECT 'mer', TRUE, n, 'evt_' || n, CASE WHEN n % 10000 = 0 THEN 'order.shipped' WHEN n % 2 = 0 THEN 'order.created' ELSE 'order.confirmed' END, \
         'ORD-' || (n / 5), n, '{}' FROM n",
    "INSERT INTO orders (merchant_id, livemode, order_number, status, payment_status, fulfillment_status, currency, \
         total, resource_version, created_sequence, last_sequence, created_at, updated_at, body) \
     SELECT 'mer', TRUE, 'ORD-' || sequence, 'confirmed', 'paid', 'unfulfilled', 'USD', 0, 1, sequence, sequence, \
         sequence, sequence, '{}' FROM events",
    // Finished: every event to the live endpoint, and once more by a replay to the dead one.
    "INSERT INTO deliveries (id, merchant_id, livemode, event_id, event_type, sequence, endpoint_id, triggered_by, \
         status, attempt_count, succeeded_at, created_at, created_sequence) \
     SELECT 'done_' || t.value || sequence, 'mer', TRUE, e.id, e.type, sequence, t.value, t.key, 'succeeded', 1, 1, 1, \
         sequence \
     FROM events e CROSS JOIN json_each('{\"event\": \"live\", \"replay\": \"dead\"}') t",
    "INSERT INTO deliveries (id, merchant_id, livemode, event_id, event_type, sequence, endpoint_id, triggered_by, \
         status, attempt_count, next_attempt_at, created_at, created_sequence) \
     SELECT 'dead_' || sequence, 'mer', TRUE, id, type, sequence, 'dead', 'event', 'pending', 1, sequence, 1, \
         50000 + sequence FROM events",
    "INSERT INTO deliveries (id, merchant_id, livemode, event_id, event_type, sequence, endpoint_id, triggered_by, \
         status, attempt_count, next_attempt_at, created_at, created_sequence) \
     SELECT 'live_' || sequence, 'mer', TRUE, id, type, sequence, 'live', 'replay', 'pending', 0, 60000, 1, \
         50000 + sequence FROM events WHERE sequence > 49995",
    // Two days of attempts, of which the last hundred are of the last day.
    "INSERT INTO attempts (id, delivery_id, endpoint_id, number, started_at, signed_timestamp, duration_ms, outcome) \
     SELECT 'att_' || sequence, 'done_live' || sequence, 'live', 1, \
         CASE WHEN sequence > 49900 THEN 172800000 ELSE sequence END, 0, sequence, 'success' FROM events",
    "INSERT INTO payments (id, merchant_id, livemode, status, currency, amount, amount_authorized, amount_captured, \
         amount_refunded, resource_version, created_sequence, created_at, body) \
     VALUES ('pay', 'mer', TRUE, 'succeeded', 'USD', 50000, 50000, 50000, 0, 1, 1, 1, '{}')",
    // Completed, but for five that the adapter still has to work on, the oldest among them.
    "INSERT INTO refunds (id, merchant_id, livemode, order_number, payment_id, status, amount, resource_version, \
         created_sequence, created_at, body) \
     SELECT printf('rfd_%06d', sequence), 'mer', TRUE, 'ORD-' || sequence, 'pay', \
         CASE WHEN sequence % 10000 = 1 THEN 'requested' ELSE 'completed' END, 1, 1, sequence, 1, '{}' FROM events",
];

/// Such a database, which one test has for itself.
pub(super) struct Large {
    pub(super) tx: Tx,
    steps: Arc<AtomicU64>,
    _directory: TempDir,
}

impl Large {
    /// A copy of the one database that is filled for all tests: to fill one takes seconds.
    pub(super) async fn new() -> Self {
        static FILLED: OnceCell<Vec<u8>> = OnceCell::const_new();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("large.db");
        fs::write(&path, FILLED.get_or_init(filled).await).unwrap();
        let mut conn =
            SqliteConnectOptions::new().filename(&path).foreign_keys(false).connect().await.unwrap();
        // The schema is read by the first statement, which is none of those that are counted.
        sqlx::query("SELECT 1 FROM merchants").execute(&mut conn).await.unwrap();
        let steps = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&steps);
        conn.lock_handle().await.unwrap().set_progress_handler(RESOLUTION.into(), move || {
            counter.fetch_add(RESOLUTION.into(), Ordering::Relaxed);
            true
        });
        Self { tx: conn.into(), steps, _directory: directory }
    }

    /// The same, and what these statements add.
    pub(super) async fn with(more: &[&'static str]) -> Self {
        let mut large = Self::new().await;
        for sql in more {
            large.execute(sql).await;
        }
        large.steps();
        large
    }

    pub(super) async fn execute(&mut self, statement: &'static str) {
        query(statement).write(&mut self.tx.conn).await.unwrap();
    }

    /// The steps since the last call.
    pub(super) fn steps(&self) -> u64 {
        self.steps.swap(0, Ordering::Relaxed)
    }

    /// Fails when the steps since the last look at them are `most` or more.
    #[track_caller]
    pub(super) fn within(&self, most: u64) {
        self.within_of(most, &"in all");
    }

    /// The same, and says with what that was.
    #[track_caller]
    pub(super) fn within_of(&self, most: u64, what: &dyn Debug) {
        let steps = self.steps();
        assert!(steps < most, "{what:?}: {steps} steps");
    }

    /// How SQLite means to find what `sql` asks for.
    pub(super) async fn plan(&mut self, sql: &str) -> String {
        let explained = query(format!("EXPLAIN QUERY PLAN {sql}"));
        let rows: Vec<(i64, i64, i64, String)> = explained.read(&mut self.tx.conn).await.unwrap();
        rows.into_iter().map(|row| row.3).collect::<Vec<_>>().join("\n")
    }
}

/// The bytes of a database with these rows.
async fn filled() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("filled.db");
    drop(super::open(&path, Access::Shared).await.unwrap());
    let mut conn = SqliteConnectOptions::new().filename(&path).foreign_keys(false).connect().await.unwrap();
    for sql in FILL {
        sqlx::query(sql).execute(&mut conn).await.unwrap();
    }
    // Everything is in the file then, and nothing in a log beside it.
    conn.close().await.unwrap();
    fs::read(&path).unwrap()
}

pub(super) fn tenant() -> Tenant {
    Tenant { merchant_id: MerchantId::from_store("mer".to_owned()), livemode: true }
}
