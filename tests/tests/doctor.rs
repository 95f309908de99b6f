//! `authority doctor`: silent on a sound database whatever happens to it, and each kind of damage found for what it is
//! (contract 3.11, 6.4).

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use http::Method;
use serde_json::{Value, json};
use tests::authority::{Authority, Database};
use tests::damage::{copy, damage, execute};
use tests::merchant::{Merchant, checkout_body, report_body, text};
use tests::on_both_databases;
use tests::receiver::Receiver;

on_both_databases!(
    a_database_at_work_is_sound,
    a_killed_service_leaves_a_sound_database,
    each_damage_is_found_for_what_it_is,
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
    let test = format!("/webhook-endpoints/{}/test", endpoint.id);
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
    merchant.paid_order().await;
}

async fn a_database_at_work_is_sound(database: Database) {
    let authority = Authority::on(database, &[]).await;
    authority.is_sound().await;
    let receiver = Receiver::accepting().await;
    let merchant = Merchant::create(&authority, "at-work").await;
    business(&merchant, &receiver).await;
    let said = authority.doctor().await;
    assert_eq!(said["ok"], true, "{said}");
    assert_eq!((&said["streams"], &said["events"]), (&json!(1), &json!(19)), "{said}");
    assert_eq!(said["records"], json!(9), "three checkouts, three payments, two orders, a parcel");
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
            for _ in 0..20 {
                merchant.paid_order().await;
            }
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
    assert!(looks.is_sorted() && looks.iter().all(|events| *events >= 19), "{looks:?}");
    authority.is_sound().await;

    let text_form = authority.run(&["doctor"]).await;
    let text_form = String::from_utf8(text_form.stdout).unwrap();
    assert!(
        text_form.lines().all(|line| line.contains(" ok ")) && text_form.lines().count() == 5,
        "{text_form}"
    );
}

async fn a_killed_service_leaves_a_sound_database(database: Database) {
    let mut authority = Authority::on(database, &[]).await;
    let merchant = Merchant::create(&authority, "killed").await;
    for round in 0..3 {
        let writes = (0..16).map(|n| {
            let call = merchant.operator.call(Method::POST, &merchant.platform_path("checkouts"));
            let call = call.json(&checkout_body()).header("idempotency-key", &format!("{round}-{n}"));
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
        Database::Postgres => (postgres_cluster::database().await, "run `authority migrate`"),
    };
    let ended = elsewhere.run_with(&[("AUTHORITY_DATABASE_URL", &url)], &["doctor", "--json"]).await;
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    let said: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let (status, detail) = check(&said, "database");
    assert_eq!(status, "failed");
    assert!(detail.contains(reason), "{detail}");
    assert_eq!(check(&said, "audit").0, "skipped");
    assert!(!file.exists(), "the doctor makes nothing");
    let wrong = elsewhere.run_with(&[("AUTHORITY_SECRET_KEK", "short")], &["doctor"]).await;
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    assert!(wrong.stderr.starts_with(b"authority: AUTHORITY_SECRET_KEK must be "), "{wrong:?}");
}

/// The last event of the shipped order, its row, and one member of both.
fn on_shipped_order(from: &str, to: &str, columns: &str) -> String {
    format!(
        "UPDATE events SET body = REPLACE(body, '{from}', '{to}') WHERE type = 'order.shipped'; \
         UPDATE orders SET body = REPLACE(body, '{from}', '{to}'){columns} WHERE fulfillment_status = 'shipped';"
    )
}

/// The succeeded payment of the shipped order, likewise.
fn on_payment(from: &str, to: &str, column: &str) -> String {
    format!(
        "UPDATE events SET body = REPLACE(body, '{from}', '{to}') WHERE type = 'payment.succeeded' AND sequence < 10; \
         UPDATE payments SET body = REPLACE(body, '{from}', '{to}'), {column} \
         WHERE order_number = (SELECT order_number FROM orders WHERE fulfillment_status = 'shipped');"
    )
}

/// What is done to the database, and all that is found then.
fn damages(tested_at: &str) -> Vec<(String, Vec<&'static str>)> {
    let order = on_shipped_order;
    let shift = format!(
        "UPDATE events SET created_at = 1577836800000, \
         body = REPLACE(body, '\"created_at\":\"{tested_at}\"', '\"created_at\":\"2020-01-01T00:00:00.000Z\"') \
         WHERE type = 'webhook.test';"
    );
    let untold = "INSERT INTO checkouts (id, merchant_id, livemode, status, currency, total, expires_at, \
                      resource_version, body) \
                  SELECT 'chk_untold', merchant_id, livemode, status, currency, total, expires_at, 1, body \
                  FROM checkouts WHERE status = 'open';";
    let forget = "DELETE FROM attempts WHERE delivery_id IN (SELECT id FROM deliveries WHERE event_type = '{}'); \
                  DELETE FROM deliveries WHERE event_type = '{}';";
    let forget = |event_type: &str| forget.replace("{}", event_type);
    let forget_test = forget("webhook.test") + "DELETE FROM events WHERE type = 'webhook.test';";
    let table: Vec<(String, Vec<&'static str>)> = vec![
        (
            order("\"currency\":\"USD\"", "\"currency\":\"EUR\"", ", currency = 'EUR'"),
            vec!["I1 currency_differs", "I1 currency_differs"],
        ),
        (
            on_payment("\"amount_captured\":5300", "\"amount_captured\":9900", "amount_captured = 9900"),
            vec!["I3 payment_amounts_out_of_order"],
        ),
        (
            on_payment("\"amount_refunded\":0", "\"amount_refunded\":100", "amount_refunded = 100"),
            vec!["I2 refunded_sum_differs", "I6 payment_status_differs", "I6 payment_summary_differs"],
        ),
        (
            "UPDATE payments SET amount_refund_pending = 5, \
             body = REPLACE(body, '\"amount_refund_pending\":0', '\"amount_refund_pending\":5') \
             WHERE order_number = (SELECT order_number FROM orders WHERE fulfillment_status = 'shipped');"
                .to_owned(),
            vec!["I2 refunded_sum_differs"],
        ),
        (order("\"shipping\":500", "\"shipping\":400", ""), vec!["I4 amounts_do_not_add_up"]),
        (
            order("\"delivered_quantity\":0", "\"delivered_quantity\":3", "")
                + "UPDATE order_lines SET delivered_quantity = 3 WHERE shipped_quantity = 2;",
            vec!["I5 line_quantities_out_of_order"],
        ),
        (
            "UPDATE events SET body = REPLACE(body, '\"quantity\":2', '\"quantity\":3') WHERE type = 'shipment.created'; \
             UPDATE shipments SET body = REPLACE(body, '\"quantity\":2', '\"quantity\":3');"
                .to_owned(),
            vec!["I5 parcels_exceed_shipped"],
        ),
        (
            order("\"payment_status\":\"paid\"", "\"payment_status\":\"unpaid\"", ", payment_status = 'unpaid'"),
            vec!["I6 payment_status_differs"],
        ),
        (order("\"captured\":5300", "\"captured\":5200", ""), vec!["I6 payment_summary_differs"]),
        (
            order(
                "\"fulfillment_status\":\"shipped\"",
                "\"fulfillment_status\":\"fulfilled\"",
                ", fulfillment_status = 'fulfilled'",
            ),
            vec!["I6 fulfillment_status_differs"],
        ),
        (
            "UPDATE events SET body = REPLACE(body, '\"resource_version\":2', '\"resource_version\":7') \
             WHERE type = 'order.confirmed' AND sequence < 10;"
                .to_owned(),
            vec!["I7 version_gap", "I7 version_gap"],
        ),
        (
            "UPDATE shipments SET resource_version = 2, \
             body = REPLACE(body, '\"resource_version\":1', '\"resource_version\":2');"
                .to_owned(),
            vec!["I7 record_version_differs"],
        ),
        (forget_test, vec!["I8 sequence_gap"]),
        (shift, vec!["I8 created_at_decreases"]),
        ("UPDATE streams SET last_sequence = last_sequence + 1;".to_owned(), vec!["I8 stream_counter_differs"]),
        (
            "UPDATE events SET body = REPLACE(body, '\"livemode\":false', '\"livemode\":true') \
             WHERE type = 'webhook.test';"
                .to_owned(),
            vec!["I9 event_inconsistent"],
        ),
        (untold.to_owned(), vec!["I10 record_without_event"]),
        ("DELETE FROM shipments;".to_owned(), vec!["I10 event_without_record"]),
        (
            "UPDATE checkouts SET body = REPLACE(body, 'T-shirt', 'Jacket') WHERE status = 'open';".to_owned(),
            vec!["I10 record_differs"],
        ),
        (
            "UPDATE checkouts SET total = total + 1 WHERE status = 'open';".to_owned(),
            vec!["I10 columns_differ"],
        ),
        (
            "UPDATE order_lines SET delivered_quantity = 1 WHERE shipped_quantity = 2;".to_owned(),
            vec!["I10 columns_differ"],
        ),
        ("UPDATE shipments SET body = '{}';".to_owned(), vec!["I10 record_unreadable"]),
        (forget("shipment.created"), vec!["I12 delivery_missing"]),
        (
            "UPDATE deliveries SET event_type = 'order.created' WHERE event_type = 'shipment.created';".to_owned(),
            vec!["I12 delivery_unexpected"],
        ),
        (
            "UPDATE events SET body = REPLACE(body, '\"status\":\"created\"', '\"status\":\"cancelled\"') \
             WHERE type = 'payment.created' AND resource_id = (SELECT id FROM payments WHERE status = 'failed');"
                .to_owned(),
            vec!["I14 terminal_state_left"],
        ),
    ];
    table
}

async fn each_damage_is_found_for_what_it_is(database: Database) {
    let mut authority = Authority::on(database, &[]).await;
    let receiver = Receiver::accepting().await;
    let merchant = Merchant::create(&authority, "damaged").await;
    business(&merchant, &receiver).await;
    authority.nothing_pending().await;
    let events = merchant.events().await;
    let tested = events.iter().find(|event| event["type"] == "webhook.test").unwrap();
    let tested_at = text(tested, "created_at");
    authority.terminate().await;
    authority.is_sound().await;

    let folder = tempfile::tempdir().unwrap();
    let look = async |url: &str| -> Value {
        let ended = authority.run_with(&[("AUTHORITY_DATABASE_URL", url)], &["doctor", "--json"]).await;
        let said: Value = serde_json::from_slice(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
        assert_eq!(ended.status.code(), Some(1), "{said}");
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
    assert_eq!(
        (&said["findings"][0]["merchant_id"], &said["findings"][0]["record"]),
        (&json!(null), &json!("events_no_update"))
    );
    // What people read says the same.
    let text_form = authority.run_with(&[("AUTHORITY_DATABASE_URL", &url)], &["doctor"]).await;
    let text_form = String::from_utf8(text_form.stdout).unwrap();
    assert!(text_form.contains("\nI9 event_guard_missing - - events_no_update: "), "{text_form}");
}
