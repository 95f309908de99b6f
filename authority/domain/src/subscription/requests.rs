//! `POST /merchants/:m/:mode/subscriptions`, and the terms that a checkout brings (contract 6.2, 2.6, 2.7).

use rand_core::Rng;
use serde_json::Value;

use crate::body;
use crate::body::shared_members::{customer, past};
use crate::body::{Members, Text};
use crate::bounds::MONEY_MAX;
use crate::id::{LineItemId, SubscriptionId};
use crate::parts::{Customer, LineItem, Metadata, Money};
use crate::refusal::{MemberCode, Refusal, Result};
use crate::subscription::{
    Interval, NewSubscription, PricedItems, SubscriptionItem, SubscriptionStart, SubscriptionStatus,
    SubscriptionTerms,
};
use crate::time::Timestamp;

/// Days of a trial.
const TRIAL_DAYS: std::ops::RangeInclusive<i64> = 1..=730;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Items of a subscription, and units of its interval (contract 2.6).
pub(crate) const ITEMS: std::ops::RangeInclusive<usize> = 1..=20;
pub(crate) const COUNTS: std::ops::RangeInclusive<i64> = 1..=36;

/// An item as the operator gives it.
#[derive(Clone, Debug)]
pub(crate) struct ItemRequest {
    pub(crate) id: Option<LineItemId>,
    sku: Option<String>,
    name: String,
    quantity: i64,
    unit_amount: Money,
}

/// An item of a new subscription; ids are made by the authority.
fn new_item(m: &mut Members<'_>) -> ItemRequest {
    m.not_writable("id");
    item(m, None)
}

pub(crate) fn item(m: &mut Members<'_>, id: Option<LineItemId>) -> ItemRequest {
    ItemRequest {
        id,
        sku: m.string("sku", Text::LINE).optional(),
        name: m.string("name", Text::LINE).required(),
        quantity: m.integer("quantity", 1..=100_000).required(),
        unit_amount: m.money("unit_amount").required(),
    }
}

impl ItemRequest {
    pub(crate) fn into_item(self, now: Timestamp, dice: &mut dyn Rng) -> SubscriptionItem {
        SubscriptionItem {
            id: LineItemId::generate(now, dice),
            sku: self.sku,
            name: self.name,
            quantity: self.quantity,
            unit_amount: self.unit_amount,
        }
    }
}

fn priced_items(items: Vec<SubscriptionItem>, pointer: &str) -> Result<PricedItems> {
    PricedItems::of(items).ok_or_else(|| {
        let detail = format!("must not cost more than {MONEY_MAX} per period");
        Refusal::member(pointer, MemberCode::OutOfRange, detail)
    })
}

/// The member `subscription` of a checkout.
#[derive(Clone, Debug)]
pub(crate) struct TermsRequest {
    interval: Interval,
    interval_count: i64,
    trial_days: Option<i64>,
    items: Option<Vec<ItemRequest>>,
    metadata: Metadata,
}

impl TermsRequest {
    pub(crate) fn read(m: &mut Members<'_>) -> Self {
        Self {
            interval: m.one_of("interval").required(),
            interval_count: m.integer("interval_count", COUNTS).or(1),
            trial_days: m.integer("trial_days", TRIAL_DAYS).optional(),
            items: m.array("items", ITEMS, new_item).optional(),
            metadata: m.metadata("metadata").or(Metadata::new()),
        }
    }

    /// What is subscribed to are the checkout's own lines where nothing else is said: an item keeps its line's id.
    pub(crate) fn into_terms(
        self,
        lines: &[LineItem],
        now: Timestamp,
        dice: &mut dyn Rng,
    ) -> Result<SubscriptionTerms> {
        let pointer = "/subscription/items";
        if self.items.is_none() && !ITEMS.contains(&lines.len()) {
            let detail = "a subscription has at most 20 items; name those of the checkout's lines that renew";
            return Err(Refusal::member(pointer, MemberCode::Required, detail));
        }
        let items = match self.items {
            Some(items) => items.into_iter().map(|item| item.into_item(now, dice)).collect(),
            None => lines.iter().map(subscribed).collect(),
        };
        Ok(SubscriptionTerms {
            interval: self.interval,
            interval_count: self.interval_count,
            trial_days: self.trial_days,
            items: priced_items(items, pointer)?,
            metadata: self.metadata,
        })
    }
}

fn subscribed(line: &LineItem) -> SubscriptionItem {
    SubscriptionItem {
        id: line.id.clone(),
        sku: line.sku.clone(),
        name: line.name.clone(),
        quantity: line.quantity,
        unit_amount: line.unit_amount,
    }
}

/// A subscription to be made without a checkout.
#[derive(Clone, Debug)]
pub struct SubscriptionRequest {
    customer: Customer,
    currency: String,
    items: Vec<ItemRequest>,
    interval: Interval,
    interval_count: i64,
    beginning: SubscriptionStart,
    metadata: Metadata,
}

impl SubscriptionRequest {
    /// Reads the body. `status` is `trialing` where a trial is given and else `active`, unless it says otherwise.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value, now: Timestamp) -> Result<Self> {
        body::read(body, |m| {
            m.not_writable("id amount latest_order_number cancelled_at livemode merchant");
            Self {
                customer: m.object("customer", customer).required(),
                currency: m.currency("currency").required(),
                items: m.array("items", ITEMS, new_item).required(),
                interval: m.one_of("interval").required(),
                interval_count: m.integer("interval_count", COUNTS).or(1),
                beginning: beginning(m, now),
                metadata: m.metadata("metadata").or(Metadata::new()),
            }
        })
    }

    /// Gives ids and computes the sum.
    ///
    /// # Errors
    /// 422 `validation_failed` when the items cost more than an amount can be.
    pub fn into_new(self, now: Timestamp, dice: &mut dyn Rng) -> Result<NewSubscription> {
        let items = self.items.into_iter().map(|item| item.into_item(now, dice)).collect();
        Ok(NewSubscription {
            id: SubscriptionId::generate(now, dice),
            customer: self.customer,
            currency: self.currency,
            items: priced_items(items, "/items")?,
            interval: self.interval,
            interval_count: self.interval_count,
            beginning: self.beginning,
            metadata: self.metadata,
        })
    }
}

/// A subscription may have begun elsewhere, and in the past.
fn beginning(m: &mut Members<'_>, now: Timestamp) -> SubscriptionStart {
    use SubscriptionStatus::{Active, Incomplete, Trialing};
    let trial_days = m.integer("trial_days", TRIAL_DAYS).optional();
    let trial_end = m.time("trial_end").optional();
    let begun = past(m, "current_period_start", now);
    let end = m.time("current_period_end").optional();
    let start = begun.unwrap_or(now);
    let trial = trial_end.or_else(|| trial_days.map(|days| start.plus_ms(days * DAY_MS)));
    let usual = if trial.is_some() { Trialing } else { Active };
    let status = m.one_of_these("status", &[Incomplete, Trialing, Active]).or(usual);
    if trial_end.is_some() && trial_days.is_some() {
        m.refuse("trial_days", MemberCode::Inconsistent, "Give the days of the trial or its end.");
    }
    match (status, trial) {
        (Incomplete, trial_end) => {
            for (name, given) in [("current_period_start", begun), ("current_period_end", end)] {
                if given.is_some() {
                    m.refuse(name, MemberCode::Inconsistent, "An incomplete subscription has no period yet.");
                }
            }
            SubscriptionStart::Incomplete { trial_end }
        }
        (Trialing, Some(trial_end)) => {
            if end.is_some_and(|end| end != trial_end) {
                m.refuse("current_period_end", MemberCode::Inconsistent, "The trial ends with its period.");
            }
            SubscriptionStart::Trialing { start, trial_end }
        }
        (Trialing, None) => {
            m.refuse("trial_end", MemberCode::Required, "A trial has an end.");
            SubscriptionStart::Incomplete { trial_end: None }
        }
        (_, Some(_)) => {
            m.refuse("status", MemberCode::Inconsistent, "A trial has not ended as long as it is agreed on.");
            SubscriptionStart::Incomplete { trial_end: None }
        }
        (_, None) => SubscriptionStart::Active { start, end },
    }
}
