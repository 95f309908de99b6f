//! Shipping an order (contract 3.9 rows 10 and 11, 4.7).

use authority_domain::shipment::NewShipment;
use authority_domain::{
    ListKind, Named, Order, OrderNumber, Result, Shipment, ShipmentId, Tenant, transitions,
};
use authority_store::tx::FirstRead;

use crate::app::mutation::IdempotencyKey;
use crate::app::order::first_read;
use crate::app::order::fulfillment::confirmed_by;
use crate::app::{Answer, App, Caller, List, ListRequest, Mutation, Owner, Work, mutation};

impl App {
    /// `POST /orders/:order/shipments`.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`, `precondition_required`; 422 for wrong members; the refusals of
    /// [`transitions::shipment::create`]; `idempotency_key_reused` when the key created another shipment.
    pub async fn shipment_create(
        &self,
        caller: &Caller,
        mutation: Mutation,
        number: Named<OrderNumber>,
    ) -> Result<Answer> {
        let (app, request) = (self.clone(), NewShipment::read(&mutation.body, self.now()));
        let (tenant, key) = (&caller.tenant, mutation.idempotency.as_ref());
        let made = key.map(|key| FirstRead::ShipmentUnderKey(tenant.clone(), key.key.clone()));
        let reads = made.into_iter().chain(first_read(Some(tenant), &number));
        self.for_caller(mutation, caller, reads, async move |work, owner| {
            if let Some(before) = made_before(work, &owner.tenant, number.as_ref().ok()).await? {
                let mut answer = made_answer(&app, &before)?;
                answer.replayed = true;
                return Ok(answer);
            }
            let order = work.order(&owner, number).await?;
            let id = ShipmentId::generate(work.now, &mut work.dice);
            if let Some(IdempotencyKey { key, fingerprint }) = &work.key {
                work.tx.idempotency_key_keep(id.as_str(), key, fingerprint);
            }
            made_answer(&app, &create(work, &owner, order, id, request?).await?)
        })
        .await
    }

    /// `GET /orders/:order/shipments`: newest first. The request's filter names the order.
    pub async fn shipments_list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        number: Named<OrderNumber>,
    ) -> Result<List> {
        let number = number?;
        self.list(ListKind::Shipments, &caller.tenant, request, Ok, async move |tx, of| {
            tx.order_body(&of.tenant, &number).await?.ok_or_else(OrderNumber::missing)?;
            Ok(tx.shipments_page(&of.tenant, &number, of.before, of.rows).await?)
        })
        .await
    }

    /// `GET /shipments/:shipment`.
    pub async fn shipment_get(&self, caller: &Caller, id: ShipmentId) -> Result<Answer> {
        let tenant = caller.tenant.clone();
        let found = self.read(async move |tx| tx.shipment_body(&tenant, &id).await).await?;
        found.map(Answer::stored).ok_or_else(ShipmentId::missing)
    }
}

/// The parcel that an earlier request with the same key created: it stores its key beyond the retention of the
/// idempotency record.
async fn made_before(
    work: &mut Work<'_>,
    tenant: &Tenant,
    number: Option<&OrderNumber>,
) -> Result<Option<Shipment>> {
    let Some(key) = work.key.clone() else { return Ok(None) };
    match work.tx.shipment_by_key(tenant, &key.key).await? {
        None => Ok(None),
        Some(made) => mutation::made_before(&key, made, |made| number == Some(&made.order_number)).map(Some),
    }
}

/// Ships part or all of the order; returns the parcel.
pub(in crate::app) async fn create(
    work: &mut Work<'_>,
    owner: &Owner,
    order: Order,
    id: ShipmentId,
    new: NewShipment,
) -> Result<Shipment> {
    let tenant = &owner.tenant;
    let existing = work.tx.shipments_of_order(tenant, &order.order_number).await?;
    let confirmed_by = confirmed_by(work, tenant, &order).await?;
    let (made, changes) = transitions::shipment::create(order, &existing, confirmed_by, id, new, work.now)?;
    work.commit(owner, &changes).await?;
    Ok(made)
}

fn made_answer(app: &App, made: &Shipment) -> Result<Answer> {
    Ok(Answer::of(201, made)?.location(app.location("shipments", made.id.as_str())))
}
