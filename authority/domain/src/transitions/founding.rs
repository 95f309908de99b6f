//! A checkout of mode `subscription` makes a subscription beside its order (contract 2.7, 3.4).
//!
//! | | Events, with adjacent sequence numbers (rows 2 to 4) |
//! |---|---|
//! | a payment holds | checkout.completed · subscription.created · order.created · payment.… · order.confirmed, order.updated or none |
//! | nothing is to be paid | checkout.completed · subscription.created · order.created · order.confirmed |
//!
//! The subscription stands before the order, which refers to it, and names it from its first version on. Later
//! changes of the payment do not move it: the platform reports changes of the subscription (contract 3.8).

use crate::checkout::Checkout;
use crate::id::SubscriptionId;
use crate::order_number::OrderNumber;
use crate::subscription::state_machine::incomplete;
use crate::subscription::{
    AnchoredSubscription, NewSubscription, SubscriptionStart, SubscriptionStatus, SubscriptionTerms,
};
use crate::time::Timestamp;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// A subscription that a checkout is about to found.
#[derive(Clone, Debug)]
pub struct Founding {
    /// Its id.
    pub id: SubscriptionId,
    /// What was agreed when the checkout was opened.
    pub terms: SubscriptionTerms,
}

/// Version 1, made by a checkout that completes into the order `order_number`: `trialing` with a trial; else `active`
/// when the money is there, and `incomplete` as long as it is not (a completed checkout is no entitlement, contract
/// 3.4).
#[must_use]
pub(crate) fn found(
    founding: Founding,
    checkout: &Checkout,
    paid: bool,
    order_number: OrderNumber,
    now: Timestamp,
) -> AnchoredSubscription {
    let Founding { id, terms } = founding;
    let new = NewSubscription {
        id,
        // The reader of the checkout's body requires a customer in this mode.
        customer: checkout.customer.clone().unwrap_or_default(),
        currency: checkout.currency.clone(),
        items: terms.items,
        interval: terms.interval,
        interval_count: terms.interval_count,
        beginning: SubscriptionStart::Incomplete { trial_end: None },
        metadata: terms.metadata,
    };
    let mut made = incomplete(new, checkout.livemode, now);
    made.record.latest_order_number = Some(order_number);
    // Neither fails before the last of the supported years; there, what has no period does not begin.
    match terms.trial_days {
        Some(days) => {
            let _ = made.try_out(now, now.plus_ms(days * DAY_MS));
        }
        None if paid && made.begin(now, None, "").is_ok() => made.record.status = SubscriptionStatus::Active,
        None => {}
    }
    made
}
