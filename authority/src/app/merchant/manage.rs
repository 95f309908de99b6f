//! Merchants, as the operator manages them (contract 2.16, 6.2).

use authority_domain::list_filter::MerchantFilter;
use authority_domain::merchant::limits::{DefaultRates, EffectiveLimits};
use authority_domain::merchant::{MerchantRequest, MerchantStatus, read_merchant_change};
use authority_domain::{ListKind, MemberCode, Merchant, MerchantId, Named, Refusal, Result, Tenant};
use authority_store::tx::KeyScope;
use authority_store::{Constraint, StoreError};
use serde::Serialize;

use crate::app::lists::written;
use crate::app::{Answer, App, List, ListRequest, Mutation};

/// A merchant as the operator reads it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "OperatorMerchant"))]
pub(in crate::app) struct OperatorView<'a> {
    #[serde(flatten)]
    merchant: &'a Merchant,
    /// The effective limits: those set for the merchant, and the platform's defaults for the rest.
    effective_limits: EffectiveLimits,
}

impl<'a> OperatorView<'a> {
    fn new(merchant: &'a Merchant, rates: Option<&DefaultRates>) -> Self {
        Self { merchant, effective_limits: merchant.limits.effective(rates) }
    }
}

impl App {
    /// `POST /merchants`.
    pub async fn merchant_create(&self, mutation: Mutation) -> Result<Answer> {
        let (rates, request) = (self.rates.load_full(), MerchantRequest::read(&mutation.body));
        self.run_once(mutation, KeyScope::Operator, async move |work| {
            let id = MerchantId::generate(work.now, &mut work.dice);
            let merchant = request?.into_merchant(id, work.now);
            match work.tx.merchant_insert(&merchant).await {
                Err(StoreError::Conflict(Constraint::MerchantSlug)) => {
                    return Err(Refusal::member("/slug", MemberCode::Duplicate, "is taken"));
                }
                other => other?,
            }
            answer(201, &merchant, rates.as_deref())
        })
        .await
    }

    /// `PATCH /merchants/:m`. A change takes effect with the merchant's next request.
    pub async fn merchant_update(&self, mutation: Mutation, id: Named<MerchantId>) -> Result<Answer> {
        let tenant = id.clone().map(|merchant_id| Tenant { merchant_id, livemode: false });
        let body = mutation.body.clone();
        let rates = self.rates.load_full();
        let answered = self
            .for_turn(mutation, tenant, async move |work| {
                let before = work.tx.merchant_get(&id?).await?.ok_or_else(MerchantId::missing)?;
                work.check_version(before.resource_version)?;
                let merchant = before.change(read_merchant_change(&body, &before)?, work.now)?;
                if merchant != before {
                    work.tx.merchant_update(&merchant).await?;
                    if merchant.status == MerchantStatus::Closed {
                        // Closing is permanent: nobody can share anything with it any more, nor can it share
                        // with others.
                        work.tx.connections_end(&merchant.id, work.now).await?;
                    }
                }
                answer(200, &merchant, rates.as_deref())
            })
            .await;
        self.forget_keys();
        answered
    }

    /// `GET /merchants/:m`.
    pub async fn merchant_get(&self, id: MerchantId) -> Result<Answer> {
        let found = self.read(async move |tx| tx.merchant_get(&id).await).await?;
        answer(200, &found.ok_or_else(MerchantId::missing)?, self.rates.load().as_deref())
    }

    /// `GET /merchants`: newest first.
    pub async fn merchants_list(&self, request: &ListRequest, filter: MerchantFilter) -> Result<List> {
        let rates = self.rates.load_full();
        let show = |merchant: Merchant| {
            Ok((merchant.id.to_string(), written(OperatorView::new(&merchant, rates.as_deref()))?))
        };
        self.operator_list(
            ListKind::OperatorMerchants,
            MerchantId::PREFIX,
            request,
            show,
            async move |tx, of| Ok(tx.merchants_page(&filter, of.before.as_deref(), of.rows).await?),
        )
        .await
    }
}

fn answer(status: u16, merchant: &Merchant, rates: Option<&DefaultRates>) -> Result<Answer> {
    let shown = OperatorView::new(merchant, rates);
    Ok(Answer::record(status, &shown)?.version(merchant.resource_version).about(merchant.id.as_str()))
}
