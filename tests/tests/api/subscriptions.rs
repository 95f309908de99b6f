//! Subscriptions through HTTP: which events tell of them, in which order, and what is refused (contract 2.6, 3.8,
//! 3.9 row 20, 4.5, 6.2).

use http::Method;
use serde_json::{Value, json};
use tests::{Merchant, has, rows, text};

/// Two cups and a filter a month, 20.50 USD.
fn body(more: Value) -> Value {
    let mut body = json!({
        "customer": { "reference": "c-77", "email": "ada@example.com" },
        "currency": "USD",
        "interval": "month",
        "items": [
            { "name": "Cup", "sku": "CUP", "quantity": 2, "unit_amount": 900 },
            { "name": "Filter", "quantity": 1, "unit_amount": 250 },
        ],
    });
    body.as_object_mut().unwrap().append(more.clone().as_object_mut().unwrap());
    body
}

async fn subscribe(merchant: &Merchant, more: Value) -> Value {
    merchant.operator.post(&merchant.platform_path("subscriptions"), &body(more)).await.expect(201)
}

async fn report(merchant: &Merchant, subscription: &Value, body: Value) -> Value {
    let path = format!("/subscriptions/{}/reports", text(subscription, "id"));
    merchant.operator.post(&path, &body).await.expect(200)
}

#[tokio::test]
async fn it_starts_changes_renews_and_ends() {
    let (_authority, merchant) = Merchant::alone("row-20").await;
    let made = subscribe(&merchant, json!({ "current_period_start": "2026-01-31T10:00:00Z" })).await;
    assert_eq!((&made["status"], &made["amount"]), (&json!("active"), &json!(2050)));
    assert_eq!(made["current_period_end"], "2026-02-28T10:00:00.000Z");
    let path = format!("/subscriptions/{}", text(&made, "id"));
    let read = merchant.api.get(&path).await;
    assert_eq!((read.header("etag"), read.expect(200)), (Some("\"1\""), made.clone()));
    assert_eq!(merchant.operator.get(&path).await.expect(200), made);

    let changed = report(
        &merchant,
        &made,
        json!({ "items": [{ "name": "Cup", "sku": "CUP", "quantity": 1, "unit_amount": 900 }] }),
    )
    .await;
    assert_eq!((&changed["applied"], &changed["subscription"]["amount"]), (&json!(true), &json!(900)));
    assert_eq!(changed["subscription"]["items"][0]["id"], made["items"][0]["id"]);
    report(&merchant, &made, json!({ "status": "past_due" })).await;

    let renewal = json!({ "renew": { "period_start": "2026-02-28T10:00:00Z" }, "status": "active" });
    let renewed = report(&merchant, &made, renewal.clone()).await;
    let record = &renewed["subscription"];
    assert_eq!(record["current_period_end"], "2026-03-31T10:00:00.000Z");
    assert_eq!(record["latest_order_number"], "ORD-100001");
    let again = report(&merchant, &made, renewal).await;
    assert_eq!(again, json!({ "object": "report_result", "applied": false, "subscription": record }));
    let order = merchant.order("ORD-100001").await;
    assert_eq!((&order["source"], &order["subscription_id"]), (&json!("subscription"), &made["id"]));
    assert_eq!((&order["payment_status"], &order["payment_summary"]["due"]), (&json!("unpaid"), &json!(900)));

    report(&merchant, &made, json!({ "cancel_at_period_end": true })).await;
    let ended =
        report(&merchant, &made, json!({ "status": "cancelled", "cancel_reason": "customer_request" })).await;
    assert_eq!(ended["subscription"]["cancel_reason"], "customer_request");
    let told: Vec<(String, Option<u64>)> =
        merchant.events_after(0).await.into_iter().map(|told| (told.event_type, told.version)).collect();
    let expected = [
        ("subscription.created", 1),
        ("subscription.updated", 2),
        ("subscription.updated", 3),
        ("subscription.updated", 4),
        ("order.created", 1),
        ("subscription.updated", 5),
        ("subscription.cancelled", 6),
    ];
    assert_eq!(told, expected.map(|(name, version)| (name.to_owned(), Some(version))));
    let events = merchant.events().await;
    assert_eq!(events[3]["data"]["object"]["latest_order_number"], "ORD-100001");
    for event in events.iter().filter(|event| text(event, "type").starts_with("subscription.")) {
        assert_eq!(event["links"]["resource"], format!("/v1/merchant{path}"));
    }
    assert_eq!(events[6]["data"]["object"], merchant.api.get(&path).await.expect(200));
}

#[tokio::test]
async fn a_free_renewal_confirms_its_order_and_a_chosen_number_is_used_once() {
    let (_authority, merchant) = Merchant::alone("free").await;
    let made = subscribe(&merchant, json!({})).await;
    report(&merchant, &made, json!({ "renew": { "discount": 2050, "order_number": "SUB-1" } })).await;
    assert_eq!(merchant.types_after(1).await, ["subscription.updated", "order.created", "order.confirmed"]);
    let order = merchant.order("SUB-1").await;
    assert_eq!((&order["status"], &order["payment_status"]), (&json!("confirmed"), &json!("paid")));
    let path = format!("/subscriptions/{}/reports", text(&made, "id"));
    let refused = merchant.operator.post(&path, &json!({ "renew": { "order_number": "SUB-1" } })).await;
    assert_eq!(refused.refused(422, "validation_failed")["errors"][0]["pointer"], "/renew/order_number");
    let refused = merchant.operator.post(&path, &json!({ "renew": { "discount": 2051 } })).await;
    refused.refused(422, "validation_failed");
    assert_eq!(merchant.events().await.len(), 4, "a refusal tells of nothing");
}

#[tokio::test]
async fn what_is_not_legal_is_refused_and_changes_nothing() {
    let (_authority, merchant) = Merchant::alone("refused").await;
    let made = subscribe(&merchant, json!({ "trial_days": 14 })).await;
    assert_eq!(made["status"], "trialing");
    let path = format!("/subscriptions/{}/reports", text(&made, "id"));
    let refused = merchant.operator.post(&path, &json!({ "status": "paused" })).await;
    let refused = refused.refused(409, "invalid_state_transition");
    has(&refused, json!({ "current_status": "trialing", "requested_status": "paused" }));
    let alerts = merchant.operator.get("/alerts").await.expect(200);
    let alert = &alerts["data"][0];
    assert_eq!([&alert["code"], &alert["subject"]], [&json!("report_refused"), &made["id"]]);
    merchant.operator.post(&path, &json!({ "renew": true })).await.refused(409, "invalid_state_transition");
    merchant.operator.post(&path, &json!({})).await.refused(422, "validation_failed");
    merchant.operator.post(&path, &json!({ "currency": "EUR" })).await.refused(422, "field_not_writable");
    let stale = merchant
        .operator
        .call(Method::POST, &path)
        .header("if-match", "2")
        .json(&json!({ "status": "active" }));
    stale.send().await.refused(409, "resource_version_conflict");
    let nobody = "/subscriptions/sub_00000000000000000000000000";
    merchant
        .operator
        .post(&format!("{nobody}/reports"), &json!({ "status": "active" }))
        .await
        .refused(404, "not_found");
    merchant.operator.get(nobody).await.refused(404, "not_found");
    merchant.operator.get("/subscriptions/x").await.refused(404, "not_found");
    merchant
        .operator
        .post("/merchants/x/test/subscriptions", &body(json!({})))
        .await
        .refused(404, "not_found");
    let open = merchant.platform_path("subscriptions");
    merchant.operator.post(&open, &body(json!({ "items": [] }))).await.refused(422, "validation_failed");
    assert_eq!(merchant.events().await.len(), 1);
    assert_eq!(merchant.api.get(&format!("/subscriptions/{}", text(&made, "id"))).await.expect(200), made);
}

#[tokio::test]
async fn lists_narrow_and_page_and_stay_within_the_tenant() {
    let (authority, merchant) = Merchant::alone("lists").await;
    let mut ids = Vec::new();
    for customer in ["c-1", "c-2", "c-1"] {
        ids.push(text(&subscribe(&merchant, json!({ "customer": { "reference": customer } })).await, "id"));
    }
    let first = merchant.api.get(&format!("/subscriptions/{}", ids[0])).await.expect(200);
    report(&merchant, &first, json!({ "status": "past_due" })).await;
    let listed = async |query: &str| {
        let page = merchant.api.get(&format!("/subscriptions{query}")).await.expect(200);
        let place = |one: &Value| ids.iter().position(|id| *id == text(one, "id")).unwrap();
        rows(&page).iter().map(place).collect::<Vec<_>>()
    };
    assert_eq!(listed("").await, [2, 1, 0]);
    assert_eq!(listed("?status=active").await, [2, 1]);
    assert_eq!(listed("?status=past_due,paused").await, [0]);
    assert_eq!(listed("?customer_reference=c-1").await, [2, 0]);
    assert_eq!(listed("?created_to=2020-01-01T00:00:00Z").await, [0_usize; 0]);
    assert_eq!(listed("?created_from=2020-01-01T00:00:00Z").await, [2, 1, 0]);
    let page = merchant.api.get("/subscriptions?limit=2").await.expect(200);
    let rest =
        merchant.api.get(&format!("/subscriptions?cursor={}", text(&page, "next_cursor"))).await.expect(200);
    assert_eq!((rows(&rest).len(), rest.get("next_cursor")), (1, None));
    merchant.api.get("/subscriptions?status=lost").await.refused(400, "invalid_parameter");
    merchant.api.get("/subscriptions?state=active").await.refused(400, "unknown_parameter");

    let other = Merchant::create(&authority, "other").await;
    assert_eq!(other.api.get("/subscriptions").await.expect(200), json!({ "data": [] }));
    other.api.get(&format!("/subscriptions/{}", ids[0])).await.refused(404, "not_found");
    let live = merchant.issue_key("live", &["subscriptions:read"]).await;
    let live = merchant.api.with_key(Some(&live));
    assert_eq!(live.get("/subscriptions").await.expect(200), json!({ "data": [] }));
    live.get(&format!("/subscriptions/{}", ids[0])).await.refused(404, "not_found");
    let blind = merchant.issue_key("test", &["orders:read"]).await;
    merchant.api.with_key(Some(&blind)).get("/subscriptions").await.refused(403, "insufficient_scope");
}

async fn pay(merchant: &Merchant, subscription: &Value, amount: u64, event_id: &str) -> tests::Reply {
    let body = json!({
        "subscription_id": subscription["id"], "amount": amount, "currency": "USD", "method": { "type": "card" },
        "processor": { "name": "acme-pay" }, "processor_event_id": event_id,
    });
    merchant.operator.post(&merchant.platform_path("payments"), &body).await
}

#[tokio::test]
async fn a_payment_on_a_subscription_pays_its_latest_order() {
    let (authority, merchant) = Merchant::alone("dunning").await;
    let made = subscribe(&merchant, json!({})).await;
    pay(&merchant, &made, 2050, "evt-0").await.refused(409, "invalid_state_transition");
    report(&merchant, &made, json!({ "renew": true })).await;
    let declined = pay(&merchant, &made, 2050, "evt-1").await.expect(201);
    has(&declined, json!({ "order_number": "ORD-100001", "subscription_id": made["id"] }));
    merchant.report(&declined, "failed").await;
    report(&merchant, &made, json!({ "status": "past_due" })).await;
    pay(&merchant, &made, 2051, "evt-2").await.refused(422, "validation_failed");
    let paid = pay(&merchant, &made, 2050, "evt-3").await.expect(201);
    assert_eq!(pay(&merchant, &made, 2050, "evt-3").await.expect(200), paid, "told twice");
    merchant.report(&paid, "succeeded").await;
    report(&merchant, &made, json!({ "status": "active" })).await;
    let expected = [
        "subscription.updated",
        "order.created",
        "payment.created",
        "order.updated",
        "payment.failed",
        "order.updated",
        "subscription.updated",
        "payment.created",
        "order.updated",
        "payment.succeeded",
        "order.confirmed",
        "subscription.updated",
    ];
    assert_eq!(merchant.types_after(1).await, expected);
    let other = Merchant::create(&authority, "stranger").await;
    let refused = pay(&other, &made, 2050, "evt-4").await.refused(422, "validation_failed");
    assert_eq!(refused["errors"][0]["pointer"], "/subscription_id");
}

#[tokio::test]
async fn a_checkout_makes_one_order_and_one_subscription() {
    let (_authority, merchant) = Merchant::alone("bought").await;
    let mut body = tests::checkout_body();
    body["mode"] = json!("subscription");
    body["customer"] = json!({ "reference": "c-77" });
    body["subscription"] = json!({ "interval": "month", "interval_count": 2 });
    let checkout = merchant.operator.post(&merchant.platform_path("checkouts"), &body).await.expect(201);
    assert_eq!((&checkout["mode"], checkout.get("subscription")), (&json!("subscription"), None));
    let payment = merchant.payment(&checkout, "automatic").await;
    let paid = merchant.report(&payment, "succeeded").await["payment"].clone();
    let expected = [
        "payment.created",
        "checkout.completed",
        "subscription.created",
        "order.created",
        "payment.succeeded",
        "order.confirmed",
    ];
    assert_eq!(merchant.types_after(1).await, expected);
    let list = merchant.api.get("/subscriptions").await.expect(200);
    let subscription = &list["data"][0];
    has(subscription, json!({ "status": "active", "amount": 4800, "latest_order_number": "ORD-100001" }));
    assert_eq!(paid["subscription_id"], subscription["id"]);
    assert_eq!(merchant.order("ORD-100001").await["subscription_id"], subscription["id"]);
    assert_eq!(merchant.api.get(&format!("/payments/{}", text(&paid, "id"))).await.expect(200), paid);

    // The same, but the money is only on its way.
    let checkout = merchant.operator.post(&merchant.platform_path("checkouts"), &body).await.expect(201);
    let payment = merchant.payment(&checkout, "automatic").await;
    merchant.report(&payment, "pending").await;
    let list = merchant.api.get("/subscriptions?status=incomplete").await.expect(200);
    let waiting = &list["data"][0];
    assert_eq!(waiting["current_period_end"], Value::Null);
    let told = merchant.events().await.len();
    merchant.report(&payment, "succeeded").await;
    let begun = report(&merchant, waiting, json!({ "status": "active" })).await;
    assert!(begun["subscription"]["current_period_end"].is_string());
    assert_eq!(
        merchant.types_after(told).await,
        ["payment.succeeded", "order.confirmed", "subscription.updated"]
    );
}

/// A renewal that names its period counts once, however often and however much at once it is reported.
#[tokio::test]
async fn many_reports_of_one_renewal_make_one_order() {
    let (_authority, merchant) = Merchant::alone("at-once").await;
    let made = subscribe(&merchant, json!({})).await;
    let renewal = json!({ "renew": { "period_start": made["current_period_end"] } });
    let reports = (0..40).map(|_| report(&merchant, &made, renewal.clone()));
    let applied = futures_util::future::join_all(reports).await;
    let counted = applied.iter().filter(|result| result["applied"] == true).count();
    assert_eq!(counted, 1);
    assert_eq!(merchant.types_after(1).await, ["subscription.updated", "order.created"]);
    assert!(applied.iter().all(|result| result["subscription"]["latest_order_number"] == "ORD-100001"));
}
