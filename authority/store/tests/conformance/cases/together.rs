//! Jobs whose writes travel together: each still fails alone, and finds what those before it wrote (contract 12 T1).

use authority_domain::{Change, ErrorCode, Merchant, Refusal};
use authority_store::StoreError;
use authority_store::commit::{Audience, Committed};
use authority_store::hand_off::SealedSecret;
use authority_store::tx::{MessageId, ProcessorMessage};

use super::{Database, Pending, Shop, ask, endpoint, hold, noon, release, submit};

/// Opens a checkout, when the writer comes to it.
fn opening(shop: &Shop) -> Pending<Result<Committed, Refusal>> {
    let (shop, change) = (shop.clone(), shop.opened().1);
    submit(async move { shop.commit(vec![change]).await })
}

/// Opens a checkout and counts a processor's message without having asked whether it is known.
fn counting(shop: &Shop, message: &'static str) -> Pending<Result<Committed, Refusal>> {
    let (shop, change) = (shop.clone(), shop.opened().1);
    let store = shop.store.clone();
    submit(async move {
        ask!(store.write, |tx| async {
            let committed = shop.commit_in(tx, &[change], &Audience::Subscribers, noon()).await?;
            let message = MessageId::new(&shop.tenant, "bank", ProcessorMessage::Report, message);
            tx.processor_report_keep(&message, "pay_1", Some("paid"), noon()).await?;
            Ok(committed)
        })
    })
}

/// Opens a checkout and then thinks better of it.
fn refusing(shop: &Shop, change: Change) -> Pending<Result<Committed, Refusal>> {
    let shop = shop.clone();
    let store = shop.store.clone();
    submit(async move {
        ask!(store.write, |tx| async {
            shop.commit_in(tx, &[change], &Audience::Subscribers, noon()).await?;
            Err(Refusal::not_found("reason"))
        })
    })
}

async fn sequences(database: &dyn Database, shop: &Shop) -> (i64, i64, i64) {
    let own = format!("FROM events WHERE merchant_id = '{}'", shop.tenant.merchant_id);
    let count = database.number(&format!("SELECT COUNT(*) {own}")).await;
    let last = database.number(&format!("SELECT COALESCE(MAX(sequence), 0) {own}")).await;
    let counter = format!(
        "SELECT COALESCE(MAX(last_sequence), 0) FROM streams WHERE merchant_id = '{}'",
        shop.tenant.merchant_id
    );
    (count, last, database.number(&counter).await)
}

pub(crate) async fn one_of_twenty_is_refused_alone(shop: Shop, database: &dyn Database) {
    shop.endpoint(&["*"]).await;
    let mut others = Vec::new();
    for n in 0..16 {
        others.push(Shop::new(&shop.store, &format!("other-{n}")).await);
    }
    let held = hold(&shop.store).await;
    let mut innocent: Vec<_> = others.iter().take(8).map(opening).collect();
    let before = opening(&shop);
    let first = counting(&shop, "evt");
    let guilty = counting(&shop, "evt");
    let built_on_it = opening(&shop);
    innocent.extend(others.iter().skip(8).map(opening));
    release(held).await;
    for innocent in innocent {
        assert_eq!(innocent.await.unwrap().events[0].sequence, 1);
    }
    assert_eq!(before.await.unwrap().events[0].sequence, 1);
    assert_eq!(first.await.unwrap().events[0].sequence, 2);
    assert_eq!(guilty.await.unwrap_err().code, ErrorCode::InternalError);
    assert_eq!(built_on_it.await.unwrap_err().code, ErrorCode::ServiceUnavailable, "it may ask again");
    assert_eq!(sequences(database, &shop).await, (2, 2, 2), "nothing of theirs is there");
    for table in ["checkouts", "events"] {
        assert_eq!(database.count(table).await, 18);
    }
    assert_eq!(database.count("deliveries").await, 2);
    assert_eq!(database.count("processor_reports").await, 1);
    assert_eq!(shop.store.events_committed(), 18, "only what is there is counted");
    assert_eq!(shop.open_checkout().await.events[0].sequence, 3, "the stream goes on");
}

pub(crate) async fn a_refusal_between_others_leaves_no_gap(shop: Shop, database: &dyn Database) {
    shop.endpoint(&["*"]).await;
    let held = hold(&shop.store).await;
    let (never, change) = shop.opened();
    let jobs = [
        opening(&shop),
        refusing(&shop, change),
        opening(&shop),
        refusing(&shop, shop.opened().1),
        opening(&shop),
    ];
    release(held).await;
    let mut sequences_of = Vec::new();
    for job in jobs {
        match job.await {
            Ok(committed) => sequences_of.push(committed.events[0].sequence),
            Err(refusal) => assert_eq!(refusal.code, ErrorCode::NotFound),
        }
    }
    assert_eq!(sequences_of, [1, 2, 3]);
    assert_eq!(sequences(database, &shop).await, (3, 3, 3));
    let gone = format!("checkouts WHERE id = '{}'", never.id);
    assert_eq!(database.count(&gone).await, 0);
    assert_eq!(database.count("deliveries").await, 3);
    assert_eq!(database.number("SELECT MAX(created_sequence) FROM deliveries").await, 3);
}

pub(crate) async fn a_job_of_which_something_was_sent_is_undone_whole(shop: Shop, database: &dyn Database) {
    let held = hold(&shop.store).await;
    let before = opening(&shop);
    // The record is sent by the question that follows it, the message waits and is refused at the job's end.
    let (half, change) = shop.opened();
    let (inside, id, store) = (shop.clone(), half.id.clone(), shop.store.clone());
    let first = counting(&shop, "evt");
    let torn = submit(async move {
        let torn: Result<(), Refusal> = ask!(store.write, |tx| async {
            inside.commit_in(tx, &[change], &Audience::Subscribers, noon()).await?;
            assert_eq!(tx.checkout_find(&id).await?.map(|(_, found)| found.id), Some(id));
            let message = MessageId::new(&inside.tenant, "bank", ProcessorMessage::Report, "evt");
            tx.processor_report_keep(&message, "pay_1", Some("paid"), noon()).await?;
            Ok(())
        });
        torn
    });
    let after = opening(&shop);
    release(held).await;
    assert_eq!(before.await.unwrap().events[0].sequence, 1);
    assert_eq!(first.await.unwrap().events[0].sequence, 2);
    assert_eq!(torn.await.unwrap_err().code, ErrorCode::InternalError);
    assert_eq!(after.await.unwrap().events[0].sequence, 3);
    let half = format!("SELECT COUNT(*) FROM checkouts WHERE id = '{}'", half.id);
    assert_eq!(database.number(&half).await, 0);
    assert_eq!(sequences(database, &shop).await, (3, 3, 3));
}

pub(crate) async fn what_a_job_changes_the_next_one_finds(shop: Shop, _: &dyn Database) {
    let held = hold(&shop.store).await;
    let before = opening(&shop);
    let (store, tenant, endpoint) = (shop.store.clone(), shop.tenant.clone(), endpoint(true, &["*"]));
    let id = endpoint.id.clone();
    let adding = submit(async move {
        let secret = SealedSecret { version: 1, sealed: vec![1], expires_at: None };
        ask!(store.write, |tx| tx.endpoint_insert(&tenant, &endpoint, &secret))
    });
    let between = opening(&shop);
    let renaming = rename(&shop, "renamed");
    let reading = name(&shop);
    let (store, tenant) = (shop.store.clone(), shop.tenant.clone());
    let removing = submit(async move { ask!(store.write, |tx| tx.endpoint_delete(&tenant, &id, 1, noon())) });
    let after = opening(&shop);
    release(held).await;
    assert_eq!(before.await.unwrap().deliveries.len(), 0);
    adding.await.unwrap();
    assert_eq!(between.await.unwrap().deliveries.len(), 1);
    renaming.await.unwrap();
    assert_eq!(reading.await.unwrap(), "renamed");
    removing.await.unwrap();
    let after = after.await.unwrap();
    assert_eq!((after.deliveries.len(), after.events[0].sequence), (0, 3));
}

pub(crate) async fn what_a_refused_job_changed_nobody_finds(shop: Shop, database: &dyn Database) {
    let held = hold(&shop.store).await;
    let before = opening(&shop);
    let (store, tenant, endpoint) = (shop.store.clone(), shop.tenant.clone(), endpoint(true, &["*"]));
    let inside = shop.clone();
    let change = shop.opened().1;
    let refused = submit(async move {
        let refused: Result<(), Refusal> = ask!(store.write, |tx| async {
            let secret = SealedSecret { version: 1, sealed: vec![1], expires_at: None };
            tx.endpoint_insert(&tenant, &endpoint, &secret).await?;
            let seen = inside.commit_in(tx, &[change], &Audience::Subscribers, noon()).await?;
            assert_eq!((seen.deliveries.len(), seen.events[0].sequence), (1, 2));
            Err(Refusal::not_found("reason"))
        });
        refused
    });
    let after = opening(&shop);
    release(held).await;
    before.await.unwrap();
    assert_eq!(refused.await.unwrap_err().code, ErrorCode::NotFound);
    let after = after.await.unwrap();
    assert_eq!((after.deliveries.len(), after.events[0].sequence), (0, 2));
    assert_eq!(sequences(database, &shop).await, (2, 2, 2));
}

fn rename(shop: &Shop, name: &'static str) -> Pending<Result<(), StoreError>> {
    let (store, id) = (shop.store.clone(), shop.tenant.merchant_id.clone());
    submit(async move {
        ask!(store.write, |tx| async {
            let found = tx.merchant_get(&id).await?.unwrap();
            let version = found.resource_version + 1;
            tx.merchant_update(&Merchant { name: name.to_owned(), resource_version: version, ..found }).await
        })
    })
}

fn name(shop: &Shop) -> Pending<Result<String, StoreError>> {
    let (store, id) = (shop.store.clone(), shop.tenant.merchant_id.clone());
    submit(async move { ask!(store.write, |tx| async { Ok(tx.merchant_get(&id).await?.unwrap().name) }) })
}
