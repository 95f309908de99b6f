//! Fault G: the receiver lets one request per second through and answers the others `429 Retry-After: 1`. The peer sent
//! it 20 messages in 1.0 s.

use std::sync::{Arc, Mutex};

use tests::{Answer, Database, HandClock, InProcess, Merchant, Receiver, on_both_databases};

on_both_databases!(twenty_messages_arrive_at_the_receivers_rate_without_hammering);

const MESSAGES: usize = 20;
/// Requests that one endpoint may have in flight (contract 7.4).
const CAP: usize = 8;

/// The service and its receiver have one clock, which is turned only when nothing is in flight: the times below are
/// exact.
async fn twenty_messages_arrive_at_the_receivers_rate_without_hammering(database: Database) {
    let clock = HandClock::standing();
    let schedule = format!("0{}", ",1".repeat(MESSAGES));
    let variables = [("AUTHORITY_RETRY_SCHEDULE", &*schedule)];
    let service = InProcess::start_at(database, Arc::clone(&clock), &variables).await;
    let start = clock.shown();
    // When each request came, in milliseconds after the start, and whether it was let through.
    let log = Arc::<Mutex<Vec<(i64, bool)>>>::default();
    let (now, seen) = (Arc::clone(&clock), Arc::clone(&log));
    let receiver = Receiver::start(move |_| {
        let (at, mut seen) = (now.shown() - start, seen.lock().unwrap());
        let last = seen.iter().rev().find(|(_, let_through)| *let_through);
        let let_through = last.is_none_or(|(last, _)| at - last >= 1_000);
        seen.push((at, let_through));
        if let_through { Answer::status(200) } else { Answer::status(429).with("retry-after", "1") }
    })
    .await;
    let merchant = Merchant::create(&service, "limited").await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    merchant.checkouts(MESSAGES).await;
    service.play_out().await;
    let log = log.lock().unwrap().clone();
    let let_through: Vec<i64> = log.iter().filter(|(_, through)| *through).map(|(at, _)| *at).collect();
    assert_eq!(
        let_through,
        Vec::from_iter((0..MESSAGES as i64).map(|second| second * 1_000)),
        "one a second"
    );
    for second in 0..MESSAGES as i64 {
        let asked = log.iter().filter(|(at, _)| at.div_euclid(1_000) == second).count();
        assert!(asked <= 1 + CAP, "{asked} requests in second {second}: {log:?}");
    }
    let fates = merchant.fates(&endpoint).await;
    assert!(fates.iter().all(|fate| fate.starts_with("succeeded null")), "{fates:?}");
    println!("{} requests for {MESSAGES} messages", log.len());
    service.stop().await;
}
