//! Subscriptions: created and reported on by the operator, read by the merchant (contract 2.6, 3.8, 6.2).
//!
//! A renewal reserves its order's number in the transaction that creates the order. A report that says nothing new
//! answers `applied: false` and commits nothing.

use authority_domain::list_filter::SubscriptionFilter;
use authority_domain::subscription::renewal::Renewing;
use authority_domain::subscription::state_machine::SubscriptionOutcome;
use authority_domain::subscription::{
    AnchoredSubscription, SubscriptionReportRequest, SubscriptionRequest, SubscriptionStatus,
};
use authority_domain::transitions::founding::Founding;
use authority_domain::{
    Change, CheckoutId, ErrorCode, ListKind, MemberCode, Named, Order, Refusal, Result, SubscriptionId,
    Tenant, subscription,
};
use authority_store::tx::OwnedRecord;

use super::access::Caller;
use super::due::time_for;
use super::lists::{List, ListRequest};
use super::mutation::Work;
use super::report_result::SubscriptionReportResult;
use super::{Answer, App, Mutation, Owner, alerts};
use crate::app::order::ingest::own_number;
use crate::app::order::read::free_order_number;

impl App {
    /// `POST /merchants/:m/:mode/subscriptions`.
    pub async fn subscription_open(&self, mutation: Mutation, tenant: Named<Tenant>) -> Result<Answer> {
        let request = SubscriptionRequest::read(&mutation.body, self.now());
        self.for_tenant(mutation, tenant, None, async move |work, owner| {
            Answer::of(201, &open(work, &owner, request?).await?.record)
        })
        .await
    }

    /// `POST /subscriptions/:id/reports`. An impossible transition raises an operator alert (contract 6.2).
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`; 422 for wrong members; the refusals of
    /// [`AnchoredSubscription::report`](authority_domain::subscription::AnchoredSubscription::report).
    pub async fn subscription_report(&self, mutation: Mutation, id: Named<SubscriptionId>) -> Result<Answer> {
        let request = SubscriptionReportRequest::read(&mutation.body, self.now());
        let record = id.clone().map(OwnedRecord::Subscription);
        let tenant = self.owner_of(record, SubscriptionId::missing).await?;
        let named = id.clone();
        let answered = self
            .for_tenant(mutation, tenant, None, async move |work, owner| {
                let before = find(work, &owner, named).await?;
                let (applied, now) = report(work, &owner, before, request?).await?;
                let subscription = &now.record;
                Answer::showing(200, &SubscriptionReportResult { applied, subscription }, subscription)
            })
            .await;
        if let (Err(refusal), Ok(id)) = (&answered, id)
            && refusal.code == ErrorCode::InvalidStateTransition
        {
            alerts::report_refused(self, "subscription", id.as_str(), refusal).await;
        }
        answered
    }

    /// `GET /subscriptions/:id` of the operator API.
    pub async fn subscription_find(&self, id: SubscriptionId) -> Result<Answer> {
        let found = self.read(async move |tx| tx.subscription_find(&id).await).await?;
        Answer::of(200, &found.ok_or_else(SubscriptionId::missing)?.1.record)
    }

    /// `GET /subscriptions/:subscription` of the merchant API: returns the stored text unchanged.
    pub async fn subscription_get(&self, caller: &Caller, id: SubscriptionId) -> Result<Answer> {
        let tenant = caller.tenant.clone();
        let read = self.read(async move |tx| tx.subscription_body(&tenant, &id).await);
        read.await?.map(Answer::stored).ok_or_else(SubscriptionId::missing)
    }

    /// `GET /subscriptions`: newest first.
    pub async fn subscriptions_list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        filter: SubscriptionFilter,
    ) -> Result<List> {
        self.list(ListKind::Subscriptions, &caller.tenant, request, Ok, async move |tx, of| {
            Ok(tx.subscriptions_page(&of.tenant, &filter, of.before, of.rows).await?)
        })
        .await
    }
}

/// The subscription that a request is about, in the version that it expects.
pub(super) async fn find(
    work: &mut Work<'_>,
    owner: &Owner,
    id: Named<SubscriptionId>,
) -> Result<AnchoredSubscription> {
    let found = work.tx.subscription_find(&id?).await?.filter(|(tenant, _)| *tenant == owner.tenant);
    let (_, found) = found.ok_or_else(SubscriptionId::missing)?;
    work.check_version(found.record.resource_version)?;
    Ok(found)
}

/// Creates a subscription.
pub(super) async fn open(
    work: &mut Work<'_>,
    owner: &Owner,
    request: SubscriptionRequest,
) -> Result<AnchoredSubscription> {
    let new = request.into_new(work.now, &mut work.dice)?;
    owner.merchant.check_not_closed()?;
    let made = subscription::state_machine::open(new, owner.tenant.livemode, work.now)?;
    work.commit(owner, &[made.told()]).await?;
    Ok(made)
}

/// Applies a report; returns whether it changed something, and the subscription as it is then.
pub(super) async fn report(
    work: &mut Work<'_>,
    owner: &Owner,
    before: AnchoredSubscription,
    request: SubscriptionReportRequest,
) -> Result<(bool, AnchoredSubscription)> {
    let mut report = request.into_report(work.now, &mut work.dice)?;
    if before.record.status == SubscriptionStatus::Paused {
        let time = time_for(work, &owner.tenant, before.record.created_at).await?;
        report.ahead_ms = time.as_ms() - work.now.as_ms();
    }
    let unchanged = before.clone();
    let (next, changes) = match before.report(report, work.now)? {
        SubscriptionOutcome::Unchanged => return Ok((false, unchanged)),
        SubscriptionOutcome::Changed(next) => {
            let told = next.told();
            (*next, vec![told])
        }
        SubscriptionOutcome::Renewing(renewing) => renew(work, owner, *renewing, &unchanged).await?,
    };
    work.commit(owner, &changes).await?;
    Ok((true, next))
}

/// Adds the number of the renewal's order, and the order before it.
async fn renew(
    work: &mut Work<'_>,
    owner: &Owner,
    renewing: Renewing,
    before: &AnchoredSubscription,
) -> Result<(AnchoredSubscription, Vec<Change>)> {
    let Owner { tenant, merchant } = owner;
    merchant.check_not_closed()?;
    let number = match renewing.chosen_number() {
        Some(chosen) => {
            let chosen = own_number(work, tenant, chosen.clone()).await;
            chosen.map_err(|refusal| refusal.within("/renew"))?
        }
        None => free_order_number(work, owner).await?,
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
) -> Result<Option<Founding>> {
    let terms = work.tx.subscription_terms(tenant, checkout).await?;
    Ok(terms.map(|terms| Founding { id: SubscriptionId::generate(work.now, &mut work.dice), terms }))
}

/// The order that a payment on a subscription pays: its latest one.
pub(super) async fn order_to_pay(work: &mut Work<'_>, tenant: &Tenant, id: &SubscriptionId) -> Result<Order> {
    let found = work.tx.subscription_get(tenant, id).await?;
    let record = found.ok_or_else(|| {
        let detail = "is no subscription of this merchant and mode";
        Refusal::member("/subscription_id", MemberCode::UnknownReference, detail)
    })?;
    let number = record.latest_order_number.ok_or_else(|| {
        let detail = "The subscription has no order yet; a renewal makes one.";
        Refusal::new(ErrorCode::InvalidStateTransition, detail).with("current_status", record.status.as_str())
    })?;
    work.order_of(tenant, &number).await
}
