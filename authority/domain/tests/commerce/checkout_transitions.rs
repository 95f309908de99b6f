//! What the operator may do with checkouts in each of their states (contract 3.4), and what ends with them.

use authority_domain::checkout::CheckoutStatus;
use authority_domain::event::change::Record;
use authority_domain::order::payment_status;
use authority_domain::transitions::payment::Surroundings;
use authority_domain::{Checkout, CheckoutEnd, ConfirmOn, OrderStatus, PaymentStatus, transitions};
use serde_json::json;

use crate::fixtures::{
    checkout_body, checkout_of, created_payment, event_names, last_order, last_payment, noon, order_number,
    report, reported,
};
use crate::order_transitions::{outcome, refused};

#[test]
fn what_may_be_done_with_a_checkout_in_each_state() {
    // What cancelling, expiring and completing tell; x: refused.
    let completed = "checkout.completed order.created order.confirmed";
    let table = [
        (CheckoutStatus::Open, ["checkout.cancelled", "checkout.expired", completed]),
        (CheckoutStatus::Completed, ["x", "x", "x"]),
        (CheckoutStatus::Expired, ["x", "", "x"]),
        (CheckoutStatus::Cancelled, ["", "x", "x"]),
    ];
    assert_eq!(table.each_ref().map(|row| row.0).as_slice(), CheckoutStatus::ALL);
    for (status, cells) in table {
        let free = || Checkout { status, ..free_checkout() };
        let end = |how| outcome(transitions::checkout::end(free(), None, how, noon()));
        let done = transitions::checkout::complete(free(), order_number(), None, ConfirmOn::Paid, noon());
        let asked = [
            ("cancelled", end(CheckoutEnd::Cancelled)),
            ("expired", end(CheckoutEnd::Expired)),
            ("completed", outcome(done)),
        ];
        for ((requested, told), cell) in asked.into_iter().zip(cells) {
            let expected = if cell == "x" { refused(status.as_str(), requested) } else { cell.to_owned() };
            assert_eq!(told, expected, "{status} to {requested}");
        }
        assert_eq!(transitions::checkout::needs_completion(&free()), status != CheckoutStatus::Completed);
    }
}

fn free_checkout() -> Checkout {
    let mut body = checkout_body();
    body["discount"] = json!(6500);
    let checkout = checkout_of(&body);
    assert_eq!(checkout.amounts.total, 0);
    checkout
}

#[test]
fn a_free_checkout_becomes_a_confirmed_order_that_counts_as_paid() {
    let changes =
        transitions::checkout::complete(free_checkout(), order_number(), None, ConfirmOn::Paid, noon())
            .unwrap();
    let Record::Checkout(checkout) = &changes[0].record else { panic!("the checkout") };
    assert_eq!((checkout.payment_attempts, &checkout.payment_id), (0, &None));
    assert_eq!(checkout.order_number, Some(order_number()));
    let Record::Order(created) = &changes[1].record else { panic!("the order") };
    assert_eq!(created.status, OrderStatus::Pending);
    assert_eq!(created.payment_status, payment_status::PaymentStatus::Unpaid);
    let order = last_order(&changes).unwrap();
    assert_eq!((order.status, order.resource_version), (OrderStatus::Confirmed, 2));
    assert_eq!(order.payment_status, payment_status::PaymentStatus::Paid);
}

#[test]
fn completion_for_nothing_needs_time_and_nothing_to_pay() {
    let paid = checkout_of(&checkout_body());
    let done = transitions::checkout::complete(paid, order_number(), None, ConfirmOn::Paid, noon());
    assert_eq!(outcome(done), refused("open", "completed"));
    let free = free_checkout();
    let late = free.expires_at;
    let done = transitions::checkout::complete(free, order_number(), None, ConfirmOn::Paid, late);
    assert_eq!(outcome(done), refused("open", "completed"));
}

#[test]
fn the_attempt_under_way_ends_with_its_checkout() {
    let table = [
        (CheckoutEnd::Cancelled, "payment.cancelled checkout.cancelled"),
        (CheckoutEnd::Expired, "payment.cancelled checkout.expired"),
    ];
    for (how, events) in table {
        let (checkout, payment) = created_payment();
        let changes = transitions::checkout::end(checkout, Some(payment.clone()), how, noon()).unwrap();
        assert_eq!(event_names(&changes).join(" "), events);
        let cancelled = last_payment(&changes).unwrap();
        assert_eq!((cancelled.status, cancelled.cancelled_at), (PaymentStatus::Cancelled, Some(noon())));
        let Record::Checkout(ended) = &changes[1].record else { panic!("the checkout") };
        assert_eq!((ended.payment_attempts, &ended.payment_id), (1, &Some(payment.id)));
        let expired = how == CheckoutEnd::Expired;
        let ends = (ended.expired_at.is_some(), ended.cancelled_at.is_some());
        assert_eq!(ends, (expired, !expired));
    }
}

#[test]
fn a_report_after_the_time_of_an_open_checkout_expires_it_first() {
    let table = [
        (PaymentStatus::Pending, "payment.cancelled checkout.expired", PaymentStatus::Cancelled),
        (PaymentStatus::Authorized, "payment.cancelled checkout.expired", PaymentStatus::Cancelled),
        (PaymentStatus::Succeeded, "checkout.expired payment.succeeded", PaymentStatus::Succeeded),
        (PaymentStatus::Failed, "payment.failed checkout.expired", PaymentStatus::Failed),
        (PaymentStatus::Cancelled, "payment.cancelled checkout.expired", PaymentStatus::Cancelled),
    ];
    for (status, events, becomes) in table {
        let (checkout, payment) = created_payment();
        let now = checkout.expires_at;
        assert!(checkout.is_overdue(now) && !checkout.is_overdue(now.plus_ms(-1)));
        let next = reported(payment.clone(), &report(status), now);
        let surroundings = Surroundings::Overdue(Box::new(checkout));
        let changes = transitions::payment::settle(&payment, next, surroundings, ConfirmOn::Paid, now);
        assert_eq!(event_names(&changes).join(" "), events, "{status}");
        let payment = last_payment(&changes).unwrap();
        assert_eq!((payment.status, payment.resource_version), (becomes, 2), "{status}");
        assert_eq!(payment.order_number, None);
    }
}
