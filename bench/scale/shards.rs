//! Which shard each merchant has, where the database says so: a column `shard` of the merchants.

use std::collections::HashMap;

use sqlx::{Connection as _, PgConnection};

/// By the merchant's id; `None` where there are no shards.
pub(crate) async fn of_merchants(url: &str) -> Option<HashMap<String, i64>> {
    let mut conn = PgConnection::connect(url).await.unwrap();
    let column = "SELECT COUNT(*) FROM information_schema.columns WHERE table_name = 'merchants' AND column_name = 'shard'";
    let columns: i64 = sqlx::query_scalar(column).fetch_one(&mut conn).await.unwrap();
    let shards = if columns == 0 {
        None
    } else {
        let rows: Vec<(String, i64)> =
            sqlx::query_as("SELECT id, shard::BIGINT FROM merchants").fetch_all(&mut conn).await.unwrap();
        Some(rows.into_iter().collect())
    };
    conn.close().await.unwrap();
    shards
}
