//! What users of the peers ask for: the exact bytes (svix #1927), no overlapping sends (svix #2181), and no retry lost
//! when a write fails (outpost #1000, #998, #663).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tests::damage::{count, execute};
use tests::{
    Answer, Authority, Database, Gate, Merchant, Receiver, eventually, on_both_databases, retries, text,
};

on_both_databases!(
    the_bytes_that_are_stored_are_those_that_are_sent_always,
    an_outcome_that_cannot_be_written_is_written_later,
    an_outcome_that_comes_too_late_counts_for_nothing,
);

/// Numbers, order, escapes and characters that a parser in between would have changed.
async fn the_bytes_that_are_stored_are_those_that_are_sent_always(database: Database) {
    let (service, merchant) = Merchant::inside(database, &[retries("0,60")], "exact").await;
    let receiver = Receiver::start(|arrival| Answer::status(if arrival.nth == 1 { 500 } else { 200 })).await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    let body = json!({
        "currency": "USD",
        "line_items": [{ "name": "Zoë’s \"T-shirt\" \\ </script> 👕 \u{e9}\u{65}\u{301}", "quantity": 1, "unit_amount": 0 }],
        "metadata": { "z": "1.0", "a": "1e3", "note": "a/b" },
    });
    merchant.operator.post(&merchant.platform_path("checkouts"), &body).await.expect(201);
    service.play_out().await;
    let event = text(&merchant.events().await[0], "id");
    let stored = merchant.api.get(&format!("/events/{event}")).await.body;
    let listed = merchant.api.get("/events").await;
    assert!(listed.text().contains(std::str::from_utf8(&stored).unwrap()), "the list has the same bytes");
    merchant.api.post(&format!("/events/{event}/replay"), &json!({})).await.expect(202);
    service.play_out().await;
    let arrivals = receiver.arrivals().all;
    assert_eq!(arrivals.len(), 3);
    for arrival in &arrivals {
        assert_eq!(arrival.body, stored);
        arrival.verify_at(&endpoint.secret, service.clock.shown()).unwrap();
    }
    let parsed: Value = serde_json::from_slice(&stored).unwrap();
    assert_eq!(parsed["data"]["object"]["line_items"][0]["name"], body["line_items"][0]["name"]);
    service.stop().await;
}

/// Two instances, one database: however often both look, no delivery is in flight twice.
#[tokio::test]
async fn two_instances_never_send_the_same_at_the_same_time() {
    const EVENTS: usize = 40;
    let database = postgres_cluster::database().await;
    let variables =
        [("AUTHORITY_DATABASE_URL", database.as_str()), ("AUTHORITY_DELIVERY_TIMEOUT_MS", "50000")];
    let first = Authority::start(&variables).await;
    let second = Authority::start(&variables).await;
    let (receiver, gate) = Receiver::gated(200).await;
    let merchant = Merchant::create(&first, "two").await;
    for n in 0..5 {
        merchant.endpoint(&receiver.url(&format!("/{n}")), &["checkout.created"]).await;
    }
    let there = Merchant { operator: second.operator(), ..merchant.clone() };
    for n in 0..EVENTS / 5 {
        if n % 2 == 0 { &merchant } else { &there }.checkout().await;
    }
    // Every endpoint has as many in flight as it may, over both instances, each of them once.
    let arrivals = receiver.until("everything in flight", |arrivals| arrivals.all.len() == EVENTS).await;
    let deliveries = |arrivals: &tests::Arrivals| {
        let mut ids: Vec<String> =
            arrivals.all.iter().map(|arrival| arrival.header("service-delivery-id").to_owned()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.len()
    };
    assert_eq!(deliveries(&arrivals), EVENTS);
    // Both go on looking for more: a further event is taken while the others are still in flight.
    gate.open();
    first.nothing_pending().await;
    let arrivals = receiver.arrivals();
    assert_eq!((arrivals.all.len(), deliveries(&arrivals)), (EVENTS, EVENTS), "none was sent twice");
    let sql = "SELECT COUNT(*) FROM attempts WHERE number > 1";
    assert_eq!(count(&database, sql).await, 0);
}

/// The database refuses outcomes for a while. The peer acknowledged the message to its queue before it wrote the
/// attempt, and the retry was gone.
async fn an_outcome_that_cannot_be_written_is_written_later(database: Database) {
    let authority = Authority::on(database, &[retries("0,0,0")]).await;
    let refused = Arc::<AtomicUsize>::default();
    let so_far = Arc::clone(&refused);
    let gate = Gate::closed();
    let held = gate.clone();
    // Each event is refused once, then taken.
    let receiver = Receiver::start(move |arrival| {
        if arrival.nth == 1 {
            so_far.fetch_add(1, Ordering::SeqCst);
            return Answer::status(500).held_by(&held);
        }
        Answer::status(200)
    })
    .await;
    let merchant = Merchant::create(&authority, "unwritten").await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    merchant.checkouts(3).await;
    receiver.until("three in flight", |arrivals| arrivals.all.len() == 3).await;
    let url = authority.database_url();
    execute(url, refuse_attempts(database)).await;
    gate.open();
    eventually("a refusal", async || authority.log().contains("outcomes could not be written").then_some(()))
        .await;
    assert_eq!(count(url, "SELECT COUNT(*) FROM attempts").await, 0);
    execute(url, allow_attempts(database)).await;
    // What was refused for good is sent again when its lease is over; here it is over at once.
    execute(url, "UPDATE deliveries SET lease_until = 0 WHERE lease_token IS NOT NULL").await;
    authority.nothing_pending().await;
    let fates = merchant.fates(&endpoint).await;
    assert!(fates.iter().all(|fate| fate.starts_with("succeeded null")), "{fates:?}");
    let arrivals = receiver.arrivals();
    assert_eq!((arrivals.accepted("/hook"), refused.load(Ordering::SeqCst)), (3, 3), "none is lost");
    authority.is_sound().await;
}

/// A request that outlives its lease: somebody else takes the delivery, and what the first comes back with counts for
/// nothing. No delivery has two holders whose outcomes count.
async fn an_outcome_that_comes_too_late_counts_for_nothing(database: Database) {
    let variables = [("AUTHORITY_DELIVERY_TIMEOUT_MS", "50000"), retries("0,3600")];
    let authority = Authority::on(database, &variables).await;
    let gate = Gate::closed();
    let held = gate.clone();
    let receiver = Receiver::start(move |arrival| match arrival.number {
        1 => Answer::status(500).held_by(&held),
        _ => Answer::status(200),
    })
    .await;
    let merchant = Merchant::create(&authority, "late").await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    merchant.checkout().await;
    receiver.until("the first request", |arrivals| arrivals.all.len() == 1).await;
    // As if a minute had passed.
    execute(authority.database_url(), "UPDATE deliveries SET lease_until = 0").await;
    let arrivals = receiver.until("the second request", |arrivals| arrivals.all.len() == 2).await;
    let delivery = arrivals.all[0].header("service-delivery-id").to_owned();
    assert_eq!(arrivals.all[1].header("service-delivery-id"), delivery);
    authority.nothing_pending().await;
    gate.open();
    eventually("the late outcome", async || authority.log().contains("attempt failed").then_some(())).await;
    // Outcomes are written one after the other: behind this one, the late one has been looked at.
    merchant.checkout().await;
    authority.nothing_pending().await;
    assert_eq!(merchant.fates(&endpoint).await, ["succeeded null 1"; 2]);
    let attempts = merchant.delivery(&delivery).await["attempts"].as_array().unwrap().clone();
    assert_eq!(attempts.iter().map(|attempt| &attempt["outcome"]).collect::<Vec<_>>(), ["success"]);
    assert_eq!(count(authority.database_url(), "SELECT COUNT(*) FROM attempts").await, 2);
    authority.is_sound().await;
}

/// From now on no attempt can be written.
fn refuse_attempts(database: Database) -> &'static str {
    match database {
        Database::Sqlite => {
            "CREATE TRIGGER refused BEFORE INSERT ON attempts BEGIN SELECT RAISE(ABORT, 'refused by the test'); END"
        }
        Database::Postgres | Database::Citus => {
            "CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN RAISE EXCEPTION 'refused by the test'; END $$; \
             CREATE TRIGGER refused BEFORE INSERT ON attempts FOR EACH STATEMENT EXECUTE FUNCTION refused()"
        }
    }
}

fn allow_attempts(database: Database) -> &'static str {
    match database {
        Database::Sqlite => "DROP TRIGGER refused",
        Database::Postgres | Database::Citus => "DROP TRIGGER refused ON attempts; DROP FUNCTION refused",
    }
}
