//! The order of a period (contract 3.8): a renewal makes one, and its money follows the rules of every order.
//!
//! One change of the subscription begins the period and names the order in `latest_order_number`; the order follows it
//! in the stream, since it refers to it (contract 3, general rule 5):
//!
//! | | Events, with adjacent sequence numbers |
//! |---|---|
//! | renewed | subscription.updated · order.created |
//! | renewed, and nothing is to be paid | subscription.updated · order.created · order.confirmed |
//! | then it is paid | payment.created · order.updated; later payment.succeeded · order.confirmed (rows 7a, 3, 4) |
//!
//! The order of an incomplete subscription's first period comes the same way, while the period itself begins when the
//! subscription becomes active.

use verify_core::catalog::EventType;

use crate::bounds::MONEY_MAX;
use crate::event::change::Change;
use crate::order::{ConfirmOn, NewOrder, Order, OrderSource};
use crate::order_number::OrderNumber;
use crate::parts::{Amounts, LineItem, Metadata};
use crate::refusal::{MemberCode, Refusal, Result};
use crate::subscription::renewal::{Renewal, Renewing};
use crate::subscription::{AnchoredSubscription, Subscription, SubscriptionItem, SubscriptionStatus};
use crate::time::Timestamp;

impl AnchoredSubscription {
    /// The event of this version.
    #[must_use]
    pub fn told(&self) -> Change {
        let event = match (self.record.resource_version, self.record.status) {
            (1, _) => EventType::SubscriptionCreated,
            (_, SubscriptionStatus::Cancelled) => EventType::SubscriptionCancelled,
            _ => EventType::SubscriptionUpdated,
        };
        Change::subscription(event, self)
    }
}

impl Renewing {
    /// The subscription, and the changes: first it, then its order. `number` is reserved in this transaction;
    /// `latest` is the order before this one.
    ///
    /// # Errors
    /// `validation_failed` when the order's sums leave their range.
    pub fn into_changes(
        self,
        number: OrderNumber,
        latest: Option<&Order>,
        confirm_on: ConfirmOn,
        now: Timestamp,
    ) -> Result<(AnchoredSubscription, Vec<Change>)> {
        let Self { mut next, renewal, at } = self;
        let new = order(&next.record, renewal, number.clone(), latest, at)?;
        let order = Order::create(new, &[], next.record.livemode, now);
        next.record.latest_order_number = Some(number);
        let mut changes = vec![next.told(), Change::order(EventType::OrderCreated, &order)];
        changes.extend(order.after_payments(&[], confirm_on, now));
        Ok((next, changes))
    }
}

/// What the order begins with.
fn order(
    record: &Subscription,
    renewal: Renewal,
    order_number: OrderNumber,
    latest: Option<&Order>,
    placed_at: Timestamp,
) -> Result<NewOrder> {
    let from_items = || record.items.iter().map(|item| line(item, latest)).collect();
    let line_items = renewal.lines.unwrap_or_else(from_items);
    let amounts = Amounts::sum(&line_items, renewal.discount, renewal.shipping, renewal.shipping_tax);
    let amounts = amounts.ok_or_else(|| {
        let detail = format!("every sum of the order must lie between 0 and {MONEY_MAX}");
        Refusal::member("/renew", MemberCode::OutOfRange, detail)
    })?;
    Ok(NewOrder {
        order_number,
        currency: record.currency.clone(),
        amounts,
        line_items,
        customer: Some(record.customer.clone()),
        billing_address: renewal.billing_address.or_else(|| latest?.billing_address.clone()),
        shipping_address: renewal.shipping_address.or_else(|| latest?.shipping_address.clone()),
        checkout_id: None,
        subscription_id: Some(record.id.clone()),
        source: OrderSource::Subscription,
        placed_at,
        metadata: renewal.metadata.unwrap_or_else(|| record.metadata.clone()),
    })
}

/// The line of an item carries the item's id, and ships when the line of the order before did.
fn line(item: &SubscriptionItem, latest: Option<&Order>) -> LineItem {
    let before = latest.and_then(|order| order.line_items.iter().find(|line| line.id == item.id));
    // The sum of all items is an amount, so this one is.
    let subtotal = item.unit_amount * item.quantity;
    LineItem {
        id: item.id.clone(),
        sku: item.sku.clone(),
        name: item.name.clone(),
        quantity: item.quantity,
        unit_amount: item.unit_amount,
        subtotal_amount: subtotal,
        discount_amount: 0,
        tax_amount: 0,
        total_amount: subtotal,
        requires_shipping: before.is_none_or(|line| line.requires_shipping),
        metadata: Metadata::new(),
    }
}
