//! A4: a change is made against the version that its author saw (contract 4.4, 4.6).

use http::Method;
use serde_json::{Value, json};
use tests::{Authority, Database, Merchant, Reply, on_every_database};

on_every_database!(
    a04_a_change_is_made_against_a_version,
    a04_every_form_of_if_match,
    a04_strict_merchants_insist,
);

async fn fulfil(merchant: &Merchant, order: &str, if_match: &[&str], body: &Value) -> Reply {
    let call = merchant.api.call(Method::PATCH, &format!("/orders/{order}/fulfillment")).json(body);
    if_match.iter().fold(call, |call, value| call.header("if-match", value)).send().await
}

fn note(text: &str) -> Value {
    json!({ "note": text })
}

async fn a04_a_change_is_made_against_a_version(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "versions").await;
    let order = merchant.paid_order().await;
    let read = merchant.api.get(&format!("/orders/{order}")).await;
    assert_eq!(read.header("etag"), Some("\"2\""));

    let fulfilled = json!({ "fulfillment_status": "fulfilled" });
    let changed = fulfil(&merchant, &order, &["\"2\""], &fulfilled).await;
    assert_eq!(changed.expect(200)["resource_version"], 3);
    assert_eq!(changed.header("etag"), Some("\"3\""));
    let events = merchant.events().await.len();

    let stale = fulfil(&merchant, &order, &["\"2\""], &note("late")).await;
    let problem = stale.refused(409, "resource_version_conflict");
    assert_eq!((&problem["current_version"], &problem["supplied_version"]), (&json!(3), &json!(2)));
    assert_eq!(merchant.events().await.len(), events);
    // What is asked for is there already: no version, no event.
    let same = fulfil(&merchant, &order, &["3"], &fulfilled).await;
    assert_eq!(same.expect(200)["resource_version"], 3);
    assert_eq!(merchant.events().await.len(), events);
    let without = fulfil(&merchant, &order, &[], &note("no condition")).await;
    assert_eq!(without.expect(200)["resource_version"], 4);
    assert_eq!(merchant.events().await.len(), events + 1);
}

async fn a04_every_form_of_if_match(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "forms").await;
    let order = merchant.paid_order().await;
    for (version, form) in (2..).zip(["2", "\"3\"", "W/\"4\"", "*"]) {
        let changed = fulfil(&merchant, &order, &[form], &note(form)).await;
        assert_eq!(changed.expect(200)["resource_version"], version + 1, "{form}");
    }
    let bad = [
        "\"6\", \"7\"",
        "\"abc\"",
        "abc",
        "06",
        "+6",
        "-6",
        "6.0",
        "9007199254740992",
        "w/\"6\"",
        "\"6",
        "**",
    ];
    for form in bad {
        let problem = fulfil(&merchant, &order, &[form], &note("x")).await.refused(400, "invalid_if_match");
        assert_eq!(problem["param"], "If-Match", "{form}");
    }
    fulfil(&merchant, &order, &["6", "6"], &note("x")).await.refused(400, "invalid_if_match");
    let unknown = fulfil(&merchant, &order, &["9007199254740991"], &note("x")).await;
    unknown.refused(409, "resource_version_conflict");
    // `*` asks for the record to exist, and nothing else.
    fulfil(&merchant, "ORD-999999", &["*"], &note("x")).await.refused(404, "not_found");
    assert_eq!(merchant.order(&order).await["resource_version"], 6);
}

async fn a04_strict_merchants_insist(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let settings = json!({ "require_if_match": true });
    let merchant = Merchant::with_settings(&authority, "strict", settings).await;
    let order = merchant.paid_order().await;
    for path in ["fulfillment", "shipments", "refunds"] {
        let method = if path == "fulfillment" { Method::PATCH } else { Method::POST };
        let body =
            json!({ "fulfillment": { "note": "x" }, "shipments": { "carrier": "dhl" }, "refunds": {} });
        let call = merchant.api.call(method, &format!("/orders/{order}/{path}")).json(&body[path]);
        let problem = call.send().await.refused(428, "precondition_required");
        assert_eq!(problem["param"], "If-Match");
    }
    assert_eq!(merchant.order(&order).await["resource_version"], 2);
    fulfil(&merchant, &order, &["2"], &note("seen")).await.expect(200);
}
