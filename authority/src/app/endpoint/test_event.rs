//! A test event: an ordinary event that is delivered to one endpoint alone (contract 4.10).

use authority_domain::endpoint::EndpointTestRequest;
use authority_domain::event::change::{Record, WebhookTest};
use authority_domain::{Change, EndpointId, EndpointStatus, ErrorCode, KeyId, Named, Refusal, Result};
use authority_store::commit::{Audience, Commit, commit_changes};
use serde::Serialize;
use verify_core::catalog::EventType;

use crate::app::endpoint::changes::addressed;
use crate::app::endpoint::merchant::Holder;
use crate::app::{Answer, App, Mutation};

/// A test event that was created.
#[derive(Serialize)]
#[serde(tag = "object", rename = "webhook_test_request")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "WebhookTestRequest"))]
pub(in crate::app) struct TestRequested<'a> {
    /// The event.
    event_id: &'a str,
    /// Its delivery.
    delivery_id: &'a str,
    /// Where it goes.
    endpoint_id: &'a EndpointId,
    /// Whether it is live.
    livemode: bool,
}

impl App {
    /// `POST /webhook-endpoints/:id/test`: an ordinary event, delivered only to this endpoint.
    pub async fn endpoint_test(
        &self,
        holder: impl Into<Holder>,
        mutation: Mutation,
        requested_by: &KeyId,
        id: Named<EndpointId>,
    ) -> Result<Answer> {
        let (requested_by, request) = (requested_by.to_string(), EndpointTestRequest::read(&mutation.body));
        self.for_holder(mutation, holder, async move |work, tenant| {
            let endpoint = addressed(work.tx, &tenant, id).await?;
            let (id, request) = (endpoint.id, request?);
            let merchant = work.tx.merchant_get(&tenant.merchant_id).await?;
            let merchant = merchant.ok_or_else(EndpointId::missing)?.context();
            if endpoint.status == EndpointStatus::Disabled {
                return Err(Refusal::new(ErrorCode::EndpointDisabled, "The endpoint is disabled."));
            }
            let test = WebhookTest { endpoint_id: id.clone(), message: request.message, requested_by };
            let changes = [Change { event_type: EventType::WebhookTest, record: Record::WebhookTest(test) }];
            let commit = Commit {
                tenant: &tenant,
                merchant: &merchant,
                changes: &changes,
                audience: &Audience::Tested(id.clone()),
                cause: &work.cause,
                now: work.now,
            };
            let done = commit_changes(work.tx, commit, &mut work.dice).await?;
            let (Some(event), Some(delivery)) = (done.events.first(), done.deliveries.first()) else {
                return Err(Refusal::internal());
            };
            // One that was handed off is on its way; any other does not wait for the end of a hold (contract 18.4-6).
            work.tx.probe(&delivery.id, &id, work.now);
            let requested = TestRequested {
                event_id: event.id.as_str(),
                delivery_id: delivery.id.as_str(),
                endpoint_id: &id,
                livemode: tenant.livemode,
            };
            Ok(Answer::record(202, &requested)?.about(id.as_str()))
        })
        .await
    }
}
