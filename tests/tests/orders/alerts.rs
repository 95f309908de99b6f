//! The operator's alerts: refused reports and money that came too late (contract 3.4, 3.5, 6.2).

use serde_json::{Value, json};
use tests::authority::Database;
use tests::merchant::{report_body, text};
use tests::on_both_databases;

use crate::Desk;

async fn alerts(desk: &Desk) -> Vec<Value> {
    desk.merchant.operator.get("/alerts").await.expect(200)["data"].as_array().unwrap().clone()
}

/// Code, subject and how often.
fn short(alerts: &[Value]) -> Vec<(String, String, u64)> {
    let short =
        |alert: &Value| (text(alert, "code"), text(alert, "subject"), alert["count"].as_u64().unwrap());
    alerts.iter().map(short).collect()
}

async fn a_refused_report_raises_an_alert(database: Database) {
    let mut desk = Desk::open(database).await;
    let payment = desk.merchant.payment(&desk.merchant.checkout().await, "automatic").await;
    let id = text(&payment, "id");
    let path = format!("/payments/{id}/reports");
    desk.told().await;
    let mut euro = report_body("succeeded", "r-1");
    euro["currency"] = json!("EUR");
    let mut greedy = report_body("succeeded", "r-2");
    greedy["amount_captured"] = json!(5301);
    let unreadable = json!({ "status": "succeeded" });
    let table = [
        (&euro, "currency_mismatch", 1),
        (&greedy, "validation_failed", 2),
        (&unreadable, "validation_failed", 2),
    ];
    for (body, code, count) in table {
        let call = desk.post(&path, body);
        desk.refuses(call, 422, code, json!({})).await;
        assert_eq!(short(&alerts(&desk).await), [("report_refused".to_owned(), id.clone(), count)], "{code}");
    }
    let mut dollars = report_body("succeeded", "r-1");
    dollars["currency"] = json!("USD");
    let applied = desk.post(&path, &dollars).send().await.expect(200);
    assert_eq!(applied["applied"], true, "a refusal does not use the processor's event up");
    desk.told().await;
    let call = desk.post(&path, &report_body("failed", "r-3"));
    let facts = json!({ "current_status": "succeeded", "requested_status": "failed" });
    desk.refuses(call, 409, "processor_conflict", facts).await;
    let open = alerts(&desk).await;
    assert_eq!(short(&open), [("report_refused".to_owned(), id, 3)]);
    assert_eq!((&open[0]["object"], &open[0]["severity"]), (&json!("alert"), &json!("warning")));
    assert!(text(&open[0], "message").contains("processor_conflict"), "{open:?}");

    let close = format!("/alerts/{}/close", text(&open[0], "id"));
    assert_eq!(desk.post(&close, &json!({})).send().await.expect(200), open[0]);
    assert_eq!(alerts(&desk).await, [Value::Null; 0]);
    let call = desk.post(&close, &json!({}));
    desk.refuses(call, 404, "not_found", json!({})).await;
}

/// Its attempt was cancelled with the checkout, which is an end; what the processor says then is refused, and somebody
/// has to look after the money.
async fn money_for_an_ended_checkout_raises_an_alert(database: Database) {
    let mut desk = Desk::open(database).await;
    let checkout = desk.merchant.checkout().await;
    let payment = desk.merchant.payment(&checkout, "automatic").await;
    let path = format!("/checkouts/{}/expire", text(&checkout, "id"));
    desk.post(&path, &json!({})).send().await.expect(200);
    desk.told().await;
    let report = |status: &str| {
        let path = format!("/payments/{}/reports", text(&payment, "id"));
        desk.post(&path, &report_body(status, &format!("late-{status}")))
    };
    assert_eq!(report("authorized").send().await.expect(200)["applied"], false);
    let (failed, succeeded) = (report("failed"), report("succeeded"));
    desk.refuses(failed, 409, "processor_conflict", json!({ "current_status": "cancelled" })).await;
    desk.refuses(succeeded, 409, "processor_conflict", json!({ "current_status": "cancelled" })).await;
    let id = text(&payment, "id");
    let expected = [("report_refused".to_owned(), id.clone(), 1), ("late_payment".to_owned(), id, 1)];
    let open = alerts(&desk).await;
    assert_eq!(short(&open), expected);
    assert_eq!(open[1]["severity"], "critical");
    let limited = desk.merchant.operator.get("/alerts?limit=1").await.expect(200);
    assert_eq!(limited["data"], json!([open[0]]));
    desk.merchant.operator.get("/alerts?cursor=x").await.refused(400, "unknown_parameter");
    desk.merchant.operator.get("/alerts?limit=0").await.refused(400, "invalid_parameter");
}

on_both_databases!(a_refused_report_raises_an_alert, money_for_an_ended_checkout_raises_an_alert);
