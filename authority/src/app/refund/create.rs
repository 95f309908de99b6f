//! Requesting refunds (contract 3.9 row 14, 4.8, 18.3).
//!
//! The same rules apply to merchants and operators. Both can request a refund of an order; the operator can also
//! request one of a payment, which may have arrived too late to create an order. The refundable amount is read,
//! checked and reserved in one transaction, and writing transactions run one at a time: two requests never use the
//! same money (I2). A refund stores its idempotency key and what it was used for permanently, so a retry after the
//! stored answer has expired does not refund the money twice.

use authority_domain::audit_log::Author;
use authority_domain::id::{PaymentId, RefundId};
use authority_domain::merchant::Merchant;
use authority_domain::order::Order;
use authority_domain::order::number::OrderNumber;
use authority_domain::payment::Payment;
use authority_domain::refund;
use authority_domain::refund::flow::{Outcome, RefundBasis};
use authority_domain::refund::{Refund, RefundRequest, Requester, RequesterType};
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use authority_store::tx::{FirstRead, KeyScope, OwnedRecord};
use serde_json::Value;

use crate::app::access::Caller;
use crate::app::checkout::create::find_tenant;
use crate::app::mutation::{IdempotencyKey, Work, operator_scope};
use crate::app::{Answer, App, IfMatch, Mutation, mutation};

/// A request for a refund of an order, by a merchant or an operator.
#[derive(Clone)]
struct OrderRefund {
    /// `None` is a malformed number.
    number: Option<OrderNumber>,
    if_match: Option<IfMatch>,
    /// Whether `If-Match` is required.
    strict: bool,
    by: Requester,
    body: Value,
}

impl App {
    /// `POST /orders/:order/refunds` of the merchant API.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`, `precondition_required`; 422 for wrong members; the refusals of
    /// [`refund::flow::request`]; `idempotency_key_reused` when the key created another refund.
    pub async fn refund_request(
        &self,
        caller: &Caller,
        mutation: Mutation,
        number: Option<OrderNumber>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let app = self.clone();
        let (tenant, merchant) = (caller.tenant.clone(), caller.merchant.clone());
        let by = Requester { kind: RequesterType::ApiKey, id: Some(caller.key_id.to_string()) };
        let strict = merchant.settings.require_if_match;
        let reads = first_reads(Some(&tenant), number.as_ref(), by.kind, &mutation);
        let asked = OrderRefund { number, if_match: mutation.if_match, strict, by, body };
        mutation
            .run_reading(self, KeyScope::Merchant(tenant.clone()), reads, move |work| {
                Box::pin(async move {
                    let (refund, replayed) = request(work, &tenant, &merchant, asked).await?;
                    let location = app.location("refunds", refund.id.as_str());
                    made(&refund, location, replayed)
                })
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
        tenant: Option<Tenant>,
        number: Option<OrderNumber>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let by = operator(&mutation);
        let reads = first_reads(tenant.as_ref(), number.as_ref(), by.kind, &mutation);
        let asked = OrderRefund { number, if_match: mutation.if_match, strict: false, by, body };
        mutation
            .run_reading(self, operator_scope(tenant.clone()), reads, move |work| {
                Box::pin(async move {
                    let (tenant, merchant) = find_tenant(work, tenant).await?;
                    let (refund, replayed) = request(work, &tenant, &merchant, asked).await?;
                    made(&refund, operators_location(&refund), replayed)
                })
            })
            .await
    }

    /// `POST /payments/:payment/refunds` of the operator API; `None` is a malformed id.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`; 422 for wrong members; the refusals of [`refund::flow::request`];
    /// `idempotency_key_reused` when the key created another refund.
    pub async fn refund_request_of_payment(
        &self,
        mutation: Mutation,
        id: Option<PaymentId>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let (if_match, by) = (mutation.if_match, operator(&mutation));
        mutation
            .run_about(self, id.clone().map(OwnedRecord::Payment), move |work| {
                Box::pin(async move {
                    let missing = || Refusal::not_found("payment");
                    let id = id.ok_or_else(missing)?;
                    let (tenant, payment) = work.tx.payment_find(&id).await?.ok_or_else(missing)?;
                    if let Some(before) =
                        made_before(work, &tenant, by.kind, |made| made.payment_id == id).await?
                    {
                        return made(&before, operators_location(&before), true);
                    }
                    Mutation::check_version(if_match, payment.resource_version, false)?;
                    let refund = make_of_payment(work, &tenant, payment, by, &body).await?;
                    made(&refund, operators_location(&refund), false)
                })
            })
            .await
    }
}

/// What a request reads first: what was made under its key, and the order.
fn first_reads(
    tenant: Option<&Tenant>,
    number: Option<&OrderNumber>,
    by: RequesterType,
    mutation: &Mutation,
) -> Vec<FirstRead> {
    let Some(tenant) = tenant else { return Vec::new() };
    let key = mutation.idempotency.as_ref();
    let made = key.map(|key| FirstRead::RefundUnderKey(tenant.clone(), by, key.key.clone()));
    let order = number.map(|number| FirstRead::Order(tenant.clone(), number.clone()));
    made.into_iter().chain(order).collect()
}

fn operator(mutation: &Mutation) -> Requester {
    Requester { kind: RequesterType::Operator, id: mutation.author.as_ref().map(Author::to_string) }
}

/// The operator's listener has its own address, so the `Location` is relative to it.
fn operators_location(refund: &Refund) -> String {
    format!("/v1/operator/refunds/{}", refund.id)
}

fn made(refund: &Refund, location: String, replayed: bool) -> Result<Answer, Refusal> {
    let mut answer = Answer::record(201, refund)?
        .version(refund.resource_version)
        .location(location)
        .about(refund.id.as_str());
    answer.replayed = replayed;
    Ok(answer)
}

/// The refund that an earlier request with the same key created, if it is what this request asks for.
async fn made_before(
    work: &mut Work<'_>,
    tenant: &Tenant,
    by: RequesterType,
    is_asked_for: impl FnOnce(&Refund) -> bool,
) -> Result<Option<Refund>, Refusal> {
    let Some(key) = work.key.clone() else { return Ok(None) };
    match work.tx.refund_by_key(tenant, by, &key.key).await? {
        None => Ok(None),
        Some(made) => mutation::made_before(&key, made, is_asked_for).map(Some),
    }
}

/// Creates the refund, or finds the one that an earlier request with the same key created.
async fn request(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    asked: OrderRefund,
) -> Result<(Refund, bool), Refusal> {
    let OrderRefund { number, if_match, strict, by, body } = asked;
    let of_order = |made: &Refund| number.is_some() && number == made.order_number;
    if let Some(before) = made_before(work, tenant, by.kind, of_order).await? {
        return Ok((before, true));
    }
    let missing = || Refusal::not_found("order");
    let number = number.ok_or_else(missing)?;
    let order = work.tx.order_get(tenant, &number).await?.ok_or_else(missing)?;
    Mutation::check_version(if_match, order.resource_version, strict)?;
    let new = RefundRequest::read(&body)?;
    let standing = standing(work, tenant, order).await?;
    let id = kept_id(work);
    Ok((begin(work, tenant, merchant, standing, id, new, by).await?, false))
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
    tenant: &Tenant,
    merchant: &Merchant,
    order: Order,
    by: Requester,
    body: &Value,
) -> Result<Refund, Refusal> {
    let new = RefundRequest::read(body)?;
    let standing = standing(work, tenant, order).await?;
    let id = RefundId::generate(work.now, &mut work.dice);
    begin(work, tenant, merchant, standing, id, new, by).await
}

/// Creates a refund of one payment, with or without an order.
async fn make_of_payment(
    work: &mut Work<'_>,
    tenant: &Tenant,
    payment: Payment,
    by: Requester,
    body: &Value,
) -> Result<Refund, Refusal> {
    let new = RefundRequest::read_of_payment(body, &payment.id)?;
    let merchant = work.tx.merchant_get(&tenant.merchant_id).await?.ok_or_else(Refusal::internal)?;
    let standing = match &payment.order_number {
        Some(number) => {
            let order = work.tx.order_get(tenant, number).await?.ok_or_else(Refusal::internal)?;
            standing(work, tenant, order).await?
        }
        None => RefundBasis::without_order(payment),
    };
    let id = kept_id(work);
    begin(work, tenant, &merchant, standing, id, new, by).await
}

/// An order with its payments and the amounts that open refunds reserve.
pub(in crate::app) async fn standing(
    work: &mut Work<'_>,
    tenant: &Tenant,
    order: Order,
) -> Result<RefundBasis, Refusal> {
    let payments = work.tx.payments_of_order(tenant, &order.order_number).await?;
    let reserved = work.tx.refunds_reserved(tenant, &order.order_number).await?;
    Ok(RefundBasis::new(order, payments, &reserved))
}

async fn begin(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    standing: RefundBasis,
    id: RefundId,
    new: RefundRequest,
    by: Requester,
) -> Result<Refund, Refusal> {
    let confirm_on = merchant.settings.confirm_on;
    let outcome = refund::flow::request(standing, id, new.into_new(), by, confirm_on, work.now)?;
    commit(work, tenant, merchant, &outcome).await?;
    Ok(outcome.refund)
}

/// Writes the changes to a refund and the records around it.
pub(in crate::app) async fn commit(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    outcome: &Outcome,
) -> Result<(), Refusal> {
    work.commit(tenant, merchant, &outcome.changes).await?;
    if let Some(payment) = &outcome.restated {
        work.tx.payment_restate(tenant, payment).await?;
    }
    Ok(())
}
