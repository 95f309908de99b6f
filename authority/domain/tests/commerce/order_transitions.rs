//! What the operator may do with orders in each of their states (contract 3.1), and further payments of an order (3.9
//! row 7a).

use authority_domain::order::{CancelReason, payment_status};
use authority_domain::parts::Money;
use authority_domain::payment::{NewPayment, PaymentTarget};
use authority_domain::{
    Change, ConfirmOn, ErrorCode, Order, OrderStatus, Payment, PaymentStatus, Result, order, transitions,
};

use crate::fixtures::{
    TOTAL, checkout_body, checkout_of, event_names, last_order, last_payment, new_payment, noon, on_order,
    order_number, ordered, paid_order, payment_id,
};
use crate::refused_bodies::errors;

/// The events, or the code with the two statuses that contract 5.2 promises.
pub(crate) fn outcome(done: Result<Vec<Change>>) -> String {
    match done {
        Ok(changes) => event_names(&changes).join(" "),
        Err(refusal) => {
            let facts: Vec<String> =
                refusal.extra.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{} {}", refusal.code, facts.join(" "))
        }
    }
}

pub(crate) fn refused(current: &str, requested: &str) -> String {
    format!(r#"invalid_state_transition current_status="{current}" requested_status="{requested}""#)
}

fn order_in(status: OrderStatus) -> Order {
    Order { status, ..paid_order() }
}

/// An order whose one payment has this status, with that payment.
fn order_with(status: PaymentStatus) -> (Order, Payment) {
    let (order, payment) = ordered(PaymentStatus::Pending);
    if status == PaymentStatus::Pending {
        return (order, payment);
    }
    let changes = on_order(&order, &payment, status, ConfirmOn::Paid, noon());
    (last_order(&changes).unwrap(), last_payment(&changes).unwrap())
}

#[test]
fn what_may_be_done_with_an_order_in_each_state() {
    let table = [
        (OrderStatus::Pending, "order.confirmed".to_owned(), "order.cancelled".to_owned()),
        (OrderStatus::Confirmed, String::new(), "order.cancelled".to_owned()),
        (OrderStatus::Completed, refused("completed", "confirmed"), refused("completed", "cancelled")),
        (OrderStatus::Cancelled, refused("cancelled", "confirmed"), String::new()),
    ];
    assert_eq!(table.each_ref().map(|row| row.0).as_slice(), OrderStatus::ALL);
    for (status, confirmed, cancelled) in table {
        assert_eq!(
            outcome(transitions::order::confirm(order_in(status), noon())),
            confirmed,
            "confirm {status}"
        );
        let done = transitions::order::cancel(order_in(status), Vec::new(), CancelReason::Fraud, noon());
        assert_eq!(outcome(done), cancelled, "cancel {status}");
    }
}

#[test]
fn what_is_shipped_can_no_longer_be_cancelled() {
    let mut order = paid_order();
    order.line_items[2].fulfilled_quantity = 1;
    let done = transitions::order::cancel(order.clone(), Vec::new(), CancelReason::OutOfStock, noon());
    assert_eq!(outcome(done), "order.cancelled", "prepared is not shipped");
    order.line_items[0].fulfilled_quantity = 1;
    order.line_items[0].shipped_quantity = 1;
    let done = transitions::order::cancel(order, Vec::new(), CancelReason::OutOfStock, noon());
    assert_eq!(outcome(done), refused("confirmed", "cancelled"));
}

#[test]
fn open_payments_end_with_their_order_and_captured_money_stays() {
    use payment_status::PaymentStatus as Shown;
    let cases = [
        (PaymentStatus::Pending, "payment.cancelled order.cancelled", Shown::Voided),
        (PaymentStatus::Authorized, "payment.cancelled order.cancelled", Shown::Voided),
        (PaymentStatus::Succeeded, "order.cancelled", Shown::Paid),
        (PaymentStatus::Failed, "order.cancelled", Shown::Failed),
    ];
    for (status, events, shown) in cases {
        let (order, payment) = order_with(status);
        let version = order.resource_version;
        let changes =
            transitions::order::cancel(order, vec![payment], CancelReason::CustomerRequest, noon()).unwrap();
        assert_eq!(event_names(&changes).join(" "), events, "{status}");
        let order = last_order(&changes).unwrap();
        assert_eq!((order.status, order.payment_status), (OrderStatus::Cancelled, shown), "{status}");
        assert_eq!(order.cancel_reason, Some(CancelReason::CustomerRequest));
        assert_eq!((order.cancelled_at, order.resource_version), (Some(noon()), version + 1));
        assert_eq!(order.payment_summary.authorized, 0);
        let captured = if status == PaymentStatus::Succeeded { TOTAL } else { 0 };
        assert_eq!(order.payment_summary.captured, captured);
    }
}

#[test]
fn an_order_is_overdue_when_it_is_still_pending_after_the_merchants_hours() {
    const HOUR_MS: i64 = 3_600_000;
    let (order, _) = order_with(PaymentStatus::Pending);
    let table = [
        (None, 1_000_000 * HOUR_MS, false),
        (Some(2), 2 * HOUR_MS - 1, false),
        (Some(2), 2 * HOUR_MS, true),
        (Some(i64::MAX), 1_000_000 * HOUR_MS, false),
    ];
    for (ttl, after_ms, expected) in table {
        assert_eq!(
            transitions::order::is_overdue(&order, ttl, noon().plus_ms(after_ms)),
            expected,
            "{ttl:?}"
        );
    }
    let confirmed = Order { status: OrderStatus::Confirmed, ..order };
    assert!(!transitions::order::is_overdue(&confirmed, Some(1), noon().plus_ms(9 * HOUR_MS)));
}

fn another(order: &Order, amount: Money) -> NewPayment {
    let checkout = checkout_of(&checkout_body());
    let target = PaymentTarget::Order(order.order_number.clone());
    NewPayment { id: payment_id(9), target, amount, ..new_payment(&checkout) }
}

#[test]
fn a_further_payment_asks_for_no_more_than_what_is_due() {
    // The first payment's status and what it got, and what is left for a second one.
    let half = TOTAL / 2;
    let table = [
        (PaymentStatus::Pending, None, 0),
        (PaymentStatus::Authorized, None, 0),
        (PaymentStatus::Authorized, Some(half), TOTAL - half),
        (PaymentStatus::Succeeded, None, 0),
        (PaymentStatus::Succeeded, Some(half), TOTAL - half),
        (PaymentStatus::Failed, None, TOTAL),
        (PaymentStatus::Cancelled, None, TOTAL),
    ];
    for (status, got, room) in table {
        let (order, mut payment) = order_with(status);
        if let Some(got) = got {
            payment.amount_authorized = got;
            payment.amount_captured = payment.amount_captured.min(got);
        }
        let payments = vec![payment];
        assert_eq!(order::payment_room::room(TOTAL, &payments), room, "{status} {got:?}");
        let start = |amount| {
            let new = another(&order, amount);
            transitions::further_payments::start(
                order.clone(),
                payments.clone(),
                new,
                ConfirmOn::Paid,
                noon(),
            )
        };
        if room == 0 {
            let shown = order.payment_status.as_str();
            assert_eq!(outcome(start(1)), refused(shown, "pending"), "{status}");
            continue;
        }
        let refusal = start(room + 1).unwrap_err();
        assert_eq!(refusal.code, ErrorCode::ValidationFailed, "{status}");
        assert_eq!(errors(&refusal), ["/amount out_of_range"]);
        let changes = start(room).unwrap();
        assert_eq!(event_names(&changes), ["payment.created", "order.updated"], "{status}");
        let made = last_payment(&changes).unwrap();
        assert_eq!((&made.order_number, &made.checkout_id), (&Some(order_number()), &None));
        assert_eq!(last_order(&changes).unwrap().payment_ids.len(), 2);
    }
}

#[test]
fn a_further_payment_needs_a_living_order_its_currency_and_a_place() {
    let (order, payment) = order_with(PaymentStatus::Failed);
    let start = |order: Order, payments, currency: &str| {
        let new = NewPayment { currency: currency.to_owned(), ..another(&order, 1) };
        outcome(transitions::further_payments::start(order, payments, new, ConfirmOn::Paid, noon()))
    };
    assert_eq!(start(order.clone(), vec![payment.clone()], "EUR"), "currency_mismatch ");
    let cancelled = Order { status: OrderStatus::Cancelled, ..order.clone() };
    assert_eq!(start(cancelled, vec![payment.clone()], "USD"), refused("cancelled", "pending"));
    let confirmed = Order { status: OrderStatus::Confirmed, ..order.clone() };
    assert_eq!(start(confirmed, vec![payment.clone()], "USD"), "payment.created order.updated");
    assert_eq!(start(order.clone(), vec![payment.clone(); 19], "USD"), "payment.created order.updated");
    assert_eq!(start(order, vec![payment; 20], "USD"), refused("failed", "pending"));
}
