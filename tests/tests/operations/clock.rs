//! A clock that steps back, in a whole service (contract 8.1, T7, I8): sequences and `created_at` go on, and the doctor
//! tells of clocks that disagree.

use std::sync::Arc;

use authority::app::merchant::operator_keys::operator_key_create;
use authority::cli::{self, Exit, Process};
use authority::dice::SystemDice;
use authority::service::Service;
use authority_domain::OperatorScope;
use serde_json::{Value, json};
use tests::authority::{Database, KEK};
use tests::clock::HandClock;
use tests::http::Api;
use tests::merchant::{checkout_body, text};
use tests::on_both_databases;
use tests::service::{new_database, serve};
use tokio::sync::watch;

on_both_databases!(a_clock_that_steps_back_breaks_no_order, the_doctor_tells_of_clocks_that_disagree);

const HOUR_MS: i64 = 3_600_000;

fn variable(database_url: &str, name: &str) -> Option<std::ffi::OsString> {
    let value = match name {
        "AUTHORITY_DATABASE_URL" => database_url,
        "AUTHORITY_SECRET_KEK" => KEK,
        _ => return None,
    };
    Some(value.into())
}

/// A service whose clock is `clock`, and its operator root.
async fn start(database_url: &str, clock: Arc<HandClock>) -> (Service, Api) {
    let service = serve(database_url, Arc::clone(&clock), Arc::default(), &[]).await;
    let (store, scopes) = (&service.app.store, OperatorScope::ALL.to_vec());
    let issued = operator_key_create(store, &*clock, &SystemDice, "tests".to_owned(), scopes).await.unwrap();
    let address = watch::Sender::new(Some(format!("http://{}", service.operator_address))).subscribe();
    (service, Api::new(address, "/v1/operator", &issued.key))
}

/// The doctor, on a machine with that clock.
async fn doctor(database_url: &str, clock: Arc<HandClock>) -> (Exit, Value) {
    let database_url = database_url.to_owned();
    let examine = move || {
        let (mut said, mut log) = (Vec::new(), Vec::new());
        let mut process = Process {
            environment: &|name| variable(&database_url, name),
            variables: &[],
            stdin: &mut std::io::empty(),
            stdout: &mut said,
            stderr: &mut log,
            colour: false,
            clock: &*clock,
        };
        let exit = cli::main(["authority", "doctor", "--json"].map(Into::into), &mut process);
        (exit, serde_json::from_slice(&said).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&log))))
    };
    tokio::task::spawn_blocking(examine).await.unwrap()
}

fn clock_check(said: &Value) -> (String, String) {
    let check = said["checks"].as_array().unwrap().iter().find(|check| check["name"] == "clock").unwrap();
    (text(check, "status"), text(check, "detail"))
}

async fn a_clock_that_steps_back_breaks_no_order(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let url = new_database(database, &folder).await;
    let clock = HandClock::following(0);
    let (service, operator) = start(&url, Arc::clone(&clock)).await;
    let body = json!({ "slug": "turned", "name": "turned", "default_currency": "USD" });
    let merchant = text(&operator.post("/merchants", &body).await.expect(201), "id");
    let checkouts = format!("/merchants/{merchant}/test/checkouts");
    let mut made = Vec::new();
    // Forward, a second back, an hour back, slowly on, and beyond where it has been.
    for by_ms in [0, 5_000, 4_000, 5_000 - HOUR_MS, 6_000 - HOUR_MS, 3 * 5_000] {
        clock.follow_at(by_ms);
        let checkout = operator.post(&checkouts, &checkout_body()).await.expect(201);
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
    let events: Vec<(i64, String)> = {
        let tenant = authority_domain::tenant::Tenant {
            merchant_id: authority_domain::id::MerchantId::parse(&merchant).unwrap(),
            livemode: false,
        };
        service.app.events_after(&tenant, 0, 100).await.unwrap()
    };
    let events: Vec<Value> = events.iter().map(|(_, body)| serde_json::from_str(body).unwrap()).collect();
    let sequences: Vec<_> = events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, (1..=12).collect::<Vec<_>>());
    let times: Vec<_> = events.iter().map(|event| text(event, "created_at")).collect();
    assert!(times.is_sorted(), "{times:?}");
    let told = |event: &&Value| event["type"] == "checkout.created";
    let ids: Vec<_> = events.iter().filter(told).map(|event| text(&event["data"]["object"], "id")).collect();
    assert_eq!(ids, made, "in the order of their making");
    service.stop().await;
    clock.follow_at(HOUR_MS);
    let (exit, said) = doctor(&url, clock).await;
    assert_eq!((&said["findings"], &said["events"]), (&json!([]), &json!(12)), "{said}");
    assert_eq!(exit, Exit::Done, "{said}");
}

async fn the_doctor_tells_of_clocks_that_disagree(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let url = new_database(database, &folder).await;
    let server = database == Database::Postgres;
    for (by_ms, told) in [(0, None), (1_000, None), (60_000, Some("ahead of")), (-60_000, Some("behind"))] {
        let (exit, said) = doctor(&url, HandClock::following(by_ms)).await;
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
    let clock = HandClock::following(0);
    let (service, operator) = start(&url, Arc::clone(&clock)).await;
    let body = json!({ "slug": "ahead", "name": "ahead", "default_currency": "USD" });
    let merchant = text(&operator.post("/merchants", &body).await.expect(201), "id");
    clock.follow_at(HOUR_MS);
    operator.post(&format!("/merchants/{merchant}/test/checkouts"), &checkout_body()).await.expect(201);
    service.stop().await;
    clock.follow_at(0);
    let (status, detail) = clock_check(&doctor(&url, clock).await.1);
    assert_eq!(status, "warning");
    assert!(
        detail.starts_with("this clock is 35") && detail.contains(" s behind the newest event; "),
        "{detail}"
    );
}
