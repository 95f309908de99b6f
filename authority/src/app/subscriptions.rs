//! Subscriptions: created and reported on by the operator, read by the merchant (contract 2.6, 3.8, 6.2).
//!
//! A renewal reserves its order's number in the transaction that creates the order. A report that says nothing new
//! answers `applied: false` and commits nothing.

use authority_domain::cursor::ListKind;
use authority_domain::error_code::ErrorCode;
use authority_domain::event::change::Change;
use authority_domain::id::{CheckoutId, SubscriptionId};
use authority_domain::list_filter::SubscriptionFilter;
use authority_domain::merchant::Merchant;
use authority_domain::order::Order;
use authority_domain::refusal::{MemberCode, Refusal};
use authority_domain::subscription;
use authority_domain::subscription::flow::SubscriptionOutcome;
use authority_domain::subscription::founding::Founding;
use authority_domain::subscription::renewal::Renewing;
use authority_domain::subscription::{
    AnchoredSubscription, Subscription, SubscriptionReportRequest, SubscriptionRequest,
};
use authority_domain::tenant::Tenant;
use authority_store::StoreError;
use authority_store::tx::{OwnedRecord, Tx};
use serde::Serialize;
use serde_json::Value;

use super::access::Caller;
use super::lists::{List, ListRequest};
use super::mutation::{Work, operator_scope};
use super::{Answer, App, Mutation};
use crate::app::checkout::create::find_tenant;
use crate::app::order::ingest::own_number;
use crate::app::order::read::free_order_number;

/// The result of a report: the subscription as it is now, and whether this report changed it.
#[derive(Serialize)]
#[serde(tag = "object", rename = "report_result")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SubscriptionReportResult"))]
pub(super) struct ReportResult<'a> {
    /// Whether the report changed it.
    applied: bool,
    /// The subscription as it is now.
    subscription: &'a Subscription,
}

impl App {
    /// `POST /merchants/:m/:mode/subscriptions`.
    ///
    /// # Errors
    /// `not_found`; 422 for wrong members.
    pub async fn subscription_open(
        &self,
        mutation: Mutation,
        tenant: Option<Tenant>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        mutation
            .run(self, operator_scope(tenant.clone()), move |work| {
                Box::pin(async move {
                    let (tenant, merchant) = find_tenant(work, tenant).await?;
                    let made = open(work, &tenant, &merchant, &body).await?;
                    Ok(Answer::record(201, &made.record)?
                        .version(made.record.resource_version)
                        .about(made.record.id.as_str()))
                })
            })
            .await
    }

    /// `POST /subscriptions/:id/reports`.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`; 422 for wrong members; the refusals of
    /// [`AnchoredSubscription::report`](authority_domain::subscription::AnchoredSubscription::report).
    pub async fn subscription_report(
        &self,
        mutation: Mutation,
        id: Option<SubscriptionId>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let if_match = mutation.if_match;
        mutation
            .run_about(self, id.clone().map(OwnedRecord::Subscription), move |work| {
                Box::pin(async move {
                    let missing = || Refusal::not_found("subscription");
                    let id = id.ok_or_else(missing)?;
                    let (tenant, before) = work.tx.subscription_find(&id).await?.ok_or_else(missing)?;
                    Mutation::check_version(if_match, before.record.resource_version, false)?;
                    let request = SubscriptionReportRequest::read(&body, work.now)?;
                    let (applied, now) = report(work, &tenant, before, request).await?;
                    let result = ReportResult { applied, subscription: &now.record };
                    Ok(Answer::record(200, &result)?.version(now.record.resource_version).about(id.as_str()))
                })
            })
            .await
    }

    /// `GET /subscriptions/:id` of the operator API.
    ///
    /// # Errors
    /// `not_found`; `None` is a malformed id.
    pub async fn subscription_find(&self, id: Option<SubscriptionId>) -> Result<Answer, Refusal> {
        let missing = || Refusal::not_found("subscription");
        let id = id.ok_or_else(missing)?;
        let found: Option<(Tenant, AnchoredSubscription)> = self
            .store
            .read(move |tx: &mut Tx| Box::pin(async move { tx.subscription_find(&id).await }))
            .await
            .map_err(|error: StoreError| Refusal::from(error))?;
        let (_, found) = found.ok_or_else(missing)?;
        Ok(Answer::record(200, &found.record)?.version(found.record.resource_version))
    }

    /// `GET /subscriptions/:subscription` of the merchant API: returns the stored text unchanged.
    ///
    /// # Errors
    /// `not_found`; `None` is a malformed id.
    pub async fn subscription_get(
        &self,
        caller: &Caller,
        id: Option<SubscriptionId>,
    ) -> Result<Answer, Refusal> {
        let missing = || Refusal::not_found("subscription");
        let id = id.ok_or_else(missing)?;
        let tenant = caller.tenant.clone();
        let found: Option<(String, i64)> = self
            .store
            .read(move |tx: &mut Tx| Box::pin(async move { tx.subscription_body(&tenant, &id).await }))
            .await
            .map_err(|error: StoreError| Refusal::from(error))?;
        let (body, version) = found.ok_or_else(missing)?;
        Ok(Answer::new(200, body).version(version))
    }

    /// `GET /subscriptions`: newest first.
    ///
    /// # Errors
    /// `invalid_cursor`.
    pub async fn subscriptions_list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        filter: SubscriptionFilter,
    ) -> Result<List, Refusal> {
        self.list(ListKind::Subscriptions, &caller.tenant, request, Ok, move |tx, of| {
            Box::pin(async move { Ok(tx.subscriptions_page(&of.tenant, &filter, of.before, of.rows).await?) })
        })
        .await
    }
}

/// Creates a subscription.
pub(super) async fn open(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    body: &Value,
) -> Result<AnchoredSubscription, Refusal> {
    let new = SubscriptionRequest::read(body, work.now)?.into_new(work.now, &mut work.dice)?;
    merchant.check_not_closed()?;
    let made = subscription::flow::open(new, tenant.livemode, work.now)?;
    work.commit(tenant, merchant, &[made.told()]).await?;
    Ok(made)
}

/// Applies a report; returns whether it changed something, and the subscription as it is then.
pub(super) async fn report(
    work: &mut Work<'_>,
    tenant: &Tenant,
    before: AnchoredSubscription,
    request: SubscriptionReportRequest,
) -> Result<(bool, AnchoredSubscription), Refusal> {
    let report = request.into_report(work.now, &mut work.dice)?;
    let unchanged = before.clone();
    let merchant = work.tx.merchant_get(&tenant.merchant_id).await?.ok_or_else(Refusal::internal)?;
    let (next, changes) = match before.report(report, work.now)? {
        SubscriptionOutcome::Unchanged => return Ok((false, unchanged)),
        SubscriptionOutcome::Changed(next) => {
            let told = next.told();
            (*next, vec![told])
        }
        SubscriptionOutcome::Renewing(renewing) => {
            renew(work, tenant, &merchant, *renewing, &unchanged).await?
        }
    };
    work.commit(tenant, &merchant, &changes).await?;
    Ok((true, next))
}

/// Adds the number of the renewal's order, and the order before it.
async fn renew(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    renewing: Renewing,
    before: &AnchoredSubscription,
) -> Result<(AnchoredSubscription, Vec<Change>), Refusal> {
    merchant.check_not_closed()?;
    let number = match renewing.chosen_number() {
        Some(chosen) => {
            let chosen = own_number(work, tenant, chosen.clone()).await;
            chosen.map_err(|refusal| refusal.within("/renew"))?
        }
        None => free_order_number(work, tenant, merchant).await?,
    };
    let latest = match &before.record.latest_order_number {
        Some(latest) => work.tx.order_get(tenant, latest).await?,
        None => None,
    };
    renewing.into_changes(number, latest.as_ref(), merchant.settings.confirm_on, work.now)
}

/// The subscription that a checkout of mode `subscription` starts when it completes; `None` in mode `payment`.
pub(super) async fn founding(
    work: &mut Work<'_>,
    tenant: &Tenant,
    checkout: &CheckoutId,
) -> Result<Option<Founding>, Refusal> {
    let terms = work.tx.subscription_terms(tenant, checkout).await?;
    Ok(terms.map(|terms| Founding { id: SubscriptionId::generate(work.now, &mut work.dice), terms }))
}

/// The order that a payment on a subscription pays: its latest one.
pub(super) async fn order_to_pay(
    work: &mut Work<'_>,
    tenant: &Tenant,
    id: &SubscriptionId,
) -> Result<Order, Refusal> {
    let found = work.tx.subscription_get(tenant, id).await?;
    let record = found.ok_or_else(|| {
        let detail = "is no subscription of this merchant and mode";
        Refusal::member("/subscription_id", MemberCode::UnknownReference, detail)
    })?;
    let number = record.latest_order_number.ok_or_else(|| {
        let detail = "The subscription has no order yet; a renewal makes one.";
        Refusal::new(ErrorCode::InvalidStateTransition, detail).with("current_status", record.status.as_str())
    })?;
    work.tx.order_get(tenant, &number).await?.ok_or_else(Refusal::internal)
}
