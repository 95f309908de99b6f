//! The order: the canonical record that all other records feed into (contract 2.2, 3.1).
//!
//! One transaction changes an order at most once: the change raises `resource_version` by one and is reported by
//! exactly one order event, for the most advanced state that it reached. The derived statuses are recomputed here
//! and nowhere else, so that no stored order can disagree with its payments and lines (I6).

use serde::{Deserialize, Serialize};
use verify_core::catalog::EventType;

use crate::error_code::ErrorCode;
use crate::id::{CheckoutId, PaymentId, SubscriptionId};
use crate::order::fulfillment_status::FulfillmentStatus;
use crate::order::payment_status::{PaymentStatus, PaymentSummary};
use crate::order::status::{CancelReason, OrderSource, OrderStatus};
use crate::order::{fulfillment_status, payment_status};
use crate::order_number::OrderNumber;
use crate::parts::{Address, Amounts, Customer, Metadata, OrderLine};
use crate::payment::Payment;
use crate::refusal::Refusal;
use crate::time::Timestamp;
use crate::versioned::versioned;

/// A merchant system's own name for an order; one entry per system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("system": Pattern("^[a-z0-9][a-z0-9_-]{0,31}$"), "id": Text(128)))
)]
pub struct ExternalReference {
    /// The merchant's system; one entry per system.
    pub system: String,
    /// The order's name there.
    pub id: String,
    /// Where it is found there.
    pub url: Option<String>,
    /// When the entry was last set.
    pub updated_at: Timestamp,
}

/// Whose word an order was confirmed on. Kept beside the order's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmedBy {
    /// That of its payments, or because it costs nothing.
    Payments,
    /// The operator's: cash on delivery, an invoice.
    Operator,
}

/// An order, in the member order of contract 2.2. Every order event has it as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename = "order")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!(
        "line_items": Items(1, 100),
        "external_references": Items(0, 20),
        "payment_ids": Items(0, 20),
        "fulfillment_note": Text(500),
    ))
)]
pub struct Order {
    /// The only identifier of an order; never reused.
    pub order_number: OrderNumber,
    /// Where the order stands.
    pub status: OrderStatus,
    /// Derived from the payments.
    pub payment_status: PaymentStatus,
    /// Derived from the quantities of the lines.
    pub fulfillment_status: FulfillmentStatus,
    /// ISO 4217, uppercase; never changes.
    pub currency: String,
    /// The sums of the order, in minor units of its currency.
    pub amounts: Amounts,
    /// What its payments come to, in minor units.
    pub payment_summary: PaymentSummary,
    /// 1 to 100 lines.
    pub line_items: Vec<OrderLine>,
    /// The buyer.
    pub customer: Option<Customer>,
    /// Where the bill goes.
    pub billing_address: Option<Address>,
    /// Where the goods go.
    pub shipping_address: Option<Address>,
    /// What the merchant's systems call this order; at most 20, sorted by `system`.
    pub external_references: Vec<ExternalReference>,
    /// The checkout that became this order.
    pub checkout_id: Option<CheckoutId>,
    /// The subscription that this order belongs to.
    pub subscription_id: Option<SubscriptionId>,
    /// At most 20, oldest first.
    pub payment_ids: Vec<PaymentId>,
    /// What made the order.
    pub source: OrderSource,
    /// The last note that was given with a fulfilment update, at most 500 characters.
    pub fulfillment_note: Option<String>,
    /// Set when the order is cancelled.
    pub cancel_reason: Option<CancelReason>,
    /// When the customer bought.
    pub placed_at: Timestamp,
    /// When it was first to be fulfilled.
    pub confirmed_at: Option<Timestamp>,
    /// When all of it was first prepared; cleared when that no longer holds.
    pub fulfilled_at: Option<Timestamp>,
    /// When all that ships was first with the carrier; cleared when that no longer holds.
    pub shipped_at: Option<Timestamp>,
    /// When all that ships had first arrived; cleared when that no longer holds.
    pub delivered_at: Option<Timestamp>,
    /// When it was delivered and paid.
    pub completed_at: Option<Timestamp>,
    /// When it was cancelled.
    pub cancelled_at: Option<Timestamp>,
    /// Free key-value pairs, written by the operator; at most 50.
    pub metadata: Metadata,
    /// Counts the changes of this record, from 1; for `If-Match` and to see gaps.
    pub resource_version: i64,
    /// `false` for test data, which never mixes with live data.
    pub livemode: bool,
    /// When the record was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

versioned!(Order);

impl Order {
    /// The next version after its lines or its fulfilment note changed, with the one event that tells of it; `None`
    /// when neither did. A milestone is told when it is reached from below; falling back to one is an update.
    #[must_use]
    pub(crate) fn after_fulfillment(
        self,
        lines: Vec<OrderLine>,
        note: Option<String>,
        now: Timestamp,
    ) -> Option<(Self, EventType)> {
        if lines == self.line_items && note == self.fulfillment_note {
            return None;
        }
        let before = self.fulfillment_status;
        let mut next = self;
        next.line_items = lines;
        next.fulfillment_note = note;
        next.fulfillment_status = fulfillment_status::derive(&next.line_items);
        let event = match next.fulfillment_status {
            reached if reached <= before => EventType::OrderUpdated,
            FulfillmentStatus::Delivered => EventType::OrderDelivered,
            FulfillmentStatus::Shipped => EventType::OrderShipped,
            FulfillmentStatus::Fulfilled => EventType::OrderFulfilled,
            _ => EventType::OrderUpdated,
        };
        next.note_milestones(now);
        next.complete_if_done(now);
        Some((next.next_version(now), event))
    }

    /// Merchants may prepare and ship only confirmed orders (contract 3.3); an order for which no money will come,
    /// only if the operator confirmed it (contract 18.3).
    #[must_use]
    pub fn is_fulfillable(&self, confirmed_by: ConfirmedBy) -> bool {
        matches!(self.status, OrderStatus::Confirmed | OrderStatus::Completed)
            && (confirmed_by == ConfirmedBy::Operator || !self.is_given_up_by_payments())
    }

    /// Whether what was to pay for the order has failed or been cancelled.
    #[must_use]
    pub fn is_given_up_by_payments(&self) -> bool {
        matches!(self.payment_status, PaymentStatus::Failed | PaymentStatus::Voided)
    }

    /// What the order shows of its payments; derived from its status as well, so to be called after that changed.
    pub(crate) fn take_over(&mut self, payments: &[Payment]) {
        self.payment_ids = payments.iter().map(|payment| payment.id.clone()).collect();
        self.payment_summary = PaymentSummary::of(self.amounts.total, payments);
        self.payment_status = payment_status::derive(self.amounts.total, self.status, payments);
    }

    /// The refusal of a fulfilment or shipment of this order in its present status.
    pub(crate) fn not_fulfillable(&self) -> Refusal {
        let refused = |detail: String| {
            Refusal::new(ErrorCode::OrderNotFulfillable, detail).with("current_status", self.status.as_str())
        };
        let (status, payments) = (self.status, self.payment_status);
        if status == OrderStatus::Confirmed && self.is_given_up_by_payments() {
            let detail =
                format!("The payment status is {payments}; the operator has to confirm the order first.");
            return refused(detail).with("payment_status", payments.as_str());
        }
        refused(format!("The order is {status}; only a confirmed order can be fulfilled."))
    }

    /// The times of the states that hold now; those of states that were left are cleared.
    fn note_milestones(&mut self, now: Timestamp) {
        let status = self.fulfillment_status;
        let keep = |reached: bool, at: Option<Timestamp>| if reached { at.or(Some(now)) } else { None };
        let fulfilled = self.line_items.iter().all(|line| line.fulfilled_quantity == line.quantity);
        let to_ship = || self.line_items.iter().filter(|line| line.requires_shipping);
        let shipped =
            to_ship().next().is_some() && to_ship().all(|line| line.shipped_quantity == line.quantity);
        self.fulfilled_at = keep(fulfilled, self.fulfilled_at);
        self.shipped_at = keep(fulfilled && shipped, self.shipped_at);
        self.delivered_at = keep(status == FulfillmentStatus::Delivered, self.delivered_at);
    }

    pub(crate) fn complete_if_done(&mut self, now: Timestamp) {
        let shippable = self.line_items.iter().any(|line| line.requires_shipping);
        let fulfilled = match self.fulfillment_status {
            FulfillmentStatus::Delivered => true,
            FulfillmentStatus::Fulfilled => !shippable,
            _ => false,
        };
        let paid = matches!(
            self.payment_status,
            PaymentStatus::Paid | PaymentStatus::PartiallyRefunded | PaymentStatus::Refunded
        );
        if self.status == OrderStatus::Confirmed && fulfilled && paid {
            self.status = OrderStatus::Completed;
            self.completed_at = Some(now);
        }
    }
}
