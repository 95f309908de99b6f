//! Where the periods of a subscription lie (contract 2.6, 3.8): the trial, the first one, the next one.
//!
//! Which of them begins is decided in [`crate::subscription::state_machine`]; each is set here as a whole, with the
//! anchor that the ones after it are counted from ([`crate::subscription::calendar`]).

use crate::refusal::{MemberCode, Refusal, Result};
use crate::subscription::calendar::next_boundary;
use crate::subscription::{AnchoredSubscription, SubscriptionStatus};
use crate::time::Timestamp;

impl AnchoredSubscription {
    /// The trial is the first of the periods, free of charge.
    pub(crate) fn try_out(&mut self, start: Timestamp, trial_end: Timestamp) -> Result<()> {
        self.set_period(start, trial_end, "/trial_end")?;
        self.record.trial_end = Some(trial_end);
        self.anchor = Some(trial_end);
        self.record.status = SubscriptionStatus::Trialing;
        Ok(())
    }

    /// The first period follows the trial, or ends it early.
    pub(crate) fn begin_after_trial(
        &mut self,
        named: Option<Timestamp>,
        end: Option<Timestamp>,
        at: Timestamp,
    ) -> Result<()> {
        let began = self.record.current_period_start.unwrap_or(at);
        let trial_end = self.record.trial_end.unwrap_or(at);
        let start = named.unwrap_or_else(|| at.clamp(began.min(trial_end), trial_end));
        if start < began {
            let detail = "must not lie before the trial";
            return Err(Refusal::member("/renew/period_start", MemberCode::Inconsistent, detail));
        }
        self.record.trial_end = Some(trial_end.min(start));
        self.begin(start, end, "/renew/period_end")
    }

    /// The first period, from which all others are counted.
    pub(crate) fn begin(&mut self, start: Timestamp, end: Option<Timestamp>, pointer: &str) -> Result<()> {
        let usual = next_boundary(start, self.record.cadence(), start);
        self.set_period(start, end.or(usual).unwrap_or(start), pointer)?;
        self.anchor = Some(end.unwrap_or(start));
        Ok(())
    }

    /// The next period. One that does not begin where the last ended, or ends where the platform says, is what the
    /// following ones are counted from. A pause may leave periods out, whether the report that ends it renews or a
    /// later one does. Without one, a report that does so has come before another, which would count as repeated when
    /// it comes, and whose order would never be made.
    pub(crate) fn go_on(
        &mut self,
        named: Option<Timestamp>,
        end: Option<Timestamp>,
        at: Timestamp,
    ) -> Result<()> {
        let last = self.record.current_period_end.unwrap_or(at);
        let due = self.resumed_at.map_or(last, |resumed| resumed.max(last));
        let start = named.unwrap_or(due);
        let resuming = self.record.status == SubscriptionStatus::Paused;
        let counted_from = self.anchor.filter(|_| due == last).unwrap_or(due);
        let boundary = next_boundary(counted_from, self.record.cadence(), due);
        if !resuming && boundary.is_some_and(|boundary| start >= boundary) {
            let detail = format!(
                "would leave out the period that begins at {due}: report that one first, or a pause in between"
            );
            return Err(Refusal::member("/renew/period_start", MemberCode::Inconsistent, detail));
        }
        if start < last {
            let detail = format!("must not lie before the end of the present period, {last}");
            return Err(Refusal::member("/renew/period_start", MemberCode::Inconsistent, detail));
        }
        let anchor = self.anchor.filter(|_| start == last).unwrap_or(start);
        let usual = next_boundary(anchor, self.record.cadence(), start);
        self.set_period(start, end.or(usual).unwrap_or(start), "/renew/period_end")?;
        self.anchor = Some(end.unwrap_or(anchor));
        // A period that follows the last one was only reported late. The pause is still to be left out.
        self.resumed_at = self.resumed_at.filter(|_| start == last && !resuming);
        Ok(())
    }

    fn set_period(&mut self, start: Timestamp, end: Timestamp, pointer: &str) -> Result<()> {
        if end <= start {
            let detail = format!("must lie after the start of the period, {start}");
            return Err(Refusal::member(pointer, MemberCode::OutOfRange, detail));
        }
        self.record.current_period_start = Some(start);
        self.record.current_period_end = Some(end);
        Ok(())
    }
}
