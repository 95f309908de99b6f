//! What a job leases to its own instance, and when that is told: contract 12 T1, 15.9.
//!
//! Most cases begin with an event, so that the stream is there before the endpoints are.

use authority_domain::{EndpointId, ErrorCode, EventId, Refusal};
use authority_store::StoreError;
use authority_store::commit::Audience;
use authority_store::hand_off::HandedOff;
use authority_store::tx::{SettledAs, Tx};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::dispatcher::{FRESH, claimed};
use super::shop::cause;
use super::{Counter, Database, Shop, ask, at, done, hold, moment, noon, sequence, settlement, submit};

const HELD: &str = "SELECT COUNT(*) FROM deliveries WHERE lease_token IS NOT NULL";
const WAITING: &str = "SELECT COUNT(*) FROM deliveries WHERE lease_token IS NULL";

pub(crate) async fn what_is_handed_off_is_what_a_claim_would_read(shop: Shop, database: &dyn Database) {
    shop.open_checkout().await;
    let endpoint = shop.endpoint(&["*"]).await;
    let secret = format!(
        "INSERT INTO endpoint_secrets (shard, endpoint_id, version, sealed, expires_at) \
         SELECT shard, '{endpoint}', version + 1, sealed, NULL FROM endpoint_secrets WHERE endpoint_id = '{endpoint}'"
    );
    database.execute(&secret).await.unwrap();
    let counter = Counter::registered(&shop.store, 99, 9);
    let committed = shop.open_checkout().await;
    let given = counter.given();
    assert_eq!(given.len(), 1);
    assert_eq!((given[0].token.as_str(), given[0].until), (FRESH, at(60)));
    let row = format!(
        "deliveries WHERE id = '{}' AND lease_token = '{FRESH}' AND lease_until = {} \
             AND status = 'pending' AND attempt_count = 0 AND next_attempt_at = {}",
        committed.deliveries[0].id,
        at(60).as_ms(),
        noon().as_ms()
    );
    assert_eq!(database.count(&row).await, 1);
    assert!(shop.lease("other", at(60), 9, 9).await.is_empty(), "it is nobody else's");
    // What whoever takes it after its lease reads, word for word.
    let read = shop.lease("later", at(60).plus_ms(1), 9, 9).await;
    assert_eq!(format!("{:?}", given[0].delivery), format!("{:?}", read[0]));
    assert_eq!(given[0].delivery.secrets.iter().map(|secret| secret.version).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(given[0].delivery.cause, cause());
}

pub(crate) async fn no_more_than_there_is_room_for(shop: Shop, database: &dyn Database) {
    shop.open_checkout().await;
    let (cap, held) = (shop.endpoint(&["*"]).await, shop.endpoint(&["*"]).await);
    let (probed, failing) = (shop.endpoint(&["*"]).await, shop.endpoint(&["*"]).await);
    for (id, sql) in [
        (&held, format!("held_until = {}, hold_step = 1", noon().as_ms() + 1)),
        (&probed, format!("held_until = {}, hold_step = 1", noon().as_ms())),
        (&failing, "health_state = 'failing'".to_owned()),
    ] {
        database.set_endpoint(id, &sql).await;
    }
    let counter = Counter::registered(&shop.store, 99, 2);
    let taken = |given: &[HandedOff]| -> Vec<usize> {
        let of = |id: &EndpointId| given.iter().filter(|given| given.delivery.endpoint_id == *id).count();
        [&cap, &held, &probed, &failing].map(of).to_vec()
    };
    // Three events in one commit, then one more: the cap is two.
    let changes = (0..3).map(|_| shop.opened().1).collect();
    shop.commit(changes).await.unwrap();
    let first = counter.given();
    assert_eq!(taken(&first), [2, 0, 1, 1]);
    let of_cap: Vec<i64> =
        first.iter().filter(|given| given.delivery.endpoint_id == cap).map(sequence).collect();
    assert_eq!(of_cap, [2, 3], "the first of them, in their order");
    shop.open_checkout().await;
    assert_eq!(taken(&counter.given()), [0, 0, 0, 0]);
    assert_eq!(database.number(WAITING).await, 16 - 4);
}

/// All instances together obey an endpoint's limit: what others hold counts, to the last one (contract 18.4-8).
pub(crate) async fn what_other_instances_hold_counts(shop: Shop, database: &dyn Database) {
    shop.open_checkout().await;
    shop.endpoint(&["*"]).await;
    let up_to = |sequence: i64| {
        let until = at(60).as_ms();
        format!(
            "UPDATE deliveries SET lease_token = 'another', lease_until = {until} WHERE sequence <= {sequence}"
        )
    };
    shop.open_checkout().await;
    shop.open_checkout().await;
    assert_eq!(database.execute(&up_to(3)).await.unwrap(), 2);
    let counter = Counter::registered(&shop.store, 99, 3);
    shop.open_checkout().await;
    let given = counter.given();
    assert_eq!(given.iter().map(sequence).collect::<Vec<_>>(), [4], "they leave one");
    for HandedOff { mut slot, .. } in given {
        assert_eq!(slot.begin(moment(0)), Ok(()));
    }
    assert_eq!(database.execute(&up_to(4)).await.unwrap(), 3);
    shop.open_checkout().await;
    assert_eq!(counter.sequences(), Vec::<i64>::new());
}

pub(crate) async fn what_waits_goes_first(shop: Shop, database: &dyn Database) {
    shop.open_checkout().await;
    let endpoint = shop.endpoint(&["*"]).await;
    shop.open_checkout().await;
    let counter = Counter::registered(&shop.store, 99, 9);
    shop.open_checkout().await;
    assert_eq!(counter.sequences(), Vec::<i64>::new(), "an older one waits");
    assert!(counter.slots.wanted().now_or_never().is_some(), "and somebody has to come for both");
    let taken = shop.lease("a", noon(), 9, 9).await;
    assert_eq!(taken.len(), 2);
    shop.open_checkout().await;
    assert_eq!(counter.sequences(), [4], "what is under way holds nobody up");
    // A retry that is not due yet is no backlog; one that is due is.
    let retry = |nth: usize| settlement(&taken[nth], "a", SettledAs::Retry { at: at(9), put_off: false });
    assert_eq!(shop.settle(vec![retry(0)]).await, 1);
    shop.open_checkout_at(at(8)).await;
    assert_eq!(counter.sequences(), [5]);
    shop.open_checkout_at(at(9)).await;
    assert_eq!(counter.sequences(), Vec::<i64>::new());
    // To nobody, and to one that is held back: nobody needs to come.
    database.set_endpoint(&endpoint, &format!("held_until = {}, hold_step = 1", at(99).as_ms())).await;
    while counter.slots.wanted().now_or_never().is_some() {}
    shop.open_checkout_at(at(9)).await;
    assert_eq!(counter.sequences(), Vec::<i64>::new());
    assert!(counter.slots.wanted().now_or_never().is_none(), "the poll finds it when the hold is over");
}

pub(crate) async fn an_undone_job_hands_nothing_over(shop: Shop, _: &dyn Database) {
    shop.open_checkout().await;
    shop.endpoint(&["*"]).await;
    let counter = Counter::registered(&shop.store, 1, 1);
    let change = shop.opened().1;
    let undone: Result<(), Refusal> = ask!(shop.store.write, [shop], |tx| async {
        shop.commit_in(tx, &[change], &Audience::Subscribers, noon()).await?;
        Err(Refusal::not_found("reason"))
    });
    undone.unwrap_err();
    assert!(counter.given().is_empty());
    assert_eq!(counter.slots.free().unwrap().slots, 2, "its place of either kind is free again");
    shop.open_checkout().await;
    assert_eq!(counter.sequences(), [2]);
}

pub(crate) async fn a_failed_commit_hands_nothing_over(shop: Shop, _: &dyn Database) {
    shop.open_checkout().await;
    shop.endpoint(&["*"]).await;
    let counter = Counter::registered(&shop.store, 1, 1);
    let (open, holding) = hold(&shop.store).await;
    let (seller, change) = (shop.clone(), shop.opened().1);
    let committed =
        submit(async move { seller.commit_at(vec![change], Audience::Subscribers, noon()).await });
    let store = shop.store.clone();
    let failing: super::held::Pending<Result<(), StoreError>> =
        submit(
            async move { ask!(store.write, |_| async { Err(StoreError::Unavailable("gone".to_owned())) }) },
        );
    open.send(()).unwrap();
    // Where nobody else writes, the others joined its transaction.
    let _ = holding.await;
    assert!(committed.await.is_err() && failing.await.is_err());
    assert!(counter.given().is_empty(), "nothing of it is in the database");
    assert_eq!(counter.slots.free().unwrap().slots, 2);
    shop.open_checkout().await;
    assert_eq!(counter.sequences(), [2]);
}

pub(crate) async fn the_sink_tests_and_replays_are_handed_off(shop: Shop, database: &dyn Database) {
    let platform = shop.platform();
    let sink = platform.endpoint(&["*"]).await;
    let counter = Counter::registered(&shop.store, 99, 9);
    let endpoints = |given: Vec<HandedOff>| -> Vec<EndpointId> {
        given.into_iter().map(|given| given.delivery.endpoint_id).collect()
    };
    // The very first event of a stream, too.
    let event = shop.open_checkout().await.events[0].id.clone();
    assert_eq!(endpoints(counter.given()), [sink]);
    let quiet = shop.endpoint(&["order.shipped"]).await;
    shop.commit_at(vec![shop.opened().1], Audience::Tested(quiet.clone()), noon()).await.unwrap();
    assert_eq!(
        endpoints(counter.given()),
        std::slice::from_ref(&quiet),
        "the test goes to its endpoint alone"
    );
    replay(&shop, event.clone(), &quiet).await;
    let given = counter.given();
    assert_eq!((given.len(), &given[0].delivery.event_id, sequence(&given[0])), (1, &event, 1));
    assert_eq!((given[0].delivery.trigger.as_str(), given[0].token.as_str()), ("replay", &*claimed(1)));
    drop(given);
    assert_eq!(database.number(HELD).await, 3);
}

async fn replay(shop: &Shop, event_id: EventId, endpoint: &EndpointId) {
    let again = [shop.replay_of(&event_id, 1, endpoint, noon())];
    done!(shop, |tx| tx.deliveries_insert(&shop.tenant, &again, noon()));
}

fn has_dispatch(tx: &mut Tx) -> BoxFuture<'_, Result<bool, StoreError>> {
    let has = tx.dispatch().is_some();
    Box::pin(async move { Ok(has) })
}

pub(crate) async fn without_a_dispatcher_everything_waits(shop: Shop, database: &dyn Database) {
    shop.open_checkout().await;
    let endpoint = shop.endpoint(&["*"]).await;
    let event = shop.open_checkout().await.events[0].id.clone();
    replay(&shop, event, &endpoint).await;
    assert_eq!((database.number(HELD).await, database.number(WAITING).await), (0, 2));
    // A job that only reads has no dispatcher either.
    let counter = Counter::registered(&shop.store, 99, 9);
    let store = &shop.store;
    let dispatch: Result<bool, StoreError> = store.read(has_dispatch).await;
    assert!(!dispatch.unwrap());
    drop(counter);
    let dispatch: Result<bool, StoreError> = store.write(has_dispatch).await;
    assert!(!dispatch.unwrap(), "it has gone");
}

/// A service that stops gives back what it was to send: it has to be told.
pub(crate) async fn a_closed_dispatch_handle_is_given_what_was_leased_before(
    shop: Shop,
    database: &dyn Database,
) {
    shop.open_checkout().await;
    shop.endpoint(&["*"]).await;
    let mut counter = Counter::registered(&shop.store, 99, 9);
    let (seller, change) = (shop.clone(), shop.opened().1);
    let (open, gate) = tokio::sync::oneshot::channel::<()>();
    let (entered, inside) = tokio::sync::oneshot::channel::<()>();
    let committing = tokio::spawn(async move {
        let store = seller.store.clone();
        let committed: Result<(), Refusal> = ask!(store.write, |tx| async {
            seller.commit_in(tx, &[change], &Audience::Subscribers, noon()).await?;
            entered.send(()).unwrap();
            let _ = gate.await;
            Ok(())
        });
        committed.unwrap();
    });
    inside.await.unwrap();
    counter.close();
    open.send(()).unwrap();
    committing.await.unwrap();
    assert_eq!(counter.sequences(), [2]);
    shop.open_checkout().await;
    assert_eq!(counter.sequences(), Vec::<i64>::new());
    assert_eq!((database.number(HELD).await, database.number(WAITING).await), (1, 1));
}

pub(crate) async fn a_writer_that_panics_is_known_by_its_name(shop: Shop, database: &dyn Database) {
    shop.open_checkout().await;
    shop.endpoint(&["*"]).await;
    let counter = Counter::registered(&shop.store, 99, 9);
    shop.open_checkout().await;
    assert_eq!(shop.store.supervisor().panicked().now_or_never(), None);
    counter.panic();
    let checkout = shop.opened().1;
    let committed = shop.commit(vec![checkout]).await.unwrap_err();
    // The commit holds; whoever waits for its answer learns that nobody gives one.
    assert_eq!(committed.code, ErrorCode::ServiceUnavailable);
    assert_eq!(shop.store.supervisor().panicked().await, "writer");
    assert_eq!(database.count("events WHERE sequence = 3").await, 1);
}
