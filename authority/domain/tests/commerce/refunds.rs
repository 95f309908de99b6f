//! Refunds: contract 2.4, 3.6, 3.9 rows 14 to 18 and 4.8. The events of these rows are in [`crate::model`].

use authority_domain::event::change::Record;
use authority_domain::order::payment_status::PaymentStatus as OrderPayment;
use authority_domain::parts::{Failure, Money};
use authority_domain::refund::{
    NewRefund, RefundOutcome, RefundReason, RefundReport, Requester, RequesterType,
};
use authority_domain::transitions::refund::{Outcome, RefundBasis};
use authority_domain::{
    ConfirmOn, ErrorCode, Order, OrderStatus, Payment, PaymentStatus, Refund, RefundId, RefundStatus, Result,
    transitions,
};
use serde_json::{Value, json};

use crate::fixtures::{
    TOTAL, check_machine, dice, event_names, last_order, last_payment, later, ordered, versions,
};

/// A confirmed order of 6200 and the payment that was captured for it.
pub(crate) fn sold() -> (Order, Payment) {
    ordered(PaymentStatus::Succeeded)
}

/// What is reserved of the payments is taken from the refunds, as a store does it.
fn standing(order: &Order, payments: &[Payment], refunds: &[Refund]) -> RefundBasis {
    let mut reserved = std::collections::BTreeMap::new();
    for refund in refunds.iter().filter(|refund| refund.status.is_open()) {
        *reserved.entry(refund.payment_id.clone()).or_insert(0) += refund.amount;
    }
    RefundBasis::new(order.clone(), payments.to_vec(), &reserved)
}

fn by_merchant() -> Requester {
    Requester { kind: RequesterType::ApiKey, id: Some("key_1".into()) }
}

pub(crate) fn ask(order: &Order, payments: &[Payment], refunds: &[Refund], body: Value) -> Result<Outcome> {
    let new = NewRefund::read(&body)?;
    let id = RefundId::generate(later(), &mut dice());
    let standing = standing(order, payments, refunds);
    transitions::refund::request(standing, id, new, by_merchant(), ConfirmOn::Paid, later())
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
    transitions::refund::report(standing, refund.clone(), &told(status), ConfirmOn::Paid, later())
        .unwrap()
        .unwrap()
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
    assert_eq!((versions(&sent.changes), sent.restated), (vec![Some(2)], None));
    assert_eq!((sent.refund.processing_at, sent.refund.completed_at), (Some(later()), None));
}

#[test]
fn rows_16_and_17_money_goes_back() {
    let (order, payment) = sold();
    let made = ask(&order, std::slice::from_ref(&payment), &[], json!({"amount": 1200})).unwrap();
    let order = last_order(&made.changes).unwrap();
    let part = report(&order, &[payment], &made.refund, RefundStatus::Completed);
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
        transitions::refund::report(standing, made.refund, &told, ConfirmOn::Paid, later()).unwrap().unwrap();
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
    // requested processing completed failed
    let table = [
        (RefundStatus::Requested, "= c c c"),
        (RefundStatus::Processing, "= = c c"),
        (RefundStatus::Completed, "= = = x"),
        (RefundStatus::Failed, "= = x ="),
    ];
    check_machine(&table, ErrorCode::ProcessorConflict, |from, to| {
        let refund = Refund { status: from, ..made.clone() };
        Ok(match refund.report(&told(to), later())? {
            RefundOutcome::Unchanged => "=",
            RefundOutcome::Changed(next) => {
                assert_eq!((next.status, next.resource_version), (to, 2));
                "c"
            }
        })
    });
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

/// An order that was confirmed and delivered with a part paid completes when all of that part goes back: contract
/// 3.1, 3.2.
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
    order.fulfillment_status = authority_domain::order::fulfillment_status::derive(&order.line_items);
    order.payment_status = OrderPayment::PartiallyPaid;
    let made = ask(&order, std::slice::from_ref(&payment), &[], json!({"amount": 100})).unwrap();
    let order = last_order(&made.changes).unwrap();
    assert_eq!((order.status, order.payment_status), (OrderStatus::Confirmed, OrderPayment::PartiallyPaid));
    let done = report(&order, &[payment], &made.refund, RefundStatus::Completed);
    let order = last_order(&done.changes).unwrap();
    assert_eq!((order.status, order.completed_at), (OrderStatus::Completed, Some(later())));
}

/// Money that came too late to make an order (contract 18.3).
#[test]
fn a_payment_without_an_order_is_given_back_by_itself() {
    let (_, payment) = sold();
    let payment = Payment { order_number: None, late: true, ..payment };
    let ask = |payment: &Payment, body: Value| {
        let new = NewRefund::read_of_payment(&body, &payment.id)?;
        let id = RefundId::generate(later(), &mut dice());
        let standing = RefundBasis::without_order(payment.clone());
        transitions::refund::request(standing, id, new, by_merchant(), ConfirmOn::Paid, later())
    };
    let part = ask(&payment, json!({"amount": 200, "currency": "USD"})).unwrap();
    assert_eq!(event_names(&part.changes), ["refund.requested"]);
    assert_eq!((&part.refund.order_number, part.refund.amount), (&None, 200));
    let reserved = part.restated.unwrap();
    assert_eq!((reserved.amount_refund_pending, reserved.resource_version), (200, payment.resource_version));
    let told = RefundReport { status: RefundStatus::Completed, processor_reference: None, failure: None };
    let standing = RefundBasis::without_order(reserved.clone());
    let done =
        transitions::refund::report(standing, part.refund, &told, ConfirmOn::Paid, later()).unwrap().unwrap();
    assert_eq!(event_names(&done.changes), ["refund.completed", "payment.partially_refunded"]);
    for (body, code) in [
        (json!({"amount": TOTAL - 199}), ErrorCode::RefundAmountExceeded),
        (json!({"currency": "EUR"}), ErrorCode::CurrencyMismatch),
        (json!({"amount": null}), ErrorCode::ValidationFailed),
        (json!({"payment_id": payment.id}), ErrorCode::FieldNotWritable),
        (
            json!({"line_items": [{"line_item_id": "li_1", "quantity": 1, "amount": 1}]}),
            ErrorCode::ValidationFailed,
        ),
    ] {
        assert_eq!(ask(&reserved, body.clone()).unwrap_err().code, code, "{body}");
    }
    let nothing = Payment { amount_captured: 0, ..payment };
    assert_eq!(ask(&nothing, json!({})).unwrap_err().code, ErrorCode::OrderNotRefundable);
}
