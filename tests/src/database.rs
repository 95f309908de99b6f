//! What a test does to the database beside the service, because no operation does it yet, and what it asks of it.

use std::ops::RangeInclusive;

use sqlx::{ConnectOptions as _, Connection as _};

use crate::damage::execute;
use crate::eventually::eventually;

/// What has not ended.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// Deliveries in flight.
    pub(crate) leased: i64,
    /// When the next attempt may begin, Unix milliseconds; its endpoint may be held back for longer than the delivery.
    pub(crate) next_ms: Option<i64>,
}

/// What has not ended in the database at `url`.
pub(crate) async fn waiting(url: &str) -> Waiting {
    let sql = "SELECT COUNT(d.lease_token), \
                   MIN(CASE WHEN e.held_until > d.next_attempt_at THEN e.held_until ELSE d.next_attempt_at END) \
               FROM deliveries d JOIN webhook_endpoints e ON e.shard = d.shard AND e.id = d.endpoint_id \
               WHERE d.status = 'pending'";
    let (leased, next_ms) = if url.starts_with("postgres") {
        let mut conn = url.parse::<sqlx::postgres::PgConnectOptions>().unwrap().connect().await.unwrap();
        let row: (i64, Option<i64>) = sqlx::query_as(sql).fetch_one(&mut conn).await.unwrap();
        conn.close().await.unwrap();
        row
    } else {
        let mut conn = url.parse::<sqlx::sqlite::SqliteConnectOptions>().unwrap().connect().await.unwrap();
        let row: (i64, Option<i64>) = sqlx::query_as(sql).fetch_one(&mut conn).await.unwrap();
        conn.close().await.unwrap();
        row
    };
    Waiting { leased, next_ms }
}

/// Waits until no delivery waits for an attempt, now or later.
pub(crate) async fn nothing_pending(url: &str) {
    eventually("no pending delivery", async || waiting(url).await.next_ms.is_none().then_some(())).await;
}

/// Removes a merchant's test events up to a sequence, as the retention does: the stream says first that it begins
/// behind them.
pub(crate) async fn forget_events(url: &str, merchant: &str, up_to: i64) {
    let of = format!("merchant_id = '{merchant}' AND livemode = FALSE");
    let forget = format!(
        "UPDATE streams SET removed_through = {up_to} WHERE {of}; DELETE FROM events WHERE {of} AND sequence <= {up_to}"
    );
    write(url, &forget).await;
}

/// Copies a merchant's test order so many times, in this status, each newer than the one before.
pub(crate) async fn copy_order(url: &str, merchant: &str, number: &str, copies: u32, status: &str) {
    let columns =
        "payment_status, fulfillment_status, currency, total, resource_version, created_at, updated_at, body";
    write(
        url,
        &format!(
            "INSERT INTO orders (shard, merchant_id, livemode, order_number, status, created_sequence, last_sequence, {columns}) \
             WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {copies}) \
             SELECT shard, merchant_id, livemode, order_number || '-' || n, '{status}', created_sequence + n, \
                 last_sequence + n, {columns} \
             FROM n CROSS JOIN orders WHERE merchant_id = '{merchant}' AND order_number = '{number}' AND NOT livemode"
        ),
    )
    .await;
}

/// Copies a merchant's test order under these generated numbers, as an operator imports orders of another system.
pub(crate) async fn import_orders(url: &str, merchant: &str, number: &str, numbers: RangeInclusive<u32>) {
    let columns = "status, payment_status, fulfillment_status, currency, total, resource_version, created_at, updated_at, body";
    let (from, to) = numbers.into_inner();
    write(
        url,
        &format!(
            "INSERT INTO orders (shard, merchant_id, livemode, order_number, {columns}) \
             WITH RECURSIVE n(n) AS (SELECT {from} UNION ALL SELECT n + 1 FROM n WHERE n < {to}) \
             SELECT shard, merchant_id, livemode, 'ORD-' || n, {columns} \
             FROM n CROSS JOIN orders WHERE merchant_id = '{merchant}' AND order_number = '{number}' AND NOT livemode"
        ),
    )
    .await;
}

/// Copies a merchant's newest test event so many times, each newer than the one before. The copies go nowhere.
pub(crate) async fn copy_event(url: &str, merchant: &str, copies: u32) {
    let of = format!("merchant_id = '{merchant}' AND livemode = FALSE");
    write(
        url,
        &format!(
            "INSERT INTO events (shard, merchant_id, livemode, sequence, id, type, resource_id, created_at, body) \
             WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {copies}) \
             SELECT shard, merchant_id, livemode, sequence + n, id || '-' || n, type, resource_id, created_at, body \
             FROM n CROSS JOIN events WHERE {of} AND sequence = (SELECT MAX(sequence) FROM events WHERE {of}); \
             UPDATE streams SET last_sequence = last_sequence + {copies} WHERE {of}"
        ),
    )
    .await;
}

/// Advances the clock of a merchant's sandbox, in seconds, for every record that it has: what an authority stores that
/// is killed before it makes anything due.
pub(crate) async fn advance_clock(url: &str, merchant: &str, seconds: i64) {
    let advance = "INSERT INTO sandbox_clock_advances (shard, merchant_id, advanced_at, seconds)";
    let shard = if url.starts_with("postgres") { "shard_of(id)" } else { "0" };
    let later = format!("SELECT {shard}, id, created_at + 3600000");
    write(url, &format!("{advance} {later}, {seconds} FROM merchants WHERE id = '{merchant}'")).await;
}

/// Runs the statements as one transaction.
async fn write(url: &str, statements: &str) {
    execute(url, &format!("BEGIN; {statements}; COMMIT")).await;
}

/// Declares a record that is read from a row of either database, each field from the column of its name. sqlx's derive
/// would bring all of sqlx once more, compiled for the compiler.
#[macro_export]
macro_rules! row {
    ($(#[$meta:meta])* $vis:vis struct $record:ident {
        $($(#[$doc:meta])* $inside:vis $field:ident: $type:ty),+ $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $record { $($(#[$doc])* $inside $field: $type),+ }

        impl<'r, R: sqlx::Row> sqlx::FromRow<'r, R> for $record
        where
            &'static str: sqlx::ColumnIndex<R>,
            $($type: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>),+
        {
            fn from_row(row: &'r R) -> sqlx::Result<Self> {
                Ok(Self { $($field: row.try_get(stringify!($field))?),+ })
            }
        }
    };
}
