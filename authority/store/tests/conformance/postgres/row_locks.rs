//! Rows that transactions of several shards meet at: contract 21-2.

use authority_domain::EndpointId;
use authority_store::shards::Turns;
use authority_store::{Store, StoreError};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

use super::PostgresDatabase;
use crate::cases::ask;
use crate::cases::shop::Shop;

/// Puts back the condition of this endpoint of the platform, as whoever writes outcomes does.
async fn put_back(store: &Store, id: &EndpointId) -> Result<usize, StoreError> {
    ask!(store.write_with(Turns::OPERATOR), [id], |tx| async {
        let conditions = tx.conditions(&[id]).await?;
        tx.conditions_put(&conditions).await?;
        Ok(conditions.len())
    })
}

/// A delivery to the platform's endpoint refers to it from the shard of the event's merchant, and its foreign key holds
/// that row to the end of the merchant's transaction. Outcomes of the same endpoint are written meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outcomes_of_the_platforms_endpoint_do_not_wait_for_its_new_deliveries() {
    let database = PostgresDatabase::start().await;
    let shop = Shop::open(&database).await;
    let sink = shop.platform().endpoint(&["*"]).await;
    let mut merchant = database.connect().await;
    // What the server does for the foreign key of a new row.
    let refer = format!("BEGIN; SELECT 1 FROM webhook_endpoints WHERE id = '{sink}' FOR KEY SHARE");
    merchant.execute(AssertSqlSafe(refer)).await.unwrap();
    assert_eq!(put_back(&shop.store, &sink).await.unwrap(), 1);
    merchant.execute("ROLLBACK").await.unwrap();
    merchant.close().await.unwrap();
}
