//! Refunds that cannot be asked for, and bodies that cannot be read: contract 4.8, 6.2.

use authority_domain::refund::{NewRefund, RefundReportRequest};
use authority_domain::transitions::refund::Outcome;
use authority_domain::{ErrorCode, Order, Payment, PaymentId, Result};
use serde_json::{Value, json};

use crate::fixtures::{TOTAL, created_payment, payment_id};
use crate::refunds::{ask, sold};
use crate::refused_bodies::errors;

/// A second captured payment of the same order, older than the first of the list.
fn two_payments() -> (Order, [Payment; 2]) {
    let (order, payment) = sold();
    let other = Payment { id: payment_id(7), amount_captured: 50, ..payment.clone() };
    (order, [payment, other])
}

fn refused(result: Result<Outcome>) -> (ErrorCode, Vec<String>) {
    let refusal = result.unwrap_err();
    (refusal.code, errors(&refusal))
}

/// The body is judged before the state (contract 4.2).
#[test]
fn the_currency_is_the_orders_also_while_nothing_is_paid() {
    let (order, _) = sold();
    for (currency, code) in [("EUR", ErrorCode::CurrencyMismatch), ("USD", ErrorCode::OrderNotRefundable)] {
        let asked = ask(&order, &[], &[], json!({"currency": currency}));
        assert_eq!(refused(asked).0, code, "{currency}");
    }
}

#[test]
fn bodies_that_contradict_the_order() {
    let (order, payment) = sold();
    let line = |id: &str, quantity: i64| json!({"line_item_id": id, "quantity": quantity, "amount": 1});
    let known = order.line_items[0].id.as_str();
    let wrong = |error: &str| (ErrorCode::ValidationFailed, vec![error.to_owned()]);
    let table = [
        (json!({"currency": "EUR"}), (ErrorCode::CurrencyMismatch, vec![])),
        (json!({"payment_id": payment_id(7)}), wrong("/payment_id unknown_reference")),
        (json!({"payment_id": "x"}), wrong("/payment_id unknown_reference")),
        (
            json!({"amount": 1, "line_items": [line("li_none", 1)]}),
            wrong("/line_items/0/line_item_id unknown_reference"),
        ),
        (
            json!({"amount": 2, "line_items": [line(known, 1), line(known, 1)]}),
            wrong("/line_items/1/line_item_id duplicate"),
        ),
        (json!({"amount": 1, "line_items": [line(known, 3)]}), wrong("/line_items/0/quantity out_of_range")),
        (json!({"amount": 2, "line_items": [line(known, 1)]}), wrong("/line_items inconsistent")),
        // Without an amount the lines have to add up to all that is refundable.
        (json!({"line_items": [line(known, 1)]}), wrong("/line_items inconsistent")),
    ];
    for (body, expected) in table {
        let found = refused(ask(&order, std::slice::from_ref(&payment), &[], body.clone()));
        assert_eq!(found, expected, "{body}");
    }
    let empty = json!({"amount": 5, "line_items": []});
    assert_eq!(ask(&order, &[payment], &[], empty).unwrap().refund.line_items, []);
}

#[test]
fn what_cannot_be_refunded() {
    let (order, [payment, other]) = two_payments();
    let not_refundable = (ErrorCode::OrderNotRefundable, vec![]);
    assert_eq!(refused(ask(&order, &[], &[], json!({"amount": 1}))), not_refundable);
    let (_, uncaptured) = created_payment();
    assert_eq!(refused(ask(&order, &[uncaptured], &[], json!({"amount": 1}))), not_refundable);
    let all = ask(&order, std::slice::from_ref(&payment), &[], json!({})).unwrap().refund;
    let again = ask(&order, std::slice::from_ref(&payment), std::slice::from_ref(&all), json!({"amount": 1}));
    assert_eq!(refused(again), not_refundable, "it is all reserved");

    let too_much =
        ask(&order, std::slice::from_ref(&payment), &[], json!({"amount": TOTAL + 1})).unwrap_err();
    assert_eq!(too_much.code, ErrorCode::RefundAmountExceeded);
    assert_eq!(too_much.extra, [("refundable", TOTAL.into())]);

    let payments = [payment, other];
    let which = ask(&order, &payments, &[], json!({"amount": 1})).unwrap_err();
    assert_eq!(which.code, ErrorCode::PaymentRequired);
    assert_eq!(which.extra, [("payment_ids", json!([payments[0].id, payments[1].id]))]);
    let named = |id: &PaymentId| ask(&order, &payments, &[], json!({"payment_id": id})).unwrap().refund;
    assert_eq!((named(&payments[0].id).amount, named(&payments[1].id).amount), (TOTAL, 50));
    // The other payment is the only one with something left.
    let rest = ask(&order, &payments, std::slice::from_ref(&all), json!({"amount": 50})).unwrap();
    assert_eq!(rest.refund.payment_id, payments[1].id);
    let exhausted = json!({"payment_id": payments[0].id});
    let exhausted = ask(&order, &payments, &[all], exhausted).unwrap_err();
    assert_eq!(exhausted.code, ErrorCode::RefundAmountExceeded);
    assert_eq!(exhausted.extra, [("refundable", 0.into())]);
}

#[test]
fn bodies_that_are_refused_as_such() {
    let request = |body: Value| NewRefund::read(&body).map(|_| ());
    let reported = |body: Value| RefundReportRequest::read(&body).map(|_| ());
    let line = json!({"line_item_id": "li_1", "quantity": 1, "amount": 1});
    let table = [
        (request(json!([])), " wrong_type"),
        (request(json!({"amount": 0})), "/amount out_of_range"),
        (request(json!({"amount": 1_000_000_000_000_i64})), "/amount out_of_range"),
        (request(json!({"amount": "1"})), "/amount wrong_type"),
        (request(json!({"amount": 1.5})), "/amount wrong_type"),
        (request(json!({"currency": "usd"})), "/currency invalid_currency"),
        (request(json!({"payment_id": 1})), "/payment_id wrong_type"),
        (request(json!({"reason": "because"})), "/reason invalid_value"),
        (request(json!({"note": "x".repeat(501)})), "/note too_long"),
        (request(json!({"line_items": vec![line; 101]})), "/line_items too_long"),
        (request(json!({"line_items": [{}]})), "/line_items/0/line_item_id required"),
        (request(json!({"metadata": {"a b": "c"}})), "/metadata/a b invalid_value"),
        (request(json!({"status": "completed"})), "/status field_not_writable"),
        (request(json!({"requested_by": {}})), "/requested_by field_not_writable"),
        (request(json!({"amonut": 1})), "/amonut unknown_field"),
        (reported(json!({"status": "failed"})), "/processor_event_id required"),
        (reported(json!({"processor_event_id": "e"})), "/status required"),
        (reported(json!({"processor_event_id": "e", "status": "requested"})), "/status invalid_value"),
        (
            reported(json!({"processor_event_id": "e", "status": "completed", "failure": {"code": "x"}})),
            "/failure inconsistent",
        ),
    ];
    for (result, error) in table {
        let refusal = result.unwrap_err();
        assert_eq!(errors(&refusal)[0], error, "{refusal:?}");
    }
}
