//! A long history, straight through SQL: copies of one merchant's first order and its six events, each with its own
//! ids and places. The authority is not told; it reads them like its own.

use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use bench_kit::database::sqlite_options;

/// Events of one order, its checkout's among them.
pub(crate) const EVENTS_PER_ORDER: i64 = 6;

/// Copies the first order of `merchant` until its stream has `events` events or a few less.
pub(crate) async fn fill(url: &str, merchant: &str, events: i64) {
    let copies = events / EVENTS_PER_ORDER - 1;
    match url.strip_prefix("sqlite://") {
        Some(path) => sqlite(path, merchant, copies).await,
        None => postgres(url, merchant, copies).await,
    }
}

/// The number of the `n`-th copy of the order `first`; the 0th is itself.
pub(crate) fn order_number(first: &str, n: i64) -> String {
    if n == 0 { first.to_owned() } else { format!("{first}-{n}") }
}

async fn sqlite(path: &str, merchant: &str, copies: i64) {
    // What undoes such a long statement does not fit into the buffer that SQLite is built with (`.cargo/config.toml`).
    let options = sqlite_options(path)
        .pragma("synchronous", "OFF")
        .pragma("cache_size", "-200000")
        .pragma("temp_store", "memory");
    let mut conn: SqliteConnection = options.connect().await.unwrap();
    let numbers = format!(
        "(WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {copies}) SELECT n FROM n)"
    );
    let mut statements = vec!["BEGIN IMMEDIATE".to_owned()];
    statements.extend(copy(&numbers, "printf('%08d', n.n)", "0", merchant, copies));
    // No `ANALYZE`: the authority's statements do without, and it drops at each start what one made.
    statements.extend(["COMMIT", "PRAGMA wal_checkpoint(TRUNCATE)"].map(str::to_owned));
    for statement in statements {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut conn).await.unwrap();
    }
    conn.close().await.unwrap();
}

async fn postgres(url: &str, merchant: &str, copies: i64) {
    let mut conn = PgConnection::connect(url).await.unwrap();
    let numbers = format!("(SELECT n FROM generate_series(1, {copies}) AS s (n))");
    let mut statements = vec!["SET max_parallel_workers_per_gather = 0".to_owned()];
    statements.extend(copy(&numbers, "lpad(n.n::text, 8, '0')", "false", merchant, copies));
    statements.extend(["VACUUM ANALYZE events", "VACUUM ANALYZE orders", "CHECKPOINT"].map(str::to_owned));
    for statement in statements {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut conn).await.unwrap();
    }
    conn.close().await.unwrap();
}

/// The statements. `numbers` is a row source of the whole numbers from 1, `eight` writes `n.n` in eight digits.
fn copy(numbers: &str, eight: &str, no: &str, merchant: &str, copies: i64) -> [String; 3] {
    let own = format!("merchant_id = '{merchant}' AND livemode = {no}");
    let id = format!("substr(e.id, 1, length(e.id) - 8) || {eight}");
    let sequence = format!("(e.sequence + n.n * {EVENTS_PER_ORDER})");
    [
        format!(
            "INSERT INTO events (shard, merchant_id, livemode, sequence, id, type, resource_id, created_at, body) \
             SELECT e.shard, e.merchant_id, e.livemode, {sequence}, {id}, e.type, e.resource_id || '-' || n.n, e.created_at, \
                 replace(replace(e.body, e.id, {id}), '\"sequence\":' || e.sequence || ',', \
                     '\"sequence\":' || {sequence} || ',') \
             FROM {numbers} AS n CROSS JOIN (SELECT * FROM events WHERE {own} ORDER BY sequence LIMIT 6) e"
        ),
        format!(
            "INSERT INTO orders (shard, merchant_id, livemode, order_number, status, payment_status, fulfillment_status, \
                 currency, total, resource_version, created_at, updated_at, body, created_sequence, last_sequence) \
             SELECT o.shard, o.merchant_id, o.livemode, o.order_number || '-' || n.n, o.status, o.payment_status, \
                 o.fulfillment_status, o.currency, o.total, o.resource_version, o.created_at, o.updated_at, o.body, \
                 o.created_sequence + n.n * {EVENTS_PER_ORDER}, o.last_sequence + n.n * {EVENTS_PER_ORDER} \
             FROM {numbers} AS n CROSS JOIN (SELECT * FROM orders WHERE {own}) o"
        ),
        format!("UPDATE streams SET last_sequence = {} WHERE {own}", (copies + 1) * EVENTS_PER_ORDER),
    ]
}
