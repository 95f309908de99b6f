//! Several instances on one database: contract 8.3, 12 T4. Two stores stand for two processes.

use std::collections::BTreeSet;

use authority_domain::list_filter::EventFilter;
use authority_store::StoreError;
use authority_store::shards::Turns;
use authority_store::tx::{KeyScope, SettledAs};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

use super::PostgresDatabase;
use crate::cases::fixtures::{at, kept_answer, noon, settlement};
use crate::cases::shop::Shop;
use crate::cases::{Database, ask, done};

const INSTANCES: usize = 2;
const WRITERS: usize = 8;
const EVENTS_EACH: usize = 20;

/// The same shop through another store.
async fn beside(shop: &Shop, database: &PostgresDatabase) -> Shop {
    Shop { store: database.open().await.unwrap(), tenant: shop.tenant.clone(), context: shop.context.clone() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_two_instances_leave_no_gap_and_a_reader_misses_nothing() {
    let database = PostgresDatabase::start().await;
    let first = Shop::open(&database).await;
    let instances = [first.clone(), beside(&first, &database).await];
    let others = [Shop::new(&first.store, "other").await, beside(&first, &database).await.in_test_mode()];
    let writers = (0..INSTANCES * WRITERS).map(|n| {
        let (shop, other) = (instances[n % 2].clone(), others[n % 2].clone());
        tokio::spawn(async move {
            for _ in 0..EVENTS_EACH {
                shop.commit(vec![shop.opened().1]).await.unwrap();
                other.commit(vec![other.opened().1]).await.unwrap();
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    // Reads from where it stands, as a merchant does: a number that appears behind it later is lost to it.
    let mut seen = Vec::new();
    let expected = INSTANCES * WRITERS * EVENTS_EACH;
    while seen.len() < expected {
        let store = &instances[1].store;
        let after = seen.last().copied().unwrap_or(0);
        let page =
            ask!(store.read, [first], |tx| tx.events_page(&first.tenant, &EventFilter::default(), after, 7));
        seen.extend(page.unwrap().rows.into_iter().map(|(sequence, _)| sequence));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(seen, Vec::from_iter(1..=i64::try_from(expected).unwrap()));
    let gaps = "(SELECT MAX(sequence) - COUNT(*) AS missing FROM events \
                GROUP BY merchant_id, livemode) AS streams WHERE missing <> 0";
    assert_eq!(database.count(gaps).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_instances_never_hold_one_delivery_and_keep_one_cap() {
    let database = PostgresDatabase::start().await;
    let first = Shop::open(&database).await;
    let instances = [first.clone(), beside(&first, &database).await];
    let endpoints = [first.endpoint(&["*"]).await, first.endpoint(&["*"]).await];
    first.open_checkouts(60).await;
    let leasers: Vec<_> = (0..INSTANCES * 4)
        .map(|n| {
            let shop = instances[n % 2].clone();
            tokio::spawn(async move {
                let mut taken = Vec::new();
                for round in 0..12 {
                    let token = format!("{n}-{round}");
                    let leased = shop.lease(&token, noon(), 5, 3).await;
                    let done =
                        leased.iter().map(|one| settlement(one, &token, SettledAs::Succeeded)).collect();
                    assert_eq!(shop.settle(done).await, leased.len(), "what was leased is still ours");
                    taken.extend(leased.into_iter().map(|delivery| (delivery.id, delivery.endpoint_id)));
                }
                taken
            })
        })
        .collect();
    let mut taken = Vec::new();
    for leaser in leasers {
        taken.extend(leaser.await.unwrap());
    }
    assert_eq!(taken.len(), taken.iter().collect::<BTreeSet<_>>().len(), "each of them once");
    let attempts = i64::try_from(taken.len()).unwrap();
    assert_eq!(database.count("attempts").await, attempts);
    // Both ask at once for all there is: together they get what each endpoint's cap allows of its rest.
    let both = futures_util::future::join(
        instances[0].lease("a", at(1), 99, 3),
        instances[1].lease("b", at(1), 99, 3),
    );
    let (a, b) = both.await;
    for endpoint in endpoints {
        let rest = 60 - taken.iter().filter(|(_, of)| *of == endpoint).count();
        let held = a.iter().chain(&b).filter(|delivery| delivery.endpoint_id == endpoint).count();
        assert_eq!(held, rest.min(3), "of one endpoint");
    }
}

/// Two instances change one order from the same version; the rules hold as if they had come one after the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_use_case_finds_nobody_between_its_reading_and_its_writing() {
    take_turns(PostgresDatabase::start().await).await;
}

/// A server may be set to a level at which a transaction sees what was there before its turn came.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_servers_default_level_of_isolation_does_not_matter() {
    let database = PostgresDatabase::start().await;
    let set = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = ''serializable''', \
               current_database()); END $$";
    database.execute(set).await.unwrap();
    take_turns(database).await;
}

async fn take_turns(database: PostgresDatabase) {
    let first = Shop::open(&database).await;
    let instances = [first.clone(), beside(&first, &database).await];
    let counts: Vec<_> = (0..16)
        .map(|n| {
            let (store, tenant) = (instances[n % 2].store.clone(), first.tenant.clone());
            tokio::spawn(async move {
                let counted: Result<i64, StoreError> = ask!(store.write, |tx| async {
                    let before = tx.endpoint_count(&tenant).await?;
                    let endpoint = crate::cases::fixtures::endpoint(tenant.livemode, &["*"]);
                    let secret = authority_store::hand_off::SealedSecret {
                        version: 1,
                        sealed: vec![1],
                        expires_at: None,
                    };
                    tx.endpoint_insert(&tenant, &endpoint, &secret).await?;
                    Ok(before)
                });
                counted.unwrap()
            })
        })
        .collect();
    let mut seen = BTreeSet::new();
    for count in counts {
        seen.insert(count.await.unwrap());
    }
    assert_eq!(seen, (0..16).collect(), "each saw what the one before it had committed");
}

/// A purge has no turn. It waits for a request that replaces an expired answer, and looks again at what it finds then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_replaced_while_others_are_purged_stays() {
    let database = PostgresDatabase::start().await;
    let shop = Shop::open(&database).await;
    let store = &shop.store;
    let record = kept_answer(KeyScope::Merchant(shop.tenant.clone()), "k-1", "first");
    done!(shop, |tx| tx.idempotency_insert(&record));
    let mut replacing = database.connect().await;
    let later = format!("BEGIN; UPDATE idempotency SET expires_at = {}", at(200).as_ms());
    replacing.execute(AssertSqlSafe(later)).await.unwrap();
    let purging = tokio::spawn({
        let store = store.clone();
        async move { ask!(store.write_with(Turns::NONE), |tx| tx.idempotency_purge(at(100), 9)) }
    });
    let waits = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
        AND wait_event_type = 'Lock' AND query LIKE '%DELETE FROM idempotency%' AND pid <> pg_backend_pid()";
    while database.number(waits).await == 0 {
        assert!(!purging.is_finished(), "it waits for the request");
    }
    replacing.execute("COMMIT").await.unwrap();
    let purged: Result<u64, StoreError> = purging.await.unwrap();
    assert_eq!(purged.unwrap(), 0);
    assert_eq!(database.count("idempotency").await, 1);
    replacing.close().await.unwrap();
}
