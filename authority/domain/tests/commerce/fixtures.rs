//! Records to begin with. Everything is made by the readers and transitions under test, never by hand, except where a
//! table needs a state that no transition of this version reaches.

use std::fmt::Debug;

use authority_domain::checkout::CheckoutRequest;
use authority_domain::event::change::Record;
use authority_domain::payment::{NewPayment, PaymentOutcome, PaymentReport, PaymentRequest};
use authority_domain::shipment::{NewShipment, ShipmentLine};
use authority_domain::tenant::MerchantContext;
use authority_domain::text_enum::TextEnum;
use authority_domain::transitions::payment::Surroundings;
use authority_domain::{
    Change, Checkout, ConfirmOn, ErrorCode, MerchantId, Order, OrderNumber, Payment, PaymentId,
    PaymentStatus, Result, Timestamp, transitions,
};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::{Value, json};

/// 2026-09-01T12:00:00.000Z
pub(crate) fn noon() -> Timestamp {
    Timestamp::from_ms(1_788_264_000_000)
}

pub(crate) fn later() -> Timestamp {
    noon().plus_ms(60_000)
}

pub(crate) fn dice() -> StdRng {
    StdRng::seed_from_u64(7)
}

/// Two shirts that ship, three stickers that ship, one digital guide: 2·2400 + 3·100 + 900 − 300 + 500 = 6200.
pub(crate) fn checkout_body() -> Value {
    json!({
        "currency": "USD",
        "discount": 300,
        "shipping": 500,
        "line_items": [
            {"name": "T-shirt", "sku": "TSHIRT-M", "quantity": 2, "unit_amount": 2400},
            {"name": "Sticker", "quantity": 3, "unit_amount": 100},
            {"name": "Guide", "quantity": 1, "unit_amount": 900, "requires_shipping": false},
        ],
    })
}

pub(crate) const TOTAL: i64 = 6200;

pub(crate) fn checkout_of(body: &Value) -> Checkout {
    let new = CheckoutRequest::read(body).unwrap().into_new(noon(), &mut dice()).unwrap();
    Checkout::open(new, false, noon())
}

pub(crate) fn payment_body(checkout: &Checkout) -> Value {
    json!({
        "checkout_id": checkout.id,
        "processor_event_id": "evt-1",
        "currency": checkout.currency,
        "amount": checkout.amounts.total,
        "method": {"type": "card", "brand": "visa", "last4": "4242"},
        "processor": {"name": "acme-pay", "reference": "ch_1"},
    })
}

pub(crate) fn new_payment(checkout: &Checkout) -> NewPayment {
    PaymentRequest::read(&payment_body(checkout)).unwrap().into_new(noon(), &mut dice())
}

/// A payment just created on a checkout of [`checkout_body`].
pub(crate) fn created_payment() -> (Checkout, Payment) {
    let checkout = checkout_of(&checkout_body());
    let change = transitions::payment::start(&checkout, false, new_payment(&checkout), noon()).unwrap();
    let Record::Payment(payment) = change.record else { panic!("starting a payment makes a payment") };
    (checkout, *payment)
}

/// A report that says nothing but the status.
pub(crate) fn report(status: PaymentStatus) -> PaymentReport {
    PaymentReport {
        status,
        amount_authorized: None,
        amount_captured: None,
        failure: None,
        occurred_at: None,
        processor_reference: None,
    }
}

pub(crate) fn reported(payment: Payment, report: &PaymentReport, now: Timestamp) -> Box<Payment> {
    match payment.report(report, now).unwrap() {
        PaymentOutcome::Changed(payment) => payment,
        PaymentOutcome::Unchanged => panic!("the report says nothing new"),
    }
}

pub(crate) fn order_number() -> OrderNumber {
    OrderNumber::generated("ORD-", 100_001)
}

/// The changes that complete `checkout` when `payment` reaches `status`.
pub(crate) fn completed(
    checkout: &Checkout,
    payment: &Payment,
    status: PaymentStatus,
    confirm_on: ConfirmOn,
    now: Timestamp,
) -> Vec<Change> {
    let next = reported(payment.clone(), &report(status), now);
    let surroundings = Surroundings::Completing {
        checkout: Box::new(checkout.clone()),
        order_number: order_number(),
        subscription: None,
    };
    transitions::payment::settle(payment, next, surroundings, confirm_on, now)
}

/// An order of [`checkout_body`] that was made when its payment reached `status`, and this payment.
pub(crate) fn ordered(status: PaymentStatus) -> (Order, Payment) {
    let (checkout, payment) = created_payment();
    let changes = completed(&checkout, &payment, status, ConfirmOn::Paid, noon());
    (last_order(&changes).unwrap(), last_payment(&changes).unwrap())
}

/// A confirmed, paid order of [`checkout_body`].
pub(crate) fn paid_order() -> Order {
    ordered(PaymentStatus::Succeeded).0
}

/// The changes when the only payment of an order reaches `status`.
pub(crate) fn on_order(
    order: &Order,
    payment: &Payment,
    status: PaymentStatus,
    confirm_on: ConfirmOn,
    now: Timestamp,
) -> Vec<Change> {
    let next = reported(payment.clone(), &report(status), now);
    let surroundings =
        Surroundings::Order { order: Box::new(order.clone()), payments: vec![payment.clone()] };
    transitions::payment::settle(payment, next, surroundings, confirm_on, now)
}

/// A parcel of these lines; `None`: of all that ships.
pub(crate) fn new_shipment(line_items: Option<Vec<ShipmentLine>>) -> NewShipment {
    NewShipment { line_items, ..NewShipment::read(&json!({"carrier": "dhl"}), noon()).unwrap() }
}

pub(crate) fn merchant(slug: &str) -> MerchantContext {
    MerchantContext { id: MerchantId::from_store(format!("mer_{slug}")), slug: slug.to_owned() }
}

pub(crate) fn last_order(changes: &[Change]) -> Option<Order> {
    changes.iter().rev().find_map(|change| match &change.record {
        Record::Order(order) => Some((**order).clone()),
        _ => None,
    })
}

pub(crate) fn last_payment(changes: &[Change]) -> Option<Payment> {
    changes.iter().rev().find_map(|change| match &change.record {
        Record::Payment(payment) => Some((**payment).clone()),
        _ => None,
    })
}

/// Compares a state machine with its table: a row per status, and in it a word per status that is asked for, both in
/// the order of the contract. `x` stands for a refusal with this code, which names the two statuses.
pub(crate) fn check_machine<S: TextEnum + Debug + PartialEq>(
    table: &[(S, &str)],
    code: ErrorCode,
    outcome: impl Fn(S, S) -> Result<&'static str>,
) {
    assert_eq!(table.iter().map(|(from, _)| *from).collect::<Vec<_>>(), S::ALL);
    for (from, expected) in table {
        let cell = |to: &S| {
            outcome(*from, *to).unwrap_or_else(|refusal| {
                assert_eq!(refusal.code, code, "{from:?} → {to:?}");
                let facts = [("current_status", from), ("requested_status", to)];
                assert_eq!(refusal.extra, facts.map(|(name, status)| (name, status.as_str().into())));
                "x"
            })
        };
        let found: Vec<&str> = S::ALL.iter().map(cell).collect();
        assert_eq!(found.join(" "), *expected, "from {from:?}");
    }
}

/// The versions of the records, in sequence order.
pub(crate) fn versions(changes: &[Change]) -> Vec<Option<i64>> {
    changes.iter().map(|change| change.record.resource_version()).collect()
}

pub(crate) fn event_names(changes: &[Change]) -> Vec<&'static str> {
    changes.iter().map(|change| change.event_type.as_str()).collect()
}

/// The n-th of a row of distinct ids.
pub(crate) fn payment_id(n: usize) -> PaymentId {
    PaymentId::from_store(format!("pay_{n:026}"))
}
