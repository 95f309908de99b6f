//! `authority trigger --set` and `--from`: an event with other content, and a story of several steps (contract 16).
//! That every type can be produced is seen by the acceptance tests.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};
use tests::{Authority, Merchant, text};

/// Runs the command with the merchant's key.
async fn trigger(authority: &Authority, merchant: &Merchant, arguments: &[&str]) -> Output {
    let url = format!("http://{}", authority.merchant_address());
    let arguments = [&["trigger", "--url", &url], arguments].concat();
    authority.run_with(&[("AUTHORITY_API_KEY", &merchant.key)], &arguments).await
}

fn said(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

#[tokio::test]
async fn what_is_set_is_in_the_event() {
    let (authority, merchant) = Merchant::alone("setter").await;
    let arguments = [
        "refund.completed",
        "--set",
        "checkout.currency=EUR",
        "--set",
        "checkout.line_items.0.quantity=3",
        "--set",
        "checkout.line_items.1={\"name\":\"Mug\",\"quantity\":1,\"unit_amount\":900}",
        "--set",
        "refund.amount=250",
    ];
    let output = trigger(&authority, &merchant, &arguments).await;
    assert!(output.status.success(), "{output:?}");
    let id = str::from_utf8(&output.stdout).unwrap().trim_end();
    let refund = merchant.api.get(&format!("/events/{id}")).await.expect(200)["data"]["object"].clone();
    assert_eq!((&refund["amount"], &refund["currency"]), (&json!(250), &json!("EUR")));
    let order = merchant.api.get(&format!("/orders/{}", text(&refund, "order_number"))).await.expect(200);
    let quantities: Vec<&Value> =
        order["line_items"].as_array().unwrap().iter().map(|line| &line["quantity"]).collect();
    assert_eq!(quantities, [&json!(3), &json!(1)]);
}

#[tokio::test]
async fn a_change_that_cannot_be_is_told_in_one_line() {
    let (authority, merchant) = Merchant::alone("unset").await;
    for (set, code, line) in [
        (
            "shipment.carrier=dhl",
            2,
            "--set shipment.carrier: the path must begin with one of checkout, payment, the records that order.created \
             needs",
        ),
        ("payment.outcome=failed", 2, "--set payment.outcome: the event type decides it"),
        (
            "checkout.line_items.7.quantity=3",
            2,
            "--set checkout.line_items.7.quantity: 7 is not a place in an array of 1",
        ),
        (
            "checkout.colour=red",
            1,
            "POST /checkouts answered 422 unknown_field: /colour: This operation does not define this member.",
        ),
    ] {
        let refused = trigger(&authority, &merchant, &["order.created", "--set", set]).await;
        assert_eq!(
            (said(&refused), refused.status.code()),
            (format!("authority: {line}\n").as_str(), Some(code))
        );
        assert!(refused.stdout.is_empty());
    }
    assert_eq!(merchant.events().await, [Value::Null; 0], "nothing was made");
}

#[tokio::test]
async fn a_story_runs_step_by_step_up_to_the_first_refusal() {
    let (authority, merchant) = Merchant::alone("told").await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("story.json");
    let file_name = file.to_str().unwrap();
    let line = json!({ "name": "Mug", "quantity": 2, "unit_amount": 900 });
    let steps = [
        json!({ "post": "/v1/sandbox/checkouts", "as": "cart",
                "body": { "currency": "USD", "line_items": [line] } }),
        json!({ "post": "/v1/sandbox/checkouts/${cart.id}/pay", "body": { "outcome": "succeeded" }, "as": "paid" }),
        json!({ "patch": "/v1/merchant/orders/${paid.order_number}/fulfillment",
                "body": { "fulfillment_status": "shipped" } }),
        json!({ "trigger": "checkout.expired", "set": { "checkout.currency": "EUR" } }),
        json!({ "post": "/v1/merchant/orders/${paid.order_number}/refunds", "body": { "amount": 1801 } }),
        json!({ "trigger": "order.created" }),
    ];
    fs::write(&file, json!(steps[..4]).to_string()).unwrap();
    let told = trigger(&authority, &merchant, &["--from", file_name, "--json"]).await;
    assert!(told.status.success(), "{told:?}");
    let lines: Vec<Value> = str::from_utf8(&told.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let events = merchant.events().await;
    let order = events.iter().find(|event| event["type"] == "order.shipped").unwrap();
    let number = text(&order["data"]["object"], "order_number");
    assert_eq!((&order["data"]["object"]["currency"], lines.len()), (&json!("USD"), 4));
    assert_eq!(lines[0]["call"], "POST /v1/sandbox/checkouts");
    assert_eq!(lines[2]["call"], format!("PATCH /v1/merchant/orders/{number}/fulfillment"));
    assert_eq!(lines[3], json!({ "step": 4, "type": "checkout.expired", "id": lines[3]["id"] }));
    let last = events.last().unwrap();
    assert_eq!((&last["id"], &last["data"]["object"]["currency"]), (&lines[3]["id"], &json!("EUR")));

    // The fifth is refused: what came before is done, the sixth never happens.
    fs::write(&file, json!(steps).to_string()).unwrap();
    let refused = trigger(&authority, &merchant, &["--from", file_name]).await;
    assert_eq!(str::from_utf8(&refused.stdout).unwrap().lines().count(), 4);
    let line = said(&refused);
    assert!(line.starts_with("authority: step 5: POST /orders/"), "{line}");
    assert!(line.contains(" answered 422 refund_amount_exceeded"), "{line}");
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(merchant.events().await.len(), 2 * events.len());

    for (story, line) in [
        ("[{}]", "--from step 1: must be `trigger` with `set`, or `post` or `patch` with `body` and `as`"),
        (
            r#"[{"trigger":"order.created"},{"trigger":"order.exploded"}]"#,
            "--from step 2: `trigger` must be an event type",
        ),
    ] {
        fs::write(&file, story).unwrap();
        let refused = trigger(&authority, &merchant, &["--from", file_name]).await;
        assert_eq!(
            (said(&refused), refused.status.code()),
            (format!("authority: {line}\n").as_str(), Some(2))
        );
    }
    let absent = trigger(&authority, &merchant, &["--from", "/nonexistent/story.json"]).await;
    assert_eq!(said(&absent), "authority: --from cannot be read: No such file or directory (os error 2)\n");
    assert_eq!(merchant.events().await.len(), 2 * events.len(), "a wrong file does nothing");
}
