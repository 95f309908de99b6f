//! The platform's side: it asks for refunds as merchants do, and its payment adapter reports on them (contract 3.6,
//! 6.2).

use serde_json::json;
use tests::{Database, Merchant, on_both_databases, report_body, rows, text};

use crate::refunds::{ask, payment_of, report, reported};

on_both_databases!(the_platform_asks_and_reports);

async fn the_platform_asks_and_reports(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "platform").await;
    let order = merchant.paid_order().await;
    let path = merchant.platform_path(&format!("orders/{order}/refunds"));
    let asked = merchant.operator.post(&path, &json!({ "amount": 300, "reason": "fraudulent" })).await;
    let refund = asked.expect(201);
    assert_eq!(asked.header("location"), Some(&*format!("/v1/operator/refunds/{}", text(&refund, "id"))));
    assert_eq!(refund["requested_by"]["type"], "operator");
    assert!(text(&refund["requested_by"], "id").starts_with("key_"));
    let done = report(&merchant, &refund, "completed").await;
    let events = merchant.events().await;

    // Told again, late or under another id, it changes nothing and says so.
    for (status, event) in [
        ("completed", format!("completed:{}", text(&refund, "id"))),
        ("completed", "e-2".into()),
        ("processing", "e-3".into()),
    ] {
        let result = reported(&merchant, &refund, &report_body(status, &event)).await.expect(200);
        assert_eq!(result, json!({ "object": "report_result", "applied": false, "refund": done }));
    }
    // The same id about another refund is a mistake of the adapter's.
    let second = ask(&merchant, &order, json!({ "amount": 1 })).await;
    let reused = reported(&merchant, &second, &report_body("completed", "e-2")).await;
    assert_eq!(reused.refused(422, "validation_failed")["errors"][0]["pointer"], "/processor_event_id");
    // A payment's report and a refund's may be one event of the processor.
    let payment = payment_of(&merchant, &order).await;
    let shared = report_body("processing", &format!("succeeded:{}", text(&payment, "id")));
    assert_eq!(reported(&merchant, &second, &shared).await.expect(200)["applied"], true);

    let contradiction = reported(&merchant, &refund, &report_body("failed", "e-4")).await;
    contradiction.refused_with(
        409,
        "processor_conflict",
        &json!({ "current_status": "completed", "requested_status": "failed" }),
    );
    let alerts = merchant.operator.get("/alerts").await.expect(200);
    let about: Vec<_> = rows(&alerts).iter().map(|alert| (&alert["code"], &alert["subject"])).collect();
    assert_eq!(about, [(&json!("report_refused"), &refund["id"])]);
    // A refused report is not counted: corrected, the same event is taken.
    let corrected = reported(&merchant, &refund, &report_body("completed", "e-4")).await.expect(200);
    assert_eq!(corrected["applied"], false);
    assert_eq!(merchant.events().await.len(), events.len() + 3, "the second refund alone");

    let nobody = json!({ "id": "rfd_01h455vb4pex5vsknk084sn02q" });
    reported(&merchant, &nobody, &report_body("completed", "e-5")).await.refused(404, "not_found");
    reported(&merchant, &refund, &report_body("requested", "e-6")).await.refused(422, "validation_failed");
    let strangers = format!("/merchants/{}/live/orders/{order}/refunds", merchant.id);
    merchant.operator.post(&strangers, &json!({})).await.refused(404, "not_found");
}

/// The payment adapter's key reads and reports; others do one or the other, or neither.
#[tokio::test]
async fn the_adapters_key_is_enough() {
    let (authority, merchant) = Merchant::alone("scopes").await;
    let order = merchant.paid_order().await;
    let refund = ask(&merchant, &order, json!({ "amount": 1 })).await;
    let record = format!("/refunds/{}", text(&refund, "id"));
    for (scope, reads, writes) in [
        ("processor:write", true, true),
        ("operator:read", true, false),
        ("operator:write", false, false),
        ("carrier:write", false, false),
    ] {
        let made = authority.new_operator_key("x", &[scope]).await;
        let api = authority.operator().with_key(made["key"].as_str());
        for path in ["/refunds", &*record] {
            let reply = api.get(path).await;
            if reads {
                reply.expect(200);
            } else {
                let problem = reply.refused(403, "insufficient_scope");
                assert_eq!(problem["required_scopes"], json!(["operator:read", "processor:write"]));
            }
        }
        let report = report_body("processing", "sent");
        let reply = api.post(&format!("{record}/reports"), &report).await;
        let asked = merchant.platform_path(&format!("orders/{order}/refunds"));
        let asked = api.post(&asked, &json!({ "amount": 1 })).await;
        if writes {
            reply.expect(200);
            asked.expect(201);
        } else {
            for reply in [reply, asked] {
                let problem = reply.refused(403, "insufficient_scope");
                assert_eq!(problem["required_scopes"], json!(["processor:write"]));
            }
        }
    }
}
