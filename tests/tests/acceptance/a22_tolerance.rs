//! A22: an event of a type that nobody knows yet, with members that nobody knows yet, passes a receiver (contract 9,
//! 10.3). The npm package proves the same with the shared vectors.

use tests::delivery::{Delivery, SECRET};
use tests::workerd::{State, Worker, Workerd};

#[tokio::test]
async fn a22_a_receiver_takes_what_it_does_not_know() {
    let state = State::new();
    let workerd = Workerd::start(&state, &[Worker::at_the_vectors("tolerant")]).await;
    let url = workerd.url("tolerant", "/webhooks");
    let body = r#"{"id":"evt_future","type":"order.teleported","api_version":"2031-12-24","created_at":"2026-09-01T12:00:00.000Z","region":"moon","merchant":{"id":"mer_1","slug":"a","plan":"gold"},"data":{"object":{"object":"order","fulfillment_status":"teleported"},"delta":[1]}}"#;
    let delivery = Delivery::signed(body.into(), "evt_future", &[SECRET]).with("service-region", &["moon"]);
    assert_eq!(workerd.send(delivery.request(&url)).await.outcome(), (200, "ok"));
    assert_eq!(workerd.send(delivery.request(&url)).await.outcome(), (200, "duplicate"));
    workerd.stop().await;
    let records = state.records("tolerant").await;
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].id, "evt_future");
}
