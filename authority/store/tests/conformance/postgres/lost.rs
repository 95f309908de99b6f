//! Transactions that are lost before their commit: contract 21-6.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use authority_domain::error_code::ErrorCode;
use authority_domain::refusal::Refusal;
use authority_store::commit::{Audience, Committed};
use authority_store::shards::Turns;
use authority_store::tx::Tx;

use super::PostgresDatabase;
use super::turns::{beside, hold, open_checkout, shops};
use crate::cases::Database;
use crate::cases::fixtures::noon;
use crate::cases::shop::Shop;

/// Ends the connections that are in a transaction and have nothing to do.
const END_TRANSACTIONS: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                                WHERE datname = current_database() AND state = 'idle in transaction'";

/// The server ends a transaction that is silent; who waits for its turn waits longer than that. Once its holder goes
/// on, it runs again and is answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holder_that_falls_silent_loses_its_turn() {
    let database = PostgresDatabase::start().await;
    let (one, two) = (database.open().await.unwrap(), database.open().await.unwrap());
    let [shop, other] = shops(&one).await;
    let (open, holding) = hold(&shop).await;
    open_checkout(&beside(&shop, &two)).await;
    open.send(true).unwrap();
    holding.await.unwrap().unwrap();
    open_checkout(&shop).await;
    open_checkout(&other).await;
    assert_eq!(shop.events().await.len(), 2);
}

/// A server that ends connections in the middle of transactions: whoever was in one runs once more, and what it had
/// written is there once. When that happens again it is told so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_is_lost_before_its_commit_runs_once_more() {
    let database = Arc::new(PostgresDatabase::start().await);
    let store = database.open().await.unwrap();
    let shop = Shop::new(&store, "shop").await;
    let write = async |losses: usize| {
        let (inside, runs) = (shop.clone(), Arc::new(AtomicUsize::new(0)));
        let (database, count) = (Arc::clone(&database), Arc::clone(&runs));
        let opened = shop.opened().1;
        let done: Result<Committed, Refusal> = store
            .write_with(Turns::of(&shop.tenant.merchant_id), move |tx: &mut Tx| {
                Box::pin(async move {
                    let committed = inside.commit_in(tx, &[opened], &Audience::Subscribers, noon()).await?;
                    if count.fetch_add(1, Ordering::SeqCst) < losses {
                        database.execute(END_TRANSACTIONS).await.unwrap();
                    }
                    Ok(committed)
                })
            })
            .await;
        (done.map_err(|refusal| refusal.code).map(|_| ()), runs.load(Ordering::SeqCst))
    };
    assert_eq!(write(1).await, (Ok(()), 2));
    assert_eq!(shop.events().await.len(), 1);
    assert_eq!(write(2).await, (Err(ErrorCode::ServiceUnavailable), 2));
    assert_eq!(write(0).await, (Ok(()), 1));
    assert_eq!(shop.events().await.len(), 2);
}
