//! The cost of the frequent queries with a large history: counted in steps of SQLite's virtual machine, which do not
//! depend on the machine or its load, and read from the query plan.
//!
//! The tables hold one merchant's 50,000 events and orders, 100,000 finished deliveries, 50,000 pending deliveries of
//! a dead endpoint, and five of a live one.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use authority_domain::delivery::DeliveryStatus;
use authority_domain::delivery::undelivered::Wanted;
use authority_domain::id::{EndpointId, EventId, MerchantId};
use authority_domain::list_filter::{DeliveryFilter, EventFilter, OrderFilter, PaymentFilter, RefundFilter};
use authority_domain::order::OrderStatus;
use authority_domain::order::external_references::SystemName;
use authority_domain::order::fulfillment_status::FulfillmentStatus;
use authority_domain::order::number::OrderNumber;
use authority_domain::order::payment_status::PaymentStatus;
use authority_domain::refund::RefundStatus;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use tempfile::TempDir;
use tokio::sync::OnceCell;
use verify_core::catalog::EventType;

use super::DIALECT;
use crate::StoreError;
use crate::driver::query;
use crate::sql::order::ORDERS_CHANGED;
use crate::store::Access;
use crate::tx::{KeyScope, LOOK_AHEAD, Lease, Prefetch, Stretch, Tx};

/// Steps between two calls of the counter: the resolution of what is measured.
const RESOLUTION: u16 = 50;

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

pub(super) struct Large {
    pub(super) tx: Tx,
    steps: Arc<AtomicU64>,
    _directory: TempDir,
}

impl Large {
    /// A copy of the one that is filled for all tests: to fill it takes seconds.
    pub(super) async fn fill() -> Self {
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
    pub(super) async fn fill_and(more: &[&'static str]) -> Self {
        let mut large = Self::fill().await;
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

    async fn plan(&mut self, sql: &str) -> String {
        let explained = query(format!("EXPLAIN QUERY PLAN {sql}"));
        let rows: Vec<(i64, i64, i64, String)> = explained.read(&mut self.tx.conn).await.unwrap();
        rows.into_iter().map(|row| row.3).collect::<Vec<_>>().join("\n")
    }
}

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

#[tokio::test]
async fn a_lease_reads_only_what_it_takes() {
    let mut large = Large::fill().await;
    let plan = large.plan(DIALECT.lease_due).await;
    assert!(
        plan.contains("USING INDEX deliveries_due (shard=? AND endpoint_id=? AND next_attempt_at<?)"),
        "{plan}"
    );
    assert!(plan.contains("INDEX deliveries_leased (shard=? AND endpoint_id=? AND lease_until>?)"), "{plan}");
    for table in ["deliveries", "d", "w", "l"] {
        assert!(!plan.contains(&format!("SCAN {table}\n")), "{plan}");
    }
    let now = Timestamp::from_ms(60_000);
    let mut lease = Lease {
        token: "a".into(),
        now,
        until: now.plus_ms(60_000),
        limit: 256,
        max_in_flight: 8,
        wants: BTreeMap::new(),
        each: 16,
        per_merchant: 64,
        merchants: BTreeMap::new(),
        among: None,
    };
    large.steps();
    let taken = large.tx.delivery_lease_due(&lease).await.unwrap();
    let steps = large.steps();
    assert_eq!(taken.len(), 13, "8 for the dead endpoint, 5 for the live one");
    assert!(steps < 7_000, "{steps} steps");
    // Nothing more may be taken: the cap of the one is reached, the other has nothing left.
    lease.token = "b".into();
    assert_eq!(large.tx.delivery_lease_due(&lease).await.unwrap().len(), 0);
    let steps = large.steps();
    assert!(steps < 2_500, "{steps} steps");
    assert_eq!(large.tx.delivery_lease_release_all().await.unwrap(), 13);
    let steps = large.steps();
    assert!(steps < 2_500, "{steps} steps");
}

#[tokio::test]
async fn a_page_of_events_reads_only_what_it_shows() {
    let mut large = Large::fill().await;
    let none = EventFilter::default;
    let types = |types: &[EventType]| EventFilter { types: types.to_vec(), ..EventFilter::default() };
    let table = [
        ("from the start", none(), 0, 101),
        ("from the middle", none(), MANY / 2, 101),
        ("one frequent type", types(&[EventType::OrderCreated]), 0, 101),
        ("two frequent types", types(&[EventType::OrderCreated, EventType::OrderConfirmed]), 0, 101),
        ("a rare type", types(&[EventType::OrderShipped]), 0, 5),
        ("a record", EventFilter { resource: Some("ORD-9999".into()), ..none() }, 0, 5),
    ];
    for (what, filter, after, expected) in table {
        large.steps();
        let page = large.tx.events_page(&tenant(), &filter, after, 101).await.unwrap().rows;
        let steps = large.steps();
        assert_eq!(page.len(), expected, "{what}");
        assert!(steps < 2_000, "{what}: {steps} steps");
    }
    large.tx.stream_range(&tenant()).await.unwrap();
    let steps = large.steps();
    assert!(steps < 500, "{steps} steps");
}

#[tokio::test]
async fn a_page_of_orders_reads_only_what_it_shows() {
    let mut large = Large::fill().await;
    let confirmed = OrderFilter { status: vec![OrderStatus::Confirmed], ..OrderFilter::default() };
    for (filter, before) in [
        (OrderFilter::default(), None),
        (OrderFilter::default(), Some(MANY / 2)),
        (confirmed, Some(MANY / 2)),
    ] {
        large.steps();
        let page = large.tx.orders_page(&tenant(), &filter, before, 101).await.unwrap().rows;
        let steps = large.steps();
        assert_eq!(page.len(), 101);
        assert!(steps < 2_000, "{filter:?}: {steps} steps");
    }
}

/// Where few rows match, a page looks at [`LOOK_AHEAD`] of them: a fifth of what there is, and no more for any filter.
#[tokio::test]
async fn a_page_of_what_is_rare_ends_where_its_look_ahead_ends() {
    let mut large = Large::fill().await;
    for filter in [
        OrderFilter { status: vec![OrderStatus::Cancelled], ..OrderFilter::default() },
        OrderFilter {
            payment_status: vec![PaymentStatus::Refunded],
            fulfillment_status: vec![FulfillmentStatus::Delivered],
            ..OrderFilter::default()
        },
        OrderFilter { created_to: Some(Timestamp::from_ms(0)), ..OrderFilter::default() },
        OrderFilter { updated_from: Some(Timestamp::from_ms(MANY * 1000)), ..OrderFilter::default() },
    ] {
        for (before, end) in [(None, Some(MANY - LOOK_AHEAD + 1)), (Some(LOOK_AHEAD), None)] {
            large.steps();
            let page = large.tx.orders_page(&tenant(), &filter, before, 101).await.unwrap();
            let steps = large.steps();
            assert_eq!((page.rows.len(), page.looked_to), (0, end), "{filter:?}");
            assert!(steps < 30 * u64::try_from(LOOK_AHEAD).unwrap(), "{filter:?}: {steps} steps");
        }
    }
}

/// The feed of changed orders walks its index, and an order is found by the name that a system gave it.
#[tokio::test]
async fn a_page_of_changed_orders_reads_only_what_it_shows() {
    let mut large = Large::fill().await;
    let plan = large.plan(ORDERS_CHANGED).await;
    let walks = "SEARCH orders USING INDEX orders_by_change (shard=? AND merchant_id=? AND livemode=? AND last_sequence>?)";
    assert_eq!(plan, walks);
    for (after, expected) in [(0, 101), (MANY / 2, 101), (MANY - 3, 3), (MANY, 0)] {
        large.steps();
        let page = large.tx.orders_changed(&tenant(), after, 101).await.unwrap();
        let steps = large.steps();
        assert_eq!(page.len(), expected);
        assert!(steps < 2_000, "after {after}: {steps} steps");
    }
    let named = "INSERT INTO external_references (merchant_id, livemode, system, id, order_number) \
         SELECT 'mer', TRUE, 'erp', 'SO-' || sequence, 'ORD-' || sequence FROM events";
    large.execute(named).await;
    for before in [None, Some(MANY)] {
        let filter = OrderFilter {
            external_system: SystemName::parse("erp"),
            external_id: Some("SO-7".to_owned()),
            ..OrderFilter::default()
        };
        large.steps();
        let page = large.tx.orders_page(&tenant(), &filter, before, 101).await.unwrap().rows;
        let steps = large.steps();
        assert_eq!(page.iter().map(|row| row.0).collect::<Vec<_>>(), [7]);
        assert!(steps < 500, "{steps} steps");
    }
}

/// The cost of the payment adapter's poll every few seconds, and of each page of a merchant's list.
#[tokio::test]
async fn a_work_list_of_refunds_reads_only_what_is_open() {
    let mut large = Large::fill().await;
    for status in [&[RefundStatus::Requested][..], &[RefundStatus::Requested, RefundStatus::Processing]] {
        large.steps();
        // The rows of this table hold no records, so the reader fails on the first of them.
        let read = large.tx.refunds_everywhere(status, None, 101).await;
        let steps = large.steps();
        assert!(matches!(read, Err(StoreError::Broken(_))), "{read:?}");
        assert!(steps < 2_000, "{status:?}: {steps} steps");
    }
    let filter = RefundFilter::default();
    let page = large.tx.refunds_page(&tenant(), &filter, Some(MANY / 2), 101).await.unwrap().rows;
    let steps = large.steps();
    assert_eq!(page.len(), 101);
    assert!(steps < 2_000, "{steps} steps");
    let number = OrderNumber::parse("ORD-1").unwrap();
    assert_eq!(large.tx.refunds_reserved(&tenant(), &number).await.unwrap().len(), 1);
    let steps = large.steps();
    assert!(steps < 500, "{steps} steps");
}

/// Records of one order or one payment are found without a look at the rest, by every use case and in every list.
#[tokio::test]
async fn what_belongs_to_one_order_is_found_by_itself() {
    let mut large = Large::fill().await;
    let payments = "INSERT INTO payments (id, merchant_id, livemode, status, order_number, currency, amount, \
         amount_authorized, amount_captured, amount_refunded, resource_version, created_sequence, created_at, body) \
         SELECT 'pay_' || sequence, 'mer', TRUE, 'succeeded', 'ORD-' || (sequence - 1), 'USD', 1, 1, 1, 0, 1, sequence, \
             1, '{}' FROM events WHERE sequence > 1";
    large.execute(payments).await;
    let name = || Some("ORD-7".to_owned());
    let of_order = RefundFilter { order_number: name(), ..RefundFilter::default() };
    let of_payment = RefundFilter { payment_id: Some("pay_7".to_owned()), ..RefundFilter::default() };
    for before in [None, Some(MANY)] {
        for (filter, expected) in [(&of_order, 1), (&of_payment, 0)] {
            large.steps();
            let page = large.tx.refunds_page(&tenant(), filter, before, 101).await.unwrap().rows;
            let steps = large.steps();
            assert_eq!(page.len(), expected);
            assert!(steps < 500, "{filter:?}: {steps} steps");
        }
        let filter = PaymentFilter { order_number: name(), ..PaymentFilter::default() };
        let page = large.tx.payments_page(&tenant(), &filter, before, 101).await.unwrap().rows;
        let steps = large.steps();
        assert_eq!(page.len(), 1);
        assert!(steps < 500, "{steps} steps");
    }
    // The row holds no record, so the reader fails on it.
    let number = OrderNumber::parse("ORD-7").unwrap();
    large.tx.payments_of_order(&tenant(), &number).await.unwrap_err();
    let steps = large.steps();
    assert!(steps < 500, "{steps} steps");
    let reserved = large.tx.refunds_reserved(&tenant(), &OrderNumber::parse("ORD-1").unwrap()).await.unwrap();
    assert_eq!(reserved.into_values().collect::<Vec<_>>(), [1]);
    large.steps();
    large.tx.inspect_orders(&tenant(), None, 10).await.unwrap();
    let steps = large.steps();
    assert!(steps < 5_000, "{steps} steps");
}

/// With half of the orders pending, and half of as many checkouts open, a batch of due work costs as much as it
/// holds.
#[tokio::test]
async fn what_is_due_is_found_beside_what_is_not() {
    let mut large = Large::fill().await;
    for sql in [
        "UPDATE orders SET status = 'pending' WHERE created_at % 2 = 0",
        "INSERT INTO checkouts (id, merchant_id, livemode, status, currency, total, expires_at, resource_version, body) \
         SELECT 'chk_' || sequence, 'mer', TRUE, CASE WHEN sequence % 2 = 0 THEN 'open' ELSE 'expired' END, 'USD', 0, \
             sequence, 1, '{}' FROM events",
    ] {
        large.execute(sql).await;
    }
    let middle = Timestamp::from_ms(MANY / 2);
    large.steps();
    let due = large.tx.checkouts_due(None, Timestamp::from_ms(MANY), None, 100).await.unwrap();
    let again = large.tx.checkouts_due(None, Timestamp::from_ms(MANY), due.last(), 100).await.unwrap();
    assert_eq!((due.len(), again.len()), (100, 100));
    assert_eq!(large.tx.checkouts_next_due().await.unwrap(), Some(Timestamp::from_ms(2)));
    let orders = large.tx.orders_pending(&tenant(), middle, None, 100).await.unwrap();
    let again = large.tx.orders_pending(&tenant(), middle, orders.last(), 100).await.unwrap();
    assert_eq!((orders.len(), again.len()), (100, 100));
    assert_eq!(large.tx.pending_limits().await.unwrap(), []);
    let steps = large.steps();
    assert!(steps < 10_000, "{steps} steps");
}

#[tokio::test]
async fn a_page_of_deliveries_reads_only_what_it_shows() {
    let mut large = Large::fill().await;
    let none = DeliveryFilter::default;
    let endpoint = EndpointId::from_store("live".to_owned());
    for (filter, before, expected) in [
        (none(), None, 101),
        (none(), Some(MANY / 2), 101),
        (DeliveryFilter { status: vec![DeliveryStatus::Succeeded], ..none() }, Some(MANY / 2), 101),
        (DeliveryFilter { event_id: Some("evt_7".into()), ..none() }, None, 1),
    ] {
        large.steps();
        let page = large.tx.deliveries_page(&tenant(), &endpoint, &filter, before, 101).await.unwrap().rows;
        let steps = large.steps();
        assert_eq!(page.len(), expected, "{filter:?}");
        assert!(steps < 5_000, "{filter:?}: {steps} steps");
    }
}

#[tokio::test]
async fn an_event_and_what_became_of_it_are_found_by_themselves() {
    let mut large = Large::fill().await;
    let event = EventId::from_store("evt_40007".to_owned());
    large.steps();
    assert_eq!(large.tx.event_body(&tenant(), &event).await.unwrap().as_deref(), Some("{}"));
    let found = large.tx.deliveries_of_events(&tenant(), &[event], 101).await.unwrap();
    assert_eq!(found.len(), 3);
    let steps = large.steps();
    assert!(steps < 1_000, "{steps} steps");
}

#[tokio::test]
async fn the_figures_of_health_cost_the_same_beside_what_is_finished() {
    let mut large = Large::fill().await;
    large.execute("DELETE FROM deliveries WHERE endpoint_id = 'dead' AND status = 'pending'").await;
    let counted = "INSERT INTO endpoint_figures (endpoint_id, since, attempts, failed_attempts, failed_deliveries) \
         VALUES ('live', 172800000, 100, 0, 0)";
    large.execute(counted).await;
    large.steps();
    let (now, since) = (Timestamp::from_ms(200_000_000), Timestamp::from_ms(100_000_000));
    let figures = large.tx.endpoint_figures(&tenant(), now, since, 50).await.unwrap();
    let steps = large.steps();
    let live = &figures[&EndpointId::from_store("live".to_owned())];
    assert_eq!((live.pending, live.attempts, live.durations_ms.len()), (5, 100, 50));
    assert!(steps < 5_000, "{steps} steps");
}

/// What was sent in a day is counted from the rows for all endpoints, not from those of each.
#[tokio::test]
async fn the_figures_of_all_endpoints_cost_the_same_beside_many_endpoints() {
    let mut large = Large::fill().await;
    let counted = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
         INSERT INTO endpoint_figures (endpoint_id, since, attempts, failed_attempts, failed_deliveries) \
         SELECT 'we_' || i, 172800000, 1, 0, 0 FROM n UNION ALL SELECT 'shard', 172800000, 20000, 3, 2";
    large.execute(counted).await;
    large.steps();
    let since = Timestamp::from_ms(100_000_000);
    assert_eq!(large.tx.counted_since(None, since).await.unwrap(), (20_000, 3, 2));
    let steps = large.steps();
    assert!(steps < 5_000, "{steps} steps");
}

/// A window of the stream costs as much as it holds, whether everything in the history has arrived or nothing has; a
/// time is found by binary search.
#[tokio::test]
async fn what_is_missing_is_looked_for_where_it_is_asked() {
    let mut large = Large::fill().await;
    let wanted =
        [Wanted::of(&["*".to_owned()], &[]), Wanted { names: Some(vec!["order.shipped"]), tests: true }];
    for endpoint in ["live", "idle"].map(|id| EndpointId::from_store(id.to_owned())) {
        for wanted in &wanted {
            let stretch = Stretch { above: MANY - 1_000, below: MANY };
            large.steps();
            let count = large.tx.undelivered_count(&tenant(), &endpoint, wanted, stretch).await.unwrap();
            let page = large.tx.undelivered_page(&tenant(), &endpoint, wanted, stretch, 101).await.unwrap();
            let next = large.tx.undelivered_oldest(&tenant(), &endpoint, wanted, stretch, 64).await.unwrap();
            let steps = large.steps();
            let expected = match (endpoint.as_str(), &wanted.names) {
                ("idle", None) => (999, 101, 64),
                _ => (0, 0, 0),
            };
            assert_eq!((count, page.len(), next.len()), expected);
            assert!(steps < 150_000, "{endpoint} {wanted:?}: {steps} steps");
        }
    }
    let counter = "INSERT INTO streams (merchant_id, livemode, last_sequence, last_created_at) \
         VALUES ('mer', TRUE, 50000, 50000)";
    large.execute(counter).await;
    large.steps();
    let place = large.tx.sequence_at(&tenant(), Timestamp::from_ms(MANY / 3)).await.unwrap();
    let steps = large.steps();
    assert_eq!(place, MANY / 3);
    assert!(steps < 2_000, "{steps} steps");
}

/// The prefetch finds its rows by their keys, however many keys and streams there are.
#[tokio::test]
async fn looking_ahead_reads_only_what_is_asked_for() {
    let mut large = Large::fill().await;
    for sql in [
        "INSERT INTO idempotency (merchant_id, livemode, key, fingerprint, operation, answer, request_id, created_at, \
             expires_at) SELECT 'mer', TRUE, 'key_' || sequence, x'00', 'checkouts.create', '{}', 'req', 0, 1 FROM events",
        "INSERT INTO streams (merchant_id, livemode, last_sequence, last_created_at) \
             SELECT 'mer_' || sequence, TRUE, sequence, 0 FROM events",
    ] {
        large.execute(sql).await;
    }
    let job = |n: i64| {
        let tenant = Tenant { merchant_id: MerchantId::from_store(format!("mer_{n}")), livemode: true };
        let key = (KeyScope::Merchant(self::tenant()), format!("key_{n}"));
        Prefetch { tenant: Some(tenant), key: Some(key), reads: Vec::new(), now: Timestamp::from_ms(0) }
    };
    let jobs = [job(7), job(MANY / 2), job(MANY)];
    large.tx.conn.begun(crate::shards::ShardSet::ALL);
    large.steps();
    large.tx.prefetch(&jobs.each_ref()).await.unwrap();
    let steps = large.steps();
    assert!(steps < 3_000, "{steps} steps");
    let found =
        large.tx.stream_advance(jobs[1].tenant.as_ref().unwrap(), 1, Timestamp::from_ms(0)).await.unwrap();
    assert_eq!(found.last_sequence, MANY / 2 + 1);
    assert!(large.steps() < RESOLUTION.into(), "it was read before");
}

/// A backlog is counted up to its limit and no further.
#[tokio::test]
async fn the_figures_of_a_backlog_stop_counting() {
    let mut large = Large::fill().await;
    let now = Timestamp::from_ms(100_000);
    let figures = large.tx.endpoint_figures(&tenant(), now, now, 50).await.unwrap();
    let dead = &figures[&EndpointId::from_store("dead".to_owned())];
    assert_eq!((dead.pending, dead.due, dead.first_due_at), (10_000, 10_000, Some(Timestamp::from_ms(1))));
    let queue = large.tx.queue_figures(now).await.unwrap();
    assert_eq!(
        (queue.pending, queue.due, queue.oldest_due_at),
        (10_005, 10_005, Some(Timestamp::from_ms(1)))
    );
    let outbox = large.tx.outbox(now, 9).await.unwrap();
    let figures = outbox.figures;
    assert_eq!((figures.pending, figures.due), (10_005, 10_005));
    let told: Vec<_> =
        outbox.endpoints.iter().map(|of| (of.endpoint_id.as_str(), of.pending, of.due)).collect();
    assert_eq!(told, [("dead", 10_000, 10_000), ("live", 5, 5)]);
}
