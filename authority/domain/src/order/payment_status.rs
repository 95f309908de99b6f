//! `order.payment_status` and `payment_summary`, derived from the order's payments (contract 2.2, 3.2).

use serde::{Deserialize, Serialize};

use crate::order::OrderStatus;
use crate::parts::Money;
use crate::payment::{self, Payment};
use crate::text_enum::text_enum;

text_enum! {
    /// The payment status of an order.
    PaymentStatus as "OrderPaymentStatus" {
        /// Nothing was paid.
        Unpaid = "unpaid",
        /// A payment is under way.
        Pending = "pending",
        /// The whole is reserved.
        Authorized = "authorized",
        /// A part is captured; some of it may have gone back.
        PartiallyPaid = "partially_paid",
        /// The whole is captured.
        Paid = "paid",
        /// The whole was captured, and a part of it went back.
        PartiallyRefunded = "partially_refunded",
        /// All that was captured went back.
        Refunded = "refunded",
        /// The newest payment failed.
        Failed = "failed",
        /// The newest payment was cancelled.
        Voided = "voided",
    }
}

/// What the payments of an order come to, in minor units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaymentSummary {
    /// Reserved and not captured.
    pub authorized: Money,
    /// Captured.
    pub captured: Money,
    /// Given back.
    pub refunded: Money,
    /// Asked back, not completed.
    pub refund_pending: Money,
    /// `captured − refunded − refund_pending`.
    pub refundable: Money,
    /// `max(total − captured − authorized, 0)`.
    pub due: Money,
}

impl PaymentSummary {
    /// Sums an order's payments.
    #[must_use]
    pub fn of(total: Money, payments: &[Payment]) -> Self {
        let authorized = payments
            .iter()
            .filter(|payment| payment.status == payment::PaymentStatus::Authorized)
            .map(|payment| payment.amount_authorized)
            .sum();
        let captured = payments.iter().map(|payment| payment.amount_captured).sum();
        let refunded = payments.iter().map(|payment| payment.amount_refunded).sum();
        let refund_pending = payments.iter().map(|payment| payment.amount_refund_pending).sum();
        Self {
            authorized,
            captured,
            refunded,
            refund_pending,
            refundable: captured - refunded - refund_pending,
            due: (total - captured - authorized).max(0),
        }
    }
}

/// The first row of contract 3.2 that holds; total, so that every order has exactly one value. `payments` are all of
/// the order's, oldest first.
#[must_use]
pub fn derive(total: Money, status: OrderStatus, payments: &[Payment]) -> PaymentStatus {
    let PaymentSummary { authorized, captured, refunded, .. } = PaymentSummary::of(total, payments);
    let newest = payments.last().map(|payment| payment.status);
    let under_way = payments.iter().any(|payment| {
        matches!(payment.status, payment::PaymentStatus::Pending | payment::PaymentStatus::Created)
    });
    if captured > 0 && refunded == captured {
        PaymentStatus::Refunded
    } else if refunded > 0 && captured >= total {
        PaymentStatus::PartiallyRefunded
    } else if captured > 0 && captured >= total {
        PaymentStatus::Paid
    } else if captured > 0 {
        PaymentStatus::PartiallyPaid
    } else if total == 0 && status != OrderStatus::Pending {
        PaymentStatus::Paid
    } else if authorized > 0 && authorized >= total {
        PaymentStatus::Authorized
    } else if under_way {
        PaymentStatus::Pending
    } else if newest == Some(payment::PaymentStatus::Failed) {
        PaymentStatus::Failed
    } else if newest == Some(payment::PaymentStatus::Cancelled) {
        PaymentStatus::Voided
    } else {
        PaymentStatus::Unpaid
    }
}
