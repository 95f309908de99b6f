//! What the lists of all merchants' deliveries, and the search, read on PostgreSQL beside 100,000 records, counted by
//! the server.

use authority_domain::list_filter::AllDeliveriesFilter;
use authority_domain::{DeliveryStatus, EndpointId, MerchantId, Tenant, Timestamp};
use sqlx::ConnectOptions as _;
use sqlx::postgres::PgConnectOptions;

use super::open::{READER_PLANS, migrated};
use crate::driver::{Query, query};
use crate::sql::Tx;
use crate::sql::transaction::pages::LOOK_AHEAD;

const FILL: [&str; 5] = [
    "INSERT INTO merchants (id, slug, status, body, created_at, updated_at) \
     VALUES ('mer', 'acme', 'active', '{}', 0, 0)",
    "INSERT INTO webhook_endpoints (shard, id, merchant_id, livemode, url, enabled_events, status, api_version, secret_hint, \
         health_state, consecutive_failures, metadata, resource_version, created_sequence, created_at, updated_at) \
     SELECT shard_of('mer'), id, 'mer', TRUE, 'https://example.com/', '[]', 'enabled', '2026-09-01', '', 'unknown', 0, '{}', 1, n, 0, 0 \
     FROM (VALUES ('busy', 1), ('small', 2)) AS e (id, n)",
    "INSERT INTO events (shard, merchant_id, livemode, sequence, id, type, resource_id, created_at, body) \
     SELECT shard_of('mer'), 'mer', TRUE, n, 'evt_' || lpad(n::text, 6, '0'), 'order.created', 'ORD-' || n, n, '{}' \
     FROM generate_series(1, 100000) n",
    // The oldest ones wait, one is failed, and one in a thousand is of the small endpoint.
    "INSERT INTO deliveries (shard, event_shard, id, merchant_id, livemode, event_id, event_type, sequence, endpoint_id, triggered_by, \
         status, attempt_count, next_attempt_at, succeeded_at, failed_at, created_at, created_sequence) \
     SELECT shard_of('mer'), shard_of('mer'), 'dlv_' || lpad(n::text, 6, '0'), 'mer', TRUE, 'evt_' || lpad(n::text, 6, '0'), 'order.created', n, \
         CASE WHEN n % 1000 = 0 THEN 'small' ELSE 'busy' END, 'event', \
         CASE WHEN n <= 50 THEN 'pending' WHEN n = 77 THEN 'failed' ELSE 'succeeded' END, 1, \
         CASE WHEN n <= 50 THEN n END, CASE WHEN n > 50 AND n <> 77 THEN n END, CASE WHEN n = 77 THEN n END, n, n \
     FROM generate_series(1, 100000) n",
    "VACUUM ANALYZE",
];

/// Orders with payments of the usual size, none with a processor's reference: of those the server has no statistics.
const UNREFERENCED: [&str; 3] = [
    "INSERT INTO orders (shard, merchant_id, livemode, order_number, status, payment_status, fulfillment_status, currency, \
         total, resource_version, created_sequence, last_sequence, created_at, updated_at, body) \
     SELECT shard_of('mer'), 'mer', TRUE, 'ORD-' || n, 'confirmed', 'paid', 'unfulfilled', 'USD', 0, 1, n, n, n, n, '{}' \
     FROM generate_series(1, 100000) n",
    "INSERT INTO payments (shard, id, merchant_id, livemode, status, order_number, currency, amount, amount_authorized, \
         amount_captured, amount_refunded, resource_version, created_sequence, created_at, body) \
     SELECT shard_of('mer'), 'pay_' || n, 'mer', TRUE, 'succeeded', 'ORD-' || n, 'USD', 1, 1, 1, 0, 1, n, 1, \
         '{\"note\": \"' || repeat('x', 900) || '\"}' \
     FROM generate_series(1, 100000) n",
    "VACUUM ANALYZE",
];

/// Rows that this connection has read of these tables and not reported yet.
async fn read(tx: &mut Tx, tables: &[&str]) -> i64 {
    let read = "SELECT CAST(COALESCE(SUM(seq_tup_read + COALESCE(idx_tup_fetch, 0)), 0) AS BIGINT) \
         FROM pg_stat_xact_user_tables WHERE TRUE";
    let mut counted = Query::new(read);
    counted.push_in("relname", &tables.iter().map(|table| (*table).to_owned()).collect::<Vec<_>>());
    counted.read_one(&mut tx.conn).await.unwrap()
}

/// A migrated database, read as a reader does.
pub(super) async fn connected() -> Tx {
    let url = postgres_cluster::database().await;
    let options = url.parse::<PgConnectOptions>().unwrap().options(READER_PLANS);
    let mut conn = options.connect().await.unwrap();
    migrated(&mut conn).await.unwrap();
    Tx::from(conn)
}

/// By a number, and by what nothing has, also with the plan that the server makes for any value after some requests.
#[tokio::test]
async fn a_search_reads_what_it_finds() {
    let mut tx = connected().await;
    for sql in FILL.iter().take(1).chain(&UNREFERENCED) {
        query(*sql).write(&mut tx.conn).await.unwrap();
    }
    query("BEGIN").write(&mut tx.conn).await.unwrap();
    let tables = ["orders", "payments", "shipments", "subscriptions", "external_references"];
    for (name, found) in [("ORD-70", 1), ("nothing", 0)].repeat(5) {
        let before = read(&mut tx, &tables).await;
        let records = tx.records_named(name, 20).await.unwrap();
        assert_eq!(records.len(), found, "{name}");
        let read = read(&mut tx, &tables).await - before;
        assert!(read <= 10, "{name}: {read} rows read");
    }
}

/// What every page that keeps itself up to date has read once a second, beside 20,000 endpoints that were tried lately.
#[tokio::test]
async fn a_mark_of_change_reads_what_is_newest() {
    let mut tx = connected().await;
    let tried = "INSERT INTO endpoint_figures (shard, endpoint_id, since, attempts, failed_attempts, failed_deliveries) \
         SELECT n % 64, 'we_' || n, 172800000, 1, 0, 0 FROM generate_series(1, 20000) n \
         UNION ALL SELECT n % 64, 'shard', 172800000 - 3600000 * (n / 64), 1, 0, 0 FROM generate_series(0, 1663) n";
    for sql in [tried, "VACUUM ANALYZE", "BEGIN"] {
        query(sql).write(&mut tx.conn).await.unwrap();
    }
    let before = read(&mut tx, &["endpoint_figures"]).await;
    let mark = tx.platform_mark().await.unwrap();
    assert!(mark.contains("(Some(172800000), Some(128))"), "{mark}");
    let read = read(&mut tx, &["endpoint_figures"]).await - before;
    assert!(read <= 140, "{read} rows read");
}

/// Of every filter, with the plan that the server makes for these values: it never reads a whole table.
#[tokio::test]
async fn a_page_of_all_deliveries_reads_a_bounded_part_of_them() {
    let mut tx = connected().await;
    for sql in FILL {
        query(sql).write(&mut tx.conn).await.unwrap();
    }
    // In one transaction: at its end the server would take the counts away.
    query("BEGIN").write(&mut tx.conn).await.unwrap();
    for (endpoint, status, rows, most) in [
        (None, None, 26, 60),
        (None, Some("failed"), 1, 10),
        (None, Some("cancelled"), 0, 10),
        (None, Some("succeeded"), 26, 2 * LOOK_AHEAD),
        (None, Some("pending"), 0, 3 * LOOK_AHEAD),
        (Some("small"), None, 26, 60),
        (Some("small"), Some("failed"), 0, 10),
        (Some("busy"), Some("failed"), 1, 10),
        (Some("busy"), None, 26, 60),
        (Some("busy"), Some("pending"), 0, 3 * LOOK_AHEAD),
    ] {
        let filter = AllDeliveriesFilter {
            endpoint_id: endpoint.map(|id: &str| EndpointId::from_store(id.to_owned())),
            status: status.map(|status| DeliveryStatus::parse(status).unwrap()).into_iter().collect(),
            ..AllDeliveriesFilter::default()
        };
        let tables = ["deliveries", "events"];
        let before = read(&mut tx, &tables).await;
        let page = tx.all_deliveries_page(&filter, None, 26).await.unwrap();
        let read = read(&mut tx, &tables).await - before;
        assert_eq!(page.rows.len(), rows, "{endpoint:?} {status:?}");
        assert!(read <= most, "{endpoint:?} {status:?}: {read} rows read");
    }
    whose_events_are_old(&mut tx).await;
}

/// Of merchants of whom nothing is old, nothing is read.
async fn whose_events_are_old(tx: &mut Tx) {
    for (before_ms, found) in [(0, 0), ((1 << 48) - 1, 100)] {
        let before = read(tx, &["events"]).await;
        let due = tx.retention_due(None, Timestamp::from_ms(before_ms), 100).await.unwrap();
        let read = read(tx, &["events"]).await - before;
        assert_eq!(due.len(), found);
        assert!(read <= 100, "{read} rows read");
    }
}

/// Of an endpoint with few, beside 100,000 of another one.
#[tokio::test]
async fn a_page_of_recoveries_reads_what_it_shows() {
    let mut tx = connected().await;
    let many = "INSERT INTO endpoint_recoveries (shard, id, merchant_id, livemode, endpoint_id, status, since, \
         after_sequence, last_sequence, counted_to, walked_to, matched, enqueued, created_at, updated_at, finished_at) \
         SELECT shard_of('mer'), 'rcv_' || lpad(n::text, 6, '0'), 'mer', TRUE, \
         CASE WHEN n <= 3 THEN 'small' ELSE 'busy' END, 'completed', 0, 0, 1, 1, 1, 0, 0, 0, 0, 0 \
         FROM generate_series(1, 100000) n";
    for sql in FILL.iter().take(2).chain(&[many, "VACUUM ANALYZE", "BEGIN"]) {
        query(*sql).write(&mut tx.conn).await.unwrap();
    }
    let tenant = Tenant { merchant_id: MerchantId::from_store("mer".to_owned()), livemode: true };
    for (endpoint, found) in [("small", 3), ("busy", 26), ("none", 0)] {
        let id = EndpointId::from_store(endpoint.to_owned());
        let before = read(&mut tx, &["endpoint_recoveries"]).await;
        let page = tx.recoveries_ended_page(&tenant, &id, None, 26).await.unwrap();
        let read = read(&mut tx, &["endpoint_recoveries"]).await - before;
        assert_eq!(page.len(), found, "{endpoint}");
        assert!(read <= 60, "{endpoint}: {read} rows read");
    }
}
