//! What is leased where room was made: contract 7.4, 12 T4, 15.4.

use std::collections::BTreeMap;

use authority_domain::{AttemptOutcome, DisabledReason, EndpointId, ErrorCode, Refusal, Timestamp};
use authority_store::StoreError;
use authority_store::claims::{Among, claim};
use authority_store::commit::Audience;
use authority_store::hand_off::HandedOff;
use authority_store::slots::{AttemptEnd, Want};
use authority_store::tx::{SettledAs, Settlement};
use futures_util::FutureExt;

use super::{
    Counter, Database, Shop, ask, at, done, hold, moment, noon, release, sequence, settlement, submit,
};

/// Settles and leases in one job, as the dispatcher does: what is wanted next of these endpoints, or whatever is due.
pub(crate) async fn settle_and_claim(
    shop: &Shop,
    settled: Vec<Settlement>,
    wants: Option<BTreeMap<EndpointId, Want>>,
    now: Timestamp,
) {
    let done: Result<(), StoreError> = ask!(shop.store.write, |tx| async {
        tx.delivery_settle(&settled.iter().collect::<Vec<_>>(), now).await?;
        claim(tx, wants.as_ref().map_or(Among::All, Among::These), now).await?;
        Ok(())
    });
    done.unwrap();
}

/// The attempts begin and end well.
pub(crate) fn succeeded(given: &mut [HandedOff]) -> Vec<Settlement> {
    for given in &mut *given {
        given.slot.begin(moment(1)).unwrap();
    }
    for given in &mut *given {
        let ended = AttemptEnd {
            at: moment(1),
            outcome: AttemptOutcome::Success,
            status: Some(200),
            retry_after_ms: None,
        };
        given.slot.ended(&ended);
    }
    given.iter().map(|given| settlement(&given.delivery, &given.token, SettledAs::Succeeded)).collect()
}

pub(crate) async fn the_room_that_was_made_is_filled_in_the_same_transaction(
    shop: Shop,
    database: &dyn Database,
) {
    let endpoint = shop.endpoint(&["*"]).await;
    let counter = Counter::registered(&shop.store, 99, 2);
    shop.open_checkouts(10).await;
    let mut first = counter.given();
    assert_eq!(first.iter().map(sequence).collect::<Vec<_>>(), [1, 2]);
    assert!(counter.slots.wanted().now_or_never().is_none(), "what is under way comes back to it");
    let next = |settled| counter.slots.want_next(&endpoint, settled).map(|want| (endpoint.clone(), want));
    let settled = succeeded(&mut first);
    let wants = next(2).into_iter().collect();
    settle_and_claim(&shop, settled, Some(wants), at(1)).await;
    drop(first);
    let mut second = counter.given();
    assert_eq!(
        second.iter().map(sequence).collect::<Vec<_>>(),
        [3, 4, 5, 6, 7, 8],
        "two places, and twice what has just ended for the time until it is written"
    );
    assert!(second.iter().all(|given| given.until == at(61)));
    let (mut begun, waiting): (Vec<_>, Vec<_>) = second
        .drain(..)
        .map(|mut given| (given.slot.begin(moment(1)).is_ok(), given))
        .partition(|(ok, _)| *ok);
    assert_eq!((begun.len(), waiting.len()), (2, 4), "and no more than two at a time");
    drop((begun.drain(..), waiting));
    let rest = settle_rest(&shop, &counter, &endpoint).await;
    assert_eq!(rest, [9, 10]);
    assert_eq!(counter.slots.want_next(&endpoint, 1), None, "there was room for more, and nothing was left");
    assert_eq!(database.count("attempts").await, 2);
}

/// What a claim finds for an endpoint that has room for more than there is.
async fn settle_rest(shop: &Shop, counter: &Counter, endpoint: &EndpointId) -> Vec<i64> {
    let wants = BTreeMap::from([(endpoint.clone(), counter.slots.want(endpoint))]);
    settle_and_claim(shop, Vec::new(), Some(wants), at(2)).await;
    counter.sequences()
}

/// An endpoint that is held back gets what somebody asks for now, as its probe, and nothing else (contract 18.4-6).
pub(crate) async fn what_is_asked_for_goes_as_the_probe(shop: Shop, database: &dyn Database) {
    let endpoint = shop.endpoint(&["*"]).await;
    database.set_endpoint(&endpoint, &format!("held_until = {}, hold_step = 1", at(3_600).as_ms())).await;
    let counter = Counter::registered(&shop.store, 99, 9);
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(shop.open_checkout().await.deliveries[0].id.clone());
    }
    assert_eq!(counter.sequences(), Vec::<i64>::new());
    let probe = async |nth: usize| {
        let probed: Result<(), StoreError> = ask!(shop.store.write, [ids, endpoint], |tx| async {
            tx.probe(&ids[nth], &endpoint, at(1));
            Ok(())
        });
        probed.unwrap();
        counter.given()
    };
    let first = probe(1).await;
    assert_eq!(
        first.iter().map(sequence).collect::<Vec<_>>(),
        [2],
        "not the oldest: the one that was asked for"
    );
    assert!(first[0].delivery.bounds.capped, "it may begin at once");
    assert!(probe(2).await.is_empty(), "one at a time");
    shop.commit_at(vec![shop.opened().1], Audience::Tested(endpoint.clone()), at(2)).await.unwrap();
    assert_eq!(counter.sequences(), Vec::<i64>::new());
    let settled = settlement(&first[0].delivery, &first[0].token, SettledAs::Succeeded);
    shop.settle(vec![settled]).await;
    drop(first);
    shop.commit_at(vec![shop.opened().1], Audience::Tested(endpoint.clone()), at(3)).await.unwrap();
    assert_eq!(counter.sequences(), [5], "a test goes before what waits");
    // An endpoint that is not held back takes no probes: what waits there goes in its order.
    database.set_endpoint(&endpoint, "held_until = NULL, hold_step = 0").await;
    assert!(probe(2).await.is_empty());
}

/// The queue of the dispatcher is told of what changes an endpoint, after the commit.
pub(crate) async fn a_changed_endpoint_is_recalled(shop: Shop, _: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    let counter = Counter::registered(&shop.store, 99, 9);
    shop.open_checkout().await;
    assert_eq!(counter.recalled(), []);
    let changed: Result<(), StoreError> = ask!(shop.store.write, [shop, id], |tx| async {
        let mut found = tx.endpoint_get(&shop.tenant, &id).await?.unwrap();
        found.resource_version += 1;
        found.url = "https://other.example.com/".to_owned();
        tx.endpoint_update(&shop.tenant, &found).await
    });
    changed.unwrap();
    assert_eq!(counter.recalled(), std::slice::from_ref(&id));
    assert!(done!(shop, [id], |tx| tx.endpoint_disable(&id, DisabledReason::Gone, at(1))));
    assert_eq!(counter.recalled(), std::slice::from_ref(&id));
    done!(shop, [id], |tx| tx.endpoint_delete(&shop.tenant, &id, 3, at(2)));
    assert_eq!(counter.recalled(), [id]);
}

/// What a transaction leased before it changed the endpoint is not sent with the URL and the secrets from before
/// (contract 7.5); to other endpoints it is.
pub(crate) async fn what_was_leased_before_a_change_is_given_back(shop: Shop, _: &dyn Database) {
    shop.open_checkout().await;
    let (id, other) = (shop.endpoint(&["*"]).await, shop.endpoint(&["*"]).await);
    let counter = Counter::registered(&shop.store, 99, 9);
    let change = shop.opened().1;
    let changed: Result<(), Refusal> = ask!(shop.store.write, [shop, id], |tx| async {
        shop.commit_in(tx, &[change], &Audience::Subscribers, noon()).await?;
        let mut found = tx.endpoint_get(&shop.tenant, &id).await?.unwrap();
        found.resource_version += 1;
        found.url = "https://other.example.com/".to_owned();
        Ok(tx.endpoint_update(&shop.tenant, &found).await?)
    });
    changed.unwrap();
    let endpoints = |given: &[HandedOff]| -> Vec<EndpointId> {
        given.iter().map(|given| given.delivery.endpoint_id.clone()).collect()
    };
    let returned = counter.returned();
    assert_eq!((endpoints(&returned), endpoints(&counter.given())), (vec![id.clone()], vec![other]));
    assert_eq!(counter.recalled(), [id]);
    let (token, ids) = (returned[0].token.clone(), vec![returned[0].delivery.id.clone()]);
    drop(returned);
    assert_eq!(done!(shop, |tx| tx.delivery_lease_release(&token, &ids)), 1);
    settle_and_claim(&shop, Vec::new(), None, noon()).await;
    let again = counter.given();
    assert_eq!((again.len(), &*again[0].delivery.url), (1, "https://other.example.com/"));
}

/// The lease ran out, another took the delivery, and the first holder comes back: nothing of it counts, and no room is
/// made by it.
pub(crate) async fn an_outcome_counts_only_for_the_holder(shop: Shop, database: &dyn Database) {
    let endpoint = shop.endpoint(&["*"]).await;
    let counter = Counter::registered(&shop.store, 99, 1);
    shop.open_checkout().await;
    shop.open_checkout().await;
    let mut mine = counter.given();
    let other = shop.lease("other", at(60).plus_ms(1), 9, 1).await;
    assert_eq!(other[0].id, mine[0].delivery.id);
    let wants = BTreeMap::from([(endpoint.clone(), counter.slots.want(&endpoint))]);
    settle_and_claim(&shop, succeeded(&mut mine), Some(wants), at(61)).await;
    assert!(counter.given().is_empty(), "the other one still has it under way");
    assert_eq!(database.count("attempts").await, 0);
    assert_eq!(shop.settle(vec![settlement(&other[0], "other", SettledAs::Succeeded)]).await, 1);
}

pub(crate) async fn what_was_not_begun_is_given_back(shop: Shop, database: &dyn Database) {
    let endpoint = shop.endpoint(&["*"]).await;
    let counter = Counter::registered(&shop.store, 99, 9);
    shop.open_checkouts(3).await;
    let given = counter.given();
    let release = async |token: &str, nth: usize| -> u64 {
        let ids = vec![given[nth].delivery.id.clone()];
        done!(shop, [token], |tx| tx.delivery_lease_release(&token, &ids))
    };
    assert_eq!(release("another", 0).await, 0, "only its holder gives it back");
    assert_eq!(release(&given[0].token, 0).await, 1);
    let again = shop.lease("a", noon(), 9, 9).await;
    assert_eq!((again.len(), again[0].attempt_count), (1, 0));
    assert_eq!(again[0].id, given[0].delivery.id);
    // Of an endpoint that was disabled meanwhile it is cancelled with the others.
    database.set_endpoint(&endpoint, "status = 'disabled'").await;
    assert_eq!(release(&given[1].token, 1).await, 1);
    assert_eq!(database.count("deliveries WHERE status = 'cancelled'").await, 1);
}

/// Jobs of one transaction: whoever refuses behind a claim takes back nothing of it, for what was leased is sent.
pub(crate) async fn a_refusal_behind_a_claim_leaves_its_leases(shop: Shop, database: &dyn Database) {
    let endpoint = shop.endpoint(&["*"]).await;
    shop.open_checkouts(2).await;
    let counter = Counter::registered(&shop.store, 99, 9);
    let held = hold(&shop.store).await;
    let store = shop.store.clone();
    let claiming = submit(async move {
        let claimed: Result<bool, StoreError> = ask!(store.write, |tx| claim(tx, Among::All, noon()));
        claimed
    });
    let (store, tenant) = (shop.store.clone(), shop.tenant.clone());
    let refusing = submit(async move {
        let refused: Result<(), Refusal> = ask!(store.write, |tx| async {
            assert!(tx.endpoint_get(&tenant, &endpoint).await?.is_some());
            Err(Refusal::not_found("reason"))
        });
        refused
    });
    release(held).await;
    claiming.await.unwrap();
    assert_eq!(refusing.await.unwrap_err().code, ErrorCode::NotFound);
    let given = counter.given();
    assert_eq!(given.iter().map(sequence).collect::<Vec<_>>(), [1, 2]);
    let leased = format!("deliveries WHERE lease_token = '{}'", given[0].token);
    assert_eq!(database.count(&leased).await, 2);
    assert!(shop.lease("another", noon(), 9, 9).await.is_empty(), "nobody sends them a second time");
}
