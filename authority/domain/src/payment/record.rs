//! The payment (contract 2.3). Only the operator side moves it: reports of processors
//! ([`crate::payment::report`]), refunds, and the end of what it was to pay for.

use serde::{Deserialize, Serialize};

use crate::id::{CheckoutId, PaymentId, SubscriptionId};
use crate::order_number::OrderNumber;
use crate::parts::{Failure, Metadata, Money};
use crate::payment::method::{CaptureMethod, Method, Processor};
use crate::text_enum::text_enum;
use crate::time::Timestamp;
use crate::versioned::versioned;

text_enum! {
    /// Where a payment stands.
    PaymentStatus {
        /// Asked for; the processor has not answered.
        Created = "created",
        /// An asynchronous method was accepted.
        Pending = "pending",
        /// Money is reserved, not captured.
        Authorized = "authorized",
        /// Captured.
        Succeeded = "succeeded",
        /// Declined, or broken off by the processor.
        Failed = "failed",
        /// Given up, or the authorization ran out.
        Cancelled = "cancelled",
        /// A part of what was captured went back.
        PartiallyRefunded = "partially_refunded",
        /// All that was captured went back.
        Refunded = "refunded",
    }
}

impl PaymentStatus {
    /// Money may still arrive through this payment.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Created | Self::Pending | Self::Authorized)
    }
}

/// A payment, in the member order of contract 2.3.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename = "payment")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("amount": MoneyAboveZero))
)]
pub struct Payment {
    /// Identifies the payment.
    pub id: PaymentId,
    /// Where the payment stands.
    pub status: PaymentStatus,
    /// The order that is paid; `null` until the checkout has become one.
    pub order_number: Option<OrderNumber>,
    /// The checkout that was paid.
    pub checkout_id: Option<CheckoutId>,
    /// The subscription whose order is paid.
    pub subscription_id: Option<SubscriptionId>,
    /// ISO 4217, uppercase; that of the order or checkout.
    pub currency: String,
    /// What is asked for, in minor units; never changes.
    pub amount: Money,
    /// Reserved, in minor units; at most `amount`.
    pub amount_authorized: Money,
    /// Captured, in minor units; at most `amount_authorized`.
    pub amount_captured: Money,
    /// Given back by completed refunds, in minor units.
    pub amount_refunded: Money,
    /// In refunds that are requested or processing, in minor units.
    pub amount_refund_pending: Money,
    /// Whether the money came after the checkout or the order that it was for had ended.
    #[serde(default)]
    pub late: bool,
    /// Whether an authorization is captured by itself.
    pub capture_method: CaptureMethod,
    /// How it is paid.
    pub method: Method,
    /// Who moves the money.
    pub processor: Processor,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// When the money was reserved.
    pub authorized_at: Option<Timestamp>,
    /// When the money was captured.
    pub captured_at: Option<Timestamp>,
    /// When it failed.
    pub failed_at: Option<Timestamp>,
    /// When it was given up.
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

/// What a payment is to pay for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaymentTarget {
    /// An open checkout, which becomes an order when the payment holds.
    Checkout(CheckoutId),
    /// An order with something due.
    Order(OrderNumber),
    /// A subscription: its latest order, which has something due.
    Subscription(SubscriptionId),
}

/// What the operator gives to start a payment attempt.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct NewPayment {
    pub id: PaymentId,
    pub target: PaymentTarget,
    pub currency: String,
    pub amount: Money,
    pub capture_method: CaptureMethod,
    pub method: Method,
    pub processor: Processor,
    pub metadata: Metadata,
}

versioned!(Payment);

impl Payment {
    /// Version 1, `created`.
    #[must_use]
    pub fn create(new: NewPayment, livemode: bool, now: Timestamp) -> Self {
        let (checkout_id, order_number) = match new.target {
            PaymentTarget::Checkout(id) => (Some(id), None),
            PaymentTarget::Order(number) => (None, Some(number)),
            // The order that is paid says which subscription it belongs to.
            PaymentTarget::Subscription(_) => (None, None),
        };
        Self {
            id: new.id,
            status: PaymentStatus::Created,
            order_number,
            checkout_id,
            subscription_id: None,
            currency: new.currency,
            amount: new.amount,
            amount_authorized: 0,
            amount_captured: 0,
            amount_refunded: 0,
            amount_refund_pending: 0,
            late: false,
            capture_method: new.capture_method,
            method: new.method,
            processor: new.processor,
            failure: None,
            authorized_at: None,
            captured_at: None,
            failed_at: None,
            cancelled_at: None,
            metadata: new.metadata,
            resource_version: 1,
            livemode,
            created_at: now,
            updated_at: now,
        }
    }

    /// The next version of an open payment: given up, because what it was to pay for has ended (contract 3.1, 3.4).
    #[must_use]
    pub(crate) fn cancel(mut self, now: Timestamp) -> Self {
        self.status = PaymentStatus::Cancelled;
        self.cancelled_at = Some(now);
        self.next_version(now)
    }

    /// What can still be asked back: captured, not returned, and in no open refund (contract 2.2).
    #[must_use]
    pub fn refundable(&self) -> Money {
        self.amount_captured - self.amount_refunded - self.amount_refund_pending
    }

    /// The next version after a refund of `amount`, which was reserved, completed (contract 3.5).
    #[must_use]
    pub(crate) fn after_refund(mut self, amount: Money, now: Timestamp) -> Self {
        self.amount_refund_pending -= amount;
        self.amount_refunded += amount;
        self.status = if self.amount_refunded == self.amount_captured {
            PaymentStatus::Refunded
        } else {
            PaymentStatus::PartiallyRefunded
        };
        self.next_version(now)
    }
}
