//! Refunds: asked for, reserved, reported (contract 2.4, 3.6).

mod record;
mod requests;

pub use record::{
    NewRefund, Refund, RefundLine, RefundOutcome, RefundReason, RefundReport, RefundStatus, Requester,
    RequesterType,
};
pub use requests::RefundReportRequest;

use crate::parts::Money;

/// A payment with so many refunds, failed ones included, takes no more requests of its merchant: whatever is decided
/// about its order adds up all of them. What the operator asks for may record money that has moved already, and is not
/// bounded.
pub const REFUNDS_MAX: usize = 200;

/// The refunds of one payment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PaymentRefunds {
    /// The sum of the open ones.
    pub reserved: Money,
    /// How many there are, whatever became of them.
    pub count: usize,
}
