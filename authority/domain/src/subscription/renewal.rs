//! What a renewal asks for (contract 3.8), and a subscription that waits for the number of its period's order.
//!
//! The order itself is made in [`crate::transitions::subscription`], since it stands above subscriptions.

use crate::order_number::OrderNumber;
use crate::parts::{Address, LineItem, Metadata, Money};
use crate::subscription::AnchoredSubscription;
use crate::time::Timestamp;

/// What the platform may say about the next period and its order.
#[derive(Clone, Debug, Default)]
pub struct Renewal {
    /// Which period: a renewal that names one that has begun was reported before. Defaults to where the last one ends,
    /// or a pause that outlasted it.
    pub period_start: Option<Timestamp>,
    /// Defaults to one period of the calendar.
    pub period_end: Option<Timestamp>,
    /// Defaults to a generated one.
    pub order_number: Option<OrderNumber>,
    /// Defaults to one line per item.
    pub lines: Option<Vec<LineItem>>,
    /// On the whole order.
    pub discount: Money,
    /// Before tax.
    pub shipping: Money,
    /// Tax on shipping.
    pub shipping_tax: Money,
    /// Defaults to that of the latest order.
    pub billing_address: Option<Address>,
    /// Defaults to that of the latest order.
    pub shipping_address: Option<Address>,
    /// Defaults to the subscription's.
    pub metadata: Option<Metadata>,
}

/// A subscription's next version that waits for its order's number.
#[derive(Clone, Debug)]
pub struct Renewing {
    pub(crate) next: AnchoredSubscription,
    pub(crate) renewal: Renewal,
    pub(crate) at: Timestamp,
}

impl Renewing {
    pub(crate) fn new(next: AnchoredSubscription, renewal: Renewal, at: Timestamp) -> Self {
        Self { next, renewal, at }
    }

    /// The number that the platform chose.
    #[must_use]
    pub fn chosen_number(&self) -> Option<&OrderNumber> {
        self.renewal.order_number.as_ref()
    }
}
