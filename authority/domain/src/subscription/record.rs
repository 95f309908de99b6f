//! The subscription record and what is agreed about it (contract 2.6). Its state machine is in
//! [`crate::subscription::state_machine`].

use serde::{Deserialize, Serialize, Serializer};

use crate::bounds::MONEY_MAX;
use crate::id::{LineItemId, SubscriptionId};
use crate::order_number::OrderNumber;
use crate::parts::{Customer, Metadata, Money};
use crate::subscription::calendar::{Cadence, Interval};
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
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("quantity": Between(1, 100_000)))
)]
pub struct SubscriptionItem {
    /// Stable as long as the item is; the lines that are made from it in orders carry the same.
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

/// A subscription, in the member order of contract 2.6.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename = "subscription")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("items": Items(1, 20), "interval_count": Between(1, 36)))
)]
pub struct Subscription {
    /// Identifies the subscription.
    pub id: SubscriptionId,
    /// Where the subscription stands.
    pub status: SubscriptionStatus,
    /// The buyer.
    pub customer: Customer,
    /// ISO 4217, uppercase.
    pub currency: String,
    /// The price per period, in minor units: the sum of the items.
    pub amount: Money,
    /// What is subscribed to; 1 to 20 items.
    pub items: Vec<SubscriptionItem>,
    /// The unit of a period.
    pub interval: Interval,
    /// How many units a period has, 1 to 36.
    pub interval_count: i64,
    /// When the present period began; `null` while `incomplete`.
    pub current_period_start: Option<Timestamp>,
    /// When it ends; `null` while `incomplete`.
    pub current_period_end: Option<Timestamp>,
    /// When the free time ends or ended.
    pub trial_end: Option<Timestamp>,
    /// Ends with the present period.
    pub cancel_at_period_end: bool,
    /// When it ended.
    pub cancelled_at: Option<Timestamp>,
    /// Why it ended.
    pub cancel_reason: Option<SubscriptionCancelReason>,
    /// The order of the latest period.
    pub latest_order_number: Option<OrderNumber>,
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

impl Subscription {
    /// How often it renews.
    #[must_use]
    pub fn cadence(&self) -> Cadence {
        Cadence { interval: self.interval, count: self.interval_count }
    }
}

/// What is subscribed to, and its price per period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PricedItems {
    list: Vec<SubscriptionItem>,
    amount: Money,
}

impl PricedItems {
    /// `None` when Σ `unit_amount × quantity` is above [`MONEY_MAX`].
    #[must_use]
    pub fn of(list: Vec<SubscriptionItem>) -> Option<Self> {
        let amount = list.iter().try_fold(0, |sum: Money, item| {
            item.unit_amount.checked_mul(item.quantity).and_then(|amount| sum.checked_add(amount))
        })?;
        (0..=MONEY_MAX).contains(&amount).then_some(Self { list, amount })
    }

    /// The items and their sum.
    #[must_use]
    pub fn into_parts(self) -> (Vec<SubscriptionItem>, Money) {
        (self.list, self.amount)
    }
}

/// A subscription, and what its next period is found by.
///
/// Neither moment is a member of the record: a period's end alone does not tell on which day of the month the
/// subscription began ([`crate::subscription::calendar`]), nor whether it was paused since. They are stored in the same
/// row, by the same statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchoredSubscription {
    /// The record.
    pub record: Subscription,
    /// The moment from which periods are counted: the start of the first paid one, or of the last one whose bounds the
    /// platform chose. `None` before the first.
    pub anchor: Option<Timestamp>,
    /// When the last pause ended, until a period has begun since. If it outlasted the present period, the next one is
    /// due then.
    pub resumed_at: Option<Timestamp>,
}

/// The record alone: what stands beside it is not shown.
impl Serialize for AnchoredSubscription {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record.serialize(serializer)
    }
}

#[cfg(feature = "schema")]
crate::schema::written_as!(AnchoredSubscription, Subscription);

/// What a checkout of mode `subscription` agrees on; kept beside the checkout, whose record does not show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscriptionTerms {
    /// The unit of a period.
    pub interval: Interval,
    /// 1–36.
    pub interval_count: i64,
    /// Days that are free before the first period, 1–730.
    pub trial_days: Option<i64>,
    /// 1–20 of them.
    pub items: PricedItems,
    /// Written by the operator.
    pub metadata: Metadata,
}

/// What the operator gives to make a subscription without a checkout; read and checked member by member.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct NewSubscription {
    pub id: SubscriptionId,
    pub customer: Customer,
    pub currency: String,
    /// 1–20 of them.
    pub items: PricedItems,
    pub interval: Interval,
    pub interval_count: i64,
    pub beginning: SubscriptionStart,
    pub metadata: Metadata,
}

/// How a subscription begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubscriptionStart {
    /// Not yet; a trial may be agreed for later.
    Incomplete {
        /// When that trial is to end.
        trial_end: Option<Timestamp>,
    },
    /// With a free time that lasts until then.
    Trialing {
        /// When it began.
        start: Timestamp,
        /// Later than `start`.
        trial_end: Timestamp,
    },
    /// With its first period.
    Active {
        /// When it began.
        start: Timestamp,
        /// Later than `start`; `None` for one period of the calendar.
        end: Option<Timestamp>,
    },
}
