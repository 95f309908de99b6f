//! The refund and its state machine (contract 2.4, 3.6). Merchant and operator ask for refunds; only the operator side
//! moves them on. What a refund does to its payment and order is decided in [`crate::transitions::refund`].
//!
//! A processor may report out of order: a report that is behind the present status changes nothing, and two different
//! ends contradict each other and are refused.

use serde::{Deserialize, Serialize};

use crate::id::{LineItemId, PaymentId, RefundId};
use crate::order_number::OrderNumber;
use crate::parts::{Failure, Metadata, Money};
use crate::refusal::{Refusal, Result};
use crate::text_enum::text_enum;
use crate::time::Timestamp;
use crate::versioned::versioned;

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
    RequesterType as "RefundRequesterType" {
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RefundRequester"))]
pub struct Requester {
    /// Kind.
    #[serde(rename = "type")]
    pub kind: RequesterType,
    /// The key's id, where there is one.
    pub id: Option<String>,
}

/// A part of the refund that belongs to a line; informational.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("quantity": Positive))
)]
pub struct RefundLine {
    /// A line of the order.
    pub line_item_id: LineItemId,
    /// At least 1.
    pub quantity: i64,
    /// Of the refund's amount.
    pub amount: Money,
}

/// A refund, in the member order of contract 2.4.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename = "refund")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("amount": MoneyAboveZero, "note": Text(500)))
)]
pub struct Refund {
    /// Identifies the refund.
    pub id: RefundId,
    /// Where the refund stands.
    pub status: RefundStatus,
    /// The order it belongs to; `null` where the payment came too late to make one.
    pub order_number: Option<OrderNumber>,
    /// The one payment that is given back, wholly or in part.
    pub payment_id: PaymentId,
    /// What is given back, in minor units.
    pub amount: Money,
    /// ISO 4217, uppercase; the payment's.
    pub currency: String,
    /// Why the money goes back.
    pub reason: RefundReason,
    /// In the words of whoever asked, at most 500 characters.
    pub note: Option<String>,
    /// Which lines it is for; informational, may be empty.
    pub line_items: Vec<RefundLine>,
    /// Who asked.
    pub requested_by: Requester,
    /// The processor's own id of the refund, opaque.
    pub processor_reference: Option<String>,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// When the processor took it on.
    pub processing_at: Option<Timestamp>,
    /// When the money went back.
    pub completed_at: Option<Timestamp>,
    /// When it failed.
    pub failed_at: Option<Timestamp>,
    /// Free key-value pairs from the request; at most 50.
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
pub enum RefundOutcome {
    /// The next version.
    Changed(Box<Refund>),
    /// The refund is already there or further: nothing happens.
    Unchanged,
}

versioned!(Refund);

impl Refund {
    /// Applies a processor's report.
    ///
    /// # Errors
    /// `processor_conflict` when the report contradicts the end that was already reported.
    pub fn report(self, report: &RefundReport, now: Timestamp) -> Result<RefundOutcome> {
        if report.status == self.status || report.status.rank() < self.status.rank() {
            return Ok(RefundOutcome::Unchanged);
        }
        if report.status.rank() == self.status.rank() {
            let detail = format!("The refund is {}; the report says {}.", self.status, report.status);
            return Err(Refusal::conflict(self.status.as_str(), report.status.as_str(), detail));
        }
        let mut next = self;
        match report.status {
            // The lowest rank: never reached from below.
            RefundStatus::Requested => return Ok(RefundOutcome::Unchanged),
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
        Ok(RefundOutcome::Changed(Box::new(next.next_version(now))))
    }
}
