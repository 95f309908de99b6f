//! Random commands of every kind, checked after each; and whether they get anywhere.

use std::collections::BTreeMap;

use authority_domain::event::change::Record;
use authority_domain::order::TARGETS;
use authority_domain::shipment::ShipmentStatus;
use authority_domain::subscription::SubscriptionStatus;
use authority_domain::{CheckoutEnd, ConfirmOn, PaymentStatus, RefundStatus};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use verify_core::catalog::EventType;

use super::commands::{Command, Goods, Parts, Target, World};
use super::records;
use super::steps::{self, Step};

fn goods() -> impl Strategy<Value = Goods> {
    prop::collection::vec((1_i64..=3, prop_oneof![1 => Just(0_i64), 6 => 1_i64..=4], any::<bool>()), 1..=3)
}

fn parts(least: i64) -> impl Strategy<Value = Parts> {
    prop::option::of(prop::collection::vec((0_usize..3, least..=3), 1..=2))
}

fn place() -> impl Strategy<Value = usize> {
    0_usize..6
}

fn sales() -> impl Strategy<Value = Command> {
    let target = prop::sample::select(vec![Target::Checkout, Target::Order, Target::Subscription]);
    let off_by = prop_oneof![8 => Just(0_i64), 1 => -2_i64..=1];
    let amount = || prop::option::weighted(0.2, 0_i64..12);
    let payment = (1_i64..10, prop::sample::select(PaymentStatus::ALL));
    prop_oneof![
        3 => (goods(), prop::option::weighted(0.4, any::<bool>()))
            .prop_map(|(goods, subscribes)| Command::Open { goods, subscribes }),
        6 => (target, place(), off_by, prop::bool::weighted(0.05)).prop_map(
            |(target, place, off_by, other_currency)| Command::Start { target, place, off_by, other_currency }),
        8 => (place(), prop::sample::select(PaymentStatus::ALL), amount(), amount()).prop_map(
            |(payment, status, authorized, captured)| Command::Report { payment, status, authorized, captured }),
        1 => (place(), prop::sample::select(vec![CheckoutEnd::Expired, CheckoutEnd::Cancelled]))
            .prop_map(|(checkout, how)| Command::EndCheckout { checkout, how }),
        1 => place().prop_map(|checkout| Command::CompleteCheckout { checkout }),
        1 => (goods(), prop::collection::vec(payment, 0..=2))
            .prop_map(|(goods, payments)| Command::Ingest { goods, payments }),
        1 => place().prop_map(|order| Command::Confirm { order }),
        1 => place().prop_map(|order| Command::Cancel { order }),
        1 => (place(), 0_u8..3).prop_map(|(order, note)| Command::Edit { order, note }),
        1 => prop::sample::select(vec![1_i64, 25]).prop_map(|hours| Command::Wait { hours }),
    ]
}

fn fulfilment() -> impl Strategy<Value = Command> {
    let target = prop::option::weighted(0.8, prop::sample::select(TARGETS.to_vec()));
    let status = prop::option::weighted(0.9, prop::sample::select(ShipmentStatus::ALL));
    prop_oneof![
        (place(), target, parts(0), prop::option::of(0_u8..3))
            .prop_map(|(order, target, parts, note)| Command::Fulfil { order, target, parts, note }),
        (place(), parts(1), prop::option::of(0_u8..3)).prop_map(|(order, parts, tracking)| Command::Ship {
            order,
            parts,
            tracking
        }),
        (place(), status, prop::option::weighted(0.2, 0_u8..3))
            .prop_map(|(parcel, status, tracking)| Command::Carry { parcel, status, tracking }),
    ]
}

fn refunds() -> impl Strategy<Value = Command> {
    prop_oneof![
        (place(), prop::option::weighted(0.7, 1_i64..6), prop::option::weighted(0.2, place()))
            .prop_map(|(order, amount, payment)| Command::AskRefund { order, amount, payment }),
        (place(), prop::option::weighted(0.7, 1_i64..6))
            .prop_map(|(payment, amount)| Command::AskRefundOfPayment { payment, amount }),
        (place(), prop::sample::select(RefundStatus::ALL))
            .prop_map(|(refund, status)| Command::ReportRefund { refund, status }),
    ]
}

fn subscriptions() -> impl Strategy<Value = Command> {
    let status = || prop::sample::select(SubscriptionStatus::ALL);
    let begins = prop::sample::select(&SubscriptionStatus::ALL[..4]);
    prop_oneof![
        1 => (begins, 0_i64..4).prop_map(|(begins, price)| Command::Subscribe { begins, price }),
        4 => (place(), prop::option::of(status()), any::<bool>(), prop::option::weighted(0.3, 0_i64..4),
              prop::option::weighted(0.1, any::<bool>())).prop_map(|(subscription, status, renew, price, ends)| {
            Command::report_subscription(subscription, status, renew, price, ends)
        }),
    ]
}

fn commands() -> impl Strategy<Value = Command> {
    prop_oneof![8 => sales(), 7 => fulfilment(), 5 => refunds(), 4 => subscriptions()]
}

/// Commands behind up to two orders that are paid by up to three payments each, so that goods move and money goes back
/// early on.
fn business(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Command>> {
    let sold = prop::collection::vec((goods(), 0_i64..=2), 0..=2);
    (sold, prop::collection::vec(commands(), length)).prop_map(|(sold, commands)| {
        let paid = |(goods, others): (Goods, i64)| {
            let total: i64 = goods.iter().map(|(quantity, price, _)| quantity * price).sum();
            let part = total / (others + 1);
            let parts = [total - others * part, part, part].into_iter().take(others as usize + 1);
            let payments =
                parts.filter(|part| *part > 0).map(|part| (part, PaymentStatus::Succeeded)).collect();
            Command::Ingest { goods, payments }
        };
        sold.into_iter().map(paid).chain(commands).collect()
    })
}

/// Runs one command and counts what it tells; panics with everything that does not hold.
fn run(world: &mut World, command: &Command, seen: &mut BTreeMap<&'static str, usize>) {
    let before = world.ledger.clone();
    let done = world.run(command);
    let refused = done.is_err();
    let is_refund = matches!(
        command,
        Command::AskRefund { .. } | Command::AskRefundOfPayment { .. } | Command::ReportRefund { .. }
    );
    if let Err(refusal) = &done {
        *seen.entry("refused").or_default() += 1;
        if is_refund {
            *seen.entry(refusal.code.as_str()).or_default() += 1;
        }
    }
    let changes = done.unwrap_or_default();
    for change in &changes {
        *seen.entry(change.event_type.as_str()).or_default() += 1;
        if matches!(&change.record, Record::Payment(payment) if payment.late) {
            *seen.entry("late").or_default() += 1;
        }
    }
    let (after, by_merchant) = (&world.ledger, command.is_the_merchants());
    let step = Step { before: &before, after, changes: &changes, refused, by_merchant };
    let mut violations = steps::violations(&step);
    violations.extend(records::violations(after));
    assert!(violations.is_empty(), "{command:?} breaks {violations:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_sequence_of_commands_breaks_a_rule(
        confirm_on in prop::sample::select(ConfirmOn::ALL),
        commands in business(1..60),
    ) {
        let mut world = World::new(confirm_on);
        for command in &commands {
            run(&mut world, command, &mut BTreeMap::new());
        }
    }
}

/// Every type of the catalogue but those of shares, which partners have, and `webhook.test`, which is about no record
/// of commerce.
#[test]
fn the_commands_reach_every_event_of_commerce() {
    let mut runner = TestRunner::deterministic();
    let strategy = business(79..80);
    let mut seen = BTreeMap::new();
    for _ in 0..300 {
        let mut world = World::new(ConfirmOn::Paid);
        for command in strategy.new_tree(&mut runner).unwrap().current() {
            run(&mut world, &command, &mut seen);
        }
    }
    let elsewhere = [EventType::OrderShared, EventType::OrderShareRevoked, EventType::WebhookTest];
    for event in EventType::ALL {
        let times = seen.get(event.as_str()).copied().unwrap_or(0);
        assert_eq!(times >= 5, !elsewhere.contains(&event), "{}: {times} times in {seen:?}", event.as_str());
    }
    assert!(seen["refused"] > 1_000 && seen["late"] >= 5, "{seen:?}");
    for refusal in [
        "order_not_refundable",
        "refund_amount_exceeded",
        "payment_required",
        "processor_conflict",
        "validation_failed",
    ] {
        assert!(seen.get(refusal).is_some_and(|times| *times >= 20), "{refusal}: {seen:?}");
    }
}
