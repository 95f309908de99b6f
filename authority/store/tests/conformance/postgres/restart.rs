//! A server that goes away and comes back under load: what was answered is there, nothing is half done, and the store
//! needs no help (contract 12 T1).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use authority_domain::ErrorCode;
use authority_store::{Access, Store, StoreError, StoreUrl};
use postgres_cluster::{Cluster, Durability, Stop};
use tokio::sync::Notify;

use super::PostgresDatabase;
use crate::cases::shop::Shop;
use crate::cases::{Database, ask};

/// What the writers have seen so far.
#[derive(Default)]
struct Seen {
    committed: AtomicUsize,
    refused: AtomicUsize,
    changed: Notify,
}

impl Seen {
    /// Waits until `count` of it has grown by `more`.
    async fn grows(&self, count: &AtomicUsize, more: usize) {
        let target = count.load(Ordering::SeqCst) + more;
        loop {
            let changed = self.changed.notified();
            if count.load(Ordering::SeqCst) >= target {
                return;
            }
            changed.await;
        }
    }
}

/// Writes until told to stop; the ids of the checkouts whose commit was acknowledged.
async fn write(shop: Shop, seen: Arc<Seen>, stop: Arc<AtomicBool>) -> Vec<String> {
    let mut acknowledged = Vec::new();
    while !stop.load(Ordering::SeqCst) {
        let (_, change) = shop.opened();
        let id = change.record.resource_id().to_owned();
        match shop.commit(vec![change]).await {
            Ok(_) => {
                acknowledged.push(id);
                seen.committed.fetch_add(1, Ordering::SeqCst);
            }
            Err(refusal) => {
                assert_eq!(refusal.code, ErrorCode::ServiceUnavailable);
                assert!(refusal.retry_after_s.is_some(), "the client is told when to come again");
                seen.refused.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
            }
        }
        seen.changed.notify_waiters();
    }
    acknowledged
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_under_load_loses_nothing_and_heals_by_itself() {
    // A server of its own: the other tests would notice.
    let cluster = Cluster::start(Durability::Off);
    let database = PostgresDatabase { address: cluster.database().await };
    let shop = Shop::open(&database).await;
    shop.endpoint(&["*"]).await;
    let (seen, stop) = (Arc::new(Seen::default()), Arc::new(AtomicBool::new(false)));
    let writers: Vec<_> =
        (0..8).map(|_| tokio::spawn(write(shop.clone(), Arc::clone(&seen), Arc::clone(&stop)))).collect();
    for how in [Stop::Fast, Stop::Immediate] {
        seen.grows(&seen.committed, 30).await;
        cluster.stop(how);
        seen.grows(&seen.refused, 8).await;
        cluster.start_again();
        seen.grows(&seen.committed, 30).await;
    }
    stop.store(true, Ordering::SeqCst);
    let mut acknowledged = Vec::new();
    for writer in writers {
        acknowledged.extend(writer.await.unwrap());
    }
    assert!(acknowledged.len() >= 120);

    for id in &acknowledged {
        let rows = database.count(&format!("checkouts WHERE id = '{id}'")).await;
        assert_eq!(rows, 1, "an acknowledged write is gone");
    }
    let checkouts = database.count("checkouts").await;
    for count in ["COUNT(*) FROM events", "MAX(sequence) FROM events", "COUNT(*) FROM deliveries"] {
        assert_eq!(database.number(&format!("SELECT {count}")).await, checkouts, "{count}");
    }
}

/// The first read and the first write after a restart that nobody noticed both succeed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_while_nothing_is_asked_goes_unnoticed_by_the_writer() {
    let cluster = Cluster::start(Durability::Off);
    let database = PostgresDatabase { address: cluster.database().await };
    let shop = Shop::open(&database).await;
    shop.open_checkout().await;
    cluster.stop(Stop::Fast);
    cluster.start_again();
    shop.open_checkout().await;
    assert_eq!(shop.events().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_server_everybody_is_told_so() {
    let cluster = Cluster::start(Durability::Off);
    let url = StoreUrl::parse(&cluster.database().await).unwrap();
    Store::migrate(&url).await.unwrap();
    let store = Store::open(&url, Access::Exclusive).await.unwrap();
    cluster.stop(Stop::Fast);
    let written = ask!(store.write, |tx| tx.delivery_lease_release_all());
    assert!(matches!(written, Err(StoreError::Unavailable(_))), "{written:?}");
    assert!(matches!(ask!(store.read, |tx| tx.secret_sample(&[])), Err(StoreError::Unavailable(_))));
    store.close().await;
}

/// As while a backup is restored into it: whoever asks may come again, and once the table is there all is well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_a_table_is_gone_requests_are_put_off() {
    let database = PostgresDatabase::migrated().await;
    let shop = Shop::open(&database).await;
    shop.open_checkout().await;
    database.execute("ALTER TABLE checkouts RENAME TO away").await.unwrap();
    let refused = shop.commit(vec![shop.opened().1]).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ServiceUnavailable);
    assert!(refused.retry_after_s.is_some());
    let read = ask!(shop.store.read, |tx| tx.checkouts_next_due());
    assert!(matches!(read, Err(StoreError::Unprepared(_))), "{read:?}");
    database.execute("ALTER TABLE away RENAME TO checkouts").await.unwrap();
    shop.open_checkout().await;
}
