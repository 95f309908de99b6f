//! The subscription record (contract 2.6). Its state machine is in [`crate::subscription_flow`].

use serde::{Deserialize, Serialize};

use crate::id::{LineItemId, SubscriptionId};
use crate::order_number::OrderNumber;
use crate::parts::{Customer, Metadata, Money};
use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// Where a subscription stands.
    SubscriptionStatus {
        /// Not begun.
        Incomplete = "incomplete",
        /// In its free time.
        Trialing = "trialing",
        /// Paid for the present period.
        Active = "active",
        /// The present period is not paid.
        PastDue = "past_due",
        /// Interrupted.
        Paused = "paused",
        /// Ended.
        Cancelled = "cancelled",
    }
}

text_enum! {
    /// The unit of a period.
    Interval {
        /// Day.
        Day = "day",
        /// Week.
        Week = "week",
        /// Month.
        Month = "month",
        /// Year.
        Year = "year",
    }
}

text_enum! {
    /// Why a subscription ended.
    SubscriptionCancelReason {
        /// The customer asked.
        CustomerRequest = "customer_request",
        /// It was not paid.
        PaymentFailed = "payment_failed",
        /// The merchant asked.
        MerchantRequest = "merchant_request",
        /// Any other.
        Other = "other",
    }
}

/// What is subscribed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscriptionItem {
    /// Stable as long as the item is.
    pub id: LineItemId,
    /// Stock keeping unit.
    pub sku: Option<String>,
    /// What it is.
    pub name: String,
    /// 1 – 100,000.
    pub quantity: i64,
    /// Price of one per period.
    pub unit_amount: Money,
}

/// The subscription record, in the member order of contract 2.6.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename = "subscription")]
#[allow(missing_docs)] // the members are those of the contract's table
pub struct Subscription {
    pub id: SubscriptionId,
    pub status: SubscriptionStatus,
    pub customer: Customer,
    pub currency: String,
    pub amount: Money,
    pub items: Vec<SubscriptionItem>,
    pub interval: Interval,
    pub interval_count: i64,
    pub current_period_start: Option<Timestamp>,
    pub current_period_end: Option<Timestamp>,
    pub trial_end: Option<Timestamp>,
    pub cancel_at_period_end: bool,
    pub cancelled_at: Option<Timestamp>,
    pub cancel_reason: Option<SubscriptionCancelReason>,
    pub latest_order_number: Option<OrderNumber>,
    pub metadata: Metadata,
    pub resource_version: i64,
    pub livemode: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}
