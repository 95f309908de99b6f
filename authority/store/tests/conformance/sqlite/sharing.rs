//! The writer's transaction on SQLite: jobs that wait at the same time share one, and so one fsync; it holds the
//! database's write lock from its beginning.

use std::time::Duration;

use authority_store::StoreError;
use authority_store::tx::Tx;
use futures_util::FutureExt;
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use tokio::sync::oneshot;

use super::SqliteFile;
use crate::cases::fixtures::merchant;
use crate::cases::{Database, ask};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_that_wait_together_share_a_transaction() {
    let database = SqliteFile::start().await;
    let store = database.open().await.unwrap();
    let (open, gate) = oneshot::channel::<()>();
    let (first, second) = (merchant("first"), merchant("second"));
    let (first_id, second_id) = (first.id.clone(), second.id.clone());
    let mut writing_first = Box::pin(store.write(move |tx: &mut Tx| {
        Box::pin(async move {
            let _ = gate.await;
            tx.merchant_insert(&first).await
        })
    }));
    assert!((&mut writing_first).now_or_never().is_none());
    let (beside, seen_id) = (store.clone(), first_id.clone());
    let mut writing_second = Box::pin(store.write(move |tx: &mut Tx| {
        Box::pin(async move {
            // The first job's row is there for the second, and not yet for anybody else.
            let inside = tx.merchant_get(&seen_id).await?.is_some();
            let outside = ask!(beside.read, |tx| tx.merchant_get(&seen_id));
            tx.merchant_insert(&second).await?;
            Ok::<_, StoreError>((inside, outside?.is_some()))
        })
    }));
    assert!((&mut writing_second).now_or_never().is_none());
    open.send(()).unwrap();
    let written: Result<(), StoreError> = writing_first.await;
    written.unwrap();
    assert_eq!(writing_second.await.unwrap(), (true, false));
    for id in [first_id, second_id] {
        assert!(ask!(store.read, |tx| tx.merchant_get(&id)).unwrap().is_some());
    }
}

/// A transaction that took the lock with its first write could read, lose the race for the lock, and fail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_has_the_write_lock_before_its_first_write() {
    let database = SqliteFile::start().await;
    let store = database.open().await.unwrap();
    let path = database.path();
    let refused: Result<String, StoreError> = ask!(store.write, |_| async {
        let options = SqliteConnectOptions::new().filename(path).busy_timeout(Duration::ZERO);
        let mut beside = options.connect().await?;
        let begun = sqlx::query("BEGIN IMMEDIATE").execute(&mut beside).await;
        Ok(begun.map_err(|error| error.to_string()).unwrap_err())
    });
    assert!(refused.unwrap().contains("database is locked"));
}
