//! The cost of the feed of changed orders on PostgreSQL with 100,000 orders, read from the executed plan.

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions};

use super::orders::ORDERS_CHANGED;
use crate::{Store, StoreUrl};

const MANY: i64 = 100_000;

const FILL: [&str; 3] = [
    "INSERT INTO merchants (id, slug, status, body, created_at, updated_at) \
     SELECT 'mer_' || n, 'm-' || n, 'active', '{}', 0, 0 FROM generate_series(1, 2) n",
    "INSERT INTO orders (merchant_id, livemode, order_number, status, payment_status, fulfillment_status, currency, \
         total, resource_version, created_sequence, last_sequence, created_at, updated_at, body) \
     SELECT 'mer_' || (n % 2 + 1), TRUE, 'ORD-' || n, 'confirmed', 'paid', 'unfulfilled', 'USD', 0, 1, n, 200000 - n, \
         n, n, '{}' FROM generate_series(1, 100000) n",
    "ANALYZE",
];

#[tokio::test]
async fn a_page_of_changed_orders_walks_its_index() {
    let url = postgres_cluster::database().await;
    Store::migrate(&StoreUrl::parse(&url).unwrap()).await.unwrap();
    let mut conn = url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    for sql in FILL {
        sqlx::query(sql).execute(&mut conn).await.unwrap();
    }
    for (after, rows) in [(0, 101), (200_000 - MANY / 2, 101), (199_990, 4)] {
        let plan: Vec<String> = sqlx::query_scalar(AssertSqlSafe(format!(
            "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) {ORDERS_CHANGED}"
        )))
        .bind("mer_1")
        .bind(true)
        .bind(after)
        .bind(101_i64)
        .fetch_all(&mut conn)
        .await
        .unwrap();
        let plan = plan.join("\n");
        let walk = plan.lines().find(|line| line.contains("Index Scan using orders_by_change on orders"));
        let walk = walk.unwrap_or_else(|| panic!("{plan}"));
        assert!(walk.contains(&format!("(actual rows={rows}")), "{plan}");
        assert!(!plan.contains("Sort") && !plan.contains("Rows Removed"), "{plan}");
    }
}
