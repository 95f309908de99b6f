//! The operator's view of deliveries, and retrying one now (contract 6.2, 15.3).

use authority_domain::delivery::{Attempt, Delivery, Trigger};
use authority_domain::list_filter::AllDeliveriesFilter;
use authority_domain::order::no_members;
use authority_domain::{
    DeliveryId, DeliveryStatus, EndpointStatus, ErrorCode, ListKind, MerchantId, Named, Refusal, Result,
};
use authority_store::hand_off::NewDelivery;
use authority_store::shards::Shard;
use authority_store::tx::{FoundDelivery, OwnedRecord};
use serde::Serialize;
use verify_core::catalog::EventType;

use crate::app::lists::written;
use crate::app::{Answer, App, List, ListRequest, Mutation, Work};

/// The record of contract 2.9, with the merchant whose event it carries.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "OperatorDelivery"))]
pub(in crate::app) struct OperatorDeliveryView<'a> {
    #[serde(flatten)]
    delivery: &'a Delivery,
    /// The merchant whose event it carries.
    merchant_id: &'a MerchantId,
    /// The attempts, in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<Vec<Attempt>>,
}

impl<'a> OperatorDeliveryView<'a> {
    fn new(found: &'a FoundDelivery) -> Self {
        Self { delivery: &found.delivery, merchant_id: &found.merchant_id, attempts: None }
    }
}

impl App {
    /// `GET /deliveries`: newest first.
    pub async fn all_deliveries_list(
        &self,
        request: &ListRequest,
        filter: AllDeliveriesFilter,
    ) -> Result<List> {
        let show = |found: FoundDelivery| {
            Ok((found.delivery.id.to_string(), written(OperatorDeliveryView::new(&found))?))
        };
        self.operator_list(
            ListKind::OperatorDeliveries,
            DeliveryId::PREFIX,
            request,
            show,
            async move |tx, of| Ok(tx.all_deliveries_page(&filter, of.before.as_deref(), of.rows).await?),
        )
        .await
    }

    /// `GET /deliveries/:id`, with every attempt.
    pub async fn delivery_find(&self, id: DeliveryId) -> Result<Answer> {
        let (found, attempts) = self
            .read(async move |tx| {
                let found = tx.delivery_find(&id).await?.ok_or_else(DeliveryId::missing)?;
                Ok::<_, Refusal>((found, tx.delivery_attempts_find(&id).await?))
            })
            .await?;
        Answer::record(
            200,
            &OperatorDeliveryView { attempts: Some(attempts), ..OperatorDeliveryView::new(&found) },
        )
    }

    /// `POST /deliveries/:id/retry`: a pending delivery is tried now; for a failed or cancelled one a new delivery
    /// with its own attempt budget is created.
    ///
    /// # Errors
    /// `not_found`; `endpoint_disabled` when nothing would be sent;
    /// `invalid_state_transition` for a delivery that succeeded.
    pub async fn delivery_retry(&self, mutation: Mutation, id: Named<DeliveryId>) -> Result<Answer> {
        let empty = no_members(&mutation.body);
        let owner = self.owner_of(id.clone().map(OwnedRecord::Delivery), DeliveryId::missing).await?;
        self.for_turn(mutation, owner, async move |work| {
            let found = work.tx.delivery_find(&id?).await?.ok_or_else(DeliveryId::missing)?;
            empty?;
            let delivery = retry(work, &found).await?;
            let now = work.tx.delivery_find(&delivery).await?.ok_or_else(Refusal::internal)?;
            Ok(Answer::record(202, &OperatorDeliveryView::new(&now))?.about(found.delivery.id.as_str()))
        })
        .await
    }
}

/// Returns the delivery that will be sent: the same one if it is pending, otherwise a new one.
///
/// # Errors
/// `endpoint_disabled` when nothing would be sent; `invalid_state_transition` for one that succeeded.
pub(in crate::app) async fn retry(work: &mut Work<'_>, found: &FoundDelivery) -> Result<DeliveryId> {
    let delivery = &found.delivery;
    if delivery.status == DeliveryStatus::Succeeded {
        return Err(Refusal::transition(
            delivery.status.as_str(),
            DeliveryStatus::Pending.as_str(),
            "The delivery succeeded; the event can be replayed.",
        ));
    }
    let endpoint = work.tx.endpoint_find(&delivery.endpoint_id).await?.ok_or_else(Refusal::internal)?;
    if endpoint.deleted_at.is_some() || endpoint.endpoint.status == EndpointStatus::Disabled {
        return Err(Refusal::new(
            ErrorCode::EndpointDisabled,
            "The endpoint gets nothing: it is disabled or deleted.",
        ));
    }
    if delivery.status == DeliveryStatus::Pending {
        work.tx.delivery_hasten(&delivery.id, work.now).await?;
        work.tx.probe(&delivery.id, &delivery.endpoint_id, work.now);
        return Ok(delivery.id.clone());
    }
    let event_type = EventType::parse(&delivery.event_type).ok_or_else(Refusal::internal)?;
    let again = NewDelivery {
        id: DeliveryId::generate(work.now, &mut work.dice),
        event_shard: Shard::of(&found.merchant_id),
        event_id: delivery.event_id.clone(),
        event_type: event_type.as_str(),
        sequence: found.sequence,
        endpoint_id: delivery.endpoint_id.clone(),
        trigger: Trigger::Replay,
    };
    work.tx.deliveries_insert(&found.owner, std::slice::from_ref(&again), work.now).await?;
    work.tx.probe(&again.id, &again.endpoint_id, work.now);
    Ok(again.id)
}
