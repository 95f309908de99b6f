//! The operator's alerts: refused reports and money that came too late (contract 3.4, 3.5, 6.2).

use serde_json::{Value, json};
use tests::{Database, Merchant, on_both_databases, payment_body, report_body, rows, text, texts};

use crate::orders::{Shop, attempt, state};

async fn alerts(shop: &Shop) -> Vec<Value> {
    shop.merchant.operator.get("/alerts").await.expect(200)["data"].as_array().unwrap().clone()
}

/// Code, subject and how often.
fn short(alerts: &[Value]) -> Vec<(String, String, u64)> {
    let short =
        |alert: &Value| (text(alert, "code"), text(alert, "subject"), alert["count"].as_u64().unwrap());
    alerts.iter().map(short).collect()
}

async fn a_refused_report_raises_an_alert(database: Database) {
    let mut shop = Shop::open(database).await;
    let payment = shop.merchant.payment(&shop.merchant.checkout().await, "automatic").await;
    let id = text(&payment, "id");
    let path = format!("/payments/{id}/reports");
    shop.new_events().await;
    let mut euro = report_body("succeeded", "r-1");
    euro["currency"] = json!("EUR");
    let mut greedy = report_body("succeeded", "r-2");
    greedy["amount_captured"] = json!(5301);
    let unreadable = json!({ "status": "succeeded" });
    let mut twisted = report_body("succeeded", "r-2");
    twisted["amount_authorized"] = json!(5000);
    twisted["amount_captured"] = json!(5300);
    let table = [
        (&euro, 422, "currency_mismatch", 1),
        (&greedy, 409, "processor_conflict", 2),
        (&twisted, 422, "validation_failed", 3),
        (&unreadable, 422, "validation_failed", 3),
    ];
    for (body, status, code, count) in table {
        let call = shop.post(&path, body);
        shop.refuses(call, status, code, json!({})).await;
        assert_eq!(short(&alerts(&shop).await), [("report_refused".to_owned(), id.clone(), count)], "{code}");
    }
    let mut dollars = report_body("succeeded", "r-1");
    dollars["currency"] = json!("USD");
    let applied = shop.post(&path, &dollars).send().await.expect(200);
    assert_eq!(applied["applied"], true, "a refusal does not use the processor's event up");
    shop.new_events().await;
    let call = shop.post(&path, &report_body("failed", "r-3"));
    let facts = json!({ "current_status": "succeeded", "requested_status": "failed" });
    shop.refuses(call, 409, "processor_conflict", facts).await;
    let open = alerts(&shop).await;
    assert_eq!(short(&open), [("report_refused".to_owned(), id, 4)]);
    assert_eq!((&open[0]["object"], &open[0]["severity"]), (&json!("alert"), &json!("warning")));
    assert!(text(&open[0], "message").contains("processor_conflict"), "{open:?}");

    let close = format!("/alerts/{}/close", text(&open[0], "id"));
    let closed = shop.post(&close, &json!({})).send().await.expect(200);
    assert_eq!((&closed["id"], &closed["status"]), (&open[0]["id"], &json!("closed")));
    assert!(closed["closed_at"].is_string() && open[0]["closed_at"].is_null());
    assert_eq!(alerts(&shop).await, [Value::Null; 0]);
    assert_eq!(
        shop.merchant.operator.get("/alerts?status=closed").await.expect(200)["data"],
        json!([closed])
    );
    let call = shop.post(&close, &json!({}));
    shop.refuses(call, 404, "not_found", json!({})).await;
}

/// A report that says other amounts than those recorded is refused though it would change no status; the same again
/// is no news. Each refusal uses no event of the processor up.
async fn reports_that_disagree_are_refused(database: Database) {
    let mut shop = Shop::open(database).await;
    let payment = shop.merchant.payment(&shop.merchant.checkout().await, "automatic").await;
    let path = format!("/payments/{}/reports", text(&payment, "id"));
    let report = |status: &str, event: &str, amounts: Value| {
        let mut body = report_body(status, event);
        body.as_object_mut().unwrap().extend(amounts.as_object().unwrap().clone());
        shop.merchant.operator.call(http::Method::POST, &path).json(&body)
    };
    let authorized =
        report("authorized", "e-1", json!({ "amount_authorized": 5300 })).send().await.expect(200);
    assert_eq!(
        (&authorized["applied"], &authorized["payment"]["status"]),
        (&json!(true), &json!("authorized"))
    );
    let captured = report("succeeded", "e-2", json!({ "amount_captured": 5000 })).send().await.expect(200);
    assert_eq!(captured["payment"]["amount_captured"], 5000);
    for (status, event, amounts) in [
        ("authorized", "e-1", json!({ "amount_authorized": 5300 })),
        ("succeeded", "e-2", json!({ "amount_captured": 5000 })),
        ("succeeded", "e-3", json!({ "amount_authorized": 5300, "amount_captured": 5000 })),
        ("succeeded", "e-4", json!({})),
        ("pending", "e-5", json!({})),
    ] {
        let again = report(status, event, amounts).send().await.expect(200);
        assert_eq!((&again["applied"], &again["payment"]), (&json!(false), &captured["payment"]), "{event}");
    }
    let calls = [
        report("succeeded", "e-6", json!({ "amount_captured": 4999 })),
        report("authorized", "e-7", json!({ "amount_authorized": 5299 })),
        report("authorized", "e-8", json!({ "amount_authorized": 99_999 })),
        // An event of the processor that says something else the second time.
        report("succeeded", "e-2", json!({ "amount_captured": 4999 })),
        report("succeeded", "e-1", json!({ "amount_authorized": 5300 })),
        report("failed", "e-9", json!({})),
        report("cancelled", "e-9", json!({})),
    ];
    shop.new_events().await;
    for (n, call) in calls.into_iter().enumerate() {
        shop.refuses(call, 409, "processor_conflict", json!({})).await;
        assert_eq!(short(&alerts(&shop).await)[0].2, n as u64 + 1);
    }
    let order = text(&captured["payment"], "order_number");
    let refund = shop.merchant.refund(&order, &json!({})).await;
    let done = report_body("completed", "e-10");
    shop.merchant
        .operator
        .post(&format!("/refunds/{}/reports", text(&refund, "id")), &done)
        .await
        .expect(200);
    shop.new_events().await;
    let failed = shop.post(&path, &report_body("failed", "e-11"));
    shop.refuses(failed, 409, "processor_conflict", json!({ "current_status": "refunded" })).await;
}

/// Money that comes after its checkout or its order ended is recorded as late, found on both roots, and given back by
/// the operator (contract 18.3).
async fn late_money_is_recorded_found_and_given_back(database: Database) {
    let mut shop = Shop::open(database).await;
    let checkout = shop.merchant.checkout().await;
    let payment = shop.merchant.payment(&checkout, "automatic").await;
    let path = format!("/checkouts/{}/expire", text(&checkout, "id"));
    shop.post(&path, &json!({})).send().await.expect(200);
    let order = text(&shop.take_in(json!({ "payments": [] })).await, "order_number");
    let start = shop.post(&shop.merchant.platform_path("payments"), &attempt(&order, 5300, "bank"));
    let of_order = start.send().await.expect(201);
    shop.post(&shop.orders(&format!("/{order}/cancel")), &json!({})).send().await.expect(200);
    shop.new_events().await;
    let report = |payment: &Value, status: &str| {
        let path = format!("/payments/{}/reports", text(payment, "id"));
        shop.post(&path, &report_body(status, &format!("late-{status}")))
    };
    assert_eq!(report(&payment, "authorized").send().await.expect(200)["applied"], false);
    let failed = report(&payment, "failed");
    let (mine, other) = (report(&payment, "succeeded"), report(&of_order, "succeeded"));
    shop.refuses(failed, 409, "processor_conflict", json!({ "current_status": "cancelled" })).await;
    let late = mine.clone().send().await.expect(200)["payment"].clone();
    let found = (&late["status"], &late["late"], &late["amount_captured"], &late["order_number"]);
    assert_eq!(found, (&json!("succeeded"), &json!(true), &json!(5300), &json!(null)));
    assert_eq!(shop.new_events().await, ["payment.succeeded 3"]);
    assert_eq!(mine.send().await.expect(200)["applied"], false);
    // Another payment of this processor: its event ids are told apart by the payment.
    shop.refuses(
        other,
        422,
        "validation_failed",
        json!({ "errors": [["/processor_event_id", "duplicate"]] }),
    )
    .await;
    let path = format!("/payments/{}/reports", text(&of_order, "id"));
    shop.post(&path, &report_body("succeeded", "late-order")).send().await.expect(200);
    assert_eq!(shop.new_events().await, ["payment.succeeded 3", "order.updated 4"]);
    assert_eq!(state(&shop.merchant.order(&order).await), ("cancelled", "paid"));

    let (id, of_order) = (text(&payment, "id"), text(&of_order, "id"));
    let open = alerts(&shop).await;
    let expected = [
        ("late_payment".to_owned(), of_order.clone(), 1),
        ("late_payment".to_owned(), id.clone(), 1),
        ("report_refused".to_owned(), id.clone(), 1),
    ];
    assert_eq!(short(&open), expected);
    assert_eq!(open[0]["severity"], "critical");
    for (alert, payment, what) in [(&open[0], &of_order, "order"), (&open[1], &id, "checkout")] {
        let message = format!(
            "53.00 USD of payment {payment} came after its {what} had ended. Give it back with POST \
             /payments/{payment}/refunds."
        );
        assert_eq!(text(alert, "message"), message);
    }
    shop.merchant.paid_order().await;
    for api in [&shop.merchant.api, &shop.merchant.operator] {
        let ids = async |query: &str| -> Vec<String> {
            let page = api.get(&format!("/payments?{query}")).await.expect(200);
            texts(rows(&page), "id")
        };
        assert_eq!(ids("late=true").await, [of_order.clone(), id.clone()]);
        assert_eq!(ids("late=true&status=succeeded&limit=1").await, std::slice::from_ref(&of_order));
        assert_eq!(ids("late=false").await.len(), 1);
        api.get("/payments?late=yes").await.refused(400, "invalid_parameter");
    }
    let shown = shop.merchant.operator.get(&format!("/payments/{id}")).await.expect(200);
    assert_eq!((&shown["id"], &shown["merchant_id"]), (&json!(id), &json!(shop.merchant.id)));

    shop.new_events().await;
    let path = format!("/payments/{id}/refunds");
    let greedy = shop.post(&path, &json!({ "amount": 5301 }));
    shop.refuses(greedy, 422, "refund_amount_exceeded", json!({ "refundable": 5300 })).await;
    let unset = shop.post(&path, &json!({ "amount": null }));
    shop.refuses(unset, 422, "validation_failed", json!({ "errors": [["/amount", "required"]] })).await;
    let ask = shop.post(&path, &json!({ "reason": "other" })).header("idempotency-key", "back");
    let reply = ask.clone().send().await;
    let refund = reply.expect(201);
    assert_eq!(
        reply.header("location"),
        Some(format!("/v1/operator/refunds/{}", text(&refund, "id")).as_str())
    );
    assert_eq!((&refund["amount"], &refund["order_number"]), (&json!(5300), &json!(null)));
    assert_eq!(ask.send().await.expect(201), refund);
    assert_eq!(shop.new_events().await, ["refund.requested 1"]);
    let again = shop.post(&path, &json!({}));
    shop.refuses(again, 409, "order_not_refundable", json!({})).await;
    let done =
        shop.post(&format!("/refunds/{}/reports", text(&refund, "id")), &report_body("completed", "back"));
    done.send().await.expect(200);
    assert_eq!(shop.new_events().await, ["refund.completed 2", "payment.refunded 4"]);
    let back = shop.post(&format!("/payments/{of_order}/refunds"), &json!({ "amount": 300 }));
    assert_eq!(back.send().await.expect(201)["order_number"], json!(order));
    assert_eq!(shop.new_events().await, ["refund.requested 1", "order.updated 5"]);
    shop.authority.is_sound().await;
    alerts_have_pages(&shop, &open).await;
}

/// Newest first, by cursor, with filters (contract 18.2-3): these three are open.
async fn alerts_have_pages(shop: &Shop, open: &[Value]) {
    let limited = shop.merchant.operator.get("/alerts?limit=1").await.expect(200);
    assert_eq!(limited["data"], json!([open[0]]));
    let rest = format!("/alerts?limit=2&cursor={}", text(&limited, "next_cursor"));
    let rest = shop.merchant.operator.get(&rest).await.expect(200);
    assert_eq!((&rest["data"], rest.get("next_cursor")), (&json!([open[1], open[2]]), None));
    for (filter, found) in [
        ("code=late_payment", 2),
        ("code=late_payment,report_refused&status=open", 3),
        ("status=open,closed", 3),
        ("status=closed", 0),
    ] {
        let page = shop.merchant.operator.get(&format!("/alerts?{filter}")).await.expect(200);
        assert_eq!(rows(&page).len(), found, "{filter}");
    }
    shop.merchant.operator.get("/alerts?cursor=x").await.refused(400, "invalid_cursor");
    shop.merchant.operator.get("/alerts?status=done").await.refused(400, "invalid_parameter");
    shop.merchant.operator.get("/alerts?limit=0").await.refused(400, "invalid_parameter");
}

async fn an_unset_variable_gives_nothing_back(database: Database) {
    let mut shop = Shop::open(database).await;
    let number = shop.merchant.paid_order().await;
    shop.new_events().await;
    let refunds = format!("/orders/{number}/refunds");
    for member in ["amount", "currency", "payment_id", "reason", "note", "line_items", "metadata"] {
        let call = shop.merchant.api.call(http::Method::POST, &refunds).json(&json!({ member: null }));
        let errors = json!({ "errors": [[format!("/{member}"), "required"]] });
        shop.refuses(call, 422, "validation_failed", errors).await;
    }
    let asked = shop.merchant.api.post(&refunds, &json!({})).await.expect(201);
    assert_eq!(asked["amount"], 5300, "nothing said is all there is");
}

/// Every merchant and mode has processors' events of its own, and a processor has one name.
async fn processors_events_are_each_merchants_own(database: Database) {
    let shop = Shop::open(database).await;
    let other = Merchant::create(&shop.authority, "other").await;
    let mut ids = Vec::new();
    for merchant in [&shop.merchant, &other] {
        let checkout = merchant.checkout().await;
        let body = payment_body(&checkout, "automatic", "start-1");
        let payment = merchant.operator.post(&merchant.platform_path("payments"), &body).await.expect(201);
        let mut shouting = body;
        shouting["processor"]["name"] = json!(" ACME-Pay ");
        let again = merchant.operator.post(&merchant.platform_path("payments"), &shouting).await;
        assert_eq!(again.expect(200), payment, "the same start again");
        let path = format!("/payments/{}/reports", text(&payment, "id"));
        let report = merchant.operator.post(&path, &report_body("succeeded", "report-1")).await.expect(200);
        assert_eq!(report["applied"], true);
        assert_eq!(report["payment"]["processor"]["name"], "acme-pay");
        ids.push(text(&payment, "id"));
    }
    assert_ne!(ids[0], ids[1]);
}

on_both_databases!(
    a_refused_report_raises_an_alert,
    reports_that_disagree_are_refused,
    late_money_is_recorded_found_and_given_back,
    an_unset_variable_gives_nothing_back,
    processors_events_are_each_merchants_own,
);
