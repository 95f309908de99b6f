//! Subscriptions in any status, and reports on them.

use authority_domain::subscription::state_machine::SubscriptionOutcome;
use authority_domain::subscription::{
    AnchoredSubscription, SubscriptionReportRequest, SubscriptionRequest, SubscriptionStatus,
};
use authority_domain::{Change, ConfirmOn, Result, Timestamp, subscription};
use serde_json::{Value, json};

use crate::fixtures::{dice, noon, order_number};

pub(crate) fn at(date: &str) -> Timestamp {
    Timestamp::parse(&format!("{date}T12:00:00.000Z")).unwrap()
}

/// Two cups and a filter a month: 2·900 + 250 = 2050.
pub(crate) fn body(more: Value) -> Value {
    let mut body = json!({
        "customer": {"reference": "c-77"},
        "currency": "USD",
        "interval": "month",
        "items": [
            {"name": "Cup", "sku": "CUP", "quantity": 2, "unit_amount": 900},
            {"name": "Filter", "quantity": 1, "unit_amount": 250},
        ],
    });
    body.as_object_mut().unwrap().append(more.clone().as_object_mut().unwrap());
    body
}

pub(crate) fn opened_at(more: Value, now: Timestamp) -> Result<AnchoredSubscription> {
    let new = SubscriptionRequest::read(&body(more), now)?.into_new(now, &mut dice())?;
    subscription::state_machine::open(new, false, now)
}

pub(crate) fn opened(more: Value) -> AnchoredSubscription {
    opened_at(more, noon()).unwrap()
}

pub(crate) fn reported_at(
    ongoing: &AnchoredSubscription,
    body: &Value,
    now: Timestamp,
) -> Result<SubscriptionOutcome> {
    let report = SubscriptionReportRequest::read(body, now)?.into_report(now, &mut dice())?;
    ongoing.clone().report(report, now)
}

/// The next version, whether or not it needs an order, and the events.
pub(crate) fn changed_at(
    ongoing: &AnchoredSubscription,
    body: &Value,
    now: Timestamp,
) -> (AnchoredSubscription, Vec<Change>) {
    match reported_at(ongoing, body, now).unwrap() {
        SubscriptionOutcome::Changed(next) => {
            let told = next.told();
            (*next, vec![told])
        }
        SubscriptionOutcome::Renewing(renewing) => {
            renewing.into_changes(order_number(), None, ConfirmOn::Paid, now).unwrap()
        }
        SubscriptionOutcome::Unchanged => panic!("{body} changes nothing"),
    }
}

pub(crate) fn changed(ongoing: &AnchoredSubscription, body: Value) -> AnchoredSubscription {
    changed_at(ongoing, &body, noon().plus_ms(1)).0
}

/// The present period.
pub(crate) fn period(ongoing: &AnchoredSubscription) -> Option<(Timestamp, Timestamp)> {
    ongoing.record.current_period_start.zip(ongoing.record.current_period_end)
}

/// A subscription in any status.
pub(crate) fn in_status(status: SubscriptionStatus) -> AnchoredSubscription {
    let active = || opened(json!({}));
    match status {
        SubscriptionStatus::Incomplete => opened(json!({"status": "incomplete", "trial_days": 7})),
        SubscriptionStatus::Trialing => opened(json!({"trial_days": 7})),
        SubscriptionStatus::Active => active(),
        SubscriptionStatus::PastDue => changed(&active(), json!({"status": "past_due"})),
        SubscriptionStatus::Paused => changed(&active(), json!({"status": "paused"})),
        SubscriptionStatus::Cancelled => changed(&active(), json!({"status": "cancelled"})),
    }
}
