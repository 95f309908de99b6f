//! The fixed sequences of contract 3.9: the versions in them, and what the records say. Which events there are, in
//! which order, is in [`crate::model`], row by row.

use authority_domain::checkout::CheckoutStatus;
use authority_domain::event::change::Record;
use authority_domain::order::payment_status;
use authority_domain::parts::Failure;
use authority_domain::payment::PaymentReport;
use authority_domain::transitions::payment::Surroundings;
use authority_domain::{Change, ConfirmOn, ErrorCode, OrderStatus, PaymentStatus, transitions};
use serde_json::json;

use crate::fixtures::{
    checkout_body, checkout_of, completed, created_payment, event_names, last_order, last_payment, later,
    new_payment, noon, on_order, order_number, report, reported, versions,
};
use crate::refused_bodies::errors;

fn order_numbers(changes: &[Change]) -> Vec<bool> {
    let names_it = |change: &Change| match &change.record {
        Record::Checkout(checkout) => checkout.order_number.is_some(),
        Record::Payment(payment) => payment.order_number.is_some(),
        Record::Order(order) => order.order_number == order_number(),
        _ => panic!("no such record in these sequences"),
    };
    changes.iter().map(names_it).collect()
}

#[test]
fn row_2_paid_at_once() {
    let (checkout, payment) = created_payment();
    assert_eq!((payment.resource_version, &payment.order_number), (1, &None));
    let changes = completed(&checkout, &payment, PaymentStatus::Succeeded, ConfirmOn::Paid, later());
    assert_eq!(versions(&changes), [Some(2), Some(1), Some(2), Some(2)]);
    assert_eq!(order_numbers(&changes), [true; 4], "the decisive payment event already names the order");
    let Record::Order(created) = &changes[1].record else { panic!("the order") };
    assert_eq!(created.status, OrderStatus::Pending);
    assert_eq!(created.payment_status, payment_status::PaymentStatus::Pending);
    let order = last_order(&changes).unwrap();
    assert_eq!(order.status, OrderStatus::Confirmed);
    assert_eq!(order.payment_status, payment_status::PaymentStatus::Paid);
    assert_eq!((order.placed_at, order.confirmed_at), (later(), Some(later())));
    assert_eq!(order.payment_ids, [payment.id]);
}

#[test]
fn the_order_takes_over_what_the_checkout_holds() {
    let address = |line1: &str| json!({"line1": line1, "country": "GB"});
    let mut body = checkout_body();
    body["customer"] = json!({"reference": "c-77", "email": "ada@example.com"});
    body["billing_address"] = address("1 Main St");
    body["shipping_address"] = address("2 Side St");
    body["metadata"] = json!({"k": "v"});
    let checkout = checkout_of(&body);
    let started = transitions::payment::start(&checkout, false, new_payment(&checkout), noon()).unwrap();
    let Record::Payment(payment) = started.record else { panic!("the payment") };
    let changes = completed(&checkout, &payment, PaymentStatus::Succeeded, ConfirmOn::Paid, noon());
    let order = last_order(&changes).unwrap();
    assert_eq!(order.customer, checkout.customer);
    assert_eq!(order.customer.unwrap().reference.as_deref(), Some("c-77"));
    assert_eq!(order.billing_address.unwrap().line1, "1 Main St");
    assert_eq!(order.shipping_address.unwrap().line1, "2 Side St");
    assert_eq!((order.metadata, order.amounts), (checkout.metadata, checkout.amounts));
    assert_eq!((order.currency, order.checkout_id), (checkout.currency, Some(checkout.id)));
    assert_eq!(order.livemode, checkout.livemode);
    let lines =
        |line: &authority_domain::parts::OrderLine| (line.id.clone(), line.quantity, line.total_amount);
    let expected: Vec<_> =
        checkout.line_items.iter().map(|line| (line.id.clone(), line.quantity, line.total_amount)).collect();
    assert_eq!(order.line_items.iter().map(lines).collect::<Vec<_>>(), expected);
}

#[test]
fn row_3_authorized_then_captured() {
    let (checkout, payment) = created_payment();
    let changes = completed(&checkout, &payment, PaymentStatus::Authorized, ConfirmOn::Paid, noon());
    let (order, payment) = (last_order(&changes).unwrap(), last_payment(&changes).unwrap());
    assert_eq!(order.status, OrderStatus::Pending);
    assert_eq!(order.payment_status, payment_status::PaymentStatus::Authorized);
    let captured = on_order(&order, &payment, PaymentStatus::Succeeded, ConfirmOn::Paid, later());
    assert_eq!(versions(&captured), [Some(3), Some(3)]);
}

#[test]
fn row_3_when_an_authorization_confirms() {
    let (checkout, payment) = created_payment();
    let changes = completed(&checkout, &payment, PaymentStatus::Authorized, ConfirmOn::Authorized, noon());
    let (order, payment) = (last_order(&changes).unwrap(), last_payment(&changes).unwrap());
    let captured = on_order(&order, &payment, PaymentStatus::Succeeded, ConfirmOn::Authorized, later());
    let order = last_order(&captured).unwrap();
    assert_eq!(order.confirmed_at, Some(noon()), "it is confirmed once");
}

#[test]
fn row_4_asynchronous_method() {
    let (checkout, payment) = created_payment();
    let changes = completed(&checkout, &payment, PaymentStatus::Pending, ConfirmOn::Paid, noon());
    let (order, payment) = (last_order(&changes).unwrap(), last_payment(&changes).unwrap());
    assert_eq!((order.status, order.resource_version), (OrderStatus::Pending, 1));

    let failed = on_order(&order, &payment, PaymentStatus::Failed, ConfirmOn::Paid, later());
    let order = last_order(&failed).unwrap();
    assert_eq!(order.status, OrderStatus::Pending, "the operator decides what becomes of it");
    assert_eq!(order.payment_status, payment_status::PaymentStatus::Failed);
}

#[test]
fn row_5_declined_and_tried_again() {
    let (checkout, payment) = created_payment();
    let failure = Failure { code: "card_declined".into(), message: None };
    let told = PaymentReport { failure: Some(failure.clone()), ..report(PaymentStatus::Failed) };
    let next = reported(payment.clone(), &told, later());
    let surroundings = Surroundings::OpenCheckout(Box::new(checkout.clone()));
    let changes = transitions::payment::settle(&payment, next, surroundings, ConfirmOn::Paid, later());
    assert_eq!(versions(&changes), [Some(2), Some(2)]);
    let Record::Checkout(open) = &changes[1].record else { panic!("the checkout") };
    assert_eq!((open.status, open.payment_attempts), (CheckoutStatus::Open, 1));
    assert_eq!((&open.payment_id, &open.last_payment_error), (&Some(payment.id), &Some(failure)));

    let again = transitions::payment::start(open, false, new_payment(open), later()).unwrap();
    let Record::Payment(payment) = &again.record else { panic!("the payment") };
    let changes = completed(open, payment, PaymentStatus::Succeeded, ConfirmOn::Paid, later());
    let Record::Checkout(done) = &changes[0].record else { panic!("the checkout") };
    assert_eq!((done.status, done.payment_attempts), (CheckoutStatus::Completed, 2));
    assert_eq!(done.last_payment_error, None);
    assert_eq!(done.completed_at, Some(later()));
}

#[test]
fn a_cancelled_attempt_leaves_the_checkout_as_it_is() {
    let (checkout, payment) = created_payment();
    let next = reported(payment.clone(), &report(PaymentStatus::Cancelled), later());
    let surroundings = Surroundings::OpenCheckout(Box::new(checkout));
    let changes = transitions::payment::settle(&payment, next, surroundings, ConfirmOn::Paid, later());
    assert_eq!(event_names(&changes), ["payment.cancelled"]);
}

#[test]
fn a_payment_that_holds_after_the_checkout_ended_creates_nothing() {
    let (_, payment) = created_payment();
    let next = reported(payment.clone(), &report(PaymentStatus::Succeeded), later());
    let changes = transitions::payment::settle(&payment, next, Surroundings::Ended, ConfirmOn::Paid, later());
    assert_eq!(event_names(&changes), ["payment.succeeded"]);
    assert_eq!(last_payment(&changes).unwrap().order_number, None);
}

#[test]
fn only_a_status_that_holds_completes_a_checkout() {
    let completing: Vec<&str> = PaymentStatus::ALL
        .iter()
        .filter(|status| transitions::payment::completes(**status))
        .map(|status| status.as_str())
        .collect();
    assert_eq!(completing, ["pending", "authorized", "succeeded"]);
}

#[test]
fn an_attempt_needs_an_open_checkout_without_another_attempt() {
    let (checkout, payment) = created_payment();
    let start = |checkout: &_, open_payment, now| {
        transitions::payment::start(checkout, open_payment, new_payment(checkout), now).unwrap_err()
    };
    for status in [CheckoutStatus::Completed, CheckoutStatus::Expired, CheckoutStatus::Cancelled] {
        let mut ended = checkout.clone();
        ended.status = status;
        let refusal = start(&ended, false, noon());
        assert_eq!(refusal.code, ErrorCode::InvalidStateTransition);
        let facts = [("current_status", status.as_str().into()), ("requested_status", "completed".into())];
        assert_eq!(refusal.extra, facts);
    }
    assert_eq!(start(&checkout, false, checkout.expires_at).code, ErrorCode::InvalidStateTransition);
    assert_eq!(start(&checkout, true, noon()).code, ErrorCode::InvalidStateTransition);

    let mut other_currency = new_payment(&checkout);
    other_currency.currency = "EUR".into();
    let refusal = transitions::payment::start(&checkout, false, other_currency, noon()).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::CurrencyMismatch);
    for amount in [payment.amount - 1, payment.amount + 1] {
        let mut other_amount = new_payment(&checkout);
        other_amount.amount = amount;
        let refusal = transitions::payment::start(&checkout, false, other_amount, noon()).unwrap_err();
        assert_eq!(refusal.code, ErrorCode::ValidationFailed);
        assert_eq!(errors(&refusal), ["/amount inconsistent"]);
    }
}
