//! A database of an older release is brought up to date with everything that is in it.

use std::borrow::Cow;
use std::path::Path;

use authority_domain::tenant::Tenant;
use sqlx::AssertSqlSafe;
use sqlx::migrate::Migrator;

use super::SqliteFile;
use crate::cases::Database;
use crate::cases::shop::Shop;

/// The newest migration of the older release.
const OLDER: i64 = 2;

/// A merchant with an endpoint, an event, a finished delivery and its attempt, and one that waits.
const ROWS: [&str; 10] = [
    "INSERT INTO merchants (id, slug, status, body, created_at, updated_at) VALUES ('mer_1', 'old', 'active', '{}', 0, 0)",
    "INSERT INTO webhook_endpoints (id, merchant_id, livemode, url, enabled_events, status, api_version, secret_hint, \
         health_state, consecutive_failures, metadata, resource_version, created_sequence, created_at, updated_at) \
     VALUES ('we_1', 'mer_1', TRUE, 'https://example.com/', '[\"*\"]', 'enabled', '2026-09-01', 'x', 'healthy', 0, \
         '{}', 1, 1, 0, 0)",
    "INSERT INTO endpoint_secrets (endpoint_id, version, sealed) VALUES ('we_1', 1, x'00')",
    "INSERT INTO events (merchant_id, livemode, sequence, id, type, resource_id, created_at, body) \
     VALUES ('mer_1', TRUE, 1, 'evt_1', 'order.created', 'ORD-1', 0, '{}')",
    "INSERT INTO deliveries (id, merchant_id, livemode, event_id, event_type, sequence, endpoint_id, triggered_by, \
         status, attempt_count, next_attempt_at, succeeded_at, created_at) \
     VALUES ('dlv_1', 'mer_1', TRUE, 'evt_1', 'order.created', 1, 'we_1', 'event', 'succeeded', 1, NULL, 1, 0), \
            ('dlv_2', 'mer_1', TRUE, 'evt_1', 'order.created', 1, 'we_1', 'replay', 'pending', 0, 5, NULL, 0)",
    "INSERT INTO attempts (id, delivery_id, number, started_at, signed_timestamp, duration_ms, outcome) \
     VALUES ('att_1', 'dlv_1', 1, 1, 1, 1, 'success')",
    "INSERT INTO payments (id, merchant_id, livemode, status, currency, amount, amount_authorized, amount_captured, \
         amount_refunded, resource_version, created_sequence, created_at, body) \
     VALUES ('pay_1', 'mer_1', TRUE, 'created', 'USD', 5, 0, 0, 0, 1, 2, 0, '{}')",
    "INSERT INTO processor_reports (processor, message, processor_event_id, resource_id, received_at) \
     VALUES (' Acme-Pay', 'start', 'e-1', 'pay_1', 1), ('acme-pay', 'start', 'e-1', 'pay_1', 2)",
    "INSERT INTO orders (merchant_id, livemode, order_number, status, payment_status, fulfillment_status, currency, \
         total, resource_version, created_sequence, created_at, updated_at, body) \
     VALUES ('mer_1', TRUE, 'ORD-1', 'confirmed', 'unpaid', 'fulfilled', 'USD', 0, 1, 1, 0, 0, '{}')",
    "INSERT INTO order_lines (merchant_id, livemode, order_number, id, quantity, fulfilled_quantity, shipped_quantity, \
         delivered_quantity) VALUES ('mer_1', TRUE, 'ORD-1', 'li_1', 3, 2, 1, 0)",
];

#[tokio::test]
async fn an_older_database_is_migrated_with_its_rows() {
    let database = SqliteFile::start().await;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite");
    let all = Migrator::new(Path::new(folder)).await.unwrap();
    let older = Migrator {
        migrations: Cow::Owned(all.iter().filter(|migration| migration.version <= OLDER).cloned().collect()),
        ..Migrator::DEFAULT
    };
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(database.path()).create_if_missing(true);
    let mut conn = sqlx::ConnectOptions::connect(&options).await.unwrap();
    older.run_direct(None, &mut conn, false).await.unwrap();
    for row in ROWS {
        sqlx::query(row).execute(&mut conn).await.unwrap();
    }
    sqlx::Connection::close(conn).await.unwrap();

    let store = database.open().await.unwrap();
    for (table, rows) in [
        ("merchants", 1),
        ("webhook_endpoints WHERE signature_profile = 'service'", 1),
        ("endpoint_secrets", 1),
        ("events", 1),
    ] {
        assert_eq!(database.number(&format!("SELECT COUNT(*) FROM {table}")).await, rows, "{table}");
    }
    assert_eq!(
        database.number("SELECT COUNT(*) FROM deliveries JOIN events ON events.id = event_id").await,
        2
    );
    assert_eq!(database.number("SELECT COUNT(*) FROM attempts WHERE delivery_id = 'dlv_1'").await, 1);
    let mut conn = database.connect().await;
    let sound: String = sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut conn).await.unwrap();
    assert_eq!(sound, "ok");
    assert!(sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut conn).await.unwrap().is_empty());
    // Processors' events have their merchant, their processors' names one form; what was fulfilled counts as set.
    for (found, rows) in [
        (
            "processor_reports WHERE merchant_id = 'mer_1' AND livemode AND processor = 'acme-pay' AND said IS NULL",
            1,
        ),
        ("order_lines WHERE marked_fulfilled_quantity = 2", 1),
        ("orders WHERE NOT confirmed_by_operator", 1),
        ("payments WHERE NOT late", 1),
    ] {
        assert_eq!(database.number(&format!("SELECT COUNT(*) FROM {found}")).await, rows, "{found}");
    }
    // What refers to what else is still watched over.
    for orphan in
        ["UPDATE deliveries SET endpoint_id = 'we_9'", "UPDATE webhook_endpoints SET merchant_id = NULL"]
    {
        sqlx::query(AssertSqlSafe(orphan)).execute(&mut conn).await.unwrap_err();
    }
    // The platform may have an endpoint now, and gets what happens from now on.
    let shop = Shop::new(&store, "new").await;
    let platform = Shop { tenant: Tenant::operator(), ..shop.clone() };
    platform.endpoint(&["*"]).await;
    assert_eq!(shop.open_checkout().await.deliveries.len(), 1);
}
