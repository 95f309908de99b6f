//! Refunds that cannot be asked for, and bodies that cannot be read: contract 4.8, 6.2.

use authority_domain::refund::flow::Outcome;
use authority_domain::refund::{NewRefund, RefundReportRequest};
use authority_domain::{ErrorCode, MemberCode, Order, Payment, PaymentId, Result};
use serde_json::{Value, json};

use crate::fixtures::{TOTAL, created_payment, payment_id};
use crate::refunds::{ask, sold};

/// A second captured payment of the same order, older than the first of the list.
fn two_payments() -> (Order, [Payment; 2]) {
    let (order, payment) = sold();
    let other = Payment { id: payment_id(7), amount_captured: 50, ..payment.clone() };
    (order, [payment, other])
}

fn refused(result: Result<Outcome>) -> (ErrorCode, Option<(String, MemberCode)>) {
    let refusal = result.unwrap_err();
    let member = refusal.members.into_iter().next().map(|member| (member.pointer, member.code));
    (refusal.code, member)
}

#[test]
fn bodies_that_contradict_the_order() {
    let (order, payment) = sold();
    let line = |id: &str, quantity: i64| json!({"line_item_id": id, "quantity": quantity, "amount": 1});
    let known = order.line_items[0].id.as_str();
    let member = |pointer: &str, code| (ErrorCode::ValidationFailed, Some((pointer.to_owned(), code)));
    let table = [
        (json!({"currency": "EUR"}), (ErrorCode::CurrencyMismatch, None)),
        (json!({"payment_id": payment_id(7)}), member("/payment_id", MemberCode::UnknownReference)),
        (json!({"payment_id": "x"}), member("/payment_id", MemberCode::UnknownReference)),
        (
            json!({"amount": 1, "line_items": [line("li_none", 1)]}),
            member("/line_items/0/line_item_id", MemberCode::UnknownReference),
        ),
        (
            json!({"amount": 2, "line_items": [line(known, 1), line(known, 1)]}),
            member("/line_items/1/line_item_id", MemberCode::Duplicate),
        ),
        (
            json!({"amount": 1, "line_items": [line(known, 3)]}),
            member("/line_items/0/quantity", MemberCode::OutOfRange),
        ),
        (
            json!({"amount": 2, "line_items": [line(known, 1)]}),
            member("/line_items", MemberCode::Inconsistent),
        ),
        // Without an amount the lines have to add up to all that is refundable.
        (json!({"line_items": [line(known, 1)]}), member("/line_items", MemberCode::Inconsistent)),
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
    let not_refundable = (ErrorCode::OrderNotRefundable, None);
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
        (request(json!([])), "", MemberCode::WrongType),
        (request(json!({"amount": 0})), "/amount", MemberCode::OutOfRange),
        (request(json!({"amount": 1_000_000_000_000_i64})), "/amount", MemberCode::OutOfRange),
        (request(json!({"amount": "1"})), "/amount", MemberCode::WrongType),
        (request(json!({"amount": 1.5})), "/amount", MemberCode::WrongType),
        (request(json!({"currency": "usd"})), "/currency", MemberCode::InvalidCurrency),
        (request(json!({"payment_id": 1})), "/payment_id", MemberCode::WrongType),
        (request(json!({"reason": "because"})), "/reason", MemberCode::InvalidValue),
        (request(json!({"note": "x".repeat(501)})), "/note", MemberCode::TooLong),
        (request(json!({"line_items": vec![line; 101]})), "/line_items", MemberCode::TooLong),
        (request(json!({"line_items": [{}]})), "/line_items/0/line_item_id", MemberCode::Required),
        (request(json!({"metadata": {"a b": "c"}})), "/metadata/a b", MemberCode::InvalidValue),
        (request(json!({"status": "completed"})), "/status", MemberCode::FieldNotWritable),
        (request(json!({"requested_by": {}})), "/requested_by", MemberCode::FieldNotWritable),
        (request(json!({"amonut": 1})), "/amonut", MemberCode::UnknownField),
        (reported(json!({"status": "failed"})), "/processor_event_id", MemberCode::Required),
        (reported(json!({"processor_event_id": "e"})), "/status", MemberCode::Required),
        (
            reported(json!({"processor_event_id": "e", "status": "requested"})),
            "/status",
            MemberCode::InvalidValue,
        ),
        (
            reported(json!({"processor_event_id": "e", "status": "completed", "failure": {"code": "x"}})),
            "/failure",
            MemberCode::Inconsistent,
        ),
    ];
    for (result, pointer, code) in table {
        let refusal = result.unwrap_err();
        let found = refusal.members.first().map(|member| (member.pointer.as_str(), member.code));
        assert_eq!(found, Some((pointer, code)), "{refusal:?}");
    }
}
