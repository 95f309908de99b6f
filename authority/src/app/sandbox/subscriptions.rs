//! Subscriptions in the sandbox: created and advanced (contract 3.8, 3.9 row 20, 6.3).

use authority_domain::sandbox::advances::SubscriptionAdvance;
use authority_domain::subscription::{SubscriptionReportRequest, SubscriptionRequest};
use authority_domain::{Named, Result, SubscriptionId};

use crate::app::report_result::SubscriptionReportResult;
use crate::app::{Answer, App, Mutation, Owner, subscriptions};

impl App {
    /// `POST /subscriptions`: the operator's body.
    pub async fn sandbox_subscription_open(&self, whose: Owner, mutation: Mutation) -> Result<Answer> {
        let request = SubscriptionRequest::read(&mutation.body, self.now());
        self.for_owner(mutation, whose, None, async move |work, owner| {
            Answer::of(201, &subscriptions::open(work, &owner, request?).await?.record)
        })
        .await
    }

    /// `POST /subscriptions/:id/advance`.
    pub async fn sandbox_subscription_advance(
        &self,
        whose: Owner,
        mutation: Mutation,
        id: Named<SubscriptionId>,
    ) -> Result<Answer> {
        let advance = SubscriptionAdvance::read(&mutation.body);
        self.for_owner(mutation, whose, None, async move |work, owner| {
            let before = subscriptions::find(work, &owner, id).await?;
            let reported = SubscriptionReportRequest::read(&advance?.report(), work.now)?;
            let (applied, after) = subscriptions::report(work, &owner, before, reported).await?;
            let subscription = &after.record;
            Answer::showing(200, &SubscriptionReportResult { applied, subscription }, subscription)
        })
        .await
    }
}
