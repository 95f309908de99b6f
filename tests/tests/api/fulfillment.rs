//! Fulfilment and parcels through HTTP: the sequences of contract 3.9 rows 9 to 13, and what carriers report (3.7).

use http::Method;
use serde_json::{Value, json};
use tests::{Authority, Call, Merchant, Reply, has, shipments, text};

pub(crate) fn patch(merchant: &Merchant, order: &str) -> Call {
    merchant.api.call(Method::PATCH, &format!("/orders/{order}/fulfillment"))
}

pub(crate) async fn set(merchant: &Merchant, order: &str, body: &Value) -> Reply {
    patch(merchant, order).json(body).send().await
}

async fn carry(merchant: &Merchant, parcel: &Value, body: &Value) -> Reply {
    merchant.operator.post(&format!("/shipments/{}/reports", text(parcel, "id")), body).await
}

pub(crate) async fn ship(merchant: &Merchant, order: &str, body: Value) -> Value {
    merchant.ship(order, &body).await
}

/// Name and version of every event behind the first `known`.
async fn events_after(merchant: &Merchant, known: usize) -> Vec<(String, u64)> {
    let events = merchant.events_after(known).await;
    events.into_iter().map(|event| (event.event_type, event.version.unwrap())).collect()
}

fn events(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    expected.iter().map(|(name, version)| ((*name).to_owned(), *version)).collect()
}

/// Row 9, then the way on to `delivered` without a carrier, which completes the order.
#[tokio::test]
async fn set_by_the_merchant_step_by_step() {
    let (_authority, merchant) = Merchant::alone("row-9").await;
    let order = merchant.paid_order().await;

    let fulfilled = set(&merchant, &order, &json!({ "fulfillment_status": "fulfilled" })).await;
    assert_eq!(fulfilled.header("etag"), Some("\"3\""));
    assert_eq!(fulfilled.expect(200), merchant.order(&order).await);
    assert_eq!(events_after(&merchant, 6).await, events(&[("order.fulfilled", 3)]));

    let same = set(&merchant, &order, &json!({ "fulfillment_status": "fulfilled" })).await;
    assert_eq!((same.header("etag"), same.expect(200)), (Some("\"3\""), fulfilled.json()));
    set(&merchant, &order, &json!({ "fulfillment_status": "unfulfilled", "note": "not yet" }))
        .await
        .expect(200);
    let back = merchant.order(&order).await;
    assert_eq!((&back["fulfilled_at"], &back["fulfillment_note"]), (&Value::Null, &json!("not yet")));
    set(&merchant, &order, &json!({ "fulfillment_status": "shipped" })).await.expect(200);
    // The parcel's data comes later and changes no quantity (contract 3.7).
    let parcel = ship(&merchant, &order, json!({ "carrier": "dhl" })).await;
    let done = set(&merchant, &order, &json!({ "fulfillment_status": "delivered" })).await.expect(200);
    assert_eq!([&done["status"], &done["fulfillment_status"]], ["completed", "delivered"]);
    let way = [
        ("order.updated", 4),
        ("order.shipped", 5),
        ("shipment.created", 1),
        ("shipment.delivered", 2),
        ("order.delivered", 6),
    ];
    assert_eq!(events_after(&merchant, 7).await, events(&way));
    let parcel = merchant.api.get(&format!("/shipments/{}", text(&parcel, "id"))).await.expect(200);
    assert_eq!([&parcel["status"], &parcel["delivered_at"]], [&json!("delivered"), &done["delivered_at"]]);

    set(&merchant, &order, &json!({ "fulfillment_status": "delivered" })).await.expect(200);
    let late = set(&merchant, &order, &json!({ "note": "late" })).await;
    assert_eq!(late.refused(409, "order_not_fulfillable")["current_status"], "completed");
    assert_eq!(merchant.events().await.len(), 12);
}

/// Rows 10 to 13: two parcels on their way, one of them held up; the last one delivers and completes the order.
#[tokio::test]
async fn carried_to_the_customer() {
    let (_authority, merchant) = Merchant::alone("row-13").await;
    let order = merchant.paid_order().await;
    let line = merchant.order(&order).await["line_items"][0]["id"].clone();
    let part = json!({ "carrier": "ups", "line_items": [{ "line_item_id": line, "quantity": 1 }] });
    let first = ship(&merchant, &order, part).await;
    let second = ship(&merchant, &order, json!({ "carrier": "ups" })).await;
    let shipped =
        [("shipment.created", 1), ("order.updated", 3), ("shipment.created", 1), ("order.shipped", 4)];
    assert_eq!(events_after(&merchant, 6).await, events(&shipped));

    let moving = carry(&merchant, &first, &json!({ "status": "in_transit" })).await.expect(200);
    assert_eq!((&moving["applied"], &moving["shipment"]["status"]), (&json!(true), &json!("in_transit")));
    let again = carry(&merchant, &first, &json!({ "status": "in_transit" })).await.expect(200);
    assert_eq!((&again["applied"], &again["shipment"]), (&json!(false), &moving["shipment"]));
    let held = json!({ "status": "exception", "exception": { "code": "customs", "message": "Papers." } });
    carry(&merchant, &first, &held).await.expect(200);
    carry(&merchant, &first, &json!({ "tracking_number": "1Z" })).await.expect(200);
    let at = text(&first, "created_at");
    let long_ago = json!({ "status": "delivered", "occurred_at": "2026-01-01T00:00:00.000Z" });
    carry(&merchant, &first, &long_ago).await.refused(422, "validation_failed");
    carry(&merchant, &first, &json!({ "status": "delivered", "occurred_at": at })).await.expect(200);
    let way = [
        ("shipment.updated", 2),
        ("shipment.updated", 3),
        ("shipment.updated", 4),
        ("shipment.delivered", 5),
        ("order.updated", 5),
    ];
    assert_eq!(events_after(&merchant, 10).await, events(&way));
    assert_eq!(merchant.order(&order).await["fulfillment_status"], "partially_delivered");

    let last = carry(&merchant, &second, &json!({ "status": "delivered" })).await.expect(200);
    assert_eq!(last["shipment"]["status"], "delivered");
    assert_eq!(
        events_after(&merchant, 15).await,
        events(&[("shipment.delivered", 2), ("order.delivered", 6)])
    );
    let order = merchant.order(&order).await;
    assert_eq!([&order["status"], &order["fulfillment_status"]], ["completed", "delivered"]);
    let first = merchant.api.get(&format!("/shipments/{}", text(&first, "id"))).await.expect(200);
    has(&first, json!({ "delivered_at": at, "exception": null, "tracking_number": "1Z" }));

    // An end is not left; nothing more is written to the parcel.
    for late in [json!({ "status": "returned" }), json!({ "tracking_number": "2Z" })] {
        let refused = carry(&merchant, &first, &late).await.refused(409, "invalid_state_transition");
        assert_eq!(refused["current_status"], "delivered");
    }
    assert_eq!(merchant.events().await.len(), 17);
    let alerts = merchant.operator.get("/alerts").await.expect(200);
    let alert = &alerts["data"][0];
    has(alert, json!({ "code": "report_refused", "subject": first["id"], "count": 2 }));
}

/// Cancelling a parcel takes back what the parcel shipped, and leaves what the merchant had marked shipped.
#[tokio::test]
async fn a_cancelled_parcel() {
    let (authority, merchant) = Merchant::alone("cancelled").await;
    let order = merchant.paid_order().await;
    let parcel = ship(&merchant, &order, json!({ "carrier": "ups", "tracking_number": "1Z" })).await;
    carry(&merchant, &parcel, &json!({ "status": "cancelled" })).await.expect(200);
    assert_eq!(events_after(&merchant, 8).await, events(&[("shipment.updated", 2), ("order.updated", 4)]));
    let now = merchant.order(&order).await;
    // The parcel had brought the fulfilment as well.
    assert_eq!((&now["fulfillment_status"], &now["shipped_at"]), (&json!("unfulfilled"), &Value::Null));
    let line = &now["line_items"][0];
    assert_eq!((&line["fulfilled_quantity"], &line["shipped_quantity"]), (&json!(0), &json!(0)));

    set(&merchant, &order, &json!({ "fulfillment_status": "shipped" })).await.expect(200);
    let again = json!({ "carrier": "ups", "tracking_number": "1Z" });
    let exists = merchant.api.post(&shipments(&order), &again).await.refused(409, "shipment_exists");
    assert_eq!(exists["shipment_id"], parcel["id"]);
    let parcel = ship(&merchant, &order, json!({ "carrier": "ups", "tracking_number": "2Z" })).await;
    carry(&merchant, &parcel, &json!({ "tracking_number": "1Z" })).await.refused(409, "shipment_exists");
    carry(&merchant, &parcel, &json!({ "status": "cancelled" })).await.expect(200);
    let marked = [("order.shipped", 5), ("shipment.created", 1), ("shipment.updated", 2)];
    assert_eq!(events_after(&merchant, 10).await, events(&marked));
    assert_eq!(merchant.order(&order).await["line_items"][0]["shipped_quantity"], 2);

    // What was set as fulfilled before stays; the carrier's name has one form.
    let order = merchant.paid_order().await;
    set(&merchant, &order, &json!({ "fulfillment_status": "fulfilled" })).await.expect(200);
    let parcel = ship(&merchant, &order, json!({ "carrier": " UPS ", "tracking_number": "1Z" })).await;
    assert_eq!(parcel["carrier"], "ups");
    let same = json!({ "carrier": "Ups", "tracking_number": "1Z" });
    merchant.api.post(&shipments(&order), &same).await.refused(409, "shipment_exists");
    carry(&merchant, &parcel, &json!({ "status": "cancelled" })).await.expect(200);
    let now = merchant.order(&order).await;
    assert_eq!((&now["fulfillment_status"], &now["shipped_at"]), (&json!("fulfilled"), &Value::Null));
    authority.is_sound().await;
}

/// Goods that nobody will pay for stay until the operator says otherwise (contract 18.3).
#[tokio::test]
async fn what_no_money_will_come_for() {
    let authority = Authority::start(&[]).await;
    let settings = json!({ "confirm_on": "authorized" });
    let merchant = Merchant::with_settings(&authority, "given-up", settings).await;
    for status in ["cancelled", "failed"] {
        let payment = merchant.payment(&merchant.checkout().await, "manual").await;
        let reported = merchant.report(&payment, "authorized").await;
        let order = text(&reported["payment"], "order_number");
        merchant.report(&payment, status).await;
        let now = merchant.order(&order).await;
        let shown = if status == "failed" { "failed" } else { "voided" };
        assert_eq!((&now["status"], &now["payment_status"]), (&json!("confirmed"), &json!(shown)));
        let fulfilled = json!({ "fulfillment_status": "fulfilled" });
        let refused = set(&merchant, &order, &fulfilled).await.refused(409, "order_not_fulfillable");
        assert_eq!(refused["payment_status"], shown);
        let body = json!({ "carrier": "ups" });
        merchant.api.post(&shipments(&order), &body).await.refused(409, "order_not_fulfillable");
        let confirm = merchant.platform_path(&format!("orders/{order}/confirm"));
        let confirmed = merchant.operator.post(&confirm, &json!({ "reason": "invoice" })).await.expect(200);
        assert_eq!(confirmed, now, "its record does not change");
        set(&merchant, &order, &fulfilled).await.expect(200);
        ship(&merchant, &order, body).await;
    }
}
