//! A clock that steps back, in a whole service (contract 8.1, T7, I8): sequences and `created_at` go on, and the doctor
//! tells of clocks that disagree, beside the service that made them.

use std::sync::Arc;

use authority::cli::Exit;
use serde_json::{Value, json};
use tests::{Database, HandClock, InProcess, Merchant, on_both_databases, sequences, text, texts};

on_both_databases!(a_clock_that_steps_back_breaks_no_order, the_doctor_tells_of_clocks_that_disagree);

const HOUR_MS: i64 = 3_600_000;

fn clock_check(said: &Value) -> (String, String) {
    let check = said["checks"].as_array().unwrap().iter().find(|check| check["name"] == "clock").unwrap();
    (text(check, "status"), text(check, "detail"))
}

async fn a_clock_that_steps_back_breaks_no_order(database: Database) {
    let clock = HandClock::following(0);
    let service = InProcess::start_at(database, Arc::clone(&clock), &[]).await;
    let merchant = Merchant::create(&service, "turned").await;
    let operator = &merchant.operator;
    let mut made = Vec::new();
    // Forward, a second back, an hour back, slowly on, and beyond where it has been.
    for by_ms in [0, 5_000, 4_000, 5_000 - HOUR_MS, 6_000 - HOUR_MS, 3 * 5_000] {
        clock.follow_at(by_ms);
        let checkout = merchant.checkout().await;
        made.push(text(&checkout, "id"));
        // The same record once more: its own times do not step back either.
        let cancel = format!("/checkouts/{}/cancel", text(&checkout, "id"));
        clock.follow_at(by_ms - 60_000);
        let reason = json!({ "reason": "other" });
        let cancelled = operator.post(&cancel, &reason).await;
        let cancelled =
            if cancelled.status == 422 { operator.post(&cancel, &json!({})).await } else { cancelled };
        let cancelled = cancelled.expect(200);
        assert!(text(&cancelled, "updated_at") >= text(&checkout, "updated_at"), "{cancelled}");
    }
    let events = merchant.events().await;
    assert_eq!(sequences(&events), (1..=12).collect::<Vec<_>>());
    let times = texts(&events, "created_at");
    assert!(times.is_sorted(), "{times:?}");
    let told = |event: &&Value| event["type"] == "checkout.created";
    let ids: Vec<_> = events.iter().filter(told).map(|event| text(&event["data"]["object"], "id")).collect();
    assert_eq!(ids, made, "in the order of their making");
    let (exit, said) = service.doctor(HandClock::following(HOUR_MS)).await;
    assert_eq!((&said["findings"], &said["events"]), (&json!([]), &json!(12)), "{said}");
    assert_eq!(exit, Exit::Done, "{said}");
}

async fn the_doctor_tells_of_clocks_that_disagree(database: Database) {
    let clock = HandClock::following(0);
    let service = InProcess::start_at(database, Arc::clone(&clock), &[]).await;
    let server = database == Database::Postgres;
    for (by_ms, told) in [(0, None), (1_000, None), (60_000, Some("ahead of")), (-60_000, Some("behind"))] {
        let (exit, said) = service.doctor(HandClock::following(by_ms)).await;
        assert_eq!(exit, Exit::Done, "a warning fails nothing: {said}");
        let (status, detail) = clock_check(&said);
        match told.filter(|_| server) {
            Some(direction) => {
                assert_eq!(status, "warning", "{detail}");
                assert!(detail.contains(direction) && detail.ends_with("the database's"), "{detail}");
            }
            None => assert_eq!(status, "ok", "{detail}"),
        }
    }
    // A machine whose clock has stepped back since it stored the newest event.
    let merchant = Merchant::create(&service, "ahead").await;
    clock.follow_at(HOUR_MS);
    merchant.checkout().await;
    clock.follow_at(0);
    let (status, detail) = clock_check(&service.doctor(clock).await.1);
    assert_eq!(status, "warning");
    assert!(
        detail.starts_with("this clock is 35") && detail.contains(" s behind the newest event; "),
        "{detail}"
    );
}
