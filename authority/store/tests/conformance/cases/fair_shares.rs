//! Who gets slots and claims when there are not enough: merchants and endpoints take turns, and slow receivers hold
//! nobody up (contract 7.4, 18.4-1).

use std::collections::BTreeMap;

use authority_domain::EndpointId;
use authority_store::StoreError;
use authority_store::claims::{Among, claim};
use authority_store::commit::Audience;
use authority_store::hand_off::HandedOff;
use futures_util::FutureExt;

use super::hand_off_claims::{settle_and_claim, succeeded};
use super::{Counter, Database, Shop, ask, at, done, moment, sequence};

pub(crate) async fn a_claim_leaves_others_their_slots(big: Shop, _: &dyn Database) {
    let (big, small) = {
        let small = Shop::new(&big.store, "small").await;
        (big, small)
    };
    let test = big.in_test_mode();
    for shop in [&big, &big, &test, &small] {
        shop.endpoint(&["*"]).await;
    }
    // Of each kind one merchant has two: of an unknown endpoint the first request is quick, the others are slow.
    let counter = Counter::registered(&big.store, 8, 9);
    for shop in [&big, &test, &big, &small, &small, &small] {
        shop.open_checkout().await;
    }
    let given = counter.given();
    let of = |shop: &Shop| {
        given.iter().filter(|given| given.delivery.merchant_id == shop.tenant.merchant_id).count()
    };
    assert_eq!((of(&big), of(&small)), (4, 3), "its endpoints in both modes together");
    // What is due is leased by the same rule.
    settle_and_claim(&big, Vec::new(), None, at(1)).await;
    assert!(counter.given().is_empty());
    assert_eq!(counter.slots.free().unwrap().slots, 16 - 7);
    drop(given);
    let _ = counter.slots.take_short();
    settle_and_claim(&big, Vec::new(), None, at(99)).await;
    let given = counter.given();
    let merchants: Vec<_> = given.iter().map(|given| &given.delivery.merchant_id).collect();
    let count = |shop: &Shop| merchants.iter().filter(|id| ***id == shop.tenant.merchant_id).count();
    assert_eq!((count(&big), count(&small)), (4, 3));
}

/// Older deliveries of endpoints that could not be sent anyway, because the slow places are all in use, do not stand
/// in the way of what could (contract 18.4-1).
pub(crate) async fn what_needs_a_slow_place_leaves_claims_to_others(quick: Shop, _: &dyn Database) {
    quick.endpoint(&["*"]).await;
    quick.open_checkout_at(at(0)).await;
    for n in 0..12 {
        let slow = Shop::new(&quick.store, &format!("slow-{n}")).await;
        slow.endpoint(&["*"]).await;
        slow.commit_at(vec![slow.opened().1, slow.opened().1], Audience::Subscribers, at(1)).await.unwrap();
    }
    quick.open_checkout_at(at(5)).await;
    let counter = Counter::registered(&quick.store, 4, 9);
    settle_and_claim(&quick, Vec::new(), None, at(2)).await;
    let is_quick = |given: &HandedOff| given.delivery.merchant_id == quick.tenant.merchant_id;
    let (mut first, mut slow): (Vec<_>, Vec<_>) = counter.given().into_iter().partition(is_quick);
    assert_eq!((first.len(), slow.len()), (1, 7), "four quick places, four slow ones");
    for given in &mut slow {
        given.slot.begin(moment(2)).unwrap();
        given.slot.turn_slow();
    }
    quick.settle(succeeded(&mut first)).await;
    drop(first);
    // The first look finds four of the five that hold nothing, the second one the fifth.
    for second in [9, 10] {
        settle_and_claim(&quick, Vec::new(), None, at(second)).await;
    }
    let given = counter.given();
    assert_eq!(given.iter().map(sequence).collect::<Vec<_>>(), [2]);
    assert!(is_quick(&given[0]));
    assert!(counter.slots.is_short(), "whoever ends makes room for one of the others");
    drop(slow);
    settle_and_claim(&quick, Vec::new(), None, at(11)).await;
    assert_eq!(counter.given().len(), 4, "places that have become free");
}

/// The quick place of a request that turns slow is free at once for somebody else's delivery (contract 18.4-8).
pub(crate) async fn a_request_that_turns_slow_makes_room(shop: Shop, _: &dyn Database) {
    shop.endpoint(&["*"]).await;
    let counter = Counter::registered(&shop.store, 1, 9);
    shop.open_checkouts(3).await;
    let mut given = counter.given();
    assert_eq!(given.iter().map(sequence).collect::<Vec<_>>(), [1, 2], "a quick place and a slow one");
    assert!(counter.slots.is_short());
    given[0].slot.begin(moment(0)).unwrap();
    while counter.slots.wanted().now_or_never().is_some() {}
    given[0].slot.turn_slow();
    assert!(counter.slots.wanted().now_or_never().is_some(), "somebody looks who can use it");
}

pub(crate) async fn merchants_and_endpoints_take_turns(crowd: Shop, _: &dyn Database) {
    let (busy, quiet) = (crowd.endpoint(&["*"]).await, crowd.endpoint(&["checkout.expired"]).await);
    crowd.open_checkouts(6).await;
    crowd.commit_at(vec![crowd.opened().1], Audience::Tested(quiet.clone()), at(5)).await.unwrap();
    let late = Shop::new(&crowd.store, "late").await;
    let theirs = late.endpoint(&["*"]).await;
    for _ in 0..2 {
        late.open_checkout_at(at(6)).await;
    }
    let taken = crowd.lease("a", at(9), 4, 9).await;
    let mut endpoints: Vec<&EndpointId> = taken.iter().map(|delivery| &delivery.endpoint_id).collect();
    endpoints.sort_unstable();
    let mut expected = vec![&busy, &quiet, &theirs, &theirs];
    expected.sort_unstable();
    assert_eq!(endpoints, expected, "not the four oldest, which are all of one endpoint");
}

/// Deliveries of four merchants that have all slow places of a dispatcher with four, and no quick one.
async fn all_slow_places(shop: &Shop, counter: &Counter) -> Vec<HandedOff> {
    for n in 0..4 {
        let slow = Shop::new(&shop.store, &format!("slow-{n}")).await;
        slow.endpoint(&["*"]).await;
        slow.open_checkouts(2).await;
    }
    let (quick, slow): (Vec<_>, Vec<_>) = counter.given().into_iter().partition(|given| sequence(given) == 1);
    assert_eq!((quick.len(), slow.len()), (4, 4), "each has a quick place and a slow one");
    drop(quick);
    slow
}

async fn send_test(shop: &Shop, endpoint: &EndpointId, s: i64) {
    shop.commit_at(vec![shop.opened().1], Audience::Tested(endpoint.clone()), at(s)).await.unwrap();
}

fn is_behind(counter: &Counter, endpoint: &EndpointId) -> bool {
    counter.slots.free().unwrap().endpoints.contains_key(endpoint)
}

pub(crate) async fn who_found_no_place_is_still_behind(shop: Shop, _: &dyn Database) {
    let endpoint = shop.endpoint(&["*"]).await;
    shop.open_checkout().await;
    let counter = Counter::registered(&shop.store, 4, 9);
    let slow = all_slow_places(&shop, &counter).await;
    let wants = BTreeMap::from([(endpoint.clone(), counter.slots.want(&endpoint))]);
    settle_and_claim(&shop, Vec::new(), Some(wants.clone()), at(1)).await;
    assert!(counter.given().is_empty());
    assert!(is_behind(&counter, &endpoint));
    drop(slow);
    settle_and_claim(&shop, Vec::new(), Some(wants), at(2)).await;
    assert_eq!(counter.sequences(), [1]);
    assert!(!is_behind(&counter, &endpoint), "there was no more");
}

/// What is claimed beside the looks at everything is what such a look would claim of it (contract 7.4).
pub(crate) async fn a_claim_of_some_takes_nothing_that_finds_no_place(shop: Shop, _: &dyn Database) {
    let quick = shop.endpoint(&["checkout.expired"]).await;
    let counter = Counter::registered(&shop.store, 4, 9);
    send_test(&shop, &quick, 0).await;
    let mut first = counter.given();
    shop.settle(succeeded(&mut first)).await;
    drop(first);
    let slow = all_slow_places(&shop, &counter).await;
    // More of them than their merchant has places.
    let mut due = Vec::new();
    for _ in 0..3 {
        let unknown = shop.endpoint(&["checkout.expired"]).await;
        send_test(&shop, &unknown, 1).await;
        due.push((unknown, shop.tenant.merchant_id.clone()));
    }
    assert!(counter.given().is_empty());
    send_test(&shop, &quick, 2).await;
    let given = counter.given();
    let (token, ids) = (given[0].token.clone(), vec![given[0].delivery.id.clone()]);
    drop(given);
    assert_eq!(done!(shop, |tx| tx.delivery_lease_release(&token, &ids)), 1);
    let unknown = due.clone();
    due.push((quick.clone(), shop.tenant.merchant_id.clone()));
    let claimed: Result<bool, StoreError> =
        ask!(shop.store.write, [due], |tx| claim(tx, Among::SomeDue(&due), at(3)));
    claimed.unwrap();
    let endpoints: Vec<_> = counter.given().iter().map(|given| given.delivery.endpoint_id.clone()).collect();
    assert_eq!(endpoints, [quick]);
    assert!(unknown.iter().all(|(endpoint, _)| is_behind(&counter, endpoint)));
    drop(slow);
}
