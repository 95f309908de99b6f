//! Changing and deleting webhook endpoints (contract 4.10, 7.5).
//!
//! An endpoint that is disabled or deleted gets no more deliveries. Its pending deliveries are cancelled in the
//! same transaction, up to a bound; housekeeping cancels the rest. Until then the endpoint cannot be enabled
//! again, so that none of them is ever sent. An attempt in flight at that time is settled by the dispatcher that
//! holds it.

use authority_domain::endpoint::read_endpoint_patch;
use authority_domain::{
    AlertCode, Endpoint, EndpointId, EndpointStatus, FailureReason, Named, Refusal, Result, Tenant,
};
use authority_store::tx::{SealedOption, Tx};
use serde::Serialize;

use crate::app::endpoint::client_certificate::inspected;
use crate::app::endpoint::merchant::{Holder, shown};
use crate::app::endpoint::url_check::UrlCheck;
use crate::app::{Answer, App, Mutation, Work};

/// Pending deliveries that are cancelled in one transaction; a longer transaction would block other writes.
const CANCELLED_AT_ONCE: i64 = 10_000;

/// A deleted endpoint.
#[derive(Serialize)]
#[serde(tag = "object", rename = "webhook_endpoint")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "DeletedWebhookEndpoint"))]
pub(in crate::app) struct Deleted<'a> {
    /// The id it had.
    id: &'a EndpointId,
    /// True.
    deleted: bool,
}

/// The endpoint that a request addresses.
pub(in crate::app) async fn addressed(
    tx: &mut Tx,
    tenant: &Tenant,
    id: Named<EndpointId>,
) -> Result<Endpoint> {
    tx.endpoint_get(tenant, &id?).await?.ok_or_else(EndpointId::missing)
}

impl App {
    /// `PATCH /webhook-endpoints/:id`.
    pub async fn endpoint_change(
        &self,
        holder: impl Into<Holder>,
        mutation: Mutation,
        id: Named<EndpointId>,
    ) -> Result<Answer> {
        let holder = holder.into();
        self.checking_url(&holder.tenant, |check| {
            self.endpoint_change_checked(holder.clone(), mutation.clone(), id.clone(), check)
        })
        .await
    }

    async fn endpoint_change_checked(
        &self,
        holder: Holder,
        mutation: Mutation,
        id: Named<EndpointId>,
        check: UrlCheck,
    ) -> Result<Answer> {
        let body = mutation.body.clone();
        let app = self.clone();
        self.for_holder(mutation, holder, async move |work, tenant| {
            let before = addressed(work.tx, &tenant, id).await?;
            work.check_version(before.resource_version)?;
            let mut patch = read_endpoint_patch(&body, app.urls.of(&tenant.merchant_id), tenant.livemode)?;
            if let Some(new) = patch.client_certificate.take() {
                let new = new.map(|new| inspected(new, work.now)).transpose()?;
                patch.client_certificate = Some(new);
            }
            let (headers, certificate) = (patch.headers.clone(), patch.client_certificate.clone());
            let Some(after) = before.patched(patch, work.now)? else {
                return shown(before, work.now);
            };
            work.tx.endpoint_update(&tenant, &after).await?;
            if let Some(headers) = headers {
                let sealed = app.seal_headers(&after.id, &headers)?;
                let option = SealedOption::RequestHeaders;
                work.tx.endpoint_sealed_put(&tenant, &after.id, option, sealed.as_deref()).await?;
            }
            if let Some(certificate) = certificate {
                let sealed = app.seal_client_certificate(&after.id, certificate.as_ref())?;
                let option = SealedOption::ClientCertificate;
                work.tx.endpoint_sealed_put(&tenant, &after.id, option, sealed.as_deref()).await?;
            }
            after_switching(work, &before, &after).await?;
            check.of_body(app.urls.of(&tenant.merchant_id), &body, tenant.livemode)?;
            shown(after, work.now)
        })
        .await
    }

    /// `DELETE /webhook-endpoints/:id`.
    pub async fn endpoint_delete(
        &self,
        holder: impl Into<Holder>,
        mutation: Mutation,
        id: Named<EndpointId>,
    ) -> Result<Answer> {
        self.for_holder(mutation, holder, async move |work, tenant| {
            let endpoint = addressed(work.tx, &tenant, id).await?;
            let (id, version) = (&endpoint.id, endpoint.resource_version);
            work.check_version(version)?;
            work.tx.endpoint_delete(&tenant, id, version, work.now).await?;
            let reason = FailureReason::EndpointDeleted;
            work.tx.deliveries_cancel(id, reason, work.now, CANCELLED_AT_ONCE).await?;
            work.tx.alerts_close_about(std::slice::from_ref(id), AlertCode::ALL, work.now).await?;
            Ok(Answer::record(200, &Deleted { id, deleted: true })?.about(id.as_str()))
        })
        .await
    }
}

/// Applies the consequences of a change. When an endpoint was disabled or enabled, its pending deliveries are
/// cancelled, so that none from before is ever sent. Alerts whose condition no longer holds are closed.
///
/// # Errors
/// `service_unavailable` when the endpoint is to be enabled while there are more deliveries to cancel.
pub(in crate::app) async fn after_switching(
    work: &mut Work<'_>,
    before: &Endpoint,
    after: &Endpoint,
) -> Result<()> {
    if before.status != after.status {
        let reason = FailureReason::EndpointDisabled;
        let cancelled = work.tx.deliveries_cancel(&after.id, reason, work.now, CANCELLED_AT_ONCE).await?;
        let left = i64::try_from(cancelled).is_ok_and(|cancelled| cancelled == CANCELLED_AT_ONCE);
        if after.status == EndpointStatus::Enabled && left {
            return Err(Refusal::unavailable(1));
        }
    }
    let over = conditions_over(before, after);
    work.tx.alerts_close_about(std::slice::from_ref(&after.id), over, work.now).await?;
    Ok(())
}

/// The alerts that no longer apply: all of them when the endpoint is enabled anew or its merchant wants nothing
/// sent; those about the receiver's address when the address has changed.
fn conditions_over(before: &Endpoint, after: &Endpoint) -> &'static [AlertCode] {
    if before.status != after.status {
        &[
            AlertCode::EndpointFailing,
            AlertCode::EndpointDisabled,
            AlertCode::TlsCertificateInvalid,
            AlertCode::BlockedAddress,
        ]
    } else if before.url != after.url {
        &[AlertCode::TlsCertificateInvalid, AlertCode::BlockedAddress]
    } else {
        &[]
    }
}
