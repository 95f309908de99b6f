//! Asking for refunds (contract 3.9 row 14, 4.8).
//!
//! Merchant and operator ask by the same rules. What is refundable is read, decided on and reserved in one transaction,
//! and writing transactions take turns: two requests never find the same money (I2). A refund remembers its idempotency
//! key for ever, so that a retry after the record of the answer has gone does not give the money back twice.

use authority_domain::audit::Author;
use authority_domain::error_code::ErrorCode;
use authority_domain::id::RefundId;
use authority_domain::merchant::Merchant;
use authority_domain::order::Order;
use authority_domain::order_number::OrderNumber;
use authority_domain::refund::{Refund, Requester, RequesterType};
use authority_domain::refund_flow::{self, Outcome, Standing};
use authority_domain::refusal::Refusal;
use authority_domain::requests::RefundRequest;
use authority_domain::tenant::Tenant;
use authority_store::ports::KeyScope;
use serde_json::Value;

use super::access::Caller;
use super::checkouts::find_tenant;
use super::mutation::{Work, operator_scope};
use super::{Answer, App, IfMatch, Mutation};

/// A request for a refund, whoever makes it.
struct Asked {
    /// `None` is a malformed number.
    number: Option<OrderNumber>,
    if_match: Option<IfMatch>,
    /// Whether `If-Match` has to be there.
    strict: bool,
    by: Requester,
    body: Value,
}

impl App {
    /// `POST /orders/:order/refunds` of the merchant API.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`, `precondition_required`; 422 for wrong members; the refusals of
    /// [`refund_flow::request`]; `idempotency_key_reused` when the key made a refund of another order.
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
        let asked = Asked { number, if_match: mutation.if_match, strict, by, body };
        mutation
            .run(self, KeyScope::Merchant(tenant.clone()), move |work| {
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
        let id = mutation.author.as_ref().map(Author::to_string);
        let by = Requester { kind: RequesterType::Operator, id };
        let asked = Asked { number, if_match: mutation.if_match, strict: false, by, body };
        mutation
            .run(self, operator_scope(tenant.clone()), move |work| {
                Box::pin(async move {
                    let (tenant, merchant) = find_tenant(work, tenant).await?;
                    let (refund, replayed) = request(work, &tenant, &merchant, asked).await?;
                    // The operator's listener has an address of its own: the place is named relative to it.
                    let location = format!("/v1/operator/refunds/{}", refund.id);
                    made(&refund, location, replayed)
                })
            })
            .await
    }
}

fn made(refund: &Refund, location: String, replayed: bool) -> Result<Answer, Refusal> {
    let mut answer = Answer::record(201, refund)?
        .version(refund.resource_version)
        .location(location)
        .about(refund.id.as_str());
    answer.replayed = replayed;
    Ok(answer)
}

/// Makes the refund, or finds the one that the same key made before.
async fn request(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    asked: Asked,
) -> Result<(Refund, bool), Refusal> {
    let Asked { number, if_match, strict, by, body } = asked;
    if let Some(key) = work.key.clone()
        && let Some(before) = work.tx.refund_by_key(tenant, by.kind, &key).await?
    {
        return if number.as_ref() == Some(&before.order_number) {
            Ok((before, true))
        } else {
            Err(Refusal::new(
                ErrorCode::IdempotencyKeyReused,
                "This Idempotency-Key was used before, for a refund of another order.",
            )
            .param("Idempotency-Key"))
        };
    }
    let missing = || Refusal::not_found("order");
    let number = number.ok_or_else(missing)?;
    let order = work.tx.order_get(tenant, &number).await?.ok_or_else(missing)?;
    Mutation::check_version(if_match, order.resource_version, strict)?;
    let refund = make(work, tenant, merchant, order, by, &body).await?;
    if let Some(key) = work.key.clone() {
        work.tx.refund_keep_key(tenant, &refund.id, &key).await?;
    }
    Ok((refund, false))
}

/// Makes a refund of an order's money.
pub(super) async fn make(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    order: Order,
    by: Requester,
    body: &Value,
) -> Result<Refund, Refusal> {
    let new = RefundRequest::read(body)?.into_new();
    let payments = work.tx.payments_of_order(tenant, &order.order_number).await?;
    let reserved = work.tx.refunds_reserved(tenant, &order.order_number).await?;
    let standing = Standing::new(order, payments, &reserved);
    let id = RefundId::generate(work.now, &mut work.dice);
    let outcome = refund_flow::request(standing, id, new, by, merchant.settings.confirm_on, work.now)?;
    commit(work, tenant, merchant, &outcome).await?;
    Ok(outcome.refund)
}

/// Writes what happened to a refund and its surroundings.
pub(super) async fn commit(
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
