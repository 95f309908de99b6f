//! Requesting refunds (contract 3.9 row 14, 4.8, 18.3).
//!
//! The same rules apply to merchants and operators. Both can request a refund of an order; the operator can also
//! request one of a payment, which may have arrived too late to create an order. The refundable amount is read,
//! checked and reserved in one transaction, and writing transactions run one at a time: two requests never use the
//! same money (I2). A refund stores its idempotency key and what it was used for permanently, so a retry after the
//! stored answer has expired does not refund the money twice.

use authority_domain::refund::{NewRefund, Requester, RequesterType};
use authority_domain::transitions::refund::{Outcome, RefundBasis};
use authority_domain::{
    Author, Named, Order, OrderNumber, PaymentId, Refund, RefundId, Refusal, Result, Tenant, transitions,
};
use authority_store::tx::{FirstRead, OwnedRecord};

use crate::app::mutation::IdempotencyKey;
use crate::app::order::first_read;
use crate::app::{Answer, App, Caller, Mutation, Owner, Work, mutation};

impl App {
    /// `POST /orders/:order/refunds` of the merchant API.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`, `precondition_required`; 422 for wrong members; the refusals of
    /// [`transitions::refund::request`]; `idempotency_key_reused` when the key created another refund.
    pub async fn refund_request(
        &self,
        caller: &Caller,
        mutation: Mutation,
        number: Named<OrderNumber>,
    ) -> Result<Answer> {
        let (app, request) = (self.clone(), NewRefund::read(&mutation.body));
        let by = Requester { kind: RequesterType::ApiKey, id: Some(caller.key_id.to_string()) };
        let reads = first_reads(Some(&caller.tenant), &number, by.kind, &mutation);
        self.for_caller(mutation, caller, reads, async move |work, owner| {
            let (refund, replayed) = of_order(work, &owner, number, request, by).await?;
            let location = app.location("refunds", refund.id.as_str());
            made(&refund, location, replayed)
        })
        .await
    }

    /// `POST /merchants/:m/:mode/orders/:order/refunds` of the operator API.
    ///
    /// # Errors
    /// As for the merchant; a missing `If-Match` is never refused.
    pub async fn refund_request_for(
        &self,
        mutation: Mutation,
        tenant: Named<Tenant>,
        number: Named<OrderNumber>,
    ) -> Result<Answer> {
        let (by, request) = (operator(&mutation), NewRefund::read(&mutation.body));
        let reads = first_reads(tenant.as_ref().ok(), &number, by.kind, &mutation);
        self.for_tenant(mutation, tenant, reads, async move |work, owner| {
            let (refund, replayed) = of_order(work, &owner, number, request, by).await?;
            made(&refund, operators_location(&refund), replayed)
        })
        .await
    }

    /// `POST /payments/:payment/refunds` of the operator API.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`; 422 for wrong members; the refusals of
    /// [`transitions::refund::request`]; `idempotency_key_reused` when the key created another refund.
    pub async fn refund_request_of_payment(
        &self,
        mutation: Mutation,
        id: Named<PaymentId>,
    ) -> Result<Answer> {
        let body = mutation.body.clone();
        let by = operator(&mutation);
        let tenant = self.owner_of(id.clone().map(OwnedRecord::Payment), PaymentId::missing).await?;
        self.for_tenant(mutation, tenant, None, async move |work, owner| {
            let id = id?;
            let (_, payment) = work.tx.payment_find(&id).await?.ok_or_else(PaymentId::missing)?;
            let ours = |made: &Refund| made.payment_id == id;
            if let Some(before) = made_before(work, &owner.tenant, by.kind, ours).await? {
                return made(&before, operators_location(&before), true);
            }
            work.check_version(payment.resource_version)?;
            let request = NewRefund::read_of_payment(&body, &payment.id)?;
            let basis = basis_of(work, &owner.tenant, payment.order_number.as_ref(), &id).await?;
            let refund_id = kept_id(work);
            let refund = begin(work, &owner, basis, refund_id, request, by).await?;
            made(&refund, operators_location(&refund), false)
        })
        .await
    }
}

/// What a request reads first: what was made under its key, and the order.
fn first_reads(
    tenant: Option<&Tenant>,
    number: &Named<OrderNumber>,
    by: RequesterType,
    mutation: &Mutation,
) -> impl Iterator<Item = FirstRead> + use<> {
    let key = mutation.idempotency.as_ref().zip(tenant);
    let made = key.map(|(key, tenant)| FirstRead::RefundUnderKey(tenant.clone(), by, key.key.clone()));
    made.into_iter().chain(first_read(tenant, number))
}

fn operator(mutation: &Mutation) -> Requester {
    Requester { kind: RequesterType::Operator, id: mutation.author.as_ref().map(Author::to_string) }
}

/// The operator's listener has its own address, so the `Location` is relative to it.
fn operators_location(refund: &Refund) -> String {
    format!("/v1/operator/refunds/{}", refund.id)
}

fn made(refund: &Refund, location: String, replayed: bool) -> Result<Answer> {
    Ok(Answer { replayed, ..Answer::of(201, refund)?.location(location) })
}

/// The refund that an earlier request with the same key created, if it is what this request asks for.
async fn made_before(
    work: &mut Work<'_>,
    tenant: &Tenant,
    by: RequesterType,
    is_asked_for: impl FnOnce(&Refund) -> bool,
) -> Result<Option<Refund>> {
    let Some(key) = work.key.clone() else { return Ok(None) };
    match work.tx.refund_by_key(tenant, by, &key.key).await? {
        None => Ok(None),
        Some(made) => mutation::made_before(&key, made, is_asked_for).map(Some),
    }
}

/// Creates a refund of an order, or finds the one that an earlier request with the same key created.
async fn of_order(
    work: &mut Work<'_>,
    owner: &Owner,
    number: Named<OrderNumber>,
    request: Result<NewRefund>,
    by: Requester,
) -> Result<(Refund, bool)> {
    let ours = |made: &Refund| number.is_ok() && number.as_ref().ok() == made.order_number.as_ref();
    if let Some(before) = made_before(work, &owner.tenant, by.kind, ours).await? {
        return Ok((before, true));
    }
    let order = work.order(owner, number).await?;
    let request = request?;
    let basis = standing(work, &owner.tenant, order).await?;
    let id = kept_id(work);
    Ok((begin(work, owner, basis, id, request, by).await?, false))
}

/// The id of a refund that is stored with the request's idempotency key.
fn kept_id(work: &mut Work<'_>) -> RefundId {
    let id = RefundId::generate(work.now, &mut work.dice);
    if let Some(IdempotencyKey { key, fingerprint }) = &work.key {
        work.tx.idempotency_key_keep(id.as_str(), key, fingerprint);
    }
    id
}

/// Creates a refund of an order's money, without keeping a key.
pub(in crate::app) async fn make(
    work: &mut Work<'_>,
    owner: &Owner,
    order: Order,
    by: Requester,
    request: NewRefund,
) -> Result<Refund> {
    let basis = standing(work, &owner.tenant, order).await?;
    let id = RefundId::generate(work.now, &mut work.dice);
    begin(work, owner, basis, id, request, by).await
}

/// What a refund of a payment is judged by: the order that it belongs to, or the payment alone.
pub(super) async fn basis_of(
    work: &mut Work<'_>,
    tenant: &Tenant,
    number: Option<&OrderNumber>,
    payment: &PaymentId,
) -> Result<RefundBasis> {
    let Some(number) = number else {
        let payment = work.tx.payment_get(tenant, payment).await?.ok_or_else(Refusal::internal)?;
        return Ok(RefundBasis::without_order(payment));
    };
    let order = work.order_of(tenant, number).await?;
    standing(work, tenant, order).await
}

/// An order with its payments and the amounts that open refunds reserve.
async fn standing(work: &mut Work<'_>, tenant: &Tenant, order: Order) -> Result<RefundBasis> {
    let payments = work.tx.payments_of_order(tenant, &order.order_number).await?;
    let reserved = work.tx.refunds_reserved(tenant, &order.order_number).await?;
    Ok(RefundBasis::new(order, payments, &reserved))
}

async fn begin(
    work: &mut Work<'_>,
    owner: &Owner,
    basis: RefundBasis,
    id: RefundId,
    new: NewRefund,
    by: Requester,
) -> Result<Refund> {
    let confirm_on = owner.merchant.settings.confirm_on;
    let outcome = transitions::refund::request(basis, id, new, by, confirm_on, work.now)?;
    commit(work, owner, &outcome).await?;
    Ok(outcome.refund)
}

/// Writes the changes to a refund and the records around it.
pub(super) async fn commit(work: &mut Work<'_>, owner: &Owner, outcome: &Outcome) -> Result<()> {
    work.commit(owner, &outcome.changes).await?;
    if let Some(payment) = &outcome.restated {
        work.tx.payment_restate(&owner.tenant, payment).await?;
    }
    Ok(())
}
