//! Turns per shard: contract 21.2, 21.4, 21.6. Two stores stand for two instances.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use authority_domain::{Change, DisabledReason, Order, Refusal};
use authority_store::commit::{Audience, Committed};
use authority_store::shards::{ShardSet, Turns};
use authority_store::tx::KeyScope;
use authority_store::{Store, StoreError};
use sqlx::Executor as _;
use tokio::sync::{Barrier, mpsc, watch};
use tokio::task::JoinHandle;
use verify_core::catalog::EventType;

use super::PostgresDatabase;
use crate::cases::fixtures::{at, kept_answer, noon};
use crate::cases::held::submit;
use crate::cases::partners::{connect, share};
use crate::cases::shop::Shop;
use crate::cases::{Database, ask};

/// The same shop through another store.
pub(super) fn beside(shop: &Shop, store: &Store) -> Shop {
    Shop { store: store.clone(), ..shop.clone() }
}

fn shard(shop: &Shop) -> ShardSet {
    ShardSet::of(&shop.tenant.merchant_id)
}

/// Shops of different shards.
pub(super) async fn shops<const N: usize>(store: &Store) -> [Shop; N] {
    let mut shops: Vec<Shop> = Vec::new();
    let mut nth = 0;
    while shops.len() < N {
        let shop = Shop::new(store, &format!("shop-{nth}")).await;
        nth += 1;
        if shops.iter().all(|other| shard(other) != shard(&shop)) {
            shops.push(shop);
        }
    }
    shops.try_into().unwrap_or_else(|_| panic!("there are {N}"))
}

/// Commits with the turn of the shop's shard, as requests do.
async fn commit(shop: &Shop, changes: Vec<Change>) -> Result<Committed, Refusal> {
    let turns = Turns::of(&shop.tenant.merchant_id);
    ask!(shop.store.write_with(turns), [shop], |tx| async {
        shop.commit_in(tx, &changes, &Audience::Subscribers, noon()).await
    })
}

pub(super) async fn open_checkout(shop: &Shop) {
    commit(shop, vec![shop.opened().1]).await.unwrap();
}

/// Holds the turn of a shop's shard until the gate opens.
pub(super) async fn hold(shop: &Shop) -> (watch::Sender<bool>, JoinHandle<Result<(), StoreError>>) {
    let (open, gate) = watch::channel(false);
    let (entered, mut inside) = mpsc::channel(1);
    let (store, turns) = (shop.store.clone(), Turns::of(&shop.tenant.merchant_id));
    let holding = tokio::spawn(async move {
        ask!(store.write_with(turns), |_| async {
            let mut gate = gate;
            let _ = entered.send(()).await;
            let _ = gate.wait_for(|open| *open).await;
            Ok(())
        })
    });
    inside.recv().await.unwrap();
    (open, holding)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holder_keeps_its_own_shard_waiting_and_no_other() {
    let database = PostgresDatabase::start().await;
    let (one, two) = (database.open().await.unwrap(), database.open().await.unwrap());
    let [held, free] = shops(&one).await;
    let (open, holding) = hold(&held).await;
    let waiting: Vec<_> = [&one, &two]
        .map(|store| {
            let shop = beside(&held, store);
            tokio::spawn(async move { open_checkout(&shop).await })
        })
        .into();
    for store in [&one, &two, &one, &two] {
        open_checkout(&beside(&free, store)).await;
    }
    assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
    assert_eq!(held.events().await.len(), 0);
    open.send(true).unwrap();
    holding.await.unwrap().unwrap();
    for waiting in waiting {
        waiting.await.unwrap();
    }
    assert_eq!((held.events().await.len(), free.events().await.len()), (2, 4));
}

/// A turn that is always waited for is never free: who waits for none gets it together with who has waited (contract
/// 7.4).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_what_it_can_shares_a_turn_that_was_waited_for() {
    let database = Arc::new(PostgresDatabase::start().await);
    let shop = Shop::open(&*database).await;
    let mut other_instance = database.connect().await;
    other_instance.execute("BEGIN; SELECT shard FROM turns ORDER BY shard FOR UPDATE").await.unwrap();
    let waiting = tokio::spawn({
        let shop = shop.clone();
        async move { open_checkout(&shop).await }
    });
    let waits = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
        AND wait_event_type = 'Lock' AND query LIKE '%FROM turns%' AND pid <> pg_backend_pid()";
    while database.number(waits).await == 0 {
        assert!(!waiting.is_finished(), "it waits for the turn");
    }
    let (store, merchant, beside) =
        (shop.store.clone(), shop.tenant.merchant_id.clone(), Arc::clone(&database));
    let settling = submit(async move {
        let settled: Result<(bool, i64), StoreError> =
            ask!(store.write_with(Turns::some_of(ShardSet::of(&merchant))), |tx| async {
                Ok((tx.holds(&merchant), beside.count("checkouts").await))
            });
        settled
    });
    other_instance.execute("COMMIT").await.unwrap();
    waiting.await.unwrap();
    assert_eq!(settling.await.unwrap(), (true, 0), "in the transaction of the checkout, before its commit");
    assert_eq!(database.count("checkouts").await, 1);
}

#[tokio::test]
async fn a_job_that_needs_another_turn_runs_once_more_and_has_it() {
    let database = PostgresDatabase::start().await;
    let store = database.open().await.unwrap();
    let [first, second] = shops(&store).await;
    let runs = Arc::new(AtomicUsize::new(0));
    let (counted, also) = (Arc::clone(&runs), shard(&second));
    let done: Result<(bool, bool), Refusal> =
        ask!(store.write_with(Turns::of(&first.tenant.merchant_id)), [second, first], |tx| async {
            counted.fetch_add(1, Ordering::SeqCst);
            let (opened, audience) = (first.opened().1, Audience::Subscribers);
            first.commit_in(tx, &[opened], &audience, noon()).await?;
            tx.need_turns(also)?;
            Ok((tx.holds(&first.tenant.merchant_id), tx.holds(&second.tenant.merchant_id)))
        });
    assert_eq!(done.unwrap(), (true, true));
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    assert_eq!(first.events().await.len(), 1, "the first run was undone");
}

/// Whatever turns its use case names.
#[tokio::test]
async fn who_changes_an_endpoint_has_its_merchants_turn() {
    let database = PostgresDatabase::start().await;
    let shop = Shop::open(&database).await;
    let id = shop.endpoint(&["*"]).await;
    let held: Result<bool, StoreError> = ask!(shop.store.write_with(Turns::OPERATOR), [shop], |tx| async {
        let found = tx.endpoint_get(&shop.tenant, &id).await?.unwrap();
        let disabled = found.disabled(DisabledReason::Operator, noon()).unwrap();
        tx.endpoint_update(&shop.tenant, &disabled).await?;
        Ok(tx.holds(&shop.tenant.merchant_id))
    });
    assert!(held.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_key_of_the_operator_on_two_shards_has_one_answer() {
    let database = PostgresDatabase::start().await;
    let (one, two) = (database.open().await.unwrap(), database.open().await.unwrap());
    let [first, second] = shops(&one).await;
    let both_have_looked = Arc::new(Barrier::new(2));
    let asked = [(&one, &first), (&two, &second)].map(|(store, shop)| {
        let (store, turns) = (store.clone(), Turns::of(&shop.tenant.merchant_id));
        let (looked, runs) = (Arc::clone(&both_have_looked), Arc::new(AtomicUsize::new(0)));
        tokio::spawn(async move {
            let answer: Result<String, StoreError> = ask!(store.write_with(turns), |tx| async {
                let known = tx.idempotency_get(&KeyScope::Operator, "once", noon()).await?;
                if runs.fetch_add(1, Ordering::SeqCst) == 0 {
                    looked.wait().await;
                }
                if let Some((_, answer)) = known {
                    return Ok(format!("found {answer}"));
                }
                tx.idempotency_insert(&kept_answer(KeyScope::Operator, "once", "it")).await?;
                Ok("made it".to_owned())
            });
            answer.unwrap()
        })
    });
    let mut answers = BTreeSet::new();
    for asked in asked {
        answers.insert(asked.await.unwrap());
    }
    assert_eq!(answers, BTreeSet::from(["found it".to_owned(), "made it".to_owned()]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_goes_to_the_platform_is_numbered_across_shards() {
    const EACH: usize = 40;
    let database = PostgresDatabase::start().await;
    let (one, two) = (database.open().await.unwrap(), database.open().await.unwrap());
    let shops: [Shop; 4] = shops(&one).await;
    let platform = shops[0].platform();
    let sink = platform.endpoint(&["*"]).await;
    let sellers: Vec<_> = shops
        .iter()
        .zip([&one, &two].into_iter().cycle())
        .map(|(shop, store)| {
            let shop = beside(shop, store);
            tokio::spawn(async move {
                for _ in 0..EACH {
                    open_checkout(&shop).await;
                }
            })
        })
        .collect();
    for seller in sellers {
        seller.await.unwrap();
    }
    let all = i64::try_from(4 * EACH).unwrap();
    let numbers =
        format!("SELECT COUNT(DISTINCT created_sequence) FROM deliveries WHERE endpoint_id = '{sink}'");
    assert_eq!(database.number(&numbers).await, all);
    assert_eq!(database.count("deliveries WHERE lease_token IS NOT NULL").await, 0);
}

/// Everybody shares an order with everybody else, and all orders change at once: a transaction needs the turns of its
/// partners, who need its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partners_of_other_shards_get_each_copy_once_and_in_order() {
    const CHANGES: i64 = 12;
    let database = PostgresDatabase::start().await;
    let (one, two) = (database.open().await.unwrap(), database.open().await.unwrap());
    let shops: [Shop; 3] = shops(&one).await;
    let mut orders: Vec<Order> = Vec::new();
    for shop in &shops {
        orders.push(shop.sell().await.order);
    }
    for (nth, (a, b)) in [(0, 1), (1, 2), (2, 0)].into_iter().enumerate() {
        let connection = connect(&shops[a], &shops[b], u8::try_from(nth).unwrap()).await;
        share(&shops[a], &shops[b], &connection, &orders[a]).await.unwrap();
        share(&shops[b], &shops[a], &connection, &orders[b]).await.unwrap();
    }
    let writers: Vec<_> = shops
        .iter()
        .zip(&orders)
        .zip([&one, &two].into_iter().cycle())
        .map(|((shop, order), store)| {
            let (shop, order) = (beside(shop, store), order.clone());
            tokio::spawn(async move {
                for nth in 1..=CHANGES {
                    let resource_version = order.resource_version + nth;
                    let changed = Order { resource_version, updated_at: at(nth), ..order.clone() };
                    commit(&shop, vec![Change::order(EventType::OrderUpdated, &changed)]).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    for shop in &shops {
        let events = shop.events().await;
        let sequences: Vec<i64> = events.iter().map(|(sequence, _)| *sequence).collect();
        assert_eq!(sequences, Vec::from_iter(1..=i64::try_from(events.len()).unwrap()));
        for (other, order) in shops.iter().zip(&orders).filter(|(other, _)| other.tenant != shop.tenant) {
            let versions: Vec<i64> = events
                .iter()
                .map(|(_, body)| serde_json::from_str::<serde_json::Value>(body).unwrap())
                .filter(|event| {
                    event["merchant"]["id"] == other.tenant.merchant_id.as_str()
                        && event["type"] == "order.updated"
                })
                .map(|event| event["resource_version"].as_i64().unwrap())
                .collect();
            let first = order.resource_version + 1;
            assert_eq!(versions, Vec::from_iter(first..first + CHANGES));
        }
    }
}
