//! Subscriptions as the platform makes and reports them.

use authority_domain::parts::Money;
use authority_domain::subscription::{SubscriptionReportRequest, SubscriptionRequest, SubscriptionStatus};
use authority_domain::{Change, Result, subscription};
use serde_json::{Value, json};

use super::commands::{World, at};

impl World {
    pub(super) fn subscribe(&mut self, begins: SubscriptionStatus, price: Money) -> Result<Vec<Change>> {
        let mut body = json!({
            "customer": {"reference": "c-1"}, "currency": "USD", "interval": "month", "status": begins,
            "items": [{"name": "Plan", "quantity": 1, "unit_amount": price}],
        });
        if begins == SubscriptionStatus::Trialing {
            body["trial_days"] = json!(7);
        }
        let new = SubscriptionRequest::read(&body, self.now)?.into_new(self.now, &mut self.dice)?;
        Ok(vec![subscription::state_machine::open(new, false, self.now)?.told()])
    }

    pub(super) fn report_subscription(&mut self, place: usize, body: &Value) -> Result<Vec<Change>> {
        let Some(before) = at(&self.ledger.subscriptions, place) else { return Ok(Vec::new()) };
        let latest = before.record.latest_order_number.clone();
        let report =
            SubscriptionReportRequest::read(body, self.now)?.into_report(self.now, &mut self.dice)?;
        match before.report(report, self.now)? {
            subscription::state_machine::SubscriptionOutcome::Unchanged => Ok(Vec::new()),
            subscription::state_machine::SubscriptionOutcome::Changed(next) => Ok(vec![next.told()]),
            subscription::state_machine::SubscriptionOutcome::Renewing(renewing) => {
                let latest = latest.and_then(|number| self.ledger.order(&number).cloned());
                let number = self.next_number();
                Ok(renewing.into_changes(number, latest.as_ref(), self.confirm_on, self.now)?.1)
            }
        }
    }
}
