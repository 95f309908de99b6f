//! Jobs that share transactions, fail, panic and lose their callers: contract 12 T1 and T10.

use authority_domain::{ErrorCode, MerchantId, Refusal};
use authority_store::commit::Audience;
use authority_store::tx::Tx;
use authority_store::{Constraint, StoreError};
use futures_util::FutureExt;
use rand::RngExt;

use super::held::{make, slugs};
use super::{Database, Shop, ask, dice, hold, merchant, noon, release, submit};

pub(crate) async fn an_answer_comes_after_the_commit(shop: Shop, _: &dyn Database) {
    let store = shop.store;
    let writers = (0..64).map(|n| {
        let (store, merchant) = (store.clone(), merchant(&format!("m{n}")));
        tokio::spawn(async move {
            let (id, expected) = (merchant.id.clone(), merchant.clone());
            ask!(store.write, |tx| tx.merchant_insert(&merchant)).unwrap();
            let read = ask!(store.read, |tx| tx.merchant_get(&id));
            assert_eq!(read.unwrap(), Some(expected), "answered before it was committed");
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
}

pub(crate) async fn a_refusal_undoes_its_own_writes_only(shop: Shop, database: &dyn Database) {
    let store = shop.store;
    let held = hold(&store).await;
    let kept = make(&store, "kept", || Ok(()));
    let refused = make(&store, "refused", || Err(Refusal::not_found("reason")));
    // "Not now" concerns whoever asked, and nobody who happened to ask at the same time.
    let busy = make(&store, "busy", || Err(Refusal::unavailable(1)));
    // The same slug again: the constraint fires, and only this job is told.
    let twin = merchant("kept");
    let waiting = store.clone();
    let taken = submit(async move { ask!(waiting.write, |tx| tx.merchant_insert(&twin)) });
    let after = make(&store, "after", || Ok(()));
    release(held).await;
    assert_eq!(kept.await, Ok(()));
    assert_eq!(refused.await.unwrap_err().code, ErrorCode::NotFound);
    assert_eq!(busy.await, Err(Refusal::unavailable(1)));
    assert!(matches!(taken.await, Err(StoreError::Conflict(Constraint::MerchantSlug))));
    assert_eq!(after.await, Ok(()));
    assert_eq!(slugs(database, &["kept", "refused", "busy", "after"]).await, ["kept", "after"]);
}

pub(crate) async fn a_refusal_counts_only_when_its_transaction_does(shop: Shop, database: &dyn Database) {
    let store = shop.store;
    let (open, holding) = hold(&store).await;
    let kept = make(&store, "kept", || Ok(()));
    // Refused because of what the job before it wrote, which is about to be undone.
    let twin = merchant("kept");
    let waiting = store.clone();
    let taken = submit(async move { ask!(waiting.write, |tx| tx.merchant_insert(&twin)) });
    let failing = make(&store, "failing", || Err(StoreError::Unavailable("gone".to_owned()).into()));
    open.send(()).unwrap();
    // Where nobody else writes, the others joined its transaction.
    let _ = holding.await;
    assert_eq!(kept.await.unwrap_err().code, ErrorCode::ServiceUnavailable);
    assert!(matches!(taken.await, Err(StoreError::Unavailable(_))));
    assert_eq!(failing.await.unwrap_err().code, ErrorCode::ServiceUnavailable);
    assert_eq!(slugs(database, &["kept", "failing"]).await, [""; 0]);
    // The next transaction begins as if that one had never been.
    let next = merchant("next");
    ask!(store.write, |tx| tx.merchant_insert(&next)).unwrap();
    assert_eq!(slugs(database, &["next"]).await, ["next"]);
}

pub(crate) async fn a_panic_harms_nobody_else(shop: Shop, database: &dyn Database) {
    let store = shop.store;
    let held = hold(&store).await;
    let before = make(&store, "before", || Ok(()));
    let panicking = make(&store, "panicking", || panic!("a test panics on purpose"));
    let waiting = store.clone();
    let of_the_store = submit(async move {
        let panicked: Result<(), StoreError> =
            ask!(waiting.write, |_| async { panic!("a test panics on purpose, with a store error") });
        panicked
    });
    let waiting = store.clone();
    let at_once = submit(async move {
        let panicked: Result<(), StoreError> =
            waiting.write(|_: &mut Tx| panic!("a test panics on purpose, before its first await")).await;
        panicked
    });
    let after = make(&store, "after", || Ok(()));
    release(held).await;
    assert_eq!(before.await, Ok(()));
    assert_eq!(panicking.await.unwrap_err().code, ErrorCode::InternalError);
    assert!(matches!(of_the_store.await, Err(StoreError::Broken(_))));
    assert!(matches!(at_once.await, Err(StoreError::Broken(_))));
    assert_eq!(after.await, Ok(()));
    assert_eq!(slugs(database, &["before", "panicking", "after"]).await, ["before", "after"]);

    let reading: Result<(), StoreError> =
        ask!(store.read, |_| async { panic!("a test panics on purpose, reading") });
    assert!(matches!(reading, Err(StoreError::Broken(_))));
}

pub(crate) async fn a_row_that_cannot_be_read_harms_nobody_else(shop: Shop, database: &dyn Database) {
    let store = shop.store;
    let broken = merchant("broken");
    let id = broken.id.clone();
    ask!(store.write, [broken], |tx| tx.merchant_insert(&broken)).unwrap();
    database.execute("UPDATE merchants SET body = '{}' WHERE slug = 'broken'").await.unwrap();
    let held = hold(&store).await;
    let before = make(&store, "before", || Ok(()));
    let waiting = store.clone();
    let unreadable = submit(async move { ask!(waiting.write, |tx| tx.merchant_get(&id)) });
    let after = make(&store, "after", || Ok(()));
    release(held).await;
    assert!(matches!(unreadable.await, Err(StoreError::Broken(_))));
    assert_eq!((before.await, after.await), (Ok(()), Ok(())));
    assert_eq!(slugs(database, &["before", "after"]).await, ["before", "after"]);
}

pub(crate) async fn a_caller_that_hangs_up_does_not_stop_its_work(shop: Shop, database: &dyn Database) {
    let store = shop.store;
    let (open, holding) = hold(&store).await;
    let abandoned = make(&store, "abandoned", || Ok(()));
    drop(abandoned);
    // The one who holds the writer hangs up too, in the middle of its job.
    drop(holding);
    let behind = make(&store, "behind", || Ok(()));
    open.send(()).unwrap();
    behind.await.unwrap();
    assert_eq!(slugs(database, &["abandoned", "behind"]).await, ["abandoned", "behind"]);
}

/// Defect 1 of the measurements that shaped this store: a future dropped in the middle of a transaction made the
/// acknowledged writes of others vanish.
pub(crate) async fn callers_that_hang_up_at_random_lose_nothing(shop: Shop, database: &dyn Database) {
    shop.endpoint(&["*"]).await;
    let callers: Vec<_> = (0..300)
        .map(|_| {
            let shop = shop.clone();
            let patience = dice().random_range(0..12);
            tokio::spawn(async move {
                let (_, change) = shop.opened();
                let id = change.record.resource_id().to_owned();
                let mut writing = Box::pin(shop.commit_at(vec![change], Audience::Subscribers, noon()));
                for _ in 0..patience {
                    // On a machine with too much to do a write may be refused as well; it is not acknowledged then.
                    if let Some(committed) = (&mut writing).now_or_never() {
                        return committed.is_ok().then_some(id);
                    }
                    tokio::task::yield_now().await;
                }
                None
            })
        })
        .collect();
    let mut acknowledged = Vec::new();
    for caller in callers {
        acknowledged.extend(caller.await.unwrap());
    }
    // Behind everything that was submitted.
    shop.open_checkout().await;
    for id in &acknowledged {
        let rows = database.count(&format!("checkouts WHERE id = '{id}'")).await;
        assert_eq!(rows, 1, "an acknowledged write is gone");
    }
    let checkouts = database.count("checkouts").await;
    assert_eq!(database.count("events").await, checkouts, "half a write");
    assert_eq!(database.count("deliveries").await, checkouts, "half a write");
    assert_eq!(database.number("SELECT MAX(sequence) FROM events").await, checkouts, "a gap");
}

pub(crate) async fn a_reading_job_cannot_write(shop: Shop, database: &dyn Database) {
    let store = shop.store;
    let merchant = merchant("reader");
    ask!(store.read, |tx| tx.merchant_insert(&merchant)).unwrap_err();
    assert_eq!(slugs(database, &["reader"]).await, Vec::<String>::new());
}

pub(crate) async fn closing_finishes_what_was_submitted(shop: Shop, database: &dyn Database) {
    let store = shop.store;
    let held = hold(&store).await;
    let submitted = make(&store, "submitted", || Ok(()));
    let closing = store.clone();
    let closing = submit(async move { closing.close().await });
    let late = merchant("late");
    let late = ask!(store.write, |tx| tx.merchant_insert(&late));
    assert!(matches!(late, Err(StoreError::Closed)));
    release(held).await;
    closing.await;
    assert_eq!(submitted.await, Ok(()));
    assert_eq!(slugs(database, &["submitted", "late"]).await, ["submitted"]);
    let id = MerchantId::generate(noon(), &mut dice());
    assert!(matches!(ask!(store.read, |tx| tx.merchant_get(&id)), Err(StoreError::Closed)));
}
