//! The operator's view of webhook endpoints, and the operator's changes to them (contract 6.2, 7.5).
//!
//! An endpoint that the operator disables gets no more deliveries, as if its merchant had disabled it. The
//! record's reason says that it was the operator, an alert tells the merchant, and the operator's own words go to
//! the audit log.

use authority_domain::body::read_reason;
use authority_domain::endpoint::alerts::disabled;
use authority_domain::endpoint::condition::DisablePolicy;
use authority_domain::endpoint::read_endpoint_limits;
use authority_domain::{DisabledReason, EndpointId, EndpointStatus, Named, Refusal, Result, Tenant};
use authority_store::tx::{FoundEndpoint, OwnedRecord};
use serde_json::json;

use crate::app::alerts::raise;
use crate::app::endpoint::changes::after_switching;
use crate::app::{Answer, App, Mutation, Work};

impl App {
    /// `GET /webhook-endpoints/:id` of any merchant, deleted endpoints included.
    pub async fn endpoint_find(&self, id: EndpointId) -> Result<Answer> {
        let found = self.read(async move |tx| tx.endpoint_find(&id).await).await?;
        shown(found.ok_or_else(EndpointId::missing)?, self.now())
    }

    /// `PATCH /webhook-endpoints/:id`: changes the endpoint's in-flight limit.
    pub async fn endpoint_limit(&self, mutation: Mutation, id: Named<EndpointId>) -> Result<Answer> {
        let patch = read_endpoint_limits(&mutation.body);
        let owner = self.owner_of(id.clone().map(OwnedRecord::Endpoint), EndpointId::missing).await?;
        self.for_turn(mutation, owner, async move |work| {
            let found = addressed(work, id).await?;
            let Some(after) = found.endpoint.patched(patch?, work.now)? else {
                return shown(found, work.now);
            };
            work.tx.endpoint_update(&found.owner, &after).await?;
            shown(FoundEndpoint { endpoint: after, ..found }, work.now)
        })
        .await
    }

    /// `POST /webhook-endpoints/:id/disable` and `…/enable`; `status` is the new status. An endpoint that already
    /// has it stays as it is.
    pub async fn endpoint_switch(
        &self,
        mutation: Mutation,
        id: Named<EndpointId>,
        status: EndpointStatus,
    ) -> Result<Answer> {
        let reason = read_reason(&mutation.body);
        let owner = self.owner_of(id.clone().map(OwnedRecord::Endpoint), EndpointId::missing).await?;
        let of_platform = owner.as_ref().is_ok_and(Tenant::is_operator);
        let answer = self.for_turn(mutation, owner, async move |work| {
            let found = addressed(work, id).await?;
            work.reason = Some(reason?);
            let switched = match status {
                EndpointStatus::Disabled => found.endpoint.disabled(DisabledReason::Operator, work.now),
                EndpointStatus::Enabled => found.endpoint.enabled(work.now),
            };
            let Some(after) = switched else { return shown(found, work.now) };
            work.tx.endpoint_update(&found.owner, &after).await?;
            after_switching(work, &found.endpoint, &after).await?;
            let after = FoundEndpoint { endpoint: after, ..found };
            if status == EndpointStatus::Disabled {
                let told = disabled(DisabledReason::Operator, DisablePolicy::default());
                raise(work, Some(&after.owner), after.endpoint.id.as_str(), told).await?;
            }
            shown(after, work.now)
        });
        let answer = answer.await?;
        if of_platform && status == EndpointStatus::Enabled {
            self.sink_is_known().await;
        }
        Ok(answer)
    }
}

/// The endpoint that a change is about, in the version that it expects: any merchant's, but not a deleted one.
async fn addressed(work: &mut Work<'_>, id: Named<EndpointId>) -> Result<FoundEndpoint> {
    let found = work.tx.endpoint_find(&id?).await?.filter(|found| found.deleted_at.is_none());
    let found = found.ok_or_else(EndpointId::missing)?;
    work.check_version(found.endpoint.resource_version)?;
    Ok(found)
}

/// The record with its owner. The platform's own endpoint has no merchant and no mode.
fn shown(found: FoundEndpoint, now: authority_domain::time::Timestamp) -> Result<Answer> {
    let FoundEndpoint { endpoint, owner, deleted_at } = found;
    let (version, id) = (endpoint.resource_version, endpoint.id.clone());
    let mut record = serde_json::to_value(endpoint.seen_at(now)).map_err(|_| Refusal::internal())?;
    let platform = owner.is_operator();
    if let Some(members) = record.as_object_mut() {
        members.insert("merchant_id".to_owned(), json!((!platform).then_some(owner.merchant_id)));
        members.insert("livemode".to_owned(), json!((!platform).then_some(owner.livemode)));
        members.insert("deleted_at".to_owned(), json!(deleted_at));
    }
    Ok(Answer::new(200, record.to_string()).version(version).about(id.as_str()).volatile())
}
