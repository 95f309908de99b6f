//! Fault B: the receiver answers 200 and drips its body for ever. The peer sent it three times, wrote no attempt, and
//! lost the slot.

use serde_json::json;
use tests::{Answer, Authority, Database, Merchant, Receiver, on_both_databases, retries, text};

on_both_databases!(a_body_that_drips_for_ever_is_one_success_and_gives_its_slot_back);

async fn a_body_that_drips_for_ever_is_one_success_and_gives_its_slot_back(database: Database) {
    // One slot: whoever comes next has to wait for it.
    let variables = [
        ("AUTHORITY_DELIVERY_CONCURRENCY", "1"),
        ("AUTHORITY_DELIVERY_TIMEOUT_MS", "10000"),
        retries("0,0,0,0"),
    ];
    let mut authority = Authority::on(database, &variables).await;
    let receiver = Receiver::start(|arrival| {
        let answer = Answer::status(200);
        if arrival.path == "/drips" { answer.dripping() } else { answer }
    })
    .await;
    let merchant = Merchant::create(&authority, "dripping").await;
    let drips = merchant.endpoint(&receiver.url("/drips"), &["*"]).await;
    merchant.checkout().await;
    receiver.until("the first", |arrivals| arrivals.at("/drips").count() == 1).await;
    let other = merchant.endpoint(&receiver.url("/other"), &["*"]).await;
    for n in 2..=3 {
        merchant.checkout().await;
        receiver
            .until("the slot", |arrivals| {
                arrivals.at("/drips").count() == n && arrivals.at("/other").count() == n - 1
            })
            .await;
    }
    authority.nothing_pending().await;
    assert_eq!(merchant.fates(&drips).await, ["succeeded null 1"; 3]);
    assert_eq!(merchant.fates(&other).await, ["succeeded null 1"; 2]);
    for delivery in merchant.deliveries(&drips).await {
        let delivery = merchant.delivery(&text(&delivery, "id")).await;
        let [attempt] = &delivery["attempts"].as_array().unwrap()[..] else { panic!("{delivery}") };
        assert_eq!((&attempt["outcome"], &attempt["response_status"]), (&json!("success"), &json!(200)));
    }
    // Nothing of it comes back with the next process either.
    authority.terminate().await;
    authority.restart().await;
    merchant.checkout().await;
    authority.nothing_pending().await;
    let arrivals = receiver.arrivals();
    assert_eq!((arrivals.at("/drips").count(), arrivals.at("/other").count()), (4, 3));
    assert!(arrivals.all.iter().all(|arrival| arrival.nth == 1), "none twice");
}
