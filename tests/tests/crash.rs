//! Killed in the middle: nothing that was acknowledged is lost, nothing is there twice, and every event arrives
//! (contract 8.1, 12 T1, acceptance A9 and A13).
//!
//! 24 clients pay for 200 orders of two merchants, three requests each, while their receiver refuses half of the
//! deliveries. The authority is killed three times in the middle of the requests, once while a delivery is in flight,
//! and once more near the end. Clients do what clients should do: they repeat what was not answered, under the same
//! idempotency key or the same id of the processor's event. What is drawn is drawn from [`SEED`].

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use http::Method;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::Value;
use tests::authority::Authority;
use tests::eventually::within;
use tests::http::{Api, Reply};
use tests::merchant::{Endpoint, Merchant, checkout_body, payment_body, report_body, text};
use tests::receiver::{Answer, Arrival, Arrivals, Gate, Receiver};
use tokio::sync::watch;

const SEED: u64 = 20_260_901;
const ORDERS: usize = 200;
const REQUESTS_PER_ORDER: usize = 3;
const EVENTS_PER_ORDER: usize = 6;
const CLIENTS: usize = 24;
/// The schedule has 12 attempts; a delivery that is refused more often than this would be given up.
const REFUSALS_PER_EVENT: usize = 9;
/// Marks the arrival that is never answered.
const HELD: u16 = 504;

/// What the clients were told about an order.
#[derive(Clone, Debug)]
struct Acknowledged {
    checkout: Value,
    payment: Value,
    report: Value,
}

#[tokio::test]
async fn nothing_is_lost_and_nothing_is_there_twice() {
    let mut dice = StdRng::seed_from_u64(SEED);
    let hold_next = Arc::new(AtomicBool::new(false));
    let receiver = Receiver::start(refusing_half(Arc::clone(&hold_next))).await;
    let variables = [("AUTHORITY_RETRY_SCHEDULE", "0,1,1,1,1,1,1,1,1,1,1,1"), ("AUTHORITY_LOG", "info")];
    let mut authority = Authority::start(&variables).await;
    let mut merchants = Vec::new();
    for slug in ["burst-a", "burst-b"] {
        let merchant = Merchant::create(&authority, slug).await;
        let endpoint = merchant.endpoint(&receiver.url(&format!("/{slug}")), &["*"]).await;
        merchants.push((format!("/{slug}"), merchant, endpoint));
    }

    let burst = Burst::start(merchants.iter().map(|(_, merchant, _)| merchant.clone()).collect());
    let mut kills = 0;
    for range in [60..180, 240..360, 420..540] {
        burst.acknowledged(dice.random_range(range)).await;
        authority.kill().await;
        kills += 1;
        authority.restart().await;
    }
    hold_next.store(true, Ordering::Relaxed);
    let is_held = |arrival: &Arrival| arrival.status == HELD;
    receiver.until("a delivery in flight", |arrivals| arrivals.all.iter().any(is_held)).await;
    authority.kill().await;
    authority.restart().await;
    let events = ORDERS * EVENTS_PER_ORDER;
    let late = dice.random_range(events * 8 / 10..events * 9 / 10);
    let accepted =
        |arrivals: &Arrivals| merchants.iter().map(|(path, ..)| arrivals.accepted(path)).sum::<usize>();
    receiver.until("most events", |arrivals| accepted(arrivals) >= late).await;
    authority.kill().await;
    authority.restart().await;
    kills += 2;

    let acknowledged = burst.end().await;
    let arrivals = receiver.until("every event", |arrivals| accepted(arrivals) == events).await;
    for (index, (path, merchant, endpoint)) in merchants.iter().enumerate() {
        let told: Vec<_> = acknowledged.iter().skip(index).step_by(merchants.len()).collect();
        check_stream(merchant, &told).await;
        check_orders(merchant, &told).await;
        check_arrivals(merchant, endpoint, &arrivals, path).await;
    }
    check_repeats(&merchants, &acknowledged).await;
    authority.nothing_pending().await;
    authority.terminate().await;
    print_figures(kills, events, &receiver.arrivals());
}

/// Refuses every second request, in a way that does not hold the endpoint back (contract 15.6), drawn from the seed;
/// when `hold_next` is set, never answers the next one.
fn refusing_half(hold_next: Arc<AtomicBool>) -> impl Fn(&Arrival) -> Answer + Send + Sync + 'static {
    let never = Gate::closed();
    move |arrival| {
        if hold_next.swap(false, Ordering::Relaxed) {
            return Answer::status(HELD).held_by(&never);
        }
        let refuses = StdRng::seed_from_u64(SEED + arrival.number as u64).random_bool(0.5);
        Answer::status(if refuses && arrival.nth <= REFUSALS_PER_EVENT { 500 } else { 200 })
    }
}

/// The clients at work.
struct Burst {
    count: watch::Sender<usize>,
    clients: Vec<tokio::task::JoinHandle<Vec<(usize, Acknowledged)>>>,
}

impl Burst {
    fn start(merchants: Vec<Merchant>) -> Self {
        let count = watch::Sender::new(0);
        let next = Arc::new(AtomicUsize::new(0));
        let client = |_| {
            let (merchants, next, count) = (merchants.clone(), Arc::clone(&next), count.clone());
            tokio::spawn(async move {
                let mut done = Vec::new();
                loop {
                    let order = next.fetch_add(1, Ordering::Relaxed);
                    if order >= ORDERS {
                        return done;
                    }
                    done.push((order, pay(&merchants[order % merchants.len()], order, &count).await));
                }
            })
        };
        let clients = (0..CLIENTS).map(client).collect();
        Self { count, clients }
    }

    /// Waits until so many requests were answered.
    async fn acknowledged(&self, requests: usize) {
        within("answers", self.count.subscribe().wait_for(|count| *count >= requests)).await.unwrap();
    }

    /// Waits until every request was answered; the answers in the order of the orders.
    async fn end(self) -> Vec<Acknowledged> {
        self.acknowledged(ORDERS * REQUESTS_PER_ORDER).await;
        let mut all = BTreeMap::new();
        for client in self.clients {
            all.extend(client.await.unwrap());
        }
        assert_eq!(all.len(), ORDERS);
        all.into_values().collect()
    }
}

/// One order, from the checkout to the processor's word.
async fn pay(merchant: &Merchant, order: usize, count: &watch::Sender<usize>) -> Acknowledged {
    let answered = |reply: &Reply| {
        count.send_modify(|count| *count += 1);
        reply.json()
    };
    let reply = insist(&merchant.operator, &checkout_request(merchant, order)).await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    let checkout = answered(&reply);
    let reply = insist(&merchant.operator, &payment_request(merchant, order, &checkout)).await;
    // 200: it was made by a request whose answer was lost.
    assert!(matches!(reply.status, 200 | 201), "{}", reply.text());
    let payment = answered(&reply);
    let reply = insist(&merchant.operator, &report_request(order, &payment)).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    Acknowledged { checkout, payment, report: answered(&reply) }
}

/// A write that may be repeated: path, idempotency key, body.
type Write = (String, Option<String>, Value);

fn checkout_request(merchant: &Merchant, order: usize) -> Write {
    (merchant.platform_path("checkouts"), Some(format!("checkout-{order}")), checkout_body())
}

fn payment_request(merchant: &Merchant, order: usize, checkout: &Value) -> Write {
    let body = payment_body(checkout, "automatic", &format!("start-{order}"));
    (merchant.platform_path("payments"), None, body)
}

fn report_request(order: usize, payment: &Value) -> Write {
    let path = format!("/payments/{}/reports", text(payment, "id"));
    (path, None, report_body("succeeded", &format!("paid-{order}")))
}

/// Repeats a write until it is answered.
async fn insist(api: &Api, (path, key, body): &Write) -> Reply {
    loop {
        let mut call = api.call(Method::POST, path).json(body);
        if let Some(key) = key {
            call = call.header("idempotency-key", key);
        }
        if let Ok(reply) = call.try_send().await {
            return reply;
        }
    }
}

/// The stream is 1 to n, and each acknowledged request has its events in it exactly once.
async fn check_stream(merchant: &Merchant, acknowledged: &[&Acknowledged]) {
    let events = merchant.events().await;
    let sequences: Vec<_> = events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, (1..=acknowledged.len() as u64 * EVENTS_PER_ORDER as u64).collect::<Vec<_>>());
    let ids_of = |event_type: &str, member: &str| {
        let mut ids: Vec<_> = events
            .iter()
            .filter(|event| event["type"] == event_type)
            .map(|event| text(&event["data"]["object"], member))
            .collect();
        ids.sort();
        ids
    };
    let told = |member: fn(&Acknowledged) -> String| {
        let mut ids: Vec<_> = acknowledged.iter().map(|order| member(order)).collect();
        ids.sort();
        ids
    };
    for event_type in ["checkout.created", "checkout.completed"] {
        assert_eq!(ids_of(event_type, "id"), told(|order| text(&order.checkout, "id")), "{event_type}");
    }
    for event_type in ["payment.created", "payment.succeeded"] {
        assert_eq!(ids_of(event_type, "id"), told(|order| text(&order.payment, "id")), "{event_type}");
    }
    for event_type in ["order.created", "order.confirmed"] {
        let numbers = told(|order| text(&order.report["payment"], "order_number"));
        assert_eq!(ids_of(event_type, "order_number"), numbers, "{event_type}");
    }
}

/// Every acknowledged order is there once, under a number of its own, paid.
async fn check_orders(merchant: &Merchant, acknowledged: &[&Acknowledged]) {
    let mut numbers = Vec::new();
    let mut path = "/orders?limit=100".to_owned();
    loop {
        let page = merchant.api.get(&path).await.expect(200);
        for order in page["data"].as_array().unwrap() {
            assert_eq!((&order["status"], &order["payment_status"]), (&"confirmed".into(), &"paid".into()));
            numbers.push(text(order, "order_number"));
        }
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/orders?limit=100&cursor={cursor}");
    }
    let told: BTreeSet<_> =
        acknowledged.iter().map(|order| text(&order.report["payment"], "order_number")).collect();
    assert_eq!(told.len(), acknowledged.len());
    numbers.sort();
    assert_eq!(numbers, told.into_iter().collect::<Vec<_>>());
}

/// Everything that arrived is genuine and has the bytes of the event; every event was accepted.
async fn check_arrivals(merchant: &Merchant, endpoint: &Endpoint, arrivals: &Arrivals, path: &str) {
    let mut bodies = BTreeMap::new();
    for event in merchant.events().await {
        let id = text(&event, "id");
        let stored = merchant.api.get(&format!("/events/{id}")).await;
        assert_eq!(stored.status, 200);
        bodies.insert(id, stored.body);
    }
    let mut accepted = BTreeSet::new();
    for arrival in arrivals.at(path) {
        let envelope = arrival.verify(&endpoint.secret).unwrap();
        assert_eq!(bodies.get(&*envelope.id), Some(&arrival.body));
        if arrival.status == 200 {
            accepted.insert(envelope.id.into_owned());
        }
    }
    assert_eq!(accepted, bodies.into_keys().collect());
}

/// A client that repeats everything once more gets the same answers and changes nothing.
async fn check_repeats(merchants: &[(String, Merchant, Endpoint)], acknowledged: &[Acknowledged]) {
    for (order, told) in acknowledged.iter().enumerate() {
        let (_, merchant, _) = &merchants[order % merchants.len()];
        let reply = insist(&merchant.operator, &checkout_request(merchant, order)).await;
        assert_eq!(reply.header("idempotent-replayed"), Some("true"));
        assert_eq!(reply.expect(201), told.checkout);
        let paid = &told.report["payment"];
        let reply = insist(&merchant.operator, &payment_request(merchant, order, &told.checkout)).await;
        assert_eq!(&reply.expect(200), paid);
        let reply = insist(&merchant.operator, &report_request(order, &told.payment)).await.expect(200);
        assert_eq!((&reply["applied"], &reply["payment"]), (&false.into(), paid));
    }
    for (_, merchant, _) in merchants {
        assert_eq!(merchant.events().await.len(), ORDERS / merchants.len() * EVENTS_PER_ORDER);
    }
}

fn print_figures(kills: usize, events: usize, arrivals: &Arrivals) {
    let attempts = arrivals.all.len();
    let taken = arrivals.all.iter().filter(|arrival| arrival.status == 200).count();
    let duplicates = taken - events;
    println!(
        "{kills} kills, {events} events, {attempts} attempts, {duplicates} duplicates ({:.1} per 1,000 events)",
        duplicates as f64 * 1000.0 / events as f64
    );
}
