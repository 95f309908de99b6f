//! Sending an event again (contract 4.9, 7.7).
//!
//! A replay creates new deliveries of a stored event; they are sent like all others, with their own attempt
//! budget. The event stays as it is: same id, same bytes. A test event goes only to the endpoint it was created
//! for.

use authority_domain::delivery::{ReplayRequest, Trigger};
use authority_domain::merchant::limits::ENDPOINTS_MAX;
use authority_domain::{
    DeliveryId, DeliveryStatus, Endpoint, EndpointId, EndpointStatus, ErrorCode, EventId, Named, Refusal,
    Result,
};
use authority_store::hand_off::NewDelivery;
use authority_store::shards::Shard;
use authority_store::tx::EventHead;
use serde::Serialize;
use verify_core::catalog::EventType;

use crate::app::endpoint::merchant::Holder;
use crate::app::{Answer, App, Mutation};

/// An event that is sent again.
#[derive(Serialize)]
#[serde(tag = "object", rename = "event_replay")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "EventReplay"))]
pub(in crate::app) struct Replayed<'a> {
    /// The event.
    event_id: &'a EventId,
    /// Whether it is live.
    livemode: bool,
    /// The deliveries that were created.
    deliveries: Vec<ReplayedDelivery<'a>>,
}

/// A delivery that was created.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ReplayedDelivery"))]
struct ReplayedDelivery<'a> {
    /// Identifies it.
    id: &'a DeliveryId,
    /// Where it goes.
    endpoint_id: &'a EndpointId,
    /// `pending`.
    status: DeliveryStatus,
}

impl App {
    /// `POST /events/:event/replay`.
    pub async fn event_replay(
        &self,
        holder: impl Into<Holder>,
        mutation: Mutation,
        id: Named<EventId>,
    ) -> Result<Answer> {
        let request = ReplayRequest::read(&mutation.body);
        self.for_holder(mutation, holder, async move |work, tenant| {
            let id = id?;
            let head = work.tx.event_head(&tenant, &id).await?.ok_or_else(EventId::missing)?;
            let event_type = EventType::parse(&head.event_type).ok_or_else(Refusal::internal)?;
            let request = request?;
            let all = work.tx.endpoints_page(&tenant, &[], None, ENDPOINTS_MAX).await?;
            let all: Vec<Endpoint> = all.into_iter().map(|(_, endpoint)| endpoint).collect();
            let addressees = addressees(&request, event_type, &head, &all)?;
            let deliveries: Vec<NewDelivery> = addressees
                .into_iter()
                .map(|endpoint_id| NewDelivery {
                    id: DeliveryId::generate(work.now, &mut work.dice),
                    event_shard: Shard::of(&tenant.merchant_id),
                    event_id: id.clone(),
                    event_type: event_type.as_str(),
                    sequence: head.sequence,
                    endpoint_id,
                    trigger: Trigger::Replay,
                })
                .collect();
            work.tx.deliveries_insert(&tenant, &deliveries, work.now).await?;
            let made = deliveries.iter().map(|made| ReplayedDelivery {
                id: &made.id,
                endpoint_id: &made.endpoint_id,
                status: DeliveryStatus::Pending,
            });
            let livemode = tenant.livemode;
            let replayed = Replayed { event_id: &id, livemode, deliveries: made.collect() };
            Ok(Answer::record(202, &replayed)?.about(id.as_str()))
        })
        .await
    }
}

/// The endpoints that get the event: the named ones, whatever their filters, or all enabled ones that want it.
fn addressees(
    request: &ReplayRequest,
    event_type: EventType,
    head: &EventHead,
    all: &[Endpoint],
) -> Result<Vec<EndpointId>> {
    let may_get = |endpoint: &Endpoint| {
        event_type != EventType::WebhookTest || endpoint.id.as_str() == head.resource_id
    };
    let addressees: Vec<&Endpoint> = if request.endpoint_ids.is_some() {
        let named = request.check_known(|id| all.iter().any(|endpoint| endpoint.id == *id))?;
        let named = named.iter().filter_map(|id| all.iter().find(|endpoint| endpoint.id == *id));
        let named: Vec<&Endpoint> = named.collect();
        if let Some(disabled) = named.iter().find(|endpoint| endpoint.status == EndpointStatus::Disabled) {
            let detail = format!("The endpoint {} is disabled.", disabled.id);
            return Err(Refusal::new(ErrorCode::EndpointDisabled, detail));
        }
        if named.iter().all(|endpoint| may_get(endpoint)) { named } else { Vec::new() }
    } else {
        let wants = |endpoint: &&Endpoint| {
            let asked = event_type == EventType::WebhookTest || endpoint.wants(event_type);
            endpoint.status == EndpointStatus::Enabled && asked && may_get(endpoint)
        };
        all.iter().filter(wants).collect()
    };
    if addressees.is_empty() {
        let detail = if event_type == EventType::WebhookTest {
            "A test event goes to the endpoint it was made for, and to that one only while it is enabled."
        } else {
            "No enabled endpoint wants this event."
        };
        return Err(Refusal::new(ErrorCode::NoEligibleEndpoint, detail));
    }
    Ok(addressees.into_iter().map(|endpoint| endpoint.id.clone()).collect())
}
