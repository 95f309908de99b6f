//! The fixed event sequences of contract 3.9, through HTTP: what happens, and exactly which events say so, in which
//! order, with which version of the record (contract 3, general rules 2 to 5).

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tests::{
    Authority, EventPosition, Merchant, checkout_body, has, payment_body, position_of, report_body, text,
};

/// Events from `first` on, one after the other.
pub(crate) fn from(first: u64, events: &[(&str, u64)]) -> Vec<EventPosition> {
    let position_of = |(sequence, (event_type, version)): (u64, &(&str, u64))| EventPosition {
        sequence,
        event_type: (*event_type).to_owned(),
        version: Some(*version),
    };
    (first..).zip(events).map(position_of).collect()
}

/// What holds for every event: the envelope of contract 2.10, the link of contract 3.10, and that the link leads to
/// the record as the last event about it shows it.
async fn check_envelopes(merchant: &Merchant, slug: &str) {
    let mut latest = BTreeMap::new();
    let mut created_at = String::new();
    for (event, sequence) in merchant.events().await.iter().zip(1_u64..) {
        let object = &event["data"]["object"];
        let category = text(event, "type").split('.').next().unwrap().to_owned();
        let link = match category.as_str() {
            "order" => json!({ "resource": format!("/v1/merchant/orders/{}", text(object, "order_number")) }),
            "payment" | "shipment" => {
                json!({ "resource": format!("/v1/merchant/{category}s/{}", text(object, "id")) })
            }
            _ => Value::Null,
        };
        assert_eq!(event["links"], link, "{event}");
        assert_eq!(event.get("links").is_none(), category == "checkout", "{event}");
        assert_eq!(object["object"], category.as_str());
        let expected = json!({
            "resource_version": object["resource_version"], "sequence": sequence, "livemode": false,
            "api_version": "2026-09-01", "merchant": { "id": merchant.id, "slug": slug },
        });
        has(event, expected);
        assert!(text(event, "created_at") >= created_at);
        created_at = text(event, "created_at");
        if let Some(link) = link["resource"].as_str() {
            latest.insert(link.strip_prefix("/v1/merchant").unwrap().to_owned(), object.clone());
        }
    }
    for (path, object) in latest {
        assert_eq!(merchant.api.get(&path).await.expect(200), object, "{path}");
    }
}

/// Rows 1, 2 and 10.
#[tokio::test]
async fn paid_at_once_and_shipped_whole() {
    let (_authority, merchant) = Merchant::alone("rows-1-2-10").await;

    let checkout = merchant.checkout().await;
    assert_eq!(merchant.events_after(0).await, from(1, &[("checkout.created", 1)]));

    let payment = merchant.payment(&checkout, "automatic").await;
    assert_eq!(payment["order_number"], Value::Null);
    let reported = merchant.report(&payment, "succeeded").await;
    assert_eq!(reported["applied"], true);
    let row_2 = [
        ("payment.created", 1),
        ("checkout.completed", 2),
        ("order.created", 1),
        ("payment.succeeded", 2),
        ("order.confirmed", 2),
    ];
    assert_eq!(merchant.events_after(1).await, from(2, &row_2));
    let events = merchant.events().await;
    let objects: Vec<&Value> = events.iter().map(|event| &event["data"]["object"]).collect();
    let number = "ORD-100001";
    assert_eq!(objects[1]["order_number"], Value::Null);
    assert_eq!(objects[2]["order_number"], number);
    assert_eq!(objects[4]["order_number"], number);
    let state =
        |order: &Value| ["status", "payment_status", "fulfillment_status"].map(|name| text(order, name));
    assert_eq!(state(objects[3]), ["pending", "pending", "unfulfilled"]);
    assert_eq!(state(objects[5]), ["confirmed", "paid", "unfulfilled"]);
    assert_eq!(objects[5]["amounts"]["total"], 5300);
    assert_eq!(objects[5]["payment_ids"], json!([payment["id"]]));

    let path = format!("/orders/{number}/shipments");
    let shipped = merchant.api.post(&path, &json!({ "carrier": "dhl", "tracking_number": "JD01" })).await;
    let shipment = shipped.expect(201);
    assert_eq!(merchant.events_after(6).await, from(7, &[("shipment.created", 1), ("order.shipped", 3)]));
    assert_eq!(
        shipped.header("location"),
        Some(&*format!("/v1/merchant/shipments/{}", text(&shipment, "id")))
    );
    let order = merchant.order(number).await;
    assert_eq!(state(&order), ["confirmed", "paid", "shipped"]);
    check_envelopes(&merchant, "rows-1-2-10").await;
}

/// A repeated report and a late one of lower rank change nothing (contract 3.5, 6.2).
#[tokio::test]
async fn reports_that_say_nothing_new_emit_nothing() {
    let (_authority, merchant) = Merchant::alone("old-news").await;
    let checkout = merchant.checkout().await;
    let payment = merchant.payment(&checkout, "automatic").await;
    let first = merchant.report(&payment, "succeeded").await;
    let events = merchant.events().await;
    assert_eq!(events.len(), 6);

    let path = format!("/payments/{}/reports", text(&payment, "id"));
    for (status, id) in [("succeeded", "again"), ("authorized", "late-1"), ("pending", "late-2")] {
        let reported = merchant.operator.post(&path, &report_body(status, id)).await.expect(200);
        assert_eq!(
            reported,
            json!({ "object": "report_result", "applied": false, "payment": first["payment"] })
        );
    }
    assert_eq!(merchant.report(&payment, "succeeded").await["applied"], false);
    let start = payment_body(&checkout, "automatic", &format!("start:{}", text(&checkout, "id")));
    let started = merchant.operator.post(&merchant.platform_path("payments"), &start).await.expect(200);
    assert_eq!(started, first["payment"]);
    assert_eq!(merchant.events().await, events);
}

/// Row 3 and its later capture.
#[tokio::test]
async fn authorized_first_and_captured_later() {
    let (_authority, merchant) = Merchant::alone("row-3").await;
    let payment = merchant.payment(&merchant.checkout().await, "manual").await;
    merchant.report(&payment, "authorized").await;
    let authorized = [
        ("payment.created", 1),
        ("checkout.completed", 2),
        ("order.created", 1),
        ("payment.authorized", 2),
        ("order.updated", 2),
    ];
    assert_eq!(merchant.events_after(1).await, from(2, &authorized));
    let order = merchant.order("ORD-100001").await;
    assert_eq!((&order["status"], &order["payment_status"]), (&json!("pending"), &json!("authorized")));

    merchant.report(&payment, "succeeded").await;
    assert_eq!(merchant.events_after(6).await, from(7, &[("payment.succeeded", 3), ("order.confirmed", 3)]));
    let order = merchant.order("ORD-100001").await;
    assert_eq!((&order["status"], &order["payment_status"]), (&json!("confirmed"), &json!("paid")));
    check_envelopes(&merchant, "row-3").await;
}

/// Row 3 for a merchant that confirms on the authorization.
#[tokio::test]
async fn an_authorization_confirms_where_the_merchant_says_so() {
    let authority = Authority::start(&[]).await;
    let settings = json!({ "confirm_on": "authorized" });
    let merchant = Merchant::with_settings(&authority, "row-3-early", settings).await;
    let payment = merchant.payment(&merchant.checkout().await, "manual").await;
    merchant.report(&payment, "authorized").await;
    assert_eq!(merchant.events_after(5).await, from(6, &[("order.confirmed", 2)]));
    merchant.report(&payment, "succeeded").await;
    assert_eq!(merchant.events_after(6).await, from(7, &[("payment.succeeded", 3), ("order.updated", 3)]));
}

/// Row 4, both ways it can end.
#[tokio::test]
async fn an_asynchronous_method_succeeds_or_fails_later() {
    let authority = Authority::start(&[]).await;
    let endings = [
        ("succeeded", [("payment.succeeded", 3), ("order.confirmed", 2)], ["confirmed", "paid"]),
        ("failed", [("payment.failed", 3), ("order.updated", 2)], ["pending", "failed"]),
    ];
    for (status, ending, state) in endings {
        let slug = format!("row-4-{status}");
        let merchant = Merchant::create(&authority, &slug).await;
        let payment = merchant.payment(&merchant.checkout().await, "automatic").await;
        merchant.report(&payment, "pending").await;
        let accepted =
            [("payment.created", 1), ("checkout.completed", 2), ("order.created", 1), ("payment.pending", 2)];
        assert_eq!(merchant.events_after(1).await, from(2, &accepted));
        assert_eq!(merchant.order("ORD-100001").await["payment_status"], "pending");

        merchant.report(&payment, status).await;
        assert_eq!(merchant.events_after(5).await, from(6, &ending));
        let order = merchant.order("ORD-100001").await;
        assert_eq!([text(&order, "status"), text(&order, "payment_status")], state);
        check_envelopes(&merchant, &slug).await;
    }
}

/// Row 5, and that the checkout takes another attempt afterwards.
#[tokio::test]
async fn declined_and_paid_at_the_second_try() {
    let (_authority, merchant) = Merchant::alone("row-5").await;
    let checkout = merchant.checkout().await;
    let payment = merchant.payment(&checkout, "automatic").await;
    let mut report = report_body("failed", "declined");
    report["failure"] = json!({ "code": "card_declined", "message": "The card was declined." });
    let path = format!("/payments/{}/reports", text(&payment, "id"));
    merchant.operator.post(&path, &report).await.expect(200);
    let declined = [("payment.created", 1), ("payment.failed", 2), ("checkout.payment_failed", 2)];
    assert_eq!(merchant.events_after(1).await, from(2, &declined));
    let events = merchant.events().await;
    let checkout_then = &events[3]["data"]["object"];
    assert_eq!(checkout_then["status"], "open");
    assert_eq!(checkout_then["payment_attempts"], 1);
    assert_eq!(checkout_then["last_payment_error"], report["failure"]);
    assert_eq!(merchant.api.get("/orders").await.expect(200)["data"], json!([]));

    let again = payment_body(&checkout, "automatic", "second-try");
    let again = merchant.operator.post(&merchant.platform_path("payments"), &again).await.expect(201);
    merchant.report(&again, "succeeded").await;
    let paid = [
        ("payment.created", 1),
        ("checkout.completed", 3),
        ("order.created", 1),
        ("payment.succeeded", 2),
        ("order.confirmed", 2),
    ];
    assert_eq!(merchant.events_after(4).await, from(5, &paid));
    check_envelopes(&merchant, "row-5").await;
}

/// Row 11, then row 10 for the rest.
#[tokio::test]
async fn shipped_in_parts() {
    let (_authority, merchant) = Merchant::alone("row-11").await;
    let number = merchant.paid_order().await;
    let line = merchant.order(&number).await["line_items"][0]["id"].clone();
    let path = format!("/orders/{number}/shipments");

    let part = json!({ "carrier": "ups", "line_items": [{ "line_item_id": line, "quantity": 1 }] });
    merchant.api.post(&path, &part).await.expect(201);
    assert_eq!(merchant.events_after(6).await, from(7, &[("shipment.created", 1), ("order.updated", 3)]));
    let order = merchant.order(&number).await;
    assert_eq!(order["fulfillment_status"], "partially_shipped");
    assert_eq!(order["line_items"][0]["shipped_quantity"], 1);

    let rest = merchant.api.post(&path, &json!({ "carrier": "ups" })).await.expect(201);
    assert_eq!(rest["line_items"], json!([{ "line_item_id": line, "quantity": 1 }]));
    assert_eq!(merchant.events_after(8).await, from(9, &[("shipment.created", 1), ("order.shipped", 4)]));
    assert_eq!(merchant.order(&number).await["fulfillment_status"], "shipped");
    check_envelopes(&merchant, "row-11").await;
}

/// Each merchant's stream, and each mode's, begins at 1 and counts for itself (contract 8.1).
#[tokio::test]
async fn streams_count_for_themselves() {
    let (authority, one) = Merchant::alone("stream-one").await;
    let two = Merchant::create(&authority, "stream-two").await;
    one.paid_order().await;
    two.checkout().await;
    let live_path = format!("/merchants/{}/live/checkouts", one.id);
    let live_checkout = one.operator.post(&live_path, &checkout_body()).await.expect(201);
    assert_eq!(one.events().await.len(), 6);
    assert_eq!(two.events_after(0).await, from(1, &[("checkout.created", 1)]));
    let live = authority.merchant(&one.issue_key("live", &["events:read"]).await);
    let live_events = live.get("/events").await.expect(200)["data"].as_array().unwrap().clone();
    assert_eq!(live_events.iter().map(position_of).collect::<Vec<_>>(), from(1, &[("checkout.created", 1)]));
    assert_eq!(live_events[0]["livemode"], true);
    assert_eq!(live_events[0]["data"]["object"], live_checkout);
}
