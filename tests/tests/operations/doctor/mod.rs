//! `authority doctor`: silent on a sound database whatever happens to it, and each kind of damage found for what it is
//! (contract 3.11, 6.4).

mod damages;
mod sharing;

use damages::damages;
use http::Method;
use serde_json::{Value, json};
use sharing::each_damage_of_sharing_is_found;
use tests::damage::{copy, damage, execute};
use tests::{
    Authority, Database, Merchant, Receiver, checkout_body, has, on_both_databases, report_body, text,
};

on_both_databases!(
    a_database_at_work_is_sound,
    a_killed_service_leaves_a_sound_database,
    each_damage_is_found_for_what_it_is,
    each_damage_of_sharing_is_found,
    a_database_without_schema_is_not_touched
);

fn check(said: &Value, name: &str) -> (String, String) {
    let check = said["checks"].as_array().unwrap().iter().find(|check| check["name"] == name);
    let check = check.unwrap_or_else(|| panic!("no {name}: {said}"));
    (text(check, "status"), text(check, "detail"))
}

/// Codes and invariants of what was found, sorted.
fn found(said: &Value) -> Vec<String> {
    let code = |finding: &Value| format!("{} {}", text(finding, "invariant"), text(finding, "code"));
    let mut codes: Vec<_> = said["findings"].as_array().unwrap().iter().map(code).collect();
    codes.sort();
    codes
}

/// An order that is paid and shipped, a checkout whose payment was declined, and an endpoint that was told and tested.
async fn business(merchant: &Merchant, receiver: &Receiver) {
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    let order = merchant.paid_order().await;
    let path = format!("/orders/{order}/shipments");
    merchant.api.post(&path, &json!({ "carrier": "dhl" })).await.expect(201);
    let test = endpoint.path("/test");
    assert_eq!(merchant.api.post(&test, &json!({})).await.status / 100, 2);
    let checkout = merchant.checkout().await;
    let payment = merchant.payment(&checkout, "automatic").await;
    let mut report = report_body("failed", "declined");
    report["failure"] = json!({ "code": "card_declined", "message": "Declined." });
    let path = format!("/payments/{}/reports", text(&payment, "id"));
    merchant.operator.post(&path, &report).await.expect(200);
    // An endpoint that came later and one that is switched off: neither has deliveries of what was before.
    merchant.endpoint(&receiver.url("/later"), &["order.*", "payment.succeeded"]).await;
    let body = json!({ "url": receiver.url("/off"), "status": "disabled" });
    merchant.api.post("/webhook-endpoints", &body).await.expect(201);
    let refunded = merchant.paid_order().await;
    let path = format!("/orders/{refunded}/refunds");
    merchant.api.post(&path, &json!({ "amount": 700 })).await.expect(201);
}

async fn a_database_at_work_is_sound(database: Database) {
    let authority = Authority::on(database, &[]).await;
    authority.is_sound().await;
    let receiver = Receiver::accepting().await;
    let merchant = Merchant::create(&authority, "at-work").await;
    business(&merchant, &receiver).await;
    let said = authority.doctor().await;
    assert_eq!(said["ok"], true, "{said}");
    assert_eq!((&said["streams"], &said["events"]), (&json!(1), &json!(21)), "{said}");
    assert_eq!(said["records"], json!(10), "three checkouts, three payments, two orders, a parcel, a refund");
    for (name, status) in
        [("database", "ok"), ("keys", "ok"), ("audit", "ok"), ("clock", "ok"), ("tls", "ok")]
    {
        assert_eq!(check(&said, name).0, status, "{said}");
    }
    let (_, clock) = check(&said, "clock");
    assert_eq!(clock == "the database has no clock of its own", database == Database::Sqlite, "{clock}");
    assert_eq!(check(&said, "keys").1, "all 3 sealed values open with the current key");

    // Beside writers the doctor sees whole commits only.
    let (orders, looks) = tokio::join!(
        async {
            merchant.paid_orders(20).await;
        },
        async {
            let mut seen = Vec::new();
            for _ in 0..5 {
                let said = authority.doctor().await;
                assert_eq!(said["ok"], true, "{said}");
                seen.push(said["events"].as_u64().unwrap());
            }
            seen
        }
    );
    let () = orders;
    assert!(looks.is_sorted() && looks.iter().all(|events| *events >= 21), "{looks:?}");
    authority.is_sound().await;

    let text_form = authority.run(&["doctor"]).await;
    let text_form = String::from_utf8(text_form.stdout).unwrap();
    assert!(
        text_form.lines().all(|line| line.contains(" ok ")) && text_form.lines().count() == 5,
        "{text_form}"
    );
}

async fn a_killed_service_leaves_a_sound_database(database: Database) {
    let (mut authority, merchant) = Merchant::on(database, "killed").await;
    for round in 0..3 {
        let writes = (0..16).map(|n| {
            let call = merchant
                .operator
                .call(Method::POST, &merchant.platform_path("checkouts"))
                .json(&checkout_body())
                .header("idempotency-key", &format!("{round}-{n}"));
            tokio::spawn(call.try_send())
        });
        let writes: Vec<_> = writes.collect();
        merchant.checkout().await;
        authority.kill().await;
        for write in writes {
            write.abort();
        }
        authority.is_sound().await;
        authority.restart().await;
        authority.is_sound().await;
    }
}

async fn a_database_without_schema_is_not_touched(database: Database) {
    let elsewhere = Authority::start(&[]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("none.db");
    let (url, reason) = match database {
        Database::Sqlite => (format!("sqlite://{}", file.display()), "unable to open database file"),
        Database::Postgres | Database::Citus => {
            (postgres_cluster::database().await, "run `authority migrate`")
        }
    };
    let said = elsewhere.doctor_of(&url).await;
    assert_eq!(said["ok"], false, "{said}");
    let (status, detail) = check(&said, "database");
    assert_eq!(status, "failed");
    assert!(detail.contains(reason), "{detail}");
    assert_eq!(check(&said, "audit").0, "skipped");
    assert!(!file.exists(), "the doctor makes nothing");
    let wrong = elsewhere.run_with(&[("AUTHORITY_SECRET_KEK", "short")], &["doctor"]).await;
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    assert!(wrong.stderr.starts_with(b"authority: AUTHORITY_SECRET_KEK must be "), "{wrong:?}");
}

async fn each_damage_is_found_for_what_it_is(database: Database) {
    let (mut authority, merchant) = Merchant::on(database, "damaged").await;
    let receiver = Receiver::accepting().await;
    business(&merchant, &receiver).await;
    authority.nothing_pending().await;
    let events = merchant.events().await;
    let tested = events.iter().find(|event| event["type"] == "webhook.test").unwrap();
    let tested_at = text(tested, "created_at");
    authority.terminate().await;
    authority.is_sound().await;

    let folder = tempfile::tempdir().unwrap();
    let look = async |url: &str| -> Value {
        let said = authority.doctor_of(url).await;
        assert_eq!((&said["ok"], check(&said, "audit").0.as_str()), (&json!(false), "failed"));
        said
    };
    for (n, (harm, expected)) in damages(&tested_at).iter().enumerate() {
        let url = copy(authority.database_url(), folder.path(), &format!("{n}.db")).await;
        assert!(damage(&url, harm).await > 0, "nothing was harmed by {harm}");
        let said = look(&url).await;
        assert_eq!(found(&said), *expected, "{harm}\n{said}");
        assert_eq!(said["findings_total"], expected.len());
        for finding in said["findings"].as_array().unwrap() {
            assert_eq!((&finding["merchant_id"], &finding["livemode"]), (&json!(merchant.id), &json!(false)));
        }
    }
    let url = copy(authority.database_url(), folder.path(), "unguarded.db").await;
    let on = if database == Database::Postgres { " ON events" } else { "" };
    execute(&url, &format!("DROP TRIGGER events_no_update{on}")).await;
    let said = look(&url).await;
    assert_eq!(found(&said), ["I9 event_guard_missing"]);
    has(&said["findings"][0], json!({ "merchant_id": null, "record": "events_no_update" }));
    // What people read says the same.
    let text_form = authority.run_with(&[("AUTHORITY_DATABASE_URL", &url)], &["doctor"]).await;
    let text_form = String::from_utf8(text_form.stdout).unwrap();
    assert!(text_form.contains("\nI9 event_guard_missing - - events_no_update: "), "{text_form}");
}
