//! That the checks can fail: a sound command with one thing spoilt in what it told or kept.

use authority_domain::event::change::Record;
use authority_domain::order::payment_status;
use authority_domain::{
    Change, ConfirmOn, FulfillmentStatus, Order, OrderStatus, Payment, PaymentStatus, Refund, RefundStatus,
    Shipment,
};
use verify_core::catalog::EventType;

use super::commands::{Command, Target, World};
use super::ledger::Ledger;
use super::rows::{ask_refund, fulfil, ingest, open, paid, report, report_refund, ship, start};
use super::steps::{self, Step};
use super::{Violation, records};

/// A sound command.
struct Sound {
    before: Ledger,
    after: Ledger,
    changes: Vec<Change>,
    by_merchant: bool,
}

fn sound(setup: &[Command], last: &Command) -> Sound {
    let mut world = World::new(ConfirmOn::Paid);
    for command in setup {
        world.run(command).unwrap();
    }
    let before = world.ledger.clone();
    let changes = world.run(last).unwrap();
    assert!(!changes.is_empty(), "{last:?} is to change something");
    Sound { before, after: world.ledger, changes, by_merchant: last.is_the_merchants() }
}

impl Sound {
    fn violations(&self, refused: bool) -> Vec<Violation> {
        let Self { before, after, changes, by_merchant } = self;
        let step = Step { before, after, changes, refused, by_merchant: *by_merchant };
        let mut violations = steps::violations(&step);
        violations.extend(records::violations(after));
        violations
    }

    /// Spoils what was told, and keeps what is told then.
    fn telling(mut self, spoil: impl FnOnce(&mut Vec<Change>)) -> Self {
        spoil(&mut self.changes);
        self.after.apply(&self.changes);
        self
    }

    /// Spoils what is kept, and tells of nothing.
    fn keeping(mut self, spoil: impl FnOnce(&mut Ledger)) -> Self {
        spoil(&mut self.after);
        self
    }

    fn finds(&self, rule: &str) {
        let violations = self.violations(false);
        assert!(violations.iter().any(|(found, _)| *found == rule), "{rule} is not among {violations:?}");
    }
}

fn shipping() -> Sound {
    sound(&[paid(), fulfil(FulfillmentStatus::Fulfilled)], &ship(&[]))
}

fn paying() -> Sound {
    sound(&[open(), start(Target::Checkout)], &report(0, PaymentStatus::Succeeded))
}

fn asking() -> Sound {
    sound(&[paid()], &ask_refund(Some(5)))
}

fn refunding() -> Sound {
    sound(&[paid(), ask_refund(Some(5))], &report_refund(0, RefundStatus::Completed))
}

fn trying_again() -> Sound {
    sound(&[ingest(&[])], &start(Target::Order))
}

fn editing_what_is_cancelled() -> Sound {
    sound(&[paid(), Command::Cancel { order: 0 }], &Command::Edit { order: 0, note: 1 })
}

/// The last record of a kind that is told of.
fn last<T>(changes: &mut [Change], of_kind: fn(&mut Record) -> Option<&mut T>) -> &mut T {
    changes.iter_mut().rev().find_map(|change| of_kind(&mut change.record)).unwrap()
}

fn order(changes: &mut [Change]) -> &mut Order {
    last(changes, |record| if let Record::Order(order) = record { Some(&mut **order) } else { None })
}

fn payment(changes: &mut [Change]) -> &mut Payment {
    last(changes, |record| if let Record::Payment(payment) = record { Some(&mut **payment) } else { None })
}

fn refund(changes: &mut [Change]) -> &mut Refund {
    last(changes, |record| if let Record::Refund(refund) = record { Some(&mut **refund) } else { None })
}

fn parcel(changes: &mut [Change]) -> &mut Shipment {
    last(changes, |record| if let Record::Shipment(parcel) = record { Some(&mut **parcel) } else { None })
}

#[test]
fn what_is_sound_has_no_violations() {
    for sound in [shipping(), paying(), asking(), refunding(), trying_again(), editing_what_is_cancelled()] {
        assert_eq!(sound.violations(false), []);
    }
}

#[test]
fn a_refusal_that_changes_something_is_found() {
    let violations = shipping().violations(true);
    assert_eq!(violations, [("rule 1", "a refusal changed something".to_owned())]);
}

#[test]
fn money_that_is_wrong_is_found() {
    trying_again().telling(|told| payment(told).currency = "EUR".into()).finds("I1");
    shipping().telling(|told| order(told).currency = "EUR".into()).finds("I1");
    asking().telling(|told| refund(told).currency = "EUR".into()).finds("I1");
    refunding().telling(|told| payment(told).amount += 1).finds("I1");
    asking().telling(|told| refund(told).amount = 26).finds("I2");
    refunding().telling(|told| payment(told).amount_refunded = 4).finds("I2");
    refunding().telling(|told| payment(told).status = PaymentStatus::Succeeded).finds("3.5");
    asking().keeping(|kept| kept.payments[0].amount_refund_pending = 0).finds("I2");
    paying().telling(|told| payment(told).amount_captured += 1).finds("I3");
    paying().telling(|told| payment(told).amount_refunded = -1).finds("I3");
    shipping().telling(|told| order(told).amounts.total += 1).finds("I4");
    shipping().telling(|told| order(told).amounts.subtotal += 1).finds("I4");
    shipping().telling(|told| order(told).line_items[0].total_amount += 1).finds("I4");
}

#[test]
fn quantities_that_are_wrong_are_found() {
    shipping().telling(|told| order(told).line_items[0].delivered_quantity = 3).finds("I5");
    shipping().telling(|told| order(told).line_items[0].shipped_quantity = 3).finds("I5");
    shipping().telling(|told| order(told).line_items[1].fulfilled_quantity = 2).finds("I5");
    shipping().telling(|told| parcel(told).line_items[0].quantity = 3).finds("I5");
    shipping().telling(|told| order(told).line_items[0].shipped_quantity = 1).finds("3.7");
    shipping().telling(|told| order(told).line_items[0].requires_shipping = false).finds("2.1");
}

#[test]
fn statuses_that_do_not_follow_are_found() {
    paying().telling(|told| order(told).payment_status = payment_status::PaymentStatus::Unpaid).finds("I6");
    paying().telling(|told| order(told).payment_summary.due = 1).finds("I6");
    asking().telling(|told| order(told).payment_summary.refundable += 5).finds("I6");
    shipping().telling(|told| order(told).fulfillment_status = FulfillmentStatus::Delivered).finds("I6");
    editing_what_is_cancelled().telling(|told| order(told).status = OrderStatus::Confirmed).finds("I14");
    refunding().telling(|told| payment(told).status = PaymentStatus::Failed).finds("rule 4");
}

#[test]
fn versions_and_events_that_do_not_match_are_found() {
    shipping().telling(|told| order(told).resource_version += 1).finds("I7");
    shipping().telling(|told| order(told).resource_version -= 1).finds("I7");
    shipping().keeping(|kept| kept.orders[0].resource_version += 1).finds("I7");
    shipping().keeping(|kept| kept.orders[0].fulfillment_note = Some("x".into())).finds("I10");
    let mut silent = shipping();
    silent.changes.pop();
    silent.finds("I7");
    silent.finds("I10");
    shipping()
        .telling(|told| {
            let mut twice = order(told).clone();
            twice.resource_version += 1;
            told.push(Change::order(EventType::OrderUpdated, &twice));
        })
        .finds("rule 2");
    shipping().telling(|told| told[1].event_type = EventType::OrderUpdated).finds("rule 3");
    paying().telling(|told| told[3].event_type = EventType::OrderUpdated).finds("rule 3");
    shipping().telling(|told| told[0].event_type = EventType::ShipmentDelivered).finds("rule 4");
    shipping().telling(|told| told[0].event_type = EventType::ShipmentUpdated).finds("I7");
    shipping().telling(|told| told.swap(0, 1)).finds("rule 5");
    paying().telling(|told| told.swap(0, 1)).finds("rule 5");
    paying().telling(|told| told.swap(1, 2)).finds("rule 5");
}

#[test]
fn a_merchant_that_reaches_too_far_is_found() {
    shipping().telling(|told| order(told).amounts.total += 1).finds("I11");
    shipping().telling(|told| order(told).status = OrderStatus::Cancelled).finds("I11");
    shipping().telling(|told| order(told).payment_ids.clear()).finds("I11");
    shipping().keeping(|kept| kept.payments[0].amount_captured = 1).finds("I11");
    asking().telling(|told| refund(told).status = RefundStatus::Processing).finds("I11");
    asking().telling(|told| order(told).payment_summary.captured += 1).finds("I11");
}

#[test]
fn records_that_do_not_belong_together_are_found() {
    paying().keeping(|kept| kept.orders[0].checkout_id = None).finds("3.4");
    paying().keeping(|kept| kept.payments[0].status = PaymentStatus::Created).finds("I10");
    trying_again().telling(|told| order(told).payment_ids.clear()).finds("2.2");
    trying_again().keeping(|kept| kept.orders[0].status = OrderStatus::Cancelled).finds("3.1");
}
