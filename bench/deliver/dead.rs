//! A dead endpoint with any number of deliveries that wait for it, straight through SQL: copies of one real checkout's
//! event, each with its own id, place and delivery. The authority, which is stopped meanwhile, finds them as its own.

use std::net::Ipv4Addr;

use authority_domain::DeliveryId;
use bench_kit::database::sqlite_options;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use tests::authority::Authority;
use tests::merchant::Merchant;
use tokio::net::TcpSocket;

/// Opens the endpoint, lets one event be made for it, stops the authority and lets `count` deliveries wait, all due.
/// The endpoint's port refuses connections, and is nobody else's, for as long as the socket is kept.
pub(crate) async fn endpoint(authority: &mut Authority, count: u32) -> TcpSocket {
    let deaf = TcpSocket::new_v4().unwrap();
    deaf.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let address = deaf.local_addr().unwrap();
    let merchant = Merchant::create(authority, "dead").await;
    merchant.endpoint(&format!("http://{address}/hook"), &["*"]).await;
    merchant.checkout().await;
    authority.terminate().await;
    let url = authority.database_url();
    match url.strip_prefix("sqlite://") {
        Some(path) => sqlite(path, &merchant.id, count).await,
        None => postgres(url, &merchant.id, count).await,
    }
    deaf
}

async fn sqlite(path: &str, merchant: &str, count: u32) {
    let options = sqlite_options(path).pragma("synchronous", "OFF").pragma("cache_size", "-200000");
    let mut conn = options.connect().await.unwrap();
    let numbers = format!(
        "(WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {count}) SELECT n FROM n)"
    );
    let mut statements = vec!["BEGIN IMMEDIATE".to_owned()];
    statements.extend(copy(&numbers, "printf('%08d', n.n)", merchant, count));
    statements.extend(["COMMIT", "PRAGMA wal_checkpoint(TRUNCATE)"].map(str::to_owned));
    for statement in statements {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut conn).await.unwrap();
    }
    conn.close().await.unwrap();
}

async fn postgres(url: &str, merchant: &str, count: u32) {
    let mut conn = PgConnection::connect(url).await.unwrap();
    let numbers = format!("(SELECT n FROM generate_series(1, {count}) AS s (n))");
    let mut statements: Vec<String> = copy(&numbers, "lpad(n.n::text, 8, '0')", merchant, count).into();
    statements
        .extend(["VACUUM ANALYZE events", "VACUUM ANALYZE deliveries", "CHECKPOINT"].map(str::to_owned));
    for statement in statements {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut conn).await.unwrap();
    }
    conn.close().await.unwrap();
}

/// The statements. `numbers` is a row source of the whole numbers from 1, `eight` writes `n.n` in eight digits.
fn copy(numbers: &str, eight: &str, merchant: &str, count: u32) -> [String; 4] {
    let id = |column: &str| format!("substr({column}, 1, length({column}) - 8) || {eight}");
    let (event, checkout) = (id("e.id"), id("e.resource_id"));
    let delivery = format!("'{}_' || substr(e.id, 5, 18) || {eight}", DeliveryId::PREFIX);
    [
        format!(
            "INSERT INTO events (shard, merchant_id, livemode, sequence, id, type, resource_id, created_at, body) \
             SELECT e.shard, e.merchant_id, e.livemode, e.sequence + n.n, {event}, e.type, {checkout}, e.created_at, \
                 replace(replace(replace(e.body, e.id, {event}), e.resource_id, {checkout}), \
                     '\"sequence\":' || e.sequence || ',', '\"sequence\":' || (e.sequence + n.n) || ',') \
             FROM {numbers} AS n CROSS JOIN (SELECT * FROM events WHERE merchant_id = '{merchant}' \
                 ORDER BY sequence LIMIT 1) e"
        ),
        format!(
            "INSERT INTO deliveries (shard, event_shard, id, merchant_id, livemode, event_id, event_type, sequence, endpoint_id, \
                 triggered_by, status, attempt_count, next_attempt_at, created_at, updated_at, created_sequence) \
             SELECT w.shard, e.shard, {delivery}, e.merchant_id, e.livemode, {event}, e.type, e.sequence + n.n, w.id, 'event', 'pending', \
                 0, e.created_at, e.created_at, e.created_at, 1000 + n.n \
             FROM {numbers} AS n CROSS JOIN (SELECT * FROM events WHERE merchant_id = '{merchant}' \
                 ORDER BY sequence LIMIT 1) e JOIN webhook_endpoints w ON w.merchant_id = e.merchant_id"
        ),
        format!(
            "UPDATE streams SET last_sequence = last_sequence + {count} WHERE merchant_id = '{merchant}'"
        ),
        // The one attempt that was made may have been told: then there would be room for a probe and no more.
        format!(
            "UPDATE webhook_endpoints SET held_until = NULL, hold_step = 0, hold_since = NULL, health_state = 'unknown' \
             WHERE merchant_id = '{merchant}'"
        ),
    ]
}
