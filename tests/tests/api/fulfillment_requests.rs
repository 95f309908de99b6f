//! Updates of fulfilment and parcels as requests: their conditions (contract 4.2, 4.4, 4.6), repetitions (4.3), and the
//! parcels of an order as a list (4.5).

use serde_json::json;
use tests::{Merchant, shipments, text};

use crate::fulfillment::{patch, set, ship};

/// Contract 4.4 and the order of checks of 4.2 on an update.
#[tokio::test]
async fn conditions_of_an_update() {
    let (authority, merchant) = Merchant::alone("conditions").await;
    let order = merchant.paid_order().await;
    let fulfilled = json!({ "fulfillment_status": "fulfilled" });
    for (form, version) in [("2", 3), ("\"3\"", 4), ("W/\"4\"", 5), ("*", 6)] {
        let target = if version % 2 == 1 { "fulfilled" } else { "unfulfilled" };
        let call = patch(&merchant, &order).header("if-match", form);
        let body = json!({ "fulfillment_status": target });
        let media = "application/merge-patch+json";
        let reply = call.header("content-type", media).bytes(body.to_string()).send().await;
        assert_eq!(reply.expect(200)["resource_version"], version, "{form}");
        assert_eq!(reply.header("etag"), Some(&*format!("\"{version}\"")));
    }
    let stale =
        patch(&merchant, &order).header("if-match", "5").json(&json!({ "colour": "red" })).send().await;
    let facts = stale.refused(409, "resource_version_conflict");
    assert_eq!((&facts["current_version"], &facts["supplied_version"]), (&json!(6), &json!(5)));
    for form in ["0x6", "\"6\", \"7\"", "06", ""] {
        let call = patch(&merchant, &order).header("if-match", form).json(&fulfilled);
        call.send().await.refused(400, "invalid_if_match");
    }
    let unknown = patch(&merchant, "ORD-1").header("if-match", "1").json(&fulfilled).send().await;
    unknown.refused(404, "not_found");
    patch(&merchant, &order).send().await.refused(400, "body_required");
    set(&merchant, &order, &json!({})).await.refused(422, "validation_failed");
    let money = json!({ "amounts": { "total": 1 }, "payment_status": "refunded", "colour": "red" });
    let refused = set(&merchant, &order, &money).await.refused(422, "field_not_writable");
    assert_eq!(refused["errors"].as_array().unwrap().len(), 3);
    assert_eq!(merchant.order(&order).await["resource_version"], 6);
    set(&merchant, &order, &fulfilled).await.expect(200);

    let pending = merchant.payment(&merchant.checkout().await, "automatic").await;
    let pending = text(&merchant.report(&pending, "pending").await["payment"], "order_number");
    let refused = set(&merchant, &pending, &fulfilled).await.refused(409, "order_not_fulfillable");
    assert_eq!(refused["current_status"], "pending");

    let strict = Merchant::with_settings(&authority, "strict", json!({ "require_if_match": true })).await;
    let order = strict.paid_order().await;
    set(&strict, &order, &fulfilled).await.refused(428, "precondition_required");
    patch(&strict, &order).header("if-match", "2").json(&fulfilled).send().await.expect(200);
}

/// One key, one effect; afterwards the same answer, even with a newer `If-Match`.
#[tokio::test]
async fn a_repeated_update_is_answered_again() {
    let (_authority, merchant) = Merchant::alone("repeated").await;
    let order = merchant.paid_order().await;
    let call = |version: &str| {
        let call = patch(&merchant, &order).header("idempotency-key", "fulfil:1").header("if-match", version);
        call.json(&json!({ "fulfillment_status": "fulfilled" })).send()
    };
    let first = call("2").await;
    first.expect(200);
    let again = call("3").await;
    assert_eq!((again.expect(200), again.header("etag")), (first.json(), Some("\"3\"")));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(merchant.events().await.len(), 7);
}

/// Beyond the retention of answers the parcel remembers its key (contract 4.3), and the order it was made for.
#[tokio::test]
async fn a_parcel_remembers_its_key_for_ever() {
    let (authority, merchant) = Merchant::alone("late-parcel").await;
    let (order, other) = (merchant.paid_order().await, merchant.paid_order().await);
    let body = json!({ "carrier": "dhl" });
    let made = merchant.api.post_as("ship-1", &shipments(&order), &body).await.expect(201);
    authority.forget_answers().await;
    let events = merchant.events().await;

    let late = merchant.api.post_as("ship-1", &shipments(&order), &body).await;
    assert_eq!((late.expect(201), late.header("idempotent-replayed")), (made, Some("true")));
    let changed = merchant.api.post_as("ship-1", &shipments(&order), &json!({ "carrier": "ups" })).await;
    changed.refused(422, "idempotency_key_reused");
    for elsewhere in [&other, "no-such-order", "not a number"] {
        let path = shipments(&elsewhere.replace(' ', "%20"));
        let reused = merchant.api.post_as("ship-1", &path, &body).await;
        assert_eq!(reused.refused(422, "idempotency_key_reused")["param"], "Idempotency-Key");
    }
    assert_eq!(merchant.events().await, events, "nothing happened");
}

#[tokio::test]
async fn the_parcels_of_an_order() {
    let (authority, merchant) = Merchant::alone("parcels").await;
    let (order, other) = (merchant.paid_order().await, merchant.paid_order().await);
    let line = merchant.order(&order).await["line_items"][0]["id"].clone();
    let mut parcels = Vec::new();
    for _ in 0..2 {
        let part = json!({ "carrier": "ups", "line_items": [{ "line_item_id": line, "quantity": 1 }] });
        parcels.insert(0, ship(&merchant, &order, part).await);
    }
    let path = shipments(&order);
    let whole = merchant.api.get(&path).await.expect(200);
    assert_eq!(whole, json!({ "data": parcels }));
    let page = merchant.api.get(&format!("{path}?limit=1")).await.expect(200);
    assert_eq!(page["data"], json!([parcels[0]]));
    let cursor = text(&page, "next_cursor");
    let rest = merchant.api.get(&format!("{path}?limit=1&cursor={cursor}")).await.expect(200);
    assert_eq!(rest, json!({ "data": [parcels[1]] }));
    let elsewhere = format!("{}?cursor={cursor}", shipments(&other));
    merchant.api.get(&elsewhere).await.refused(400, "invalid_cursor");
    assert_eq!(merchant.api.get(&shipments(&other)).await.expect(200), json!({ "data": [] }));
    merchant.api.get(&shipments("ORD-1")).await.refused(404, "not_found");
    merchant.api.get(&format!("{path}?status=created")).await.refused(400, "unknown_parameter");
    let stranger = Merchant::create(&authority, "stranger").await;
    stranger.api.get(&path).await.refused(404, "not_found");
}
