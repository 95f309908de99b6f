//! How much an order's further payments may ask for, and how many it may have (contract 3.9 row 7a, 2.2).

use crate::order::payment_status::PaymentSummary;
use crate::parts::Money;
use crate::payment::{Payment, PaymentStatus};

/// The most payments of one order (contract 2.2, `payment_ids`), failed ones included.
pub const PAYMENTS_MAX: usize = 20;

/// What a further payment may ask for: what is due, less what open payments ask for that have reserved nothing yet.
#[must_use]
pub fn room(total: Money, payments: &[Payment]) -> Money {
    let asked: Money = payments
        .iter()
        .filter(|payment| matches!(payment.status, PaymentStatus::Created | PaymentStatus::Pending))
        .map(|payment| payment.amount)
        .sum();
    (PaymentSummary::of(total, payments).due - asked).max(0)
}
