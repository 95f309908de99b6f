//! What a test does to the database beside the service, because no operation does it yet, and what it asks of it.

use authority_domain::time::Timestamp;
use authority_store::ports::Tx;
use authority_store::{Access, Store, StoreError, StoreUrl};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use crate::eventually::eventually;

/// Waits until no delivery waits for an attempt, now or later.
pub(crate) async fn nothing_pending(url: &str) {
    let store = Store::open(&StoreUrl::parse(url).unwrap(), Access::Shared).await.unwrap();
    eventually("no pending delivery", async || {
        let beginning = Timestamp::from_ms(0);
        let next: Result<_, StoreError> = store
            .read(move |tx: &mut dyn Tx| Box::pin(async move { tx.delivery_next_due(beginning).await }))
            .await;
        next.unwrap().is_none().then_some(())
    })
    .await;
    store.close().await;
}

/// Removes a merchant's test events up to a sequence. Events refuse to be deleted: whoever may delete them has to take
/// that rule away first.
pub(crate) async fn forget_events(url: &str, merchant: &str, up_to: i64) {
    let delete = format!("DELETE FROM events WHERE merchant_id = '{merchant}' AND sequence <= {up_to}");
    if url.starts_with("postgres") {
        let options: sqlx::postgres::PgConnectOptions = url.parse().unwrap();
        let mut conn = options.connect().await.unwrap();
        let unguarded = format!(
            "BEGIN; ALTER TABLE events DISABLE TRIGGER USER; {delete}; ALTER TABLE events ENABLE TRIGGER USER; COMMIT"
        );
        sqlx::raw_sql(AssertSqlSafe(unguarded)).execute(&mut conn).await.unwrap();
        conn.close().await.unwrap();
    } else {
        let options: sqlx::sqlite::SqliteConnectOptions = url.parse().unwrap();
        let mut conn = options.connect().await.unwrap();
        let trigger = "SELECT sql FROM sqlite_master WHERE name = 'events_no_delete'";
        let guard: String = sqlx::query_scalar(trigger).fetch_one(&mut conn).await.unwrap();
        let unguarded = format!("BEGIN IMMEDIATE; DROP TRIGGER events_no_delete; {delete}; {guard}; COMMIT");
        sqlx::raw_sql(AssertSqlSafe(unguarded)).execute(&mut conn).await.unwrap();
        conn.close().await.unwrap();
    }
}
