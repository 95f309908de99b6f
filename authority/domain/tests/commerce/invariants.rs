//! The invariants of contract 3.11 that the domain alone can break, after every one of many random commands, legal and
//! illegal: I1, I3, I4, I5, I6, I7 and I14.

use std::collections::BTreeMap;

use authority_domain::change::Record;
use authority_domain::checkout::{CheckoutEnd, CheckoutStatus};
use authority_domain::fulfillment::TARGETS;
use authority_domain::order::{ConfirmOn, Order, OrderStatus};
use authority_domain::parts::Amounts;
use authority_domain::payment::{Payment, PaymentStatus};
use authority_domain::shipment::ShipmentStatus;
use authority_domain::{fulfillment_status, payment_status};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::shop::{Command, Shop};

fn bodies() -> impl Strategy<Value = Value> {
    let line = (1_i64..=3, 0_i64..=3, any::<bool>(), 0_i64..=1).prop_map(|(quantity, price, ships, tax)| {
        json!({"name": "x", "quantity": quantity, "unit_amount": price + 1, "requires_shipping": ships,
               "discount_amount": price.min(1), "tax_amount": tax})
    });
    (prop::collection::vec(line, 1..=3), 0_i64..=2, 0_i64..=1).prop_map(|(lines, shipping, shipping_tax)| {
        json!({"currency": "USD", "line_items": lines, "shipping": shipping, "shipping_tax": shipping_tax})
    })
}

fn commands() -> impl Strategy<Value = Command> {
    let amount = || prop::option::weighted(0.4, 0_i64..20);
    prop_oneof![
        4 => (prop_oneof![8 => Just(0), 1 => -1_i64..=1], prop::bool::weighted(0.1), prop_oneof![9 => Just(0), 1 => Just(25)])
            .prop_map(|(amount_off_by, other_currency, hours_later)| Command::Start {
                amount_off_by, other_currency, hours_later
            }),
        10 => (0_usize..4, prop::sample::select(PaymentStatus::ALL), amount(), amount())
            .prop_map(|(payment, status, authorized, captured)| Command::Report {
                payment, status, authorized, captured
            }),
        16 => goods(),
        4 => (1_i64..20).prop_map(|amount| Command::PayOrder { amount }),
        1 => prop::sample::select(&[CheckoutEnd::Expired, CheckoutEnd::Cancelled])
            .prop_map(|how| Command::EndCheckout { how }),
        1 => Just(Command::ConfirmOrder),
        1 => Just(Command::CancelOrder),
        1 => Just(Command::Wait { hours: 13 }),
    ]
}

/// What happens to the goods of an order.
fn goods() -> impl Strategy<Value = Command> {
    let status = prop::sample::select(ShipmentStatus::ALL);
    prop_oneof![
        3 => (parts(1), prop::option::of(0_u8..3))
            .prop_map(|(lines, tracking)| Command::Ship { lines, tracking }),
        3 => (prop::option::of(prop::sample::select(TARGETS.to_vec())), parts(0), prop::option::of(0_u8..3))
            .prop_map(|(target, lines, note)| Command::Fulfil { target, lines, note }),
        4 => (0_usize..6, prop::option::of(status), prop::option::weighted(0.2, 0_u8..3))
            .prop_map(|(parcel, status, tracking)| Command::Carry { parcel, status, tracking }),
    ]
}

/// A shop whose checkout is paid.
fn sold(body: &Value) -> Shop {
    let mut shop = Shop::open(body, ConfirmOn::Paid);
    shop.run(&Command::Start { amount_off_by: 0, other_currency: false, hours_later: 0 }).unwrap();
    let status = PaymentStatus::Succeeded;
    shop.run(&Command::Report { payment: 0, status, authorized: None, captured: None }).unwrap();
    shop
}

/// Quantities of some of the lines, or none said.
fn parts(least: i64) -> impl Strategy<Value = Option<Vec<(usize, i64)>>> {
    prop::option::of(prop::collection::vec((0_usize..3, least..=3), 1..=3))
}

fn amounts_agree(order: &Order) {
    let Amounts { subtotal, discount, shipping, tax, total } = order.amounts;
    assert_eq!(total, subtotal - discount + shipping + tax, "I4");
    assert!(total >= 0, "I4");
    for line in &order.line_items {
        assert_eq!(line.subtotal_amount, line.unit_amount * line.quantity, "I4");
        assert_eq!(line.total_amount, line.subtotal_amount - line.discount_amount + line.tax_amount, "I4");
    }
    assert_eq!(subtotal, order.line_items.iter().map(|line| line.subtotal_amount).sum::<i64>(), "I4");
}

fn quantities_agree(shop: &Shop, order: &Order) {
    for line in &order.line_items {
        let steps =
            [0, line.delivered_quantity, line.shipped_quantity, line.fulfilled_quantity, line.quantity];
        assert!(steps.is_sorted(), "I5: {steps:?}");
        let parcels = shop.shipments.iter().filter(|parcel| parcel.status != ShipmentStatus::Cancelled);
        let held: i64 = parcels
            .flat_map(|parcel| &parcel.line_items)
            .filter(|held| held.line_item_id == line.id)
            .map(|held| held.quantity)
            .sum();
        let marked = shop.marked.get(&line.id).copied().unwrap_or(0);
        assert_eq!(line.shipped_quantity, held.max(marked), "contract 3.7: {line:?}");
        let arrived = shop.shipments.iter().filter(|parcel| parcel.status == ShipmentStatus::Delivered);
        let arrived: i64 = arrived
            .flat_map(|parcel| &parcel.line_items)
            .filter(|held| held.line_item_id == line.id)
            .map(|held| held.quantity)
            .sum();
        assert!(arrived <= line.delivered_quantity, "contract 3.7: {line:?}");
        assert!(line.requires_shipping || line.shipped_quantity == 0, "contract 2.1");
    }
}

fn money_agrees(payment: &Payment) {
    let steps =
        [0, payment.amount_refunded, payment.amount_captured, payment.amount_authorized, payment.amount];
    assert!(steps.is_sorted(), "I3: {steps:?}");
}

/// Everything that must hold at every commit.
fn check(shop: &Shop) {
    for payment in &shop.payments {
        money_agrees(payment);
        assert_eq!(payment.currency, shop.checkout.currency, "I1");
    }
    let attempts = shop.payments.iter().filter(|payment| payment.checkout_id.is_some());
    let open = attempts.filter(|payment| payment.status.is_open()).count();
    assert!(open <= 1, "one attempt at a time");
    if matches!(shop.checkout.status, CheckoutStatus::Expired | CheckoutStatus::Cancelled) {
        assert_eq!(open, 0, "cancelled with their checkout");
    }
    assert_eq!(shop.order.is_some(), shop.checkout.status == CheckoutStatus::Completed, "contract 3.4");
    let Some(order) = &shop.order else { return };
    assert_eq!(order.currency, shop.checkout.currency, "I1");
    amounts_agree(order);
    quantities_agree(shop, order);
    let payments = shop.order_payments();
    let paid = payment_status::derive(order.amounts.total, order.status, &payments);
    assert_eq!(order.payment_status, paid, "I6");
    let summary = payment_status::PaymentSummary::of(order.amounts.total, &payments);
    assert_eq!(order.payment_summary, summary, "I6");
    assert!(summary.captured + summary.authorized <= order.amounts.total, "nothing is paid twice");
    let ids: Vec<_> = payments.iter().map(|payment| payment.id.clone()).collect();
    assert_eq!(order.payment_ids, ids);
    if order.status == OrderStatus::Cancelled {
        assert!(!payments.iter().any(|payment| payment.status.is_open()), "cancelled with their order");
    }
    assert_eq!(order.fulfillment_status, fulfillment_status::derive(&order.line_items), "I6");
    let events = shop.told.iter().filter(|change| matches!(change.record, Record::Order(_))).count();
    assert_eq!(order.resource_version, events as i64, "I7");
}

/// Versions of each record count up by one; ends are never left; the envelope of a change fits its record.
fn check_history(shop: &Shop) {
    let mut last: BTreeMap<String, i64> = BTreeMap::new();
    let mut ended: BTreeMap<String, String> = BTreeMap::new();
    for change in &shop.told {
        let id = change.record.resource_id().to_owned();
        let version = change.record.resource_version().unwrap();
        let before = last.insert(id.clone(), version).unwrap_or(0);
        let first = if id == shop.checkout.id.as_str() { 1 } else { 0 };
        assert_eq!(version, before.max(first) + 1, "{id}: one event per version");
        let (status, terminal, category) = match &change.record {
            Record::Checkout(record) => {
                (record.status.to_string(), record.status != CheckoutStatus::Open, "checkout")
            }
            Record::Payment(record) => {
                let terminal = matches!(record.status, PaymentStatus::Failed | PaymentStatus::Cancelled);
                (record.status.to_string(), terminal, "payment")
            }
            Record::Order(record) => {
                let terminal = matches!(record.status, OrderStatus::Completed | OrderStatus::Cancelled);
                (record.status.to_string(), terminal, "order")
            }
            Record::Shipment(record) => (record.status.to_string(), !record.status.is_open(), "shipment"),
            other => panic!("{other:?} is not part of these sequences"),
        };
        assert_eq!(change.event_type.category(), category);
        if let Some(end) = ended.get(&id) {
            assert_eq!(&status, end, "I14: {id}");
        }
        if terminal {
            ended.insert(id, status);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_sequence_of_commands_breaks_an_invariant(
        body in bodies(),
        confirm_on in prop::sample::select(ConfirmOn::ALL),
        commands in prop::collection::vec(commands(), 1..40),
    ) {
        let mut shop = Shop::open(&body, confirm_on);
        for command in &commands {
            let told = shop.told.len();
            let refused = shop.run(command).is_err();
            check(&shop);
            prop_assert!(!refused || shop.told.len() == told, "a refusal tells of nothing");
        }
        check_history(&shop);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn nothing_that_happens_to_the_goods_of_an_order_breaks_an_invariant(
        body in bodies(),
        commands in prop::collection::vec(goods(), 1..40),
    ) {
        let mut shop = sold(&body);
        for command in &commands {
            let told = shop.told.len();
            let refused = shop.run(command).is_err();
            check(&shop);
            prop_assert!(!refused || shop.told.len() == told, "a refusal tells of nothing");
        }
        check_history(&shop);
    }
}

#[test]
fn the_commands_reach_far_enough_to_mean_something() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let any = (bodies(), prop::collection::vec(commands(), 40)).boxed();
    let of_goods = (bodies(), prop::collection::vec(goods(), 10)).boxed();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for round in 0..300 {
        let (strategy, open): (_, fn(&Value) -> Shop) = match round % 3 {
            0 => (&of_goods, sold),
            _ => (&any, |body| Shop::open(body, ConfirmOn::Paid)),
        };
        let (body, commands) = strategy.new_tree(&mut runner).unwrap().current();
        let mut shop = open(&body);
        for command in &commands {
            if shop.run(command).is_err() {
                *seen.entry("refused").or_default() += 1;
            }
        }
        for change in &shop.told {
            *seen.entry(change.event_type.as_str()).or_default() += 1;
        }
    }
    let expected = [
        "checkout.cancelled",
        "checkout.completed",
        "checkout.expired",
        "checkout.payment_failed",
        "order.cancelled",
        "order.confirmed",
        "order.created",
        "order.delivered",
        "order.fulfilled",
        "order.shipped",
        "order.updated",
        "payment.authorized",
        "payment.cancelled",
        "payment.created",
        "payment.failed",
        "payment.pending",
        "payment.succeeded",
        "refused",
        "shipment.created",
        "shipment.delivered",
        "shipment.updated",
    ];
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), expected, "{seen:?}");
    assert!(seen.values().all(|count| *count >= 10), "{seen:?}");
}
