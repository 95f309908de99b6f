//! The refund record (contract 2.4, 3.6). What a refund does to its payment and order is decided in
//! [`crate::refund_flow`].

use serde::{Deserialize, Serialize};

use crate::id::{LineItemId, PaymentId, RefundId};
use crate::order_number::OrderNumber;
use crate::parts::{Failure, Metadata, Money};
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
