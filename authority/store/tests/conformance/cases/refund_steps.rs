//! Refunds are asked for and reported on, as the use cases do it.

use authority_domain::parts::Metadata;
use authority_domain::refund::{NewRefund, RefundReason, RefundReport, Requester, RequesterType};
use authority_domain::transitions::refund::{Outcome, RefundBasis};
use authority_domain::{
    ConfirmOn, OrderNumber, Payment, PaymentId, Refund, RefundId, RefundStatus, Refusal, transitions,
};
use authority_store::StoreError;
use authority_store::commit::Audience;
use authority_store::tx::{FirstRead, Prefetch, Tx};

use super::{Shop, ask, at, dice, read};

async fn standing(tx: &mut Tx, shop: &Shop, number: &OrderNumber) -> Result<RefundBasis, StoreError> {
    let order = tx.order_get(&shop.tenant, number).await?.unwrap();
    let payments = tx.payments_of_order(&shop.tenant, number).await?;
    let reserved = tx.refunds_reserved(&shop.tenant, number).await?;
    Ok(RefundBasis::new(order, payments, &reserved))
}

async fn commit(tx: &mut Tx, shop: &Shop, outcome: &Outcome, s: i64) -> Result<(), Refusal> {
    shop.commit_in(tx, &outcome.changes, &Audience::Subscribers, at(s)).await?;
    if let Some(payment) = &outcome.restated {
        tx.payment_restate(&shop.tenant, payment).await?;
    }
    Ok(())
}

/// Asks for `amount` back, `s` seconds after noon, as the use case does.
pub(crate) async fn request(
    shop: &Shop,
    number: &OrderNumber,
    amount: i64,
    kind: RequesterType,
    s: i64,
) -> Refund {
    request_under(shop, number, amount, kind, s, None).await.unwrap()
}

/// The same with an idempotency key that the refund keeps; it says what it will read.
pub(crate) async fn request_under(
    shop: &Shop,
    number: &OrderNumber,
    amount: i64,
    kind: RequesterType,
    s: i64,
    key: Option<&'static str>,
) -> Result<Refund, Refusal> {
    let (shop, number) = (shop.clone(), number.clone());
    let new = NewRefund {
        amount: Some(amount),
        currency: None,
        payment_id: None,
        reason: RefundReason::Damaged,
        note: None,
        line_items: Vec::new(),
        metadata: Metadata::new(),
    };
    let store = shop.store.clone();
    let under = key.map(|key| FirstRead::RefundUnderKey(shop.tenant.clone(), kind, key.to_owned()));
    let order = FirstRead::Order(shop.tenant.clone(), number.clone());
    let reads = [order].into_iter().chain(under).collect();
    let ahead = Prefetch { reads, now: at(s), ..shop.ahead() };
    ask!(store.write_ahead(ahead), |tx| async {
        let id = RefundId::generate(at(s), &mut dice());
        if let Some(key) = key {
            if let Some(made) = tx.refund_by_key(&shop.tenant, kind, key).await? {
                return Ok(made.record);
            }
            tx.idempotency_key_keep(id.as_str(), key, &[9; 32]);
        }
        let standing = standing(tx, &shop, &number).await?;
        let by = Requester { kind, id: None };
        let outcome = transitions::refund::request(standing, id, new, by, ConfirmOn::Paid, at(s))?;
        commit(tx, &shop, &outcome, s).await?;
        Ok(outcome.refund)
    })
}

/// Reports `status` on the refund.
pub(crate) async fn report(shop: &Shop, refund: &Refund, status: RefundStatus, s: i64) -> Refund {
    let reported: Result<Refund, Refusal> = ask!(shop.store.write, [shop, refund], |tx| async {
        let standing = standing(tx, &shop, refund.order_number.as_ref().unwrap()).await?;
        let told = RefundReport { status, processor_reference: None, failure: None };
        let outcome = transitions::refund::report(standing, refund, &told, ConfirmOn::Paid, at(s))?.unwrap();
        commit(tx, &shop, &outcome, s).await?;
        Ok(outcome.refund)
    });
    reported.unwrap()
}

pub(crate) async fn payment_now(shop: &Shop, id: &PaymentId) -> Payment {
    read!(shop, [id], |tx| tx.payment_get(&shop.tenant, &id)).unwrap()
}
