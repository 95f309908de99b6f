//! The subscription's state machine (contract 3.8). Only the operator side moves a subscription.
//!
//! It is made by the operator, or by the checkout that it was bought in; then the platform reports its changes: a
//! status, other items, the wish to end with the period, the next period. A report of what is already so changes
//! nothing. Payments never move a subscription by themselves: whether a customer whose money is late is `past_due`,
//! `paused` or still `active` is the platform's decision, which it reports.
//!
//! The order that a period makes is in [`crate::transitions::subscription`].

use crate::body::occurrence;
use crate::refusal::{MemberCode, Refusal, Result};
use crate::subscription::renewal::{Renewal, Renewing};
use crate::subscription::reported_items::{ReportedItem, merged};
use crate::subscription::{
    AnchoredSubscription, Interval, NewSubscription, PricedItems, Subscription, SubscriptionCancelReason,
    SubscriptionStart, SubscriptionStatus,
};
use crate::time::Timestamp;

/// What the platform says of a subscription; every member that is `None` leaves the record as it is.
#[derive(Clone, Debug, Default)]
pub struct SubscriptionReport {
    /// Where it stands now.
    pub status: Option<SubscriptionStatus>,
    /// When the trial ends that begins with this report.
    pub trial_end: Option<Timestamp>,
    /// The next period, and its order.
    pub renew: Option<Renewal>,
    /// All items, in place of those before.
    pub items: Option<Vec<ReportedItem>>,
    /// The unit of a period, from the next one on.
    pub interval: Option<Interval>,
    /// How many units, from the next period on.
    pub interval_count: Option<i64>,
    /// Whether the present period is the last.
    pub cancel_at_period_end: Option<bool>,
    /// Why it ended; with `status` `cancelled`.
    pub cancel_reason: Option<SubscriptionCancelReason>,
    /// When it happened; defaults to now.
    pub occurred_at: Option<Timestamp>,
    /// How far a sandbox's clock is ahead of the real one, for this subscription. Its periods are over by that clock,
    /// and so are its pauses.
    pub ahead_ms: i64,
}

/// What a report did to a subscription.
#[derive(Clone, Debug)]
pub enum SubscriptionOutcome {
    /// It is already so: nothing happens.
    Unchanged,
    /// The next version.
    Changed(Box<AnchoredSubscription>),
    /// The next version, which needs an order.
    Renewing(Box<Renewing>),
}

/// Whether `to` may follow `from` (contract 3.8); what stays as it is, is no transition.
#[must_use]
pub fn may_follow(from: SubscriptionStatus, to: SubscriptionStatus) -> bool {
    use SubscriptionStatus::{Active, Cancelled, Incomplete, PastDue, Paused, Trialing};
    match from {
        Incomplete => matches!(to, Trialing | Active | Cancelled),
        Trialing => matches!(to, Active | PastDue | Cancelled),
        Active => matches!(to, PastDue | Paused | Cancelled),
        PastDue => matches!(to, Active | Paused | Cancelled),
        Paused => matches!(to, Active | Cancelled),
        Cancelled => false,
    }
}

/// Version 1, made by the operator (contract 3.9 row 20).
///
/// # Errors
/// `validation_failed` when the first period would end before it begins or beyond the supported years.
pub fn open(new: NewSubscription, livemode: bool, now: Timestamp) -> Result<AnchoredSubscription> {
    let beginning = new.beginning;
    let mut made = incomplete(new, livemode, now);
    match beginning {
        SubscriptionStart::Incomplete { trial_end } => made.record.trial_end = trial_end,
        SubscriptionStart::Trialing { start, trial_end } => made.try_out(start, trial_end)?,
        SubscriptionStart::Active { start, end } => {
            made.begin(start, end, "/current_period_end")?;
            made.record.status = SubscriptionStatus::Active;
        }
    }
    Ok(made)
}

/// Version 1 of what has not begun.
pub(crate) fn incomplete(new: NewSubscription, livemode: bool, now: Timestamp) -> AnchoredSubscription {
    let (items, amount) = new.items.into_parts();
    let record = Subscription {
        id: new.id,
        status: SubscriptionStatus::Incomplete,
        customer: new.customer,
        currency: new.currency,
        amount,
        items,
        interval: new.interval,
        interval_count: new.interval_count,
        current_period_start: None,
        current_period_end: None,
        trial_end: None,
        cancel_at_period_end: false,
        cancelled_at: None,
        cancel_reason: None,
        latest_order_number: None,
        metadata: new.metadata,
        resource_version: 1,
        livemode,
        created_at: now,
        updated_at: now,
    };
    AnchoredSubscription { record, anchor: None, resumed_at: None }
}

impl AnchoredSubscription {
    /// Applies a report of the platform.
    ///
    /// # Errors
    /// `invalid_state_transition` for a transition that contract 3.8 does not have, and for a renewal of a
    /// subscription that does not continue; `validation_failed` for an item that is not there, amounts out of range,
    /// a period that overlaps the one before, or a time before the subscription was made.
    pub fn report(self, report: SubscriptionReport, now: Timestamp) -> Result<SubscriptionOutcome> {
        occurrence::check(report.occurred_at, self.record.created_at)?;
        let from = self.record.status;
        let to = report.status.unwrap_or(from);
        if from == SubscriptionStatus::Cancelled && to == from && report.status.is_some() {
            return Ok(SubscriptionOutcome::Unchanged);
        }
        if from == SubscriptionStatus::Cancelled && self.has_all_of(&report) {
            return Ok(SubscriptionOutcome::Unchanged);
        }
        if from == SubscriptionStatus::Cancelled || (to != from && !may_follow(from, to)) {
            return Err(refused(from, to, format!("The subscription is {from}; it cannot become {to}.")));
        }
        let at = report.occurred_at.unwrap_or(now);
        let before = self.record.clone();
        let mut next = self;
        let renewal = report.renew.clone().filter(|renewal| !(to == from && next.has_begun(renewal)));
        next.agree(&report)?;
        if let Some(renewal) = &renewal {
            next.may_renew(to, renewal)?;
        }
        next.move_to(to, &report, renewal.as_ref(), at)?;
        if next.record == before && renewal.is_none() {
            return Ok(SubscriptionOutcome::Unchanged);
        }
        next.record.resource_version += 1;
        next.record.updated_at = now.max(next.record.updated_at);
        Ok(match renewal {
            Some(renewal) => SubscriptionOutcome::Renewing(Box::new(Renewing::new(next, renewal, at))),
            None => SubscriptionOutcome::Changed(Box::new(next)),
        })
    }

    /// Whether a report says nothing but that a period begins that has begun: it was reported before, and is reported
    /// again (contract 3.8).
    fn has_all_of(&self, report: &SubscriptionReport) -> bool {
        let SubscriptionReport {
            renew: Some(renewal),
            status: None,
            trial_end: None,
            items: None,
            interval: None,
            interval_count: None,
            cancel_at_period_end: None,
            cancel_reason: None,
            occurred_at: _,
            ahead_ms: _,
        } = report
        else {
            return false;
        };
        self.has_begun(renewal)
    }

    /// Whether the period that a renewal names has begun: then it was reported before.
    fn has_begun(&self, renewal: &Renewal) -> bool {
        match (renewal.period_start, self.record.current_period_start) {
            (Some(named), Some(current)) => named <= current,
            _ => false,
        }
    }

    /// Applies newly agreed terms: items at once, the length of periods from the next one on.
    fn agree(&mut self, report: &SubscriptionReport) -> Result<()> {
        if let Some(items) = &report.items {
            let items = merged(&self.record.items, items)?;
            let priced = PricedItems::of(items).ok_or_else(|| {
                Refusal::member("/items", MemberCode::OutOfRange, "cost more than an amount can be")
            })?;
            (self.record.items, self.record.amount) = priced.into_parts();
        }
        let before = self.record.cadence();
        self.record.interval = report.interval.unwrap_or(before.interval);
        self.record.interval_count = report.interval_count.unwrap_or(before.count);
        if self.record.cadence() != before {
            self.anchor = self.record.current_period_end;
        }
        if let Some(ends) = report.cancel_at_period_end {
            self.record.cancel_at_period_end = ends;
        }
        Ok(())
    }

    /// Whether the next period may be ordered by a subscription that stands, or comes to stand, at `to`.
    fn may_renew(&self, to: SubscriptionStatus, renewal: &Renewal) -> Result<()> {
        let from = self.record.status;
        let refused = |why: &str| Err(refused(from, to, why.to_owned()));
        if self.record.cancel_at_period_end {
            return refused("The subscription ends with its period.");
        }
        match to {
            SubscriptionStatus::Active | SubscriptionStatus::PastDue | SubscriptionStatus::Incomplete => {}
            _ => return refused(&format!("A subscription that is {to} has no next period.")),
        }
        if from == SubscriptionStatus::Incomplete && self.record.latest_order_number.is_some() {
            return refused("The order of the first period is there.");
        }
        if to == SubscriptionStatus::Incomplete
            && (renewal.period_start.is_some() || renewal.period_end.is_some())
        {
            let detail = "an incomplete subscription has no period yet";
            return Err(Refusal::member("/renew", MemberCode::Inconsistent, detail));
        }
        Ok(())
    }

    fn move_to(
        &mut self,
        to: SubscriptionStatus,
        report: &SubscriptionReport,
        renewal: Option<&Renewal>,
        at: Timestamp,
    ) -> Result<()> {
        use SubscriptionStatus::{Active, Cancelled, Incomplete, PastDue, Paused, Trialing};
        let from = self.record.status;
        if report.trial_end.is_some()
            && (from, to) != (Incomplete, Trialing)
            && report.trial_end != self.record.trial_end
        {
            let detail = "can only be set when the trial begins";
            return Err(Refusal::member("/trial_end", MemberCode::Inconsistent, detail));
        }
        let named = renewal.and_then(|renewal| renewal.period_start);
        let end = renewal.and_then(|renewal| renewal.period_end);
        match (from, to) {
            (_, Cancelled) => {
                self.record.cancelled_at = Some(at);
                self.record.cancel_reason = report.cancel_reason;
            }
            (Incomplete, Trialing) => {
                let missing =
                    || Refusal::member("/trial_end", MemberCode::Required, "no trial was agreed on before");
                self.try_out(at, report.trial_end.or(self.record.trial_end).ok_or_else(missing)?)?;
            }
            (Incomplete, Active) => self.begin(named.unwrap_or(at), end, "/renew/period_end")?,
            (Trialing, Active | PastDue) => self.begin_after_trial(named, end, at)?,
            (Paused, Active) => self.resumed_at = Some(at.plus_ms(report.ahead_ms)),
            _ => {}
        }
        if renewal.is_some() && !matches!(from, Incomplete | Trialing) {
            self.go_on(named, end, at)?;
        }
        self.record.status = to;
        Ok(())
    }
}

fn refused(from: SubscriptionStatus, to: SubscriptionStatus, why: String) -> Refusal {
    Refusal::transition(from.as_str(), to.as_str(), why)
}
