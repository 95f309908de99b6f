//! The tests that the brief expects of a receiver, by name (contract 11.3): the edge receiver in workerd, with an
//! origin behind it whose effects are counted. The eighth, reconciliation after downtime, is in `reconciliation`.

use tests::delivery::{Delivery, NOW, OTHER_SECRET, SECRET, event};
use tests::workerd::{State, Worker, Workerd};
use tests::{Answer, Receiver};

use crate::{DUPLICATE, OK};

const FORWARDING: &str = "whsec_forwarding";

/// A receiver at the time of the deliveries, with an origin that fails as often as it is told before it takes an event.
struct Rig {
    state: State,
    workerd: Workerd,
    origin: Receiver,
}

impl Rig {
    async fn new(secrets: &[(&str, &str)], failures: usize) -> Self {
        let origin =
            Receiver::start(move |arrival| Answer::status(if arrival.nth > failures { 200 } else { 503 }));
        let origin = origin.await;
        let worker = Worker::at_the_vectors("receiver")
            .and_variables(secrets.iter().copied())
            .with_origin(&origin.url("/origin"), FORWARDING);
        let state = State::new();
        let workerd = Workerd::start(&state, &[worker]).await;
        Self { state, workerd, origin }
    }

    async fn trusting(secret: &str) -> Self {
        Self::new(&[("SIGNING_SECRET", secret)], 0).await
    }

    async fn answers(&self, delivery: &Delivery, status: u16, code: &str) {
        let reply = self.workerd.send(delivery.request(&self.workerd.url("receiver", "/webhooks"))).await;
        assert_eq!(reply.outcome(), (status, code));
    }

    /// The events that are recorded in the end and those that had an effect, after as many requests to the origin.
    async fn ends_with(self, events: &[&str], requests: usize) {
        let arrivals =
            self.origin.until("the origin is asked", |arrivals| arrivals.all.len() >= requests).await;
        self.workerd.stop().await;
        let records = self.state.records("receiver").await;
        assert_eq!(records.iter().map(|record| record.id.as_str()).collect::<Vec<_>>(), events);
        let taken = arrivals.all.iter().filter(|arrival| arrival.status == 200);
        let mut taken: Vec<_> = taken.map(|arrival| arrival.event_id.as_str()).collect();
        taken.sort_unstable();
        assert_eq!(taken, events);
        assert_eq!(self.origin.arrivals().all.len(), requests);
    }
}

#[tokio::test]
async fn valid_signature() {
    let rig = Rig::trusting(SECRET).await;
    rig.answers(&Delivery::of_event("evt_1"), OK.0, OK.1).await;
    rig.ends_with(&["evt_1"], 1).await;
}

#[tokio::test]
async fn altered_body() {
    let rig = Rig::trusting(SECRET).await;
    let mut delivery = Delivery::of_event("evt_1");
    delivery.body = event("evt_1", "order.confirmed").into();
    rig.answers(&delivery, 401, "invalid_signature").await;
    rig.ends_with(&[], 0).await;
}

#[tokio::test]
async fn stale_timestamp() {
    let rig = Rig::trusting(SECRET).await;
    for (offset, status, code) in [
        (-301, 401, "stale_timestamp"),
        (301, 401, "stale_timestamp"),
        (-300, OK.0, OK.1),
        (300, DUPLICATE.0, DUPLICATE.1),
    ] {
        let delivery =
            Delivery::signed_at(NOW + offset, event("evt_1", "webhook.test").into(), "evt_1", &[SECRET]);
        rig.answers(&delivery, status, code).await;
    }
    rig.ends_with(&["evt_1"], 1).await;
}

#[tokio::test]
async fn duplicate_event() {
    let rig = Rig::trusting(SECRET).await;
    for (status, code) in [OK, DUPLICATE, DUPLICATE] {
        rig.answers(&Delivery::of_event("evt_1"), status, code).await;
    }
    rig.ends_with(&["evt_1"], 1).await;
}

#[tokio::test]
async fn invalid_event_id() {
    let rig = Rig::trusting(SECRET).await;
    for id in ["", "evt_", "1", "EVT_1", "evt_a.b", "evt_\u{e9}"] {
        let delivery = Delivery::signed(event(id, "webhook.test").into(), "evt_1", &[SECRET]);
        rig.answers(&delivery, 400, "invalid_event_id").await;
    }
    let other = Delivery::of_event("evt_1").with("service-event-id", &["evt_2"]);
    rig.answers(&other, 400, "event_id_mismatch").await;
    rig.ends_with(&[], 0).await;
}

#[tokio::test]
async fn secret_rotation() {
    let signed = |id: &str, secrets: &[&str]| Delivery::signed(event(id, "webhook.test").into(), id, secrets);
    let (old, new) = (signed("evt_old", &[SECRET]), signed("evt_new", &[OTHER_SECRET]));
    let both = signed("evt_both", &[OTHER_SECRET, SECRET]);
    let refused = (401, "invalid_signature");

    let before = Rig::trusting(SECRET).await;
    for (delivery, (status, code)) in [(&old, OK), (&both, OK), (&new, refused)] {
        before.answers(delivery, status, code).await;
    }
    before.ends_with(&["evt_both", "evt_old"], 2).await;

    let overlap = [("SIGNING_SECRET", OTHER_SECRET), ("SIGNING_SECRET_PREVIOUS", SECRET)];
    let during = Rig::new(&overlap, 0).await;
    for delivery in [&old, &both, &new] {
        during.answers(delivery, OK.0, OK.1).await;
    }
    during.ends_with(&["evt_both", "evt_new", "evt_old"], 3).await;

    let after = Rig::trusting(OTHER_SECRET).await;
    for (delivery, (status, code)) in [(&old, refused), (&both, OK), (&new, OK)] {
        after.answers(delivery, status, code).await;
    }
    after.ends_with(&["evt_both", "evt_new"], 2).await;
}

/// The store works, what is behind it fails, the sender comes again: one record, one effect.
#[tokio::test]
async fn receiver_retry() {
    let rig = Rig::new(&[("SIGNING_SECRET", SECRET)], 2).await;
    rig.answers(&Delivery::of_event("evt_1"), OK.0, OK.1).await;
    rig.origin.until("the origin has failed", |arrivals| !arrivals.all.is_empty()).await;
    rig.answers(&Delivery::of_event("evt_1"), DUPLICATE.0, DUPLICATE.1).await;
    rig.ends_with(&["evt_1"], 3).await;
}
