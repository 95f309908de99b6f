//! Shipping an order (contract 3.9 rows 10 and 11, 4.7).

use authority_domain::cursor::ListKind;
use authority_domain::id::ShipmentId;
use authority_domain::merchant::Merchant;
use authority_domain::order::Order;
use authority_domain::order::number::OrderNumber;
use authority_domain::refusal::Refusal;
use authority_domain::shipment;
use authority_domain::shipment::{Shipment, ShipmentRequest};
use authority_domain::tenant::Tenant;
use authority_store::StoreError;
use authority_store::tx::{FirstRead, KeyScope, Tx};
use serde_json::Value;

use crate::app::access::Caller;
use crate::app::lists::{List, ListRequest};
use crate::app::mutation::{IdempotencyKey, Work};
use crate::app::order::fulfillment::confirmed_by;
use crate::app::{Answer, App, Mutation, mutation};

impl App {
    /// `POST /orders/:order/shipments`.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`, `precondition_required`; 422 for wrong members; the refusals of
    /// [`shipment::flow::create`]; `idempotency_key_reused` when the key created another shipment.
    pub async fn shipment_create(
        &self,
        caller: &Caller,
        mutation: Mutation,
        number: Option<OrderNumber>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let app = self.clone();
        let tenant = caller.tenant.clone();
        let merchant = caller.merchant.clone();
        let if_match = mutation.if_match;
        let key = mutation.idempotency.as_ref();
        let made = key.map(|key| FirstRead::ShipmentUnderKey(tenant.clone(), key.key.clone()));
        let order = number.clone().map(|number| FirstRead::Order(tenant.clone(), number));
        let reads = made.into_iter().chain(order).collect();
        mutation
            .run_reading(self, KeyScope::Merchant(tenant.clone()), reads, move |work| {
                Box::pin(async move {
                    if let Some(before) = made_before(work, &tenant, number.as_ref()).await? {
                        let mut answer = made_answer(&app, &before)?;
                        answer.replayed = true;
                        return Ok(answer);
                    }
                    let missing = || Refusal::not_found("order");
                    let number = number.ok_or_else(missing)?;
                    let order = work.tx.order_get(&tenant, &number).await?.ok_or_else(missing)?;
                    let strict = merchant.settings.require_if_match;
                    Mutation::check_version(if_match, order.resource_version, strict)?;
                    let id = ShipmentId::generate(work.now, &mut work.dice);
                    if let Some(IdempotencyKey { key, fingerprint }) = &work.key {
                        work.tx.idempotency_key_keep(id.as_str(), key, fingerprint);
                    }
                    made_answer(&app, &create(work, &tenant, &merchant, order, id, &body).await?)
                })
            })
            .await
    }

    /// `GET /orders/:order/shipments`: newest first. The request's filter names the order.
    ///
    /// # Errors
    /// `not_found`; `invalid_cursor`.
    pub async fn shipments_list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        number: Option<OrderNumber>,
    ) -> Result<List, Refusal> {
        let missing = || Refusal::not_found("order");
        let number = number.ok_or_else(missing)?;
        self.list(ListKind::Shipments, &caller.tenant, request, Ok, move |tx, of| {
            Box::pin(async move {
                tx.order_body(&of.tenant, &number).await?.ok_or_else(missing)?;
                Ok(tx.shipments_page(&of.tenant, &number, of.before, of.rows).await?)
            })
        })
        .await
    }

    /// `GET /shipments/:shipment`.
    ///
    /// # Errors
    /// `not_found`; `None` is a malformed id.
    pub async fn shipment_get(&self, caller: &Caller, id: Option<ShipmentId>) -> Result<Answer, Refusal> {
        let id = id.ok_or_else(|| Refusal::not_found("shipment"))?;
        let tenant = caller.tenant.clone();
        let found: Option<(String, i64)> = self
            .store
            .read(move |tx: &mut Tx| Box::pin(async move { tx.shipment_body(&tenant, &id).await }))
            .await
            .map_err(|error: StoreError| Refusal::from(error))?;
        let (body, version) = found.ok_or_else(|| Refusal::not_found("shipment"))?;
        Ok(Answer::new(200, body).version(version))
    }
}

/// The parcel that an earlier request with the same key created: it stores its key beyond the retention of the
/// idempotency record.
async fn made_before(
    work: &mut Work<'_>,
    tenant: &Tenant,
    number: Option<&OrderNumber>,
) -> Result<Option<Shipment>, Refusal> {
    let Some(key) = work.key.clone() else { return Ok(None) };
    match work.tx.shipment_by_key(tenant, &key.key).await? {
        None => Ok(None),
        Some(made) => mutation::made_before(&key, made, |made| number == Some(&made.order_number)).map(Some),
    }
}

/// Ships part or all of the order; returns the parcel.
pub(in crate::app) async fn create(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    order: Order,
    id: ShipmentId,
    body: &Value,
) -> Result<Shipment, Refusal> {
    let new = ShipmentRequest::read(body, work.now)?.into_new();
    let existing = work.tx.shipments_of_order(tenant, &order.order_number).await?;
    let confirmed_by = confirmed_by(work, tenant, &order).await?;
    let (made, changes) = shipment::flow::create(order, &existing, confirmed_by, id, new, work.now)?;
    work.commit(tenant, merchant, &changes).await?;
    Ok(made)
}

fn made_answer(app: &App, made: &Shipment) -> Result<Answer, Refusal> {
    Ok(Answer::record(201, made)?
        .version(made.resource_version)
        .location(app.location("shipments", made.id.as_str())))
}
