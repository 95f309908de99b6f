//! Transactions that are lost before their commit: contract 21-6.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use authority_domain::{ErrorCode, Refusal};
use authority_store::commit::{Audience, Committed};
use authority_store::shards::Turns;
use authority_store::tx::Tx;
use futures_util::future::{FutureExt, join_all};
use sqlx::{AssertSqlSafe, Executor as _};

use super::PostgresDatabase;
use super::turns::{beside, hold, open_checkout, shops};
use crate::cases::fixtures::noon;
use crate::cases::shop::Shop;
use crate::cases::{Database, ask};

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

/// A server that ends connections in the middle of transactions: whoever was in one runs again, and what it had written
/// is there once. When that happens for the fourth time it is told so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_is_lost_before_its_commit_runs_again() {
    let database = Arc::new(PostgresDatabase::start().await);
    let store = database.open().await.unwrap();
    let shop = Shop::new(&store, "shop").await;
    let write = async |losses: usize| {
        let runs = Arc::new(AtomicUsize::new(0));
        let (database, count) = (Arc::clone(&database), Arc::clone(&runs));
        let opened = shop.opened().1;
        let done: Result<Committed, Refusal> =
            ask!(store.write_with(Turns::of(&shop.tenant.merchant_id)), [shop], |tx| async {
                let committed = shop.commit_in(tx, &[opened], &Audience::Subscribers, noon()).await?;
                if count.fetch_add(1, Ordering::SeqCst) < losses {
                    database.execute(END_TRANSACTIONS).await.unwrap();
                }
                Ok(committed)
            });
        (done.map_err(|refusal| refusal.code).map(|_| ()), runs.load(Ordering::SeqCst))
    };
    assert_eq!(write(3).await, (Ok(()), 4));
    assert_eq!(shop.events().await.len(), 1);
    assert_eq!(write(4).await, (Err(ErrorCode::ServiceUnavailable), 4));
    assert_eq!(write(0).await, (Ok(()), 1));
    assert_eq!(shop.events().await.len(), 2);
}

/// Jobs of one batch that compute for longer than the server takes for silence: each is committed all the same, in a
/// transaction of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::disallowed_methods, reason = "the jobs take processor time, which is what is tested")]
async fn a_batch_that_computes_for_long_is_split() {
    let database = PostgresDatabase::start().await;
    let store = database.open().await.unwrap();
    let shop = Shop::new(&store, "shop").await;
    let (open, holding) = hold(&shop).await;
    let jobs = (0..3).map(|_| {
        let (inside, opened) = (shop.clone(), shop.opened().1);
        store.write_ahead(shop.ahead(), move |tx: &mut Tx| {
            Box::pin(async move {
                let begun = Instant::now();
                while begun.elapsed() < Duration::from_millis(350) {
                    std::hint::spin_loop();
                }
                inside.commit_in(tx, &[opened], &Audience::Subscribers, noon()).await
            })
        })
    });
    let mut all = join_all(jobs);
    assert!((&mut all).now_or_never().is_none(), "they wait for their turn together");
    open.send(true).unwrap();
    holding.await.unwrap().unwrap();
    let done: Vec<Result<Committed, Refusal>> = all.await;
    assert!(done.iter().all(Result::is_ok));
    assert_eq!(database.count("checkouts").await, 3);
    assert_eq!(database.number("SELECT COUNT(DISTINCT xmin::text) FROM checkouts").await, 3);
}

/// Who meets a lock that somebody holds is told after one wait for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_is_waited_for_once() {
    let database = PostgresDatabase::start().await;
    let store = database.open().await.unwrap();
    let shop = Shop::new(&store, "shop").await;
    let mut foreign = database.connect().await;
    for table in ["checkouts", "streams"] {
        let lock = AssertSqlSafe(format!("BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"));
        foreign.execute(lock).await.unwrap();
        let runs = Arc::new(AtomicUsize::new(0));
        let (count, opened) = (Arc::clone(&runs), shop.opened().1);
        let done: Result<Committed, Refusal> = ask!(store.write_ahead(shop.ahead()), [shop], |tx| async {
            count.fetch_add(1, Ordering::SeqCst);
            shop.commit_in(tx, &[opened], &Audience::Subscribers, noon()).await
        });
        assert_eq!(done.unwrap_err().code, ErrorCode::ServiceUnavailable, "{table}");
        assert_eq!(runs.load(Ordering::SeqCst), 1, "{table}");
        foreign.execute("ROLLBACK").await.unwrap();
    }
    assert_eq!(shop.events().await.len(), 0);
}
