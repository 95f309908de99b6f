//! Links to the merchant portal and the sessions that they become (contract 20).
//!
//! The operator asks for a link ([`App::portal_session_create`]), which holds 256 random bits; the database knows their
//! hash. Looking at a link changes nothing ([`App::portal_link_works`]), because programs that preview links do that.
//! Opening it ([`App::portal_open`]) replaces the hash by that of other random bits, which the cookie holds: so the
//! link works once, and of two browsers one gets in. Every request looks the session up in the database, together with
//! the operator key that made it and its merchant. A session ends on every instance at once: by signing out, by its
//! time, with that key, and while the merchant is not active. Housekeeping removes those that time has ended.

use authority_domain::audit_log::AuditEntry;
use authority_domain::body::Loopback;
use authority_domain::merchant::MerchantStatus;
use authority_domain::merchant::portal_session::{PortalSession, PortalSessionRequest};
use authority_domain::{
    Author, KeyId, MerchantId, Named, PortalSessionId, RequestId, Result, Scope, Tenant, Timestamp,
};
use authority_store::StoreError;
use authority_store::shards::Turns;
use authority_store::tx::FoundPortalSession;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::app::merchant::keys::random;
use crate::app::session_secret::SessionSecret;
use crate::app::{Answer, App, Caller, Mutation, Owner};

/// Labels of what is derived from the secret of a link or a session.
const LINK: &str = "authority portal link";
const STORED: &str = "authority portal session";
const FORMS: &str = "authority portal forms";

/// Where a link leads, before the secret.
const ENTER: &str = "/portal/enter/";

/// A link as it is shown, once (contract 20). Has no `Debug`: it holds the link.
#[derive(Serialize)]
#[serde(tag = "object", rename = "portal_session")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PortalSession"))]
pub(in crate::app) struct IssuedLink<'a> {
    /// Names the link and its session in the audit log; it opens nothing.
    id: &'a PortalSessionId,
    /// The merchant whose data it shows.
    merchant_id: &'a MerchantId,
    /// Whether that is live data.
    livemode: bool,
    /// What the session may do.
    scopes: &'a [Scope],
    /// The link, which works once.
    url: &'a str,
    /// Where the portal leads back to.
    return_url: Option<&'a str>,
    /// When the link and its session end.
    expires_at: Timestamp,
    /// When the link was made.
    created_at: Timestamp,
}

/// Somebody with a running session. Has no `Debug`: it holds the token of its forms.
#[derive(Clone)]
pub struct PortalVisitor {
    /// The session.
    pub session_id: PortalSessionId,
    /// The merchant, the mode and the scopes, as the merchant API knows them.
    pub caller: Caller,
    /// Where the portal leads back to.
    pub return_url: Option<String>,
    /// When the session ends.
    pub expires_at: Timestamp,
    /// What every form of this session carries.
    pub form_token: String,
}

impl App {
    /// `POST /merchants/:m/:mode/portal-sessions`: a link for `by` to hand on.
    pub async fn portal_session_create(
        &self,
        mutation: Mutation,
        by: KeyId,
        tenant: Named<Tenant>,
    ) -> Result<Answer> {
        let origin = self.portal_origin.clone();
        let body = mutation.body.clone();
        self.for_tenant(mutation, tenant, None, async move |work, Owner { tenant, merchant }| {
            let loopback = if tenant.livemode { Loopback::Refused } else { Loopback::Allowed };
            let request = PortalSessionRequest::read(&body, loopback)?;
            merchant.check_not_closed()?;
            let secret = SessionSecret::of(random(work));
            let session = PortalSession {
                id: PortalSessionId::generate(work.now, &mut work.dice),
                hash: secret.hash(LINK),
                tenant,
                scopes: request.scopes,
                key_id: by,
                return_url: request.return_url,
                created_at: work.now,
                opened_at: None,
                expires_at: work.now.plus_ms(request.life_ms),
            };
            work.tx.portal_session_insert(&session).await?;
            let url = Zeroizing::new(format!("{origin}{ENTER}{}", *secret.text()));
            Ok(Answer::record(201, &shown(&session, &url))?.about(session.id.as_str()).confidential())
        })
        .await
    }

    /// Whether a link can still be opened. Asking changes nothing.
    pub async fn portal_link_works(&self, link: &str) -> Result<bool> {
        let Some(secret) = SessionSecret::read(link) else { return Ok(false) };
        Ok(self.portal_found(secret.hash(LINK)).await?.is_some())
    }

    /// Opens a link; what the cookie is to hold. `None` when it was used or has ended.
    pub async fn portal_open(&self, link: &str, request_id: RequestId) -> Result<Option<Zeroizing<String>>> {
        let Some(secret) = SessionSecret::read(link) else { return Ok(None) };
        let link = secret.hash(LINK);
        let Some(FoundPortalSession { session, .. }) = self.portal_found(link).await? else {
            return Ok(None);
        };
        let cookie = SessionSecret::generate(self.dice.as_ref());
        let (stored, now) = (cookie.hash(STORED), self.now());
        let author = Author::PortalSession(session.id);
        let entry = self.portal_entry("portal.sign_in", author, request_id, &session.tenant);
        let opened = self
            .write(Turns::of(&session.tenant.merchant_id), async move |tx| {
                let opened = tx.portal_session_open(&link, &stored, now).await?;
                if opened {
                    tx.audit_insert(&entry).await?;
                }
                Ok::<_, StoreError>(opened)
            })
            .await?;
        Ok(opened.then(|| cookie.text()))
    }

    /// The session that a cookie names, if it is running.
    pub async fn portal_session(&self, cookie: &str) -> Result<Option<PortalVisitor>> {
        let Some(secret) = SessionSecret::read(cookie) else { return Ok(None) };
        let Some(FoundPortalSession { session, merchant, .. }) =
            self.portal_found(secret.hash(STORED)).await?
        else {
            return Ok(None);
        };
        Ok(Some(PortalVisitor {
            caller: Caller::of_portal(&session, merchant),
            session_id: session.id,
            return_url: session.return_url,
            expires_at: session.expires_at,
            form_token: hex::encode(secret.hash(FORMS)),
        }))
    }

    /// Ends a session.
    pub async fn portal_sign_out(&self, visitor: &PortalVisitor, request_id: RequestId) -> Result<()> {
        let (id, tenant) = (visitor.session_id.clone(), &visitor.caller.tenant);
        let author = Author::PortalSession(id.clone());
        let entry = self.portal_entry("portal.sign_out", author, request_id, tenant);
        self.write(Turns::of(&tenant.merchant_id), async move |tx| {
            tx.portal_session_end(&id).await?;
            Ok(tx.audit_insert(&entry).await?)
        })
        .await
    }

    /// The link or session with this hash, if nothing has ended it.
    async fn portal_found(&self, hash: [u8; 32]) -> Result<Option<FoundPortalSession>> {
        let now = self.now();
        let found = self.read(async move |tx| tx.portal_session(&hash).await).await?;
        Ok(found.filter(|found| {
            found.session.expires_at > now
                && found.key_revoked_at.is_none()
                && found.merchant.status == MerchantStatus::Active
        }))
    }

    fn portal_entry(
        &self,
        operation: &str,
        author: Author,
        request_id: RequestId,
        tenant: &Tenant,
    ) -> AuditEntry {
        AuditEntry {
            merchant_id: Some(tenant.merchant_id.clone()),
            livemode: Some(tenant.livemode),
            ..self.session_entry(operation, author, request_id)
        }
    }
}

fn shown<'a>(session: &'a PortalSession, url: &'a str) -> IssuedLink<'a> {
    IssuedLink {
        id: &session.id,
        merchant_id: &session.tenant.merchant_id,
        livemode: session.tenant.livemode,
        scopes: &session.scopes,
        url,
        return_url: session.return_url.as_deref(),
        expires_at: session.expires_at,
        created_at: session.created_at,
    }
}
