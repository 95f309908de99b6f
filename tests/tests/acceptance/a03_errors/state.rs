//! Requests that can be read, but not granted: the state is against them (409), or their members are wrong (422)
//! (contract 4.2 rows 12 and 14 to 16).

use http::Method;
use serde_json::{Value, json};
use tests::{Call, Merchant, Shop, checkout_body, payment_body, report_body, shipments, text};

fn ship(shop: &Shop, order: &str, body: &Value) -> Call {
    shop.merchant.api.call(Method::POST, &shipments(order)).json(body)
}

fn endpoint(shop: &Shop, body: &Value) -> Call {
    shop.merchant.api.call(Method::POST, "/webhook-endpoints").json(body)
}

/// What the state forbids.
pub(super) async fn conflicts(shop: &mut Shop) {
    let (order, pending, shipped) = (shop.order.clone(), shop.pending.clone(), shop.shipped.clone());
    let parcel = json!({ "carrier": "dhl", "tracking_number": "JD01" });
    for supplied in ["1", "\"1\"", "W/\"1\""] {
        let call = ship(shop, &order, &parcel).header("if-match", supplied);
        let facts = json!({ "current_version": 2, "supplied_version": 1 });
        shop.refuses(call, 409, "resource_version_conflict", facts).await;
    }
    let facts = json!({ "current_status": "pending" });
    let call = ship(shop, &pending, &parcel);
    shop.refuses(call, 409, "order_not_fulfillable", facts).await;
    let made =
        shop.merchant.events().await.into_iter().find(|event| event["type"] == "shipment.created").unwrap();
    let call = ship(shop, &shipped, &parcel);
    let facts = json!({ "shipment_id": made["data"]["object"]["id"] });
    shop.refuses(call, 409, "shipment_exists", facts).await;
    let call = ship(shop, &shipped, &json!({ "carrier": "dhl" }));
    shop.refuses(call, 409, "nothing_to_ship", json!({})).await;
    let call = shop.merchant.api.call(Method::POST, &shop.disabled.path("/test"));
    shop.refuses(call, 409, "endpoint_disabled", json!({})).await;

    let ended = shop.merchant.endpoint("https://hooks.example.com/", &["*"]).await.id;
    let nothing = json!({ "since": "2100-01-01T00:00:00Z" });
    let recovery =
        shop.merchant.api.post(&format!("/webhook-endpoints/{ended}/recover"), &nothing).await.expect(202);
    let path = format!("/endpoint-recoveries/{}/cancel", recovery["id"].as_str().unwrap());
    let call = shop.merchant.api.call(Method::POST, &path);
    shop.refuses(call, 409, "recovery_finished", json!({})).await;

    let crowded = Merchant::create(&shop.authority, "crowded").await;
    for _ in 0..16 {
        crowded.endpoint("https://hooks.example.com/", &["*"]).await;
    }
    let call = crowded
        .api
        .call(Method::POST, "/webhook-endpoints")
        .json(&json!({ "url": "https://hooks.example.com/" }));
    let facts = json!({ "limit": "endpoints", "limit_value": 16 });
    shop.refuses(call, 409, "endpoint_limit_reached", facts).await;
    assert_eq!(crowded.api.get("/webhook-endpoints").await.expect(200)["data"].as_array().unwrap().len(), 16);
}

/// What consumers that keep a copy are refused.
pub(super) async fn copies(shop: &mut Shop) {
    let (order, pending) = (shop.order.clone(), shop.pending.clone());
    let copying = Merchant::create(&shop.authority, "copying").await;
    let start = text(&copying.api.get("/events").await.expect(200), "resume_cursor");
    copying.checkout().await;
    let end = text(&copying.api.get("/events").await.expect(200), "resume_cursor");
    let acknowledge = |name: &str, cursor: &str| {
        let body = json!({ "name": name, "cursor": cursor });
        copying.api.call(Method::POST, "/sync/checkpoints").json(&body)
    };
    for n in 0..100 {
        acknowledge(&format!("c{n}"), &end).send().await.expect(200);
    }
    let facts = json!({ "current_position": 1 });
    shop.refuses(acknowledge("c7", &start), 409, "checkpoint_regression", facts).await;
    shop.refuses(acknowledge("one-more", &end), 409, "checkpoint_limit_reached", json!({})).await;
    shop.refuses(acknowledge("c7", &end.replace('A', "B")), 400, "invalid_cursor", json!({})).await;

    let elsewhere = (copying.paid_order().await, copying.paid_order().await);
    let name = |order: &str| {
        let path = format!("/orders/{order}/external-references/erp");
        copying.api.call(Method::PUT, &path).json(&json!({ "id": "SO-1" }))
    };
    name(&elsewhere.0).send().await.expect(200);
    let facts = json!({ "order_number": elsewhere.0 });
    shop.refuses(name(&elsewhere.1), 409, "external_reference_conflict", facts).await;
    for order in [&order, &pending] {
        let path = format!("/orders/{order}/external-references/E.R.P");
        let call = shop.merchant.api.call(Method::PUT, &path).json(&json!({ "id": "SO-1" }));
        shop.refuses(call, 400, "invalid_parameter", json!({ "param": "system" })).await;
    }
}

/// What is wrong with a body.
pub(super) async fn wrong_members(shop: &mut Shop) {
    let order = shop.order.clone();
    let line = shop.merchant.order(&order).await["line_items"][0]["id"].clone();
    let lines = |quantity: i64| json!([{ "line_item_id": line, "quantity": quantity }]);
    let invalid = [
        (json!({}), json!([["/carrier", "required"]])),
        (json!([]), json!([["", "wrong_type"]])),
        (json!({ "carrier": "" }), json!([["/carrier", "too_short"]])),
        (json!({ "carrier": "x".repeat(65) }), json!([["/carrier", "too_long"]])),
        (json!({ "carrier": "a\u{7}" }), json!([["/carrier", "control_character"]])),
        (
            json!({ "carrier": 1, "tracking_url": "http://a.example/", "line_items": [] }),
            json!([
                ["/carrier", "wrong_type"],
                ["/tracking_url", "invalid_url"],
                ["/line_items", "too_short"]
            ]),
        ),
        (
            json!({ "carrier": "a", "line_items": [{ "line_item_id": "li_x", "quantity": 1 }] }),
            json!([["/line_items/0/line_item_id", "unknown_reference"]]),
        ),
        (
            json!({ "carrier": "a", "line_items": lines(0) }),
            json!([["/line_items/0/quantity", "out_of_range"]]),
        ),
        (
            json!({ "carrier": "a", "shipped_at": "2999-01-01T00:00:00Z" }),
            json!([["/shipped_at", "out_of_range"]]),
        ),
    ];
    for (body, errors) in invalid {
        shop.refuses(ship(shop, &order, &body), 422, "validation_failed", json!({ "errors": errors })).await;
    }
    let body = json!({ "carrier": "a", "carier": "b" });
    let facts = json!({ "errors": [["/carier", "unknown_field"]] });
    shop.refuses(ship(shop, &order, &body), 422, "unknown_field", facts).await;
    let body = json!({ "carrier": "a", "status": "delivered" });
    let facts = json!({ "errors": [["/status", "field_not_writable"]] });
    shop.refuses(ship(shop, &order, &body), 422, "field_not_writable", facts).await;
    let body = json!({ "carrier": "a", "line_items": lines(3) });
    let facts = json!({ "line_item_id": line, "shippable": 2 });
    shop.refuses(ship(shop, &order, &body), 422, "quantity_exceeded", facts).await;

    for (url, code) in [
        ("http://hooks.example.com/", "url_scheme"),
        ("https://user@hooks.example.com/", "url_userinfo"),
        ("https://hooks.example.com/#a", "url_fragment"),
        ("https://10.0.0.1/", "url_host"),
        ("https://2130706433/", "url_host"),
        ("https://printer.local/", "url_host_denied"),
        ("https://hooks.example.com:25/", "url_port"),
        ("hooks.example.com", "invalid_url"),
    ] {
        let facts = json!({ "errors": [["/url", code]] });
        shop.refuses(endpoint(shop, &json!({ "url": url })), 422, "endpoint_url_forbidden", facts).await;
    }
    let body = json!({ "url": "https://hooks.example.com/", "enabled_events": ["order.lost"] });
    let facts = json!({ "errors": [["/enabled_events/0", "invalid_value"]] });
    shop.refuses(endpoint(shop, &body), 422, "validation_failed", facts).await;

    let key = ("idempotency-key", "one-logical-write");
    let first = endpoint(shop, &json!({ "url": "https://a.example.com/" })).header(key.0, key.1);
    first.send().await.expect(201);
    let other = endpoint(shop, &json!({ "url": "https://b.example.com/" })).header(key.0, key.1);
    let facts = json!({ "param": "Idempotency-Key" });
    shop.refuses(other, 422, "idempotency_key_reused", facts.clone()).await;
    let elsewhere = ship(shop, &order, &json!({ "carrier": "dhl" })).header(key.0, key.1);
    shop.refuses(elsewhere, 422, "idempotency_key_reused", facts).await;
}

/// Merchants that insist on the headers that others may leave out.
pub(super) async fn strict_merchants(shop: &mut Shop) {
    let settings = json!({ "require_if_match": true, "require_idempotency_key": true });
    let strict = Merchant::with_settings(&shop.authority, "strict", settings).await;
    let order = strict.paid_order().await;
    let ship = || strict.api.call(Method::POST, &shipments(&order)).json(&json!({ "carrier": "dhl" }));
    let facts = json!({ "param": "Idempotency-Key" });
    shop.refuses(ship().header("if-match", "2"), 400, "idempotency_key_required", facts).await;
    let facts = json!({ "param": "If-Match" });
    shop.refuses(ship().header("idempotency-key", "k"), 428, "precondition_required", facts).await;
    assert_eq!(strict.order(&order).await["resource_version"], 2);
    ship().header("idempotency-key", "k").header("if-match", "\"2\"").send().await.expect(201);
}

/// What the platform reports is checked as well (contract 6.2).
pub(super) async fn reports(shop: &mut Shop) {
    let seller = Merchant::create(&shop.authority, "seller").await;
    let payments =
        |body: &Value| seller.operator.call(Method::POST, &seller.platform_path("payments")).json(body);
    let checkout = seller.checkout().await;
    let mut in_euro = payment_body(&checkout, "automatic", "euro");
    in_euro["currency"] = json!("EUR");
    shop.refuses(payments(&in_euro), 422, "currency_mismatch", json!({})).await;
    let mut short = payment_body(&checkout, "automatic", "short");
    short["amount"] = json!(5299);
    let facts = json!({ "errors": [["/amount", "inconsistent"]] });
    shop.refuses(payments(&short), 422, "validation_failed", facts).await;
    assert_eq!(seller.events().await.len(), 1);

    let payment = seller.payment(&checkout, "automatic").await;
    let second = payment_body(&checkout, "automatic", "second");
    let facts = json!({ "current_status": "open" });
    shop.refuses(payments(&second), 409, "invalid_state_transition", facts).await;
    seller.report(&payment, "succeeded").await;
    let facts = json!({ "current_status": "completed" });
    shop.refuses(payments(&second), 409, "invalid_state_transition", facts).await;
    let report = seller.operator.call(Method::POST, &format!("/payments/{}/reports", text(&payment, "id")));
    let call = report.json(&report_body("failed", "contradiction"));
    // Twice: had the first left its mark, the second would be an old report that says nothing new.
    for call in [call.clone(), call] {
        shop.refuses(call, 409, "processor_conflict", json!({ "current_status": "succeeded" })).await;
    }
    let mut taken = checkout_body();
    taken["amounts"] = json!({ "total": 1 });
    let call = seller.operator.call(Method::POST, &seller.platform_path("checkouts")).json(&taken);
    let facts = json!({ "errors": [["/amounts", "field_not_writable"]] });
    shop.refuses(call, 422, "field_not_writable", facts).await;
    assert_eq!(seller.events().await.len(), 6);
}
