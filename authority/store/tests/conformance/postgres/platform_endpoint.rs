//! The platform's own endpoint, which transactions of every shard read without its turn (contract 21.2; I12).

use authority_domain::{Refusal, Tenant};
use authority_store::StoreError;
use authority_store::commit::Audience;
use authority_store::hand_off::SealedSecret;
use authority_store::shards::Turns;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::PostgresDatabase;
use super::turns::{beside, open_checkout, shops};
use crate::cases::fixtures::{endpoint, noon};
use crate::cases::{Database as _, ask};

/// Who writes for a shard reads the platform's endpoint without its turn: it may have read that there is none,
/// and commit when one was made meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_under_way_has_ended_when_every_turn_was_passed() {
    let database = PostgresDatabase::start().await;
    let (one, two) = (database.open().await.unwrap(), database.open().await.unwrap());
    let [held, free] = shops(&one).await;
    let (open, gate) = watch::channel(false);
    let (entered, mut inside) = mpsc::channel(1);
    let (shop, turns) = (held.clone(), Turns::of(&held.tenant.merchant_id));
    let committing: JoinHandle<Result<(), Refusal>> = tokio::spawn(async move {
        ask!(one.write_with(turns), |tx| async {
            shop.commit_in(tx, &[shop.opened().1], &Audience::Subscribers, noon()).await?;
            let _ = entered.send(()).await;
            // The server ends a transaction that is silent.
            while !*gate.borrow() {
                tx.endpoint_count(&shop.tenant).await?;
            }
            Ok(())
        })
    });
    inside.recv().await.unwrap();
    let sink = endpoint(false, &["*"]);
    let secret = SealedSecret { version: 1, sealed: vec![1], expires_at: None };
    let made: Result<(), StoreError> =
        ask!(two.write_with(Turns::OPERATOR), |tx| tx.endpoint_insert(&Tenant::operator(), &sink, &secret));
    made.unwrap();
    let passing = tokio::spawn({
        let two = two.clone();
        async move { two.pass_every_turn().await }
    });
    let waits = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
        AND wait_event_type = 'Lock' AND query LIKE '%FROM turns%' AND pid <> pg_backend_pid()";
    while database.number(waits).await == 0 {
        assert!(!passing.is_finished(), "one that does not know the endpoint has not ended");
    }
    open_checkout(&beside(&free, &two)).await;
    open.send(true).unwrap();
    passing.await.unwrap().unwrap();
    assert_eq!((held.events().await.len(), database.count("deliveries").await), (1, 1));
    open_checkout(&held).await;
    assert_eq!(database.count("deliveries").await, 2, "what begins now knows it");
    committing.await.unwrap().unwrap();
}
