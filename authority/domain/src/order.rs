//! The order: the canonical record that everything else feeds (contract 2.2, 3.1).
//!
//! One transaction changes an order at most once: the change raises `resource_version` by one and is told by exactly
//! one order event, the strongest of what was reached. The derived statuses are recomputed here and nowhere else, so
//! that no stored order can disagree with its payments and lines (I6).

use serde::{Deserialize, Serialize};
use verify_core::catalog::EventType;

use crate::error_code::ErrorCode;
use crate::fulfillment_status::{self, FulfillmentStatus};
use crate::id::{CheckoutId, PaymentId, SubscriptionId};
use crate::order_number::OrderNumber;
use crate::parts::{Address, Amounts, Customer, Metadata, OrderLine};
use crate::payment::Payment;
use crate::payment_status::{self, PaymentStatus, PaymentSummary};
use crate::refusal::Refusal;
use crate::text_enum::text_enum;
use crate::time::Timestamp;

pub use crate::new_order::NewOrder;

text_enum! {
    /// Where an order stands.
    OrderStatus {
        /// Exists, not yet to be acted on.
        Pending = "pending",
        /// To be fulfilled.
        Confirmed = "confirmed",
        /// Delivered and paid.
        Completed = "completed",
        /// Ended without completion.
        Cancelled = "cancelled",
    }
}

text_enum! {
    /// What made the order.
    OrderSource {
        /// A completed checkout.
        Checkout = "checkout",
        /// A subscription's period.
        Subscription = "subscription",
        /// A point of sale.
        Pos = "pos",
        /// An import.
        Import = "import",
        /// The operator API.
        Api = "api",
    }
}

text_enum! {
    /// Why an order was cancelled.
    CancelReason {
        /// The customer asked.
        CustomerRequest = "customer_request",
        /// It was not paid.
        PaymentFailed = "payment_failed",
        /// Fraud.
        Fraud = "fraud",
        /// Not in stock.
        OutOfStock = "out_of_stock",
        /// Placed twice.
        Duplicate = "duplicate",
        /// Not paid in time.
        Expired = "expired",
        /// Any other.
        Other = "other",
    }
}

text_enum! {
    /// When an order confirms by itself (merchant setting).
    ConfirmOn {
        /// When it is paid.
        Paid = "paid",
        /// Already when it is authorized.
        Authorized = "authorized",
    }
}

/// A merchant system's own name for an order; one entry per system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ExternalReference {
    pub system: String,
    pub id: String,
    pub url: Option<String>,
    pub updated_at: Timestamp,
}

/// The order record, in the member order of contract 2.2; also the snapshot in every order event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename = "order")]
#[allow(missing_docs)] // the members are those of the contract's table
pub struct Order {
    pub order_number: OrderNumber,
    pub status: OrderStatus,
    pub payment_status: PaymentStatus,
    pub fulfillment_status: FulfillmentStatus,
    pub currency: String,
    pub amounts: Amounts,
    pub payment_summary: PaymentSummary,
    pub line_items: Vec<OrderLine>,
    pub customer: Option<Customer>,
    pub billing_address: Option<Address>,
    pub shipping_address: Option<Address>,
    pub external_references: Vec<ExternalReference>,
    pub checkout_id: Option<CheckoutId>,
    pub subscription_id: Option<SubscriptionId>,
    pub payment_ids: Vec<PaymentId>,
    pub source: OrderSource,
    pub fulfillment_note: Option<String>,
    pub cancel_reason: Option<CancelReason>,
    pub placed_at: Timestamp,
    pub confirmed_at: Option<Timestamp>,
    pub fulfilled_at: Option<Timestamp>,
    pub shipped_at: Option<Timestamp>,
    pub delivered_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub cancelled_at: Option<Timestamp>,
    pub metadata: Metadata,
    pub resource_version: i64,
    pub livemode: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Order {
    /// The next version after its payments changed, with the one event that tells of it; `None` when nothing that
    /// the order shows has changed. `payments` are all of the order's, oldest first.
    #[must_use]
    pub(crate) fn after_payments(
        self,
        payments: &[Payment],
        confirm_on: ConfirmOn,
        now: Timestamp,
    ) -> Option<(Self, EventType)> {
        let before = self.clone();
        let mut next = self;
        next.take_over(payments);
        // What costs nothing has nothing to wait for (contract 3.1).
        let confirms = match next.payment_status {
            PaymentStatus::Paid => true,
            PaymentStatus::Authorized => confirm_on == ConfirmOn::Authorized,
            _ => next.amounts.total == 0,
        };
        let mut event = EventType::OrderUpdated;
        if next.status == OrderStatus::Pending && confirms {
            next.status = OrderStatus::Confirmed;
            next.confirmed_at = Some(now);
            event = EventType::OrderConfirmed;
        }
        // Once more: a free order counts as paid from here on (contract 3.2 row 5).
        next.take_over(payments);
        next.complete_if_done(now);
        (next != before).then(|| (next.next_version(now), event))
    }

    /// The next version after its lines changed, with the one event that tells of it; `None` when they did not.
    #[must_use]
    pub(crate) fn after_lines(self, lines: Vec<OrderLine>, now: Timestamp) -> Option<(Self, EventType)> {
        let note = self.fulfillment_note.clone();
        self.after_fulfillment(lines, note, now)
    }

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

    /// Merchants may prepare and ship only what is confirmed (contract 3.3).
    #[must_use]
    pub fn is_fulfillable(&self) -> bool {
        matches!(self.status, OrderStatus::Confirmed | OrderStatus::Completed)
    }

    /// What the order shows of its payments; derived from its status as well, so to be called after that changed.
    pub(crate) fn take_over(&mut self, payments: &[Payment]) {
        self.payment_ids = payments.iter().map(|payment| payment.id.clone()).collect();
        self.payment_summary = PaymentSummary::of(self.amounts.total, payments);
        self.payment_status = payment_status::derive(self.amounts.total, self.status, payments);
    }

    /// What a fulfilment or shipment of this order is refused with in its present status.
    pub(crate) fn not_fulfillable(&self) -> Refusal {
        Refusal::new(
            ErrorCode::OrderNotFulfillable,
            format!("The order is {}; only a confirmed order can be fulfilled.", self.status),
        )
        .with("current_status", self.status.as_str())
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

    pub(crate) fn next_version(mut self, now: Timestamp) -> Self {
        self.resource_version += 1;
        self.updated_at = now.max(self.updated_at);
        self
    }
}
