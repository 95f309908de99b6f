//! The refund and its state machine (contract 2.4, 3.6). Merchant and operator ask for refunds; only the operator side
//! moves them on. What a refund does to its payment and order is decided in [`crate::refund_flow`].
//!
//! A processor may report out of order: a report that is behind the present status changes nothing, and two different
//! ends contradict each other and are refused.

use serde::{Deserialize, Serialize};

use crate::error_code::ErrorCode;
use crate::id::{LineItemId, PaymentId, RefundId};
use crate::order_number::OrderNumber;
use crate::parts::{Failure, Metadata, Money};
use crate::refusal::Refusal;
use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// Where a refund stands.
    RefundStatus {
        /// Asked for; the money is reserved.
        Requested = "requested",
        /// With the processor.
        Processing = "processing",
        /// The money went back.
        Completed = "completed",
        /// It did not; the reservation is released.
        Failed = "failed",
    }
}

impl RefundStatus {
    /// The money is reserved, and may still go back.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Requested | Self::Processing)
    }

    /// How far along a status is; reports of a lower rank are late.
    fn rank(self) -> u8 {
        match self {
            Self::Requested => 0,
            Self::Processing => 1,
            Self::Completed | Self::Failed => 2,
        }
    }
}

text_enum! {
    /// Why money goes back.
    RefundReason {
        /// The customer asked.
        RequestedByCustomer = "requested_by_customer",
        /// Paid twice.
        Duplicate = "duplicate",
        /// Fraud.
        Fraudulent = "fraudulent",
        /// Not to be had.
        ProductUnavailable = "product_unavailable",
        /// Arrived damaged.
        Damaged = "damaged",
        /// Any other.
        Other = "other",
    }
}

text_enum! {
    /// Who asked.
    RequesterType {
        /// A merchant's key.
        ApiKey = "api_key",
        /// An operator's key.
        Operator = "operator",
        /// The service itself.
        System = "system",
    }
}

/// Who asked for a refund.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requester {
    /// Kind.
    #[serde(rename = "type")]
    pub kind: RequesterType,
    /// The key's id, where there is one.
    pub id: Option<String>,
}

/// A part of the refund that belongs to a line; informational.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefundLine {
    /// A line of the order.
    pub line_item_id: LineItemId,
    /// At least 1.
    pub quantity: i64,
    /// Of the refund's amount.
    pub amount: Money,
}

/// The refund record, in the member order of contract 2.4.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename = "refund")]
#[allow(missing_docs)] // the members are those of the contract's table
pub struct Refund {
    pub id: RefundId,
    pub status: RefundStatus,
    pub order_number: OrderNumber,
    pub payment_id: PaymentId,
    pub amount: Money,
    pub currency: String,
    pub reason: RefundReason,
    pub note: Option<String>,
    pub line_items: Vec<RefundLine>,
    pub requested_by: Requester,
    pub processor_reference: Option<String>,
    pub failure: Option<Failure>,
    pub processing_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub failed_at: Option<Timestamp>,
    pub metadata: Metadata,
    pub resource_version: i64,
    pub livemode: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// What is asked for, already read and checked member by member (contract 4.8).
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct NewRefund {
    /// `None`: all that is refundable on the payment.
    pub amount: Option<Money>,
    /// For the caller's own safety: must be the order's.
    pub currency: Option<String>,
    /// `None`: the only payment with something refundable.
    pub payment_id: Option<PaymentId>,
    pub reason: RefundReason,
    pub note: Option<String>,
    /// Empty: none are named.
    pub line_items: Vec<RefundLine>,
    pub metadata: Metadata,
}

/// One report of the processor about a refund.
#[derive(Clone, Debug)]
pub struct RefundReport {
    /// The status the processor saw.
    pub status: RefundStatus,
    /// The processor's own id of the refund, when it was not known before.
    pub processor_reference: Option<String>,
    /// Why it failed.
    pub failure: Option<Failure>,
}

/// What a report did to a refund.
#[derive(Clone, Debug)]
pub enum Reported {
    /// The next version.
    Changed(Box<Refund>),
    /// The refund is already there or further: nothing happens.
    Unchanged,
}

impl Refund {
    /// Applies a processor's report.
    ///
    /// # Errors
    /// `processor_conflict` when the report contradicts the end that was already reported.
    pub fn report(self, report: &RefundReport, now: Timestamp) -> Result<Reported, Refusal> {
        if report.status == self.status || report.status.rank() < self.status.rank() {
            return Ok(Reported::Unchanged);
        }
        if report.status.rank() == self.status.rank() {
            return Err(Refusal::new(
                ErrorCode::ProcessorConflict,
                format!("The refund is {}; the report says {}.", self.status, report.status),
            )
            .with("current_status", self.status.as_str())
            .with("requested_status", report.status.as_str()));
        }
        let mut next = self;
        match report.status {
            // The lowest rank: never reached from below.
            RefundStatus::Requested => return Ok(Reported::Unchanged),
            RefundStatus::Processing => next.processing_at = Some(now),
            RefundStatus::Completed => next.completed_at = Some(now),
            RefundStatus::Failed => {
                next.failed_at = Some(now);
                next.failure = report.failure.clone();
            }
        }
        next.status = report.status;
        if report.processor_reference.is_some() {
            next.processor_reference.clone_from(&report.processor_reference);
        }
        next.resource_version += 1;
        next.updated_at = now.max(next.updated_at);
        Ok(Reported::Changed(Box::new(next)))
    }
}
