//! The fixed event sequences of contract 3.9, row by row, exactly; rows 19 and 22 belong to partners and endpoints.

use authority_domain::shipment::ShipmentStatus;
use authority_domain::subscription::SubscriptionStatus;
use authority_domain::{CheckoutEnd, ConfirmOn, FulfillmentStatus, PaymentStatus, RefundStatus};

use super::commands::{Command, Goods, Target, World};
use crate::fixtures::event_names;

/// Two things that ship and one that does not: 25.
pub(super) fn goods() -> Goods {
    vec![(2, 10, true), (1, 5, false)]
}

pub(super) fn open() -> Command {
    Command::Open { goods: goods(), subscribes: None }
}

fn subscribe(trial: bool) -> Command {
    Command::Open { goods: goods(), subscribes: Some(trial) }
}

pub(super) fn start(target: Target) -> Command {
    Command::Start { target, place: 0, off_by: 0, other_currency: false }
}

/// A report on one of the payments, in the order in which they were made.
pub(super) fn report(payment: usize, status: PaymentStatus) -> Command {
    Command::Report { payment, status, authorized: None, captured: None }
}

pub(super) fn ingest(payments: &[(i64, PaymentStatus)]) -> Command {
    Command::Ingest { goods: goods(), payments: payments.to_vec() }
}

pub(super) fn paid() -> Command {
    ingest(&[(25, PaymentStatus::Succeeded)])
}

pub(super) fn ship(parts: &[(usize, i64)]) -> Command {
    Command::Ship { order: 0, parts: (!parts.is_empty()).then(|| parts.to_vec()), tracking: None }
}

pub(super) fn fulfil(target: FulfillmentStatus) -> Command {
    Command::Fulfil { order: 0, target: Some(target), parts: None, note: None }
}

fn carry(parcel: usize, status: ShipmentStatus) -> Command {
    Command::Carry { parcel, status: Some(status), tracking: None }
}

pub(super) fn ask_refund(amount: Option<i64>) -> Command {
    Command::AskRefund { order: 0, amount, payment: None }
}

pub(super) fn report_refund(refund: usize, status: RefundStatus) -> Command {
    Command::ReportRefund { refund, status }
}

fn begin(begins: SubscriptionStatus) -> Command {
    Command::Subscribe { begins, price: 9 }
}

fn report_subscription(status: Option<SubscriptionStatus>, renew: bool, price: Option<i64>) -> Command {
    Command::report_subscription(0, status, renew, price, None)
}

/// What each command tells, after those of `setup`: events joined by a dot, commands by a bar.
fn told(confirm_on: ConfirmOn, setup: &[Command], commands: &[Command]) -> String {
    let mut world = World::new(confirm_on);
    for command in setup {
        world.run(command).unwrap();
    }
    let events = commands.iter().map(|command| event_names(&world.run(command).unwrap()).join(" · "));
    events.collect::<Vec<_>>().join(" | ")
}

pub(super) fn check(rows: &[(&str, &[Command], &[Command], &str)]) {
    for (row, setup, commands, expected) in rows {
        assert_eq!(told(ConfirmOn::Paid, setup, commands), *expected, "row {row}");
    }
}

const COMPLETED: &str = "checkout.completed · order.created";

#[test]
fn rows_1_to_6_checkouts() {
    use PaymentStatus::{Authorized, Failed, Pending, Succeeded};
    let started = [open(), start(Target::Checkout)];
    let paid = format!("{COMPLETED} · payment.succeeded · order.confirmed");
    let authorized =
        format!("{COMPLETED} · payment.authorized · order.updated | payment.succeeded · order.confirmed");
    let pending = format!("{COMPLETED} · payment.pending | payment.succeeded · order.confirmed");
    let failed = format!("{COMPLETED} · payment.pending | payment.failed · order.updated");
    let end = |how| Command::EndCheckout { checkout: 0, how };
    check(&[
        ("1", &[], &[open()], "checkout.created"),
        ("2, its start", &[open()], &[start(Target::Checkout)], "payment.created"),
        ("2", &started, &[report(0, Succeeded)], &paid),
        ("3", &started, &[report(0, Authorized), report(0, Succeeded)], &authorized),
        ("4", &started, &[report(0, Pending), report(0, Succeeded)], &pending),
        ("4, failed", &started, &[report(0, Pending), report(0, Failed)], &failed),
        ("5", &started, &[report(0, Failed)], "payment.failed · checkout.payment_failed"),
        ("6", &[open()], &[end(CheckoutEnd::Expired)], "checkout.expired"),
        ("6", &started, &[end(CheckoutEnd::Expired)], "payment.cancelled · checkout.expired"),
        ("6", &[open()], &[end(CheckoutEnd::Cancelled)], "checkout.cancelled"),
        ("6", &started, &[end(CheckoutEnd::Cancelled)], "payment.cancelled · checkout.cancelled"),
    ]);
    let earlier =
        format!("{COMPLETED} · payment.authorized · order.confirmed | payment.succeeded · order.updated");
    let commands = [report(0, Authorized), report(0, Succeeded)];
    assert_eq!(told(ConfirmOn::Authorized, &started, &commands), earlier, "row 3, confirm_on: authorized");
}

#[test]
fn rows_7_to_8_orders() {
    use PaymentStatus::{Authorized, Created, Failed, Succeeded};
    let ingested = "order.created · payment.created · payment.succeeded · order.confirmed";
    let again = [report(0, Failed), start(Target::Order)];
    check(&[
        ("7", &[], &[paid()], ingested),
        ("7, unpaid", &[], &[ingest(&[])], "order.created"),
        ("7, begun", &[], &[ingest(&[(25, Created)])], "order.created · payment.created · order.updated"),
        (
            "7, in parts",
            &[],
            &[ingest(&[(20, Succeeded), (5, Authorized)])],
            "order.created · payment.created · payment.succeeded · payment.created · payment.authorized · order.updated",
        ),
        ("7a", &[ingest(&[])], &[start(Target::Order)], "payment.created · order.updated"),
        (
            "7a, after a failure",
            &[ingest(&[(25, Created)])],
            &again,
            "payment.failed · order.updated | payment.created · order.updated",
        ),
        ("8", &[ingest(&[])], &[Command::Cancel { order: 0 }], "order.cancelled"),
        (
            "8, with payments",
            &[ingest(&[(20, Authorized), (5, Created)])],
            &[Command::Cancel { order: 0 }],
            "payment.cancelled · payment.cancelled · order.cancelled",
        ),
        ("3.1, by hand", &[ingest(&[])], &[Command::Confirm { order: 0 }], "order.confirmed"),
    ]);
}

#[test]
fn rows_9_to_13_goods() {
    let shipped = [paid(), ship(&[])];
    let parted = [paid(), ship(&[(0, 1)]), ship(&[(0, 1)]), carry(0, ShipmentStatus::Delivered)];
    check(&[
        ("9", &[paid()], &[fulfil(FulfillmentStatus::Fulfilled)], "order.fulfilled"),
        (
            "9, to the end",
            &[paid(), ship(&[(0, 1)]), ship(&[(0, 1)])],
            &[fulfil(FulfillmentStatus::Delivered)],
            "shipment.delivered · shipment.delivered · order.delivered",
        ),
        (
            "10",
            &[paid(), fulfil(FulfillmentStatus::Fulfilled)],
            &[ship(&[])],
            "shipment.created · order.shipped",
        ),
        ("11", &[paid()], &[ship(&[(0, 1)])], "shipment.created · order.updated"),
        ("3.7, data alone", &[paid(), fulfil(FulfillmentStatus::Shipped)], &[ship(&[])], "shipment.created"),
        ("12", &shipped, &[carry(0, ShipmentStatus::InTransit)], "shipment.updated"),
        (
            "13",
            &[paid(), fulfil(FulfillmentStatus::Fulfilled), ship(&[])],
            &[carry(0, ShipmentStatus::Delivered)],
            "shipment.delivered · order.delivered",
        ),
        (
            "13, the first",
            &parted[..3],
            &[carry(0, ShipmentStatus::Delivered)],
            "shipment.delivered · order.updated",
        ),
        ("3.7", &shipped, &[carry(0, ShipmentStatus::Cancelled)], "shipment.updated · order.updated"),
        ("3.7", &shipped, &[carry(0, ShipmentStatus::Returned)], "shipment.updated"),
    ]);
}

#[test]
fn rows_14_to_18_refunds() {
    use RefundStatus::{Completed, Failed, Processing};
    let asked = [paid(), ask_refund(Some(5))];
    let part = "refund.completed · payment.partially_refunded · order.updated";
    let rest = "refund.requested · order.updated | refund.completed · payment.refunded · order.updated";
    check(&[
        ("14", &[paid()], &[ask_refund(None)], "refund.requested · order.updated"),
        ("15", &asked, &[report_refund(0, Processing)], "refund.processing"),
        ("16", &asked, &[report_refund(0, Completed)], part),
        (
            "17",
            &[paid(), ask_refund(Some(5)), report_refund(0, Completed)],
            &[ask_refund(None), report_refund(1, Completed)],
            rest,
        ),
        ("18", &asked, &[report_refund(0, Failed)], "refund.failed · order.updated"),
    ]);
}

#[test]
fn rows_20_and_21_subscriptions_and_edits() {
    use SubscriptionStatus::{Active, Cancelled, Incomplete, PastDue, Trialing};
    let active = [begin(Active)];
    let renewal = report_subscription(None, true, None);
    let renewed = "subscription.updated · order.created";
    let bought = "checkout.completed · subscription.created · order.created";
    check(&[
        ("20", &[], &[begin(Incomplete)], "subscription.created"),
        ("20", &[], &[begin(Trialing)], "subscription.created"),
        ("20", &[], &[begin(Active)], "subscription.created"),
        ("20", &active, &[report_subscription(Some(PastDue), false, None)], "subscription.updated"),
        ("20", &active, &[report_subscription(None, false, Some(7))], "subscription.updated"),
        ("20", &active, &[report_subscription(Some(Cancelled), false, None)], "subscription.cancelled"),
        ("20, renewed", &active, std::slice::from_ref(&renewal), renewed),
        (
            "20, renewed for nothing",
            &active,
            &[report_subscription(None, true, Some(0))],
            "subscription.updated · order.created · order.confirmed",
        ),
        (
            "20, renewed and paid",
            &[begin(Active), renewal.clone()],
            &[start(Target::Subscription), report(0, PaymentStatus::Succeeded)],
            "payment.created · order.updated | payment.succeeded · order.confirmed",
        ),
        (
            "2, mode subscription",
            &[subscribe(false), start(Target::Checkout)],
            &[report(0, PaymentStatus::Succeeded)],
            &format!("{bought} · payment.succeeded · order.confirmed"),
        ),
        (
            "4, mode subscription",
            &[subscribe(true), start(Target::Checkout)],
            &[report(0, PaymentStatus::Pending)],
            &format!("{bought} · payment.pending"),
        ),
        (
            "3.4, for nothing",
            &[Command::Open { goods: vec![(1, 0, false)], subscribes: Some(false) }],
            &[Command::CompleteCheckout { checkout: 0 }],
            &format!("{bought} · order.confirmed"),
        ),
        ("21", &[paid()], &[Command::Edit { order: 0, note: 1 }], "order.updated"),
    ]);
}
