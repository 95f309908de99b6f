//! A merchant's deliveries: reading them, and retrying one now (contract 2.9, 4.1, 15.3). Deliveries of a deleted
//! endpoint are hidden with it.

use authority_domain::cursor::ListKind;
use authority_domain::delivery::DeliveryWithAttempts;
use authority_domain::id::{DeliveryId, EndpointId};
use authority_domain::list_filter::DeliveryFilter;
use authority_domain::order::no_members;
use authority_domain::refusal::Refusal;
use authority_store::StoreError;
use authority_store::tx::{KeyScope, Tx};
use serde_json::Value;

use crate::app::access::Caller;
use crate::app::delivery::operator::retry;
use crate::app::endpoint::changes::addressed;
use crate::app::lists::{List, ListRequest, written};
use crate::app::{Answer, App, Mutation};

impl App {
    /// `GET /webhook-endpoints/:id/deliveries`: newest first. The request's filter names the endpoint, so its
    /// cursors work for no other endpoint.
    ///
    /// # Errors
    /// `not_found`; `invalid_cursor`.
    pub async fn deliveries_list(
        &self,
        caller: &Caller,
        endpoint: Option<EndpointId>,
        request: &ListRequest,
        filter: DeliveryFilter,
    ) -> Result<List, Refusal> {
        self.list(ListKind::Deliveries, &caller.tenant, request, written, move |tx, of| {
            Box::pin(async move {
                let endpoint = addressed(tx, &of.tenant, endpoint).await?;
                Ok(tx.deliveries_page(&of.tenant, &endpoint.id, &filter, of.before, of.rows).await?)
            })
        })
        .await
    }

    /// `GET /deliveries/:delivery`, with every attempt.
    ///
    /// # Errors
    /// `not_found`; `None` is a malformed id.
    pub async fn delivery_get(&self, caller: &Caller, id: Option<DeliveryId>) -> Result<Answer, Refusal> {
        Answer::record(200, &self.delivery_of(caller, id).await?)
    }

    /// The same, not yet written.
    ///
    /// # Errors
    /// As [`Self::delivery_get`].
    pub async fn delivery_of(
        &self,
        caller: &Caller,
        id: Option<DeliveryId>,
    ) -> Result<DeliveryWithAttempts, Refusal> {
        let missing = || Refusal::not_found("delivery");
        let id = id.ok_or_else(missing)?;
        let tenant = caller.tenant.clone();
        let found = self
            .store
            .read(move |tx: &mut Tx| {
                Box::pin(async move {
                    let Some(delivery) = tx.delivery_get(&tenant, &id).await? else { return Ok(None) };
                    if tx.endpoint_get(&tenant, &delivery.endpoint_id).await?.is_none() {
                        return Ok(None);
                    }
                    let attempts = tx.delivery_attempts(&tenant, &id).await?;
                    Ok(Some(DeliveryWithAttempts { delivery, attempts }))
                })
            })
            .await
            .map_err(|error: StoreError| Refusal::from(error))?;
        found.ok_or_else(missing)
    }

    /// `POST /deliveries/:delivery/retry`: a pending delivery is tried now; for a failed or cancelled one a new
    /// delivery is created. Answers with the delivery that will be sent.
    ///
    /// # Errors
    /// `not_found` (`None` is a malformed id); `endpoint_disabled` when nothing would be sent;
    /// `invalid_state_transition` for a delivery that succeeded.
    pub async fn delivery_retry_own(
        &self,
        caller: &Caller,
        mutation: Mutation,
        id: Option<DeliveryId>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let tenant = caller.tenant.clone();
        mutation
            .run(self, KeyScope::Merchant(tenant.clone()), move |work| {
                Box::pin(async move {
                    let missing = || Refusal::not_found("delivery");
                    let id = id.ok_or_else(missing)?;
                    let delivery = work.tx.delivery_get(&tenant, &id).await?.ok_or_else(missing)?;
                    work.tx.endpoint_get(&tenant, &delivery.endpoint_id).await?.ok_or_else(missing)?;
                    no_members(&body)?;
                    let found = work.tx.delivery_find(&id).await?.ok_or_else(missing)?;
                    let sent = retry(work, &found).await?;
                    let sent = work.tx.delivery_get(&tenant, &sent).await?.ok_or_else(Refusal::internal)?;
                    Ok(Answer::record(202, &sent)?.about(sent.id.as_str()))
                })
            })
            .await
    }
}
