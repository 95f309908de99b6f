//! The cost of the feed of changed orders and of the lookups on PostgreSQL with 100,000 orders and payments, read from
//! their plans, and of the walk to the next order number before the server has statistics.

use authority_domain::MerchantId;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Executor as _, PgConnection, Row as _};
use tokio::sync::OnceCell;

use super::batch::push_lookups;
use super::open::{WRITER_PLANS, migrated};
use crate::driver::{Statement, Value};
use crate::shards::Shard;
use crate::sql::order::ORDERS_CHANGED;
use crate::sql::order::numbers::{COUNTED, FIRST_FREE};
use crate::sql::payment::RESERVATIONS;
use crate::sql::transaction::lookup_kinds::{
    CHECKOUTS_TO_PAY, ORDERS, PAYMENTS, USED_FOR_ORDERS, USED_FOR_REFUNDS,
};
use crate::sql::transaction::lookups::Asked;

const MANY: i64 = 100_000;

/// What one merchant may bring in the first minute of a database, before the server has looked at its tables.
const YOUNG: i64 = 5_000;

const MERCHANTS: &str = "INSERT INTO merchants (id, slug, status, body, created_at, updated_at) \
     SELECT 'mer_' || n, 'm-' || n, 'active', '{}', 0, 0 FROM generate_series(1, 2) n";

/// $1 rows, shared out to the $2 merchants.
const RECORDS: [&str; 3] = [
    "INSERT INTO orders (shard, merchant_id, livemode, order_number, status, payment_status, fulfillment_status, currency, \
         total, resource_version, created_sequence, last_sequence, created_at, updated_at, body) \
     SELECT shard_of('mer_' || (n % $2 + 1)), 'mer_' || (n % $2 + 1), TRUE, 'ORD-' || n, 'confirmed', 'paid', 'unfulfilled', 'USD', 0, 1, n, 200000 - n, \
         n, n, '{}' FROM generate_series(1, $1) n",
    "INSERT INTO payments (shard, id, merchant_id, livemode, status, order_number, currency, amount, amount_authorized, \
         amount_captured, amount_refunded, resource_version, created_sequence, created_at, body) \
     SELECT shard_of('mer_' || (n % $2 + 1)), 'pay_' || n, 'mer_' || (n % $2 + 1), TRUE, 'succeeded', 'ORD-' || n, 'USD', 1, 1, 1, 0, 1, n, 1, '{}' \
     FROM generate_series(1, $1) n",
    "INSERT INTO refunds (shard, id, merchant_id, livemode, order_number, payment_id, status, amount, resource_version, \
         created_sequence, created_at, body, idempotency_key, requester) \
     SELECT shard_of('mer_' || (n % $2 + 1)), 'rfd_' || n, 'mer_' || (n % $2 + 1), TRUE, 'ORD-' || n, 'pay_' || n, 'completed', 1, 1, n, 1, '{}', \
         'key-' || n, 'api_key' FROM generate_series(1, $1) n",
];

/// A connection to a new database that has `rows` of each kind, of so many merchants.
async fn new_database(rows: i64, merchants: i64) -> (PgConnectOptions, PgConnection) {
    let options: PgConnectOptions = postgres_cluster::database().await.parse().unwrap();
    let mut conn = options.connect().await.unwrap();
    migrated(&mut conn).await.unwrap();
    for table in ["orders", "payments", "refunds"] {
        let alone = AssertSqlSafe(format!("ALTER TABLE {table} SET (autovacuum_enabled = FALSE)"));
        sqlx::raw_sql(alone).execute(&mut conn).await.unwrap();
    }
    sqlx::raw_sql(MERCHANTS).execute(&mut conn).await.unwrap();
    for sql in RECORDS {
        sqlx::query(sql).bind(rows).bind(merchants).execute(&mut conn).await.unwrap();
    }
    (options, conn)
}

/// A connection to the database that is filled for all tests, none of which writes.
async fn filled() -> PgConnection {
    static FILLED: OnceCell<PgConnectOptions> = OnceCell::const_new();
    let fill = || async {
        let (options, mut conn) = new_database(MANY, 2).await;
        sqlx::raw_sql("ANALYZE").execute(&mut conn).await.unwrap();
        options
    };
    FILLED.get_or_init(fill).await.connect().await.unwrap()
}

/// The plan of all lookups at once, of so many keys each.
async fn plan_of_lookups(conn: &mut PgConnection, count: i64) -> String {
    let (merchant, live): (Value<'_>, Value<'_>) = ("mer_1".into(), true.into());
    let shard = Shard::of(&MerchantId::from_store("mer_1".to_owned()));
    let each = |key: &dyn Fn(i64) -> Vec<Value<'static>>| (1..=count).map(key).collect::<Vec<_>>();
    let order = |n: i64| vec![merchant.clone(), live.clone(), format!("ORD-{}", 2 * n).into()];
    let with = |mut key: Vec<Value<'static>>| {
        key.push(shard.into());
        key
    };
    let used = |n: i64| with(order(n).into_iter().chain(["api_key".into(), "".into()]).collect());
    let asked = [
        (&PAYMENTS, each(&|n| with(vec![format!("pay_{}", 2 * n).into()]))),
        (&CHECKOUTS_TO_PAY, each(&|n| with(vec![format!("chk_{n}").into()]))),
        (&ORDERS, each(&|n| with(order(n)))),
        (&USED_FOR_ORDERS, each(&used)),
        (&USED_FOR_REFUNDS, each(&used)),
    ];
    let mut statement = Statement::default();
    statement.push("EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) ");
    push_lookups(&mut statement, &asked.map(|(lookup, keys)| Asked { lookup, keys })).unwrap();
    let plan = conn.fetch_all(statement.finish()).await.unwrap();
    plan.iter().map(|row| row.get(0)).collect::<Vec<String>>().join("\n")
}

/// One merchant has half of all rows, and is asked about: whoever looked for its rows first would find 50,000.
#[tokio::test]
async fn lookups_go_by_the_keys_of_what_they_find() {
    let mut conn = filled().await;
    for count in [1, 64] {
        let plan = plan_of_lookups(&mut conn, count).await;
        for table in ["orders", "payments", "refunds"] {
            assert!(!plan.contains(&format!("Seq Scan on {table}")), "{plan}");
        }
        assert!(!plan.contains("Rows Removed by Filter: 49"), "{plan}");
        assert!(!plan.contains("refunds_open"), "{plan}");
    }
}

/// Without statistics the server takes each index for as good as any other that begins with the same columns. For a
/// lookup that is a matter of milliseconds; the walk through the numbers in use makes thousands.
#[tokio::test]
async fn order_numbers_go_by_their_key_before_there_are_statistics() {
    let (_, mut conn) = new_database(YOUNG, 1).await;
    for (setting, value) in WRITER_PLANS {
        let set = AssertSqlSafe(format!("SET {setting} = {value}"));
        sqlx::raw_sql(set).execute(&mut conn).await.unwrap();
    }
    for sql in [COUNTED, FIRST_FREE] {
        let explain = AssertSqlSafe(format!("EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) {sql}"));
        let rows = sqlx::query_scalar::<_, String>(explain);
        let plan =
            rows.bind(54_i16).bind("mer_1").bind(true).bind(1_000_i64).bind("ORD-").fetch_all(&mut conn);
        let plan = plan.await.unwrap().join("\n");
        assert!(
            plan.contains("Scan using orders_pkey on orders") && !plan.contains("Rows Removed by Filter: 4"),
            "{plan}"
        );
    }
}

#[tokio::test]
async fn what_is_reserved_of_a_payment_is_added_up_from_its_own_refunds() {
    let mut conn = filled().await;
    let statement = format!(
        "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) {} FROM (VALUES ('pay_2', 'mer_1', TRUE, NULL::TEXT, \
             NULL::BIGINT, NULL::BIGINT, shard_of('mer_1'))) AS v {}",
        RESERVATIONS.columns.into, RESERVATIONS.rest
    );
    let plan: Vec<String> = sqlx::query_scalar(AssertSqlSafe(statement)).fetch_all(&mut conn).await.unwrap();
    let plan = plan.join("\n");
    assert!(plan.contains("refunds_by_payment on refunds") && !plan.contains("refunds_open"), "{plan}");
}

#[tokio::test]
async fn a_page_of_changed_orders_walks_its_index() {
    let mut conn = filled().await;
    for (after, rows) in [(0, 101), (200_000 - MANY / 2, 101), (199_990, 4)] {
        let plan: Vec<String> = sqlx::query_scalar(AssertSqlSafe(format!(
            "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) {ORDERS_CHANGED}"
        )))
        .bind(54_i16)
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
