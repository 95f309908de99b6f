//! Refunds: contract 2.4, 3.6, 3.9 rows 14 to 18 and 4.8.

use authority_domain::change::{Change, Record};
use authority_domain::error_code::ErrorCode;
use authority_domain::id::{PaymentId, RefundId};
use authority_domain::order::{ConfirmOn, Order, OrderStatus};
use authority_domain::parts::{Failure, Money};
use authority_domain::payment::{Payment, PaymentStatus};
use authority_domain::payment_status::PaymentStatus as OrderPayment;
use authority_domain::refund::{
    Refund, RefundReason, RefundReport, RefundStatus, Reported, Requester, RequesterType,
};
use authority_domain::refund_flow::{self, Outcome, Standing};
use authority_domain::refusal::{MemberCode, Refusal};
use authority_domain::requests::{RefundReportRequest, RefundRequest};
use authority_domain::time::Timestamp;
use serde_json::{Value, json};

use crate::fixtures::{
    TOTAL, completed, created_payment, dice, event_names, last_order, last_payment, noon, payment_id,
};

fn later() -> Timestamp {
    noon().plus_ms(60_000)
}

/// A confirmed order of 6200 and the payment that was captured for it.
fn sold() -> (Order, Payment) {
    let (checkout, payment) = created_payment();
    let changes = completed(&checkout, &payment, PaymentStatus::Succeeded, ConfirmOn::Paid, noon());
    (last_order(&changes).unwrap(), last_payment(&changes).unwrap())
}

/// What is reserved of the payments is taken from the refunds, as a store does it.
fn standing(order: &Order, payments: &[Payment], refunds: &[Refund]) -> Standing {
    let mut reserved = std::collections::BTreeMap::new();
    for refund in refunds.iter().filter(|refund| refund.status.is_open()) {
        *reserved.entry(refund.payment_id.clone()).or_insert(0) += refund.amount;
    }
    Standing::new(order.clone(), payments.to_vec(), &reserved)
}

fn by_merchant() -> Requester {
    Requester { kind: RequesterType::ApiKey, id: Some("key_1".into()) }
}

fn ask(order: &Order, payments: &[Payment], refunds: &[Refund], body: Value) -> Result<Outcome, Refusal> {
    let new = RefundRequest::read(&body)?.into_new();
    let id = RefundId::generate(later(), &mut dice());
    let standing = standing(order, payments, refunds);
    refund_flow::request(standing, id, new, by_merchant(), ConfirmOn::Paid, later())
}

/// A refund of all that a sold order paid.
pub(crate) fn requested() -> Outcome {
    let (order, payment) = sold();
    ask(&order, &[payment], &[], json!({})).unwrap()
}

fn told(status: RefundStatus) -> RefundReport {
    RefundReport { status, processor_reference: None, failure: None }
}

fn report(order: &Order, payments: &[Payment], refund: &Refund, status: RefundStatus) -> Outcome {
    let standing = standing(order, payments, std::slice::from_ref(refund));
    refund_flow::report(standing, refund.clone(), &told(status), ConfirmOn::Paid, later()).unwrap().unwrap()
}

fn versions(changes: &[Change]) -> Vec<Option<i64>> {
    changes.iter().map(|change| change.record.resource_version()).collect()
}

/// `refunded`, `refund_pending`, `refundable`.
fn money(order: &Order) -> [Money; 3] {
    let summary = order.payment_summary;
    [summary.refunded, summary.refund_pending, summary.refundable]
}

#[test]
fn row_14_a_request_reserves() {
    let (order, payment) = sold();
    let body = json!({
        "amount": 5000, "currency": "USD", "payment_id": payment.id, "reason": "damaged", "note": "two\nlines",
        "line_items": [
            {"line_item_id": order.line_items[0].id, "quantity": 2, "amount": 4800},
            {"line_item_id": order.line_items[1].id, "quantity": 1, "amount": 200},
        ],
        "metadata": {"return": "9"},
    });
    let made = ask(&order, std::slice::from_ref(&payment), &[], body.clone()).unwrap();
    assert_eq!(event_names(&made.changes), ["refund.requested", "order.updated"]);
    assert_eq!(versions(&made.changes), [Some(1), Some(3)]);
    let Record::Refund(told) = &made.changes[0].record else { panic!("the refund") };
    assert_eq!(**told, made.refund);
    let expected = json!({
        "object": "refund", "id": made.refund.id, "status": "requested", "order_number": order.order_number,
        "payment_id": payment.id, "amount": 5000, "currency": "USD", "reason": "damaged", "note": "two\nlines",
        "line_items": body["line_items"], "requested_by": {"type": "api_key", "id": "key_1"},
        "processor_reference": null, "failure": null, "processing_at": null, "completed_at": null,
        "failed_at": null, "metadata": {"return": "9"}, "resource_version": 1, "livemode": false,
        "created_at": later(), "updated_at": later(),
    });
    assert_eq!(serde_json::to_value(&made.refund).unwrap(), expected);
    let restated = made.restated.unwrap();
    assert_eq!(
        restated,
        Payment { amount_refund_pending: 5000, ..payment.clone() },
        "its version is the same"
    );
    let after = last_order(&made.changes).unwrap();
    assert_eq!(money(&after), [0, 5000, TOTAL - 5000]);
    assert_eq!((after.payment_status, after.status), (OrderPayment::Paid, OrderStatus::Confirmed));
    assert_eq!((after.amounts, after.payment_summary.captured), (order.amounts, TOTAL), "I11");
}

#[test]
fn row_15_processing_tells_of_the_refund_alone() {
    let (order, payment) = sold();
    let made = ask(&order, std::slice::from_ref(&payment), &[], json!({"amount": 100})).unwrap();
    let (order, payments) = (last_order(&made.changes).unwrap(), [payment]);
    let sent = report(&order, &payments, &made.refund, RefundStatus::Processing);
    assert_eq!(event_names(&sent.changes), ["refund.processing"]);
    assert_eq!((versions(&sent.changes), sent.restated), (vec![Some(2)], None));
    assert_eq!((sent.refund.processing_at, sent.refund.completed_at), (Some(later()), None));
}

#[test]
fn rows_16_and_17_money_goes_back() {
    let (order, payment) = sold();
    let made = ask(&order, std::slice::from_ref(&payment), &[], json!({"amount": 1200})).unwrap();
    let order = last_order(&made.changes).unwrap();
    let part = report(&order, &[payment], &made.refund, RefundStatus::Completed);
    assert_eq!(
        event_names(&part.changes),
        ["refund.completed", "payment.partially_refunded", "order.updated"]
    );
    assert_eq!((versions(&part.changes), part.restated), (vec![Some(2), Some(3), Some(4)], None));
    assert_eq!((part.refund.processing_at, part.refund.completed_at), (None, Some(later())));
    let (order, payment) = (last_order(&part.changes).unwrap(), last_payment(&part.changes).unwrap());
    assert_eq!(payment.status, PaymentStatus::PartiallyRefunded);
    assert_eq!((payment.amount_refunded, payment.amount_refund_pending), (1200, 0));
    assert_eq!(
        (order.payment_status, money(&order)),
        (OrderPayment::PartiallyRefunded, [1200, 0, TOTAL - 1200])
    );

    let rest = ask(&order, std::slice::from_ref(&payment), &[], json!({})).unwrap();
    assert_eq!((rest.refund.amount, rest.refund.reason), (TOTAL - 1200, RefundReason::RequestedByCustomer));
    let order = last_order(&rest.changes).unwrap();
    let rest = report(&order, &[payment], &rest.refund, RefundStatus::Completed);
    assert_eq!(event_names(&rest.changes), ["refund.completed", "payment.refunded", "order.updated"]);
    assert_eq!(versions(&rest.changes), [Some(2), Some(4), Some(6)]);
    let (order, payment) = (last_order(&rest.changes).unwrap(), last_payment(&rest.changes).unwrap());
    assert_eq!((payment.status, payment.amount_refunded), (PaymentStatus::Refunded, TOTAL));
    assert_eq!((order.payment_status, money(&order)), (OrderPayment::Refunded, [TOTAL, 0, 0]));
}

#[test]
fn a_partial_refund_after_a_partial_refund_is_told_again() {
    let (order, mut payment) = sold();
    payment.status = PaymentStatus::PartiallyRefunded;
    payment.amount_refunded = 5;
    let made = ask(&order, std::slice::from_ref(&payment), &[], json!({"amount": 1})).unwrap();
    let done = report(&order, &[payment], &made.refund, RefundStatus::Completed);
    assert_eq!(done.changes[1].event_type.as_str(), "payment.partially_refunded");
}

#[test]
fn row_18_a_failure_releases() {
    let (order, payment) = sold();
    let made = ask(&order, std::slice::from_ref(&payment), &[], json!({})).unwrap();
    let order = last_order(&made.changes).unwrap();
    let told = RefundReport {
        status: RefundStatus::Failed,
        processor_reference: Some("re_1".into()),
        failure: Some(Failure { code: "insufficient_funds".into(), message: None }),
    };
    let standing = standing(&order, std::slice::from_ref(&payment), std::slice::from_ref(&made.refund));
    let failed =
        refund_flow::report(standing, made.refund, &told, ConfirmOn::Paid, later()).unwrap().unwrap();
    assert_eq!(event_names(&failed.changes), ["refund.failed", "order.updated"]);
    assert_eq!(versions(&failed.changes), [Some(2), Some(4)]);
    assert_eq!(failed.restated, Some(payment));
    assert_eq!((failed.refund.failure, failed.refund.failed_at), (told.failure, Some(later())));
    assert_eq!(failed.refund.processor_reference.as_deref(), Some("re_1"));
    assert_eq!(money(&last_order(&failed.changes).unwrap()), [0, 0, TOTAL]);
}

/// What every report does to a refund in every status (contract 3.6); out of order as for payments (3.5).
#[test]
fn the_state_machine() {
    let (order, payment) = sold();
    let made = ask(&order, std::slice::from_ref(&payment), &[], json!({"amount": 1})).unwrap().refund;
    let at = |status| Refund { status, ..made.clone() };
    for from in RefundStatus::ALL {
        for to in RefundStatus::ALL {
            let expected = match (from.as_str(), to.as_str()) {
                ("requested", "processing" | "completed" | "failed")
                | ("processing", "completed" | "failed") => "changed",
                ("completed", "failed") | ("failed", "completed") => "refused",
                _ => "unchanged",
            };
            let found = match at(*from).report(&told(*to), later()) {
                Ok(Reported::Changed(next)) => {
                    assert_eq!((next.status, next.resource_version), (*to, 2));
                    "changed"
                }
                Ok(Reported::Unchanged) => "unchanged",
                Err(refusal) => {
                    assert_eq!(refusal.code, ErrorCode::ProcessorConflict);
                    let facts =
                        [("current_status", from.as_str().into()), ("requested_status", to.as_str().into())];
                    assert_eq!(refusal.extra, facts);
                    "refused"
                }
            };
            assert_eq!(found, expected, "{from} → {to}");
        }
    }
}

/// A second captured payment of the same order, older than the first of the list.
fn two_payments() -> (Order, [Payment; 2]) {
    let (order, payment) = sold();
    let other = Payment { id: payment_id(7), amount_captured: 50, ..payment.clone() };
    (order, [payment, other])
}

fn refused(result: Result<Outcome, Refusal>) -> (ErrorCode, Option<(String, MemberCode)>) {
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
fn the_orders_own_status_does_not_matter() {
    let (order, payment) = sold();
    for status in OrderStatus::ALL {
        let order = Order { status: *status, ..order.clone() };
        let made = ask(&order, std::slice::from_ref(&payment), &[], json!({})).unwrap();
        let then = last_order(&made.changes).unwrap();
        let done = report(&then, std::slice::from_ref(&payment), &made.refund, RefundStatus::Completed);
        let after = last_order(&done.changes).unwrap();
        assert_eq!(after.payment_status, OrderPayment::Refunded, "{status}");
        if *status != OrderStatus::Pending {
            assert_eq!(after.status, *status);
        }
    }
}

/// An order that was confirmed and delivered with a part paid completes when that part goes back: contract 3.1.
#[test]
fn a_refund_may_complete_an_order() {
    let (mut order, mut payment) = sold();
    payment.amount_captured = 100;
    payment.amount_authorized = 100;
    for line in &mut order.line_items {
        line.fulfilled_quantity = line.quantity;
        if line.requires_shipping {
            (line.shipped_quantity, line.delivered_quantity) = (line.quantity, line.quantity);
        }
    }
    order.fulfillment_status = authority_domain::fulfillment_status::derive(&order.line_items);
    order.payment_status = OrderPayment::PartiallyPaid;
    let made = ask(&order, std::slice::from_ref(&payment), &[], json!({"amount": 40})).unwrap();
    let order = last_order(&made.changes).unwrap();
    assert_eq!((order.status, order.payment_status), (OrderStatus::Confirmed, OrderPayment::PartiallyPaid));
    let done = report(&order, &[payment], &made.refund, RefundStatus::Completed);
    let order = last_order(&done.changes).unwrap();
    assert_eq!((order.status, order.completed_at), (OrderStatus::Completed, Some(later())));
}

#[test]
fn bodies_that_are_refused_as_such() {
    let request = |body: Value| RefundRequest::read(&body).map(|_| ());
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
