//! A merchant's deliveries: reading them, and retrying one now (contract 2.9, 4.1, 15.3). Deliveries of a deleted
//! endpoint are hidden with it.

use authority_domain::delivery::DeliveryWithAttempts;
use authority_domain::list_filter::DeliveryFilter;
use authority_domain::order::no_members;
use authority_domain::{DeliveryId, EndpointId, ListKind, Named, Refusal, Result};

use crate::app::delivery::operator::retry;
use crate::app::endpoint::changes::addressed;
use crate::app::lists::written;
use crate::app::{Answer, App, Caller, List, ListRequest, Mutation, Owner};

impl App {
    /// `GET /webhook-endpoints/:id/deliveries`: newest first. The request's filter names the endpoint, so its
    /// cursors work for no other endpoint.
    pub async fn deliveries_list(
        &self,
        caller: &Caller,
        endpoint: Named<EndpointId>,
        request: &ListRequest,
        filter: DeliveryFilter,
    ) -> Result<List> {
        self.list(ListKind::Deliveries, &caller.tenant, request, written, async move |tx, of| {
            let endpoint = addressed(tx, &of.tenant, endpoint).await?;
            Ok(tx.deliveries_page(&of.tenant, &endpoint.id, &filter, of.before, of.rows).await?)
        })
        .await
    }

    /// `GET /deliveries/:delivery`, with every attempt.
    pub async fn delivery_get(&self, caller: &Caller, id: DeliveryId) -> Result<Answer> {
        Answer::record(200, &self.delivery_of(caller, id).await?)
    }

    /// The same, not yet written.
    ///
    /// # Errors
    /// As [`Self::delivery_get`].
    pub async fn delivery_of(&self, caller: &Caller, id: DeliveryId) -> Result<DeliveryWithAttempts> {
        let tenant = caller.tenant.clone();
        self.read(async move |tx| {
            let delivery = tx.delivery_get(&tenant, &id).await?.ok_or_else(DeliveryId::missing)?;
            tx.endpoint_get(&tenant, &delivery.endpoint_id).await?.ok_or_else(DeliveryId::missing)?;
            let attempts = tx.delivery_attempts(&tenant, &id).await?;
            Ok(DeliveryWithAttempts { delivery, attempts })
        })
        .await
    }

    /// `POST /deliveries/:delivery/retry`: a pending delivery is tried now; for a failed or cancelled one a new
    /// delivery is created. Answers with the delivery that will be sent.
    ///
    /// # Errors
    /// `not_found`; `endpoint_disabled` when nothing would be sent;
    /// `invalid_state_transition` for a delivery that succeeded.
    pub async fn delivery_retry_own(
        &self,
        caller: &Caller,
        mutation: Mutation,
        id: Named<DeliveryId>,
    ) -> Result<Answer> {
        let empty = no_members(&mutation.body);
        self.for_caller(mutation, caller, None, async move |work, Owner { tenant, .. }| {
            let (missing, id) = (DeliveryId::missing, id?);
            let delivery = work.tx.delivery_get(&tenant, &id).await?.ok_or_else(missing)?;
            work.tx.endpoint_get(&tenant, &delivery.endpoint_id).await?.ok_or_else(missing)?;
            empty?;
            let found = work.tx.delivery_find(&id).await?.ok_or_else(missing)?;
            let sent = retry(work, &found).await?;
            let sent = work.tx.delivery_get(&tenant, &sent).await?.ok_or_else(Refusal::internal)?;
            Ok(Answer::record(202, &sent)?.about(sent.id.as_str()))
        })
        .await
    }
}
