//! What is leased where room was made, and who gets it when slots are short: contract 7.4, 12 T4, 15.4.

use std::collections::BTreeMap;

use authority_domain::id::EndpointId;
use authority_domain::time::Timestamp;
use authority_store::StoreError;
use authority_store::commit::Audience;
use authority_store::hand_over::{Among, HandedOver, claim};
use authority_store::ports::{SettledAs, Settlement, Tx};
use futures_util::FutureExt;

use super::fixtures::{at, noon, settlement};
use super::hand_over::{Counter, sequence};
use super::shop::Shop;
use super::{Database, job};

/// Settles and leases in one job, as the dispatcher does.
async fn settle_and_claim(
    shop: &Shop,
    settled: Vec<Settlement>,
    among: Option<BTreeMap<EndpointId, usize>>,
    now: Timestamp,
) {
    let done: Result<(), StoreError> = shop
        .store
        .write(move |tx: &mut dyn Tx| {
            Box::pin(async move {
                tx.delivery_settle(&settled).await?;
                claim(tx, among.as_ref().map_or(Among::All, Among::These), now).await?;
                Ok(())
            })
        })
        .await;
    done.unwrap();
}

/// The attempts have ended well.
fn succeeded(given: &mut [HandedOver]) -> Vec<Settlement> {
    for given in &mut *given {
        given.slot.attempt_ended();
    }
    given.iter().map(|given| settlement(&given.delivery, &given.token, SettledAs::Succeeded)).collect()
}

pub(crate) async fn the_room_that_was_made_is_filled_in_the_same_transaction<D: Database>() {
    let database = D::start().await;
    let shop = Shop::open(&database).await;
    let endpoint = shop.endpoint(&["*"]).await;
    let counter = Counter::put_up(&shop.store, 9, 2);
    for _ in 0..5 {
        shop.open_checkout().await;
    }
    let mut first = counter.given();
    assert_eq!(first.iter().map(sequence).collect::<Vec<_>>(), [1, 2]);
    let freed = |count: usize| BTreeMap::from([(endpoint.clone(), count)]);
    let mut behind = freed(2);
    counter.slots.retain_behind(&mut behind);
    assert_eq!(behind.len(), 1, "three of it wait");
    assert!(counter.slots.wanted().now_or_never().is_none(), "what is under way comes back to it");
    settle_and_claim(&shop, succeeded(&mut first), Some(freed(2)), at(1)).await;
    drop(first);
    let mut second = counter.given();
    assert_eq!(second.iter().map(sequence).collect::<Vec<_>>(), [3, 4]);
    assert!(second.iter().all(|given| given.until == at(61)));
    settle_and_claim(&shop, succeeded(&mut second), Some(freed(2)), at(2)).await;
    drop(second);
    let third = counter.given();
    assert_eq!(third.iter().map(sequence).collect::<Vec<_>>(), [5]);
    let mut behind = freed(1);
    counter.slots.retain_behind(&mut behind);
    assert!(behind.is_empty(), "there was room for two, and one was left");
    assert_eq!(database.number("SELECT COUNT(*) FROM attempts").await, 4);
}

pub(crate) async fn a_claim_leaves_others_their_slots<D: Database>() {
    let database = D::start().await;
    let (big, small) = {
        let big = Shop::open(&database).await;
        let small = Shop::new(&big.store, "small").await;
        (big, small)
    };
    let test = big.in_test_mode();
    for shop in [&big, &big, &test, &small] {
        shop.endpoint(&["*"]).await;
    }
    let counter = Counter::put_up(&big.store, 8, 2);
    assert_eq!(counter.slots.share(), 2, "a quarter");
    for shop in [&big, &test, &big, &small, &small] {
        shop.open_checkout().await;
    }
    let given = counter.given();
    let of = |shop: &Shop| {
        given.iter().filter(|given| given.delivery.merchant_id == shop.tenant.merchant_id).count()
    };
    assert_eq!((of(&big), of(&small)), (2, 2), "its endpoints in both modes together");
    // What is due is leased by the same rule.
    settle_and_claim(&big, Vec::new(), None, at(1)).await;
    assert!(counter.given().is_empty());
    assert_eq!(counter.slots.free().unwrap().slots, 4);
    drop(given);
    let _ = counter.slots.take_short();
    settle_and_claim(&big, Vec::new(), None, at(99)).await;
    let given = counter.given();
    let merchants: Vec<_> = given.iter().map(|given| &given.delivery.merchant_id).collect();
    let count = |shop: &Shop| merchants.iter().filter(|id| ***id == shop.tenant.merchant_id).count();
    assert_eq!((count(&big), count(&small)), (2, 2));
    assert!(counter.slots.take_short(), "more of them may be due");
}

pub(crate) async fn merchants_and_endpoints_take_turns<D: Database>() {
    let database = D::start().await;
    let crowd = Shop::open(&database).await;
    let (busy, quiet) = (crowd.endpoint(&["*"]).await, crowd.endpoint(&["checkout.expired"]).await);
    for _ in 0..6 {
        crowd.open_checkout().await;
    }
    crowd.commit_at(vec![crowd.opened().1], Audience::Tested(quiet.clone()), at(5)).await.unwrap();
    let late = Shop::new(&crowd.store, "late").await;
    let theirs = late.endpoint(&["*"]).await;
    for _ in 0..2 {
        late.commit_at(vec![late.opened().1], Audience::Subscribers, at(6)).await.unwrap();
    }
    let taken = crowd.lease("a", at(9), 4, 9).await;
    let mut endpoints: Vec<&EndpointId> = taken.iter().map(|delivery| &delivery.endpoint_id).collect();
    endpoints.sort_unstable();
    let mut expected = vec![&busy, &quiet, &theirs, &theirs];
    expected.sort_unstable();
    assert_eq!(endpoints, expected, "not the four oldest, which are all of one endpoint");
}

/// The lease ran out, another took the delivery, and the first holder comes back: nothing of it counts, and no room is
/// made by it.
pub(crate) async fn an_outcome_counts_only_for_the_holder<D: Database>() {
    let database = D::start().await;
    let shop = Shop::open(&database).await;
    let endpoint = shop.endpoint(&["*"]).await;
    let counter = Counter::put_up(&shop.store, 9, 1);
    shop.open_checkout().await;
    shop.open_checkout().await;
    let mut mine = counter.given();
    let other = shop.lease("other", at(60).plus_ms(1), 9, 1).await;
    assert_eq!(other[0].id, mine[0].delivery.id);
    let freed = BTreeMap::from([(endpoint, 1)]);
    settle_and_claim(&shop, succeeded(&mut mine), Some(freed), at(61)).await;
    assert!(counter.given().is_empty(), "the other one still has it under way");
    assert_eq!(database.number("SELECT COUNT(*) FROM attempts").await, 0);
    assert_eq!(shop.settle(vec![settlement(&other[0], "other", SettledAs::Succeeded)]).await, 1);
}

pub(crate) async fn what_was_not_begun_is_given_back<D: Database>() {
    let database = D::start().await;
    let shop = Shop::open(&database).await;
    let endpoint = shop.endpoint(&["*"]).await;
    let counter = Counter::put_up(&shop.store, 9, 9);
    for _ in 0..3 {
        shop.open_checkout().await;
    }
    let given = counter.given();
    let release = async |token: &str, nth: usize| -> u64 {
        let (store, token) = (&shop.store, token.to_owned());
        let ids = vec![given[nth].delivery.id.clone()];
        let released: Result<u64, StoreError> =
            job!(store.write, tx => tx.delivery_lease_release(&token, &ids));
        released.unwrap()
    };
    assert_eq!(release("another", 0).await, 0, "only its holder gives it back");
    assert_eq!(release(&given[0].token, 0).await, 1);
    let again = shop.lease("a", noon(), 9, 9).await;
    assert_eq!((again.len(), again[0].attempt_count), (1, 0));
    assert_eq!(again[0].id, given[0].delivery.id);
    // Of an endpoint that was disabled meanwhile it is cancelled with the others.
    let disable = format!("UPDATE webhook_endpoints SET status = 'disabled' WHERE id = '{endpoint}'");
    database.execute(&disable).await.unwrap();
    assert_eq!(release(&given[1].token, 1).await, 1);
    assert_eq!(database.number("SELECT COUNT(*) FROM deliveries WHERE status = 'cancelled'").await, 1);
}
