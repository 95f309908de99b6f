//! Rotating a webhook endpoint's signing secret (contract 4.10).
//!
//! From the rotation on, deliveries are signed with the new secret first and, during the overlap, also with the
//! old one. The overlap ends at its time, by `retire-secret`, or by a forced rotation. The old secret is removed
//! then, by housekeeping at the latest. The clock decides which secrets are shown and which ones sign, not the
//! removal.

use authority_domain::alert::Severity;
use authority_domain::endpoint::RotationRequest;
use authority_domain::order::no_members;
use authority_domain::{AlertCode, Endpoint, EndpointId, Named, Refusal, Result, Tenant};
use authority_store::hand_off::SealedSecret;

use crate::app::alerts::raise;
use crate::app::endpoint::changes::addressed;
use crate::app::endpoint::merchant::{Holder, WithSecret, shown};
use crate::app::merchant::keys::random;
use crate::app::{Answer, App, Mutation, Work};
use crate::secret_box::SecretContext;

impl App {
    /// `POST /webhook-endpoints/:id/rotate-secret`.
    pub async fn endpoint_rotate_secret(
        &self,
        holder: impl Into<Holder>,
        mutation: Mutation,
        id: Named<EndpointId>,
    ) -> Result<Answer> {
        let (app, request) = (self.clone(), RotationRequest::read(&mutation.body));
        self.for_holder(mutation, holder, async move |work, tenant| {
            let endpoint = addressed(work.tx, &tenant, id).await?;
            work.check_version(endpoint.resource_version)?;
            let request = request?;
            let profile = endpoint.signature_profile.of_core();
            let secret = verify_core::secret::generate_for(profile, random(work));
            let hint = verify_core::secret::hint(&secret);
            let next = endpoint.rotated(hint, request.overlap_s, request.force, work.now)?;
            app.seal_next(work, &tenant, &next, &secret).await?;
            work.tx.endpoint_update(&tenant, &next).await?;
            note_overlap(work, &tenant, &next).await?;
            let shown = WithSecret { endpoint: &next, secret: &secret };
            Ok(Answer::record(200, &shown)?
                .version(next.resource_version)
                .about(next.id.as_str())
                .confidential())
        })
        .await
    }

    /// `POST /webhook-endpoints/:id/retire-secret`: ends the overlap now; without an overlap nothing changes.
    pub async fn endpoint_retire_secret(
        &self,
        holder: impl Into<Holder>,
        mutation: Mutation,
        id: Named<EndpointId>,
    ) -> Result<Answer> {
        let empty = no_members(&mutation.body);
        self.for_holder(mutation, holder, async move |work, tenant| {
            let endpoint = addressed(work.tx, &tenant, id).await?;
            empty?;
            let Some(next) = endpoint.retired(work.now) else { return shown(endpoint, work.now) };
            work.tx.secret_retire(&tenant, &next.id).await?;
            work.tx.endpoint_update(&tenant, &next).await?;
            note_overlap(work, &tenant, &next).await?;
            shown(next, work.now)
        })
        .await
    }

    /// Stores an endpoint's newest secret and sets when the previous one ends.
    async fn seal_next(
        &self,
        work: &mut Work<'_>,
        tenant: &Tenant,
        endpoint: &Endpoint,
        secret: &str,
    ) -> Result<()> {
        let version = work.tx.secret_version(tenant, &endpoint.id).await? + 1;
        let secret_version = u32::try_from(version).map_err(|_| Refusal::internal())?;
        let context = SecretContext::SigningSecret { endpoint_id: endpoint.id.as_str(), secret_version };
        let sealed =
            self.secrets.seal(self.dice.as_ref(), context, secret).map_err(|_| Refusal::internal())?;
        let newest = SealedSecret { version, sealed, expires_at: None };
        let previous_until = endpoint.previous_secret_expires_at.unwrap_or(work.now);
        work.tx.secret_rotate(tenant, &endpoint.id, &newest, previous_until, work.now).await?;
        Ok(())
    }
}

/// Opens or closes the alert that says that two secrets are valid.
async fn note_overlap(work: &mut Work<'_>, tenant: &Tenant, endpoint: &Endpoint) -> Result<()> {
    let code = AlertCode::SecretOverlapOpen;
    let Some(until) = endpoint.previous_secret_expires_at else {
        work.tx.alert_close(Some(tenant), code, endpoint.id.as_str(), work.now).await?;
        return Ok(());
    };
    let message = format!("Two signing secrets are valid until {until}.");
    raise(work, Some(tenant), endpoint.id.as_str(), (code, Severity::Info, message)).await
}
