//! Row 7a: further payments of an order, and that nothing is paid twice.

use futures_util::future::join_all;
use serde_json::json;
use tests::{Database, on_both_databases, text};

use crate::orders::{Shop, attempt, made, state, transition};

async fn a_failed_order_is_paid_at_the_second_try(database: Database) {
    let mut shop = Shop::open(database).await;
    let first = shop.merchant.payment(&shop.merchant.checkout().await, "automatic").await;
    let reported = shop.merchant.report(&first, "pending").await;
    let number = text(&reported["payment"], "order_number");
    shop.merchant.report(&first, "failed").await;
    shop.new_events().await;
    assert_eq!(state(&shop.merchant.order(&number).await), ("pending", "failed"));

    let start = shop.post(&shop.merchant.platform_path("payments"), &attempt(&number, 5300, "second"));
    let payment = start.clone().send().await.expect(201);
    assert_eq!(shop.new_events().await, ["payment.created 1", "order.updated 3"]);
    assert_eq!((&payment["order_number"], &payment["checkout_id"]), (&json!(number), &json!(null)));
    let order = shop.merchant.order(&number).await;
    assert_eq!(
        (state(&order), &order["payment_ids"]),
        (("pending", "pending"), &json!([first["id"], payment["id"]]))
    );
    assert_eq!(start.send().await.expect(200), payment, "the same start again");
    let other = shop.post(&shop.merchant.platform_path("payments"), &attempt(&number, 5299, "second"));
    let taken = json!({ "errors": [["/processor_event_id", "duplicate"]] });
    shop.refuses(other, 422, "validation_failed", taken).await;

    shop.merchant.report(&payment, "succeeded").await;
    assert_eq!(shop.new_events().await, ["payment.succeeded 2", "order.confirmed 4"]);
    assert_eq!(state(&shop.merchant.order(&number).await), ("confirmed", "paid"));
}

async fn a_rest_is_paid_in_parts(database: Database) {
    let mut shop = Shop::open(database).await;
    shop.take_in(json!({ "order_number": "A", "payments": [made(3000, "succeeded", "a")] })).await;
    shop.new_events().await;
    let path = shop.merchant.platform_path("payments");
    let too_much = json!({ "errors": [["/amount", "out_of_range"]] });
    let call = shop.post(&path, &attempt("A", 2301, "b"));
    shop.refuses(call, 422, "validation_failed", too_much.clone()).await;
    let part = shop.post(&path, &attempt("A", 2000, "b")).send().await.expect(201);
    assert_eq!(shop.new_events().await, ["payment.created 1", "order.updated 3"]);
    let call = shop.post(&path, &attempt("A", 301, "c"));
    shop.refuses(call, 422, "validation_failed", too_much).await;
    let rest = shop.post(&path, &attempt("A", 300, "c")).send().await.expect(201);
    shop.new_events().await;
    let call = shop.post(&path, &attempt("A", 1, "d"));
    shop.refuses(call, 409, "invalid_state_transition", transition("partially_paid", "pending")).await;
    shop.merchant.report(&part, "succeeded").await;
    shop.merchant.report(&rest, "succeeded").await;
    let told = ["payment.succeeded 2", "order.updated 5", "payment.succeeded 2", "order.confirmed 6"];
    assert_eq!(shop.new_events().await, told);
    let call = shop.post(&path, &attempt("A", 1, "d"));
    shop.refuses(call, 409, "invalid_state_transition", transition("paid", "pending")).await;
}

async fn a_start_names_one_target_of_this_merchant(database: Database) {
    let mut shop = Shop::open(database).await;
    shop.take_in(json!({ "order_number": "A" })).await;
    let checkout = shop.merchant.checkout().await;
    shop.new_events().await;
    let path = shop.merchant.platform_path("payments");
    let mut both = attempt("A", 1, "x");
    both["checkout_id"] = checkout["id"].clone();
    let mut none = both.clone();
    for member in ["checkout_id", "order_number"] {
        none.as_object_mut().unwrap().remove(member);
    }
    let mut euro = attempt("A", 1, "x");
    euro["currency"] = json!("EUR");
    let errors = |pointer: &str, code: &str| json!({ "errors": [[pointer, code]] });
    let table = [
        (both, "validation_failed", errors("/order_number", "inconsistent")),
        (none, "validation_failed", errors("/checkout_id", "required")),
        (attempt("B", 1, "x"), "validation_failed", errors("/order_number", "unknown_reference")),
        (euro, "currency_mismatch", json!({})),
    ];
    for (body, code, facts) in table {
        let call = shop.post(&path, &body);
        shop.refuses(call, 422, code, facts).await;
    }
}

/// Thirty clients want to pay 3.00 each of an order of 53.00: seventeen fit, whoever they are.
async fn clients_at_once_never_ask_for_more_than_is_due(database: Database) {
    let mut shop = Shop::open(database).await;
    shop.take_in(json!({ "order_number": "A" })).await;
    shop.new_events().await;
    let path = shop.merchant.platform_path("payments");
    let attempts = (0..30).map(|n| shop.post(&path, &attempt("A", 300, &format!("try-{n}"))).send());
    let replies = join_all(attempts).await;
    let made = replies.iter().filter(|reply| reply.status == 201).count();
    assert_eq!(made, 17);
    for reply in replies.iter().filter(|reply| reply.status != 201) {
        reply.refused(422, "validation_failed");
    }
    let told = shop.new_events().await;
    assert_eq!(told.len(), 34);
    assert_eq!(told[33], "order.updated 18");
}

on_both_databases!(
    a_failed_order_is_paid_at_the_second_try,
    a_rest_is_paid_in_parts,
    a_start_names_one_target_of_this_merchant,
    clients_at_once_never_ask_for_more_than_is_due,
);
