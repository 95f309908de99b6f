//! How an order begins: from a checkout, from a subscription's period, or as the operator gives it (contract 2.2,
//! 3.1).
//!
//! Version 1 is always `pending` and has an event of its own, `order.created`; what else the same change does to the
//! order is version 2 (contract 3, general rule 3).

use crate::id::{CheckoutId, SubscriptionId};
use crate::order::payment_status::PaymentSummary;
use crate::order::{Order, OrderSource, OrderStatus, fulfillment_status, payment_status};
use crate::order_number::OrderNumber;
use crate::parts::{Address, Amounts, Customer, LineItem, Metadata, OrderLine};
use crate::payment::Payment;
use crate::time::Timestamp;

/// The contents of a new order, whatever creates it; already read and checked member by member.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the members are those of contract 2.2
pub struct NewOrder {
    pub order_number: OrderNumber,
    pub currency: String,
    pub amounts: Amounts,
    pub line_items: Vec<LineItem>,
    pub customer: Option<Customer>,
    pub billing_address: Option<Address>,
    pub shipping_address: Option<Address>,
    pub checkout_id: Option<CheckoutId>,
    pub subscription_id: Option<SubscriptionId>,
    pub source: OrderSource,
    pub placed_at: Timestamp,
    pub metadata: Metadata,
}

impl Order {
    /// Version 1, `pending`: `order.created`. `payments` are those it already has, oldest first.
    #[must_use]
    pub(crate) fn create(new: NewOrder, payments: &[Payment], livemode: bool, now: Timestamp) -> Self {
        let line_items: Vec<OrderLine> = new.line_items.iter().map(OrderLine::from).collect();
        let total = new.amounts.total;
        Self {
            order_number: new.order_number,
            status: OrderStatus::Pending,
            payment_status: payment_status::derive(total, OrderStatus::Pending, payments),
            fulfillment_status: fulfillment_status::derive(&line_items),
            currency: new.currency,
            amounts: new.amounts,
            payment_summary: PaymentSummary::of(total, payments),
            line_items,
            customer: new.customer,
            billing_address: new.billing_address,
            shipping_address: new.shipping_address,
            external_references: Vec::new(),
            checkout_id: new.checkout_id,
            subscription_id: new.subscription_id,
            payment_ids: payments.iter().map(|payment| payment.id.clone()).collect(),
            source: new.source,
            fulfillment_note: None,
            cancel_reason: None,
            placed_at: new.placed_at,
            confirmed_at: None,
            fulfilled_at: None,
            shipped_at: None,
            delivered_at: None,
            completed_at: None,
            cancelled_at: None,
            metadata: new.metadata,
            resource_version: 1,
            livemode,
            created_at: now,
            updated_at: now,
        }
    }
}
