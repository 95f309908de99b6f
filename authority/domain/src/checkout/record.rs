//! The checkout: the operator opens it, payments are tried on it, and the first that holds completes it into an
//! order (contract 2.7, 3.4). All end states are terminal.
//!
//! What a payment does to a checkout is decided in [`crate::transitions::payment`], which holds the payment, the
//! checkout and the order together. How a checkout ends without a payment is decided in
//! [`crate::transitions::checkout`]. This module defines what a checkout is and how it opens.

use serde::{Deserialize, Serialize};

use crate::id::{CheckoutId, PaymentId};
use crate::order_number::OrderNumber;
use crate::parts::{Address, Amounts, Customer, Failure, LineItem, Metadata};
use crate::subscription::SubscriptionTerms;
use crate::text_enum::text_enum;
use crate::time::Timestamp;
use crate::versioned::versioned;

text_enum! {
    /// Where a checkout stands.
    CheckoutStatus {
        /// Can be paid.
        Open = "open",
        /// Became an order.
        Completed = "completed",
        /// Ran out of time.
        Expired = "expired",
        /// Ended by the operator.
        Cancelled = "cancelled",
    }
}

/// How a checkout ends without an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckoutEnd {
    /// Its time is over.
    Expired,
    /// The operator gave it up.
    Cancelled,
}

impl CheckoutEnd {
    /// The status it leads to.
    #[must_use]
    pub fn status(self) -> CheckoutStatus {
        match self {
            Self::Expired => CheckoutStatus::Expired,
            Self::Cancelled => CheckoutStatus::Cancelled,
        }
    }
}

text_enum! {
    /// What a completed checkout makes.
    CheckoutMode {
        /// One order.
        Payment = "payment",
        /// One order and one subscription.
        Subscription = "subscription",
    }
}

/// A checkout, in the member order of contract 2.7.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename = "checkout")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("line_items": Items(1, 100)))
)]
pub struct Checkout {
    /// Identifies the checkout.
    pub id: CheckoutId,
    /// Where the checkout stands.
    pub status: CheckoutStatus,
    /// What it makes when it is completed.
    pub mode: CheckoutMode,
    /// ISO 4217, uppercase.
    pub currency: String,
    /// The sums of the basket, in minor units of its currency.
    pub amounts: Amounts,
    /// 1 to 100 lines.
    pub line_items: Vec<LineItem>,
    /// The buyer.
    pub customer: Option<Customer>,
    /// Where the bill goes.
    pub billing_address: Option<Address>,
    /// Where the goods go.
    pub shipping_address: Option<Address>,
    /// The order that it became.
    pub order_number: Option<OrderNumber>,
    /// The attempt that completed the checkout, or the last that failed or ended with it; set with the event that
    /// says so.
    pub payment_id: Option<PaymentId>,
    /// How many payments were tried.
    pub payment_attempts: i64,
    /// Why the last attempt failed.
    pub last_payment_error: Option<Failure>,
    /// Where the platform's page leads after the purchase.
    pub success_url: Option<String>,
    /// Where it leads when the customer gives up.
    pub cancel_url: Option<String>,
    /// Until when it can be paid.
    pub expires_at: Timestamp,
    /// When it became an order.
    pub completed_at: Option<Timestamp>,
    /// When its time ran out.
    pub expired_at: Option<Timestamp>,
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

/// What the operator gives to open a checkout; already read and checked member by member.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct NewCheckout {
    pub id: CheckoutId,
    pub currency: String,
    pub amounts: Amounts,
    pub line_items: Vec<LineItem>,
    pub customer: Option<Customer>,
    pub billing_address: Option<Address>,
    pub shipping_address: Option<Address>,
    pub success_url: Option<String>,
    pub cancel_url: Option<String>,
    pub expires_at: Timestamp,
    pub metadata: Metadata,
    /// What is subscribed to with the purchase; without it the mode is `payment`.
    pub subscription: Option<SubscriptionTerms>,
}

versioned!(Checkout);

impl Checkout {
    /// Version 1, `open` (contract 3.9 row 1).
    #[must_use]
    pub fn open(new: NewCheckout, livemode: bool, now: Timestamp) -> Self {
        Self {
            id: new.id,
            status: CheckoutStatus::Open,
            mode: if new.subscription.is_some() { CheckoutMode::Subscription } else { CheckoutMode::Payment },
            currency: new.currency,
            amounts: new.amounts,
            line_items: new.line_items,
            customer: new.customer,
            billing_address: new.billing_address,
            shipping_address: new.shipping_address,
            order_number: None,
            payment_id: None,
            payment_attempts: 0,
            last_payment_error: None,
            success_url: new.success_url,
            cancel_url: new.cancel_url,
            expires_at: new.expires_at,
            completed_at: None,
            expired_at: None,
            cancelled_at: None,
            metadata: new.metadata,
            resource_version: 1,
            livemode,
            created_at: now,
            updated_at: now,
        }
    }

    /// The next version after a payment attempt that failed; the checkout stays open.
    #[must_use]
    pub(crate) fn after_failed_attempt(
        mut self,
        payment: PaymentId,
        failure: Option<Failure>,
        now: Timestamp,
    ) -> Self {
        self.note_attempt(Some(payment));
        self.last_payment_error = failure;
        self.next_version(now)
    }

    /// The last version: completed into the order `order_number` by `payment`; by nothing when there is nothing to pay.
    #[must_use]
    pub(crate) fn complete(
        mut self,
        payment: Option<PaymentId>,
        order_number: OrderNumber,
        now: Timestamp,
    ) -> Self {
        self.status = CheckoutStatus::Completed;
        self.note_attempt(payment);
        self.last_payment_error = None;
        self.order_number = Some(order_number);
        self.completed_at = Some(now);
        self.next_version(now)
    }

    /// The last version: ended without an order; `payment` is the attempt that was cancelled with it.
    #[must_use]
    pub(crate) fn end(mut self, how: CheckoutEnd, payment: Option<PaymentId>, now: Timestamp) -> Self {
        match how {
            CheckoutEnd::Expired => self.expired_at = Some(now),
            CheckoutEnd::Cancelled => self.cancelled_at = Some(now),
        }
        self.status = how.status();
        self.note_attempt(payment);
        self.next_version(now)
    }

    /// Whether the time to pay is over, though nobody may have ended the checkout yet.
    #[must_use]
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        self.status == CheckoutStatus::Open && self.expires_at <= now
    }

    fn note_attempt(&mut self, payment: Option<PaymentId>) {
        if payment.is_some() {
            self.payment_id = payment;
            self.payment_attempts += 1;
        }
    }
}
