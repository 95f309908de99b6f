//! Fault A: `429 Retry-After: 120`. The peer tried again after 9 s, and again after a 410 (what must
//! hold after one is in acceptance check A12).

use tests::{Answer, Database, Merchant, Receiver, ms, on_both_databases, retries, text};

on_both_databases!(a_429_with_retry_after_120_is_tried_again_after_exactly_120_s);

async fn a_429_with_retry_after_120_is_tried_again_after_exactly_120_s(database: Database) {
    let (service, merchant) = Merchant::inside(database, &[retries("0,5,5")], "busy").await;
    let receiver = Receiver::start(|arrival| match (&*arrival.path, arrival.number) {
        ("/busy", 1) => Answer::status(429).with("retry-after", "120"),
        _ => Answer::status(200),
    })
    .await;
    let busy = merchant.endpoint(&receiver.url("/busy"), &["*"]).await;
    let start = service.clock.shown();
    merchant.checkout().await;
    service.play_until(start + 60_000).await;
    // Another event meanwhile: the receiver has asked for patience, whatever there is to tell.
    merchant.checkout().await;
    service.play_until(start + 119_999).await;
    assert_eq!(receiver.arrivals().all.len(), 1, "not a millisecond early");
    service.play_out().await;
    let deliveries = merchant.deliveries(&busy).await;
    assert_eq!(merchant.fates(&busy).await, ["succeeded null 1", "succeeded null 2"]);
    let mut begun = Vec::new();
    for delivery in deliveries.iter().rev() {
        let delivery = merchant.delivery(&text(delivery, "id")).await;
        let attempts = delivery["attempts"].as_array().unwrap();
        begun.extend(attempts.iter().map(|attempt| ms(attempt, "started_at") - start));
        if attempts.len() == 2 {
            assert_eq!(ms(&attempts[0], "retry_at") - start, 120_000);
        }
    }
    assert_eq!(begun, [0, 120_000, 120_000]);
    service.stop().await;
}
