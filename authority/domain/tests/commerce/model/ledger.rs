//! What a database would keep: the last version of every record, oldest record first.

use std::collections::{BTreeMap, BTreeSet};

use authority_domain::event::change::Record;
use authority_domain::order::ConfirmedBy;
use authority_domain::order::line_quantities::LineMarks;
use authority_domain::parts::Money;
use authority_domain::subscription::{AnchoredSubscription, SubscriptionTerms};
use authority_domain::{
    Change, Checkout, CheckoutId, Order, OrderNumber, Payment, PaymentId, Refund, Shipment,
};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ledger {
    pub(super) checkouts: Vec<Checkout>,
    pub(super) payments: Vec<Payment>,
    pub(super) orders: Vec<Order>,
    pub(super) refunds: Vec<Refund>,
    pub(super) shipments: Vec<Shipment>,
    pub(super) subscriptions: Vec<AnchoredSubscription>,
    /// Beside the records: what checkouts agree on, and what was marked as shipped.
    pub(super) terms: BTreeMap<CheckoutId, SubscriptionTerms>,
    pub(super) marked: BTreeMap<OrderNumber, LineMarks>,
    /// The orders that the operator confirmed.
    pub(super) confirmed: BTreeSet<OrderNumber>,
}

impl Ledger {
    /// Takes over the last version of every record in the list.
    pub(super) fn apply(&mut self, changes: &[Change]) {
        for change in changes {
            match &change.record {
                Record::Checkout(record) => put(&mut self.checkouts, record, |a, b| a.id == b.id),
                Record::Payment(record) => put(&mut self.payments, record, |a, b| a.id == b.id),
                Record::Order(record) => {
                    put(&mut self.orders, record, |a, b| a.order_number == b.order_number)
                }
                Record::Refund(record) => put(&mut self.refunds, record, |a, b| a.id == b.id),
                Record::Shipment(record) => put(&mut self.shipments, record, |a, b| a.id == b.id),
                Record::Subscription(record) => {
                    put(&mut self.subscriptions, record, |a, b| a.record.id == b.record.id);
                }
                Record::Share(_) | Record::WebhookTest(_) => {}
            }
        }
    }

    /// A payment as it reads now, in the version that is kept: with nothing else than what its refunds reserve.
    pub(super) fn restate(&mut self, payment: &Payment) {
        let kept = self.payment(&payment.id);
        let same = Payment { amount_refund_pending: kept.amount_refund_pending, ..payment.clone() };
        assert_eq!(same, kept, "something else is restated");
        put(&mut self.payments, payment, |a, b| a.id == b.id);
    }

    /// The version of every record, by category and id.
    pub(super) fn versions(&self) -> BTreeMap<(&'static str, String), i64> {
        let named = |category, id: &str, version| ((category, id.to_owned()), version);
        let mut versions = BTreeMap::new();
        versions.extend(self.checkouts.iter().map(|r| named("checkout", r.id.as_str(), r.resource_version)));
        versions.extend(self.payments.iter().map(|r| named("payment", r.id.as_str(), r.resource_version)));
        versions
            .extend(self.orders.iter().map(|r| named("order", r.order_number.as_str(), r.resource_version)));
        versions.extend(self.refunds.iter().map(|r| named("refund", r.id.as_str(), r.resource_version)));
        versions.extend(self.shipments.iter().map(|r| named("shipment", r.id.as_str(), r.resource_version)));
        let subscriptions = self.subscriptions.iter().map(|ongoing| &ongoing.record);
        versions.extend(subscriptions.map(|r| named("subscription", r.id.as_str(), r.resource_version)));
        versions
    }

    pub(super) fn order(&self, number: &OrderNumber) -> Option<&Order> {
        self.orders.iter().find(|order| order.order_number == *number)
    }

    pub(super) fn confirmed_by(&self, number: &OrderNumber) -> ConfirmedBy {
        if self.confirmed.contains(number) { ConfirmedBy::Operator } else { ConfirmedBy::Payments }
    }

    pub(super) fn payment(&self, id: &PaymentId) -> Payment {
        self.payments.iter().find(|payment| payment.id == *id).cloned().unwrap()
    }

    /// All payments of an order, oldest first.
    pub(super) fn payments_of(&self, number: &OrderNumber) -> Vec<Payment> {
        self.payments.iter().filter(|p| p.order_number.as_ref() == Some(number)).cloned().collect()
    }

    pub(super) fn refunds_of(&self, number: &OrderNumber) -> impl Iterator<Item = &Refund> {
        self.refunds.iter().filter(move |refund| refund.order_number.as_ref() == Some(number))
    }

    pub(super) fn parcels_of(&self, number: &OrderNumber) -> Vec<Shipment> {
        self.shipments.iter().filter(|parcel| parcel.order_number == *number).cloned().collect()
    }

    /// The attempt on a checkout that is under way.
    pub(super) fn open_attempt(&self, checkout: &CheckoutId) -> Option<Payment> {
        let on_it = |p: &&Payment| p.checkout_id.as_ref() == Some(checkout) && p.status.is_open();
        self.payments.iter().find(on_it).cloned()
    }

    /// What open refunds reserve of each payment.
    pub(super) fn reserved(&self) -> BTreeMap<PaymentId, Money> {
        let mut sums = BTreeMap::new();
        for refund in self.refunds.iter().filter(|refund| refund.status.is_open()) {
            *sums.entry(refund.payment_id.clone()).or_insert(0) += refund.amount;
        }
        sums
    }
}

fn put<T: Clone>(list: &mut Vec<T>, next: &T, same: impl Fn(&T, &T) -> bool) {
    match list.iter_mut().find(|stored| same(stored, next)) {
        Some(stored) => *stored = next.clone(),
        None => list.push(next.clone()),
    }
}
