//! Subscriptions in the sandbox: created and advanced (contract 3.8, 3.9 row 20, 6.3).

use authority_domain::id::SubscriptionId;
use authority_domain::refusal::Refusal;
use authority_domain::sandbox::advances::SubscriptionAdvance;
use authority_domain::subscription::SubscriptionReportRequest;
use serde_json::Value;

use super::{AdvanceResult, Named, Owner, run};
use crate::app::{Answer, App, Mutation, subscriptions};

impl App {
    /// `POST /subscriptions`: the operator's body.
    ///
    /// # Errors
    /// 422 for wrong members.
    pub async fn sandbox_subscription_open(
        &self,
        whose: Owner,
        mutation: Mutation,
        body: Value,
    ) -> Result<Answer, Refusal> {
        run(self, whose, mutation, move |work, tenant, merchant| {
            Box::pin(async move {
                let made = subscriptions::open(work, &tenant, &merchant, &body).await?.record;
                Ok(Answer::record(201, &made)?.version(made.resource_version))
            })
        })
        .await
    }

    /// `POST /subscriptions/:id/advance`.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`; 422 for wrong members; `invalid_state_transition`.
    pub async fn sandbox_subscription_advance(
        &self,
        whose: Owner,
        mutation: Mutation,
        id: Option<SubscriptionId>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let if_match = mutation.if_match;
        run(self, whose, mutation, move |work, tenant, _| {
            Box::pin(async move {
                let missing = || Refusal::not_found("subscription");
                let id = id.ok_or_else(missing)?;
                let (owner, before) = work.tx.subscription_find(&id).await?.ok_or_else(missing)?;
                if owner != tenant {
                    return Err(missing());
                }
                Mutation::check_version(if_match, before.record.resource_version, false)?;
                let reported = SubscriptionAdvance::read(&body)?.report();
                let reported = SubscriptionReportRequest::read(&reported, work.now)?;
                let (applied, after) = subscriptions::report(work, &tenant, before, reported).await?;
                let result = AdvanceResult { applied, record: Named::Subscription(&after.record) };
                Ok(Answer::record(200, &result)?.version(after.record.resource_version))
            })
        })
        .await
    }
}
