//! Webhook endpoints: create, list, read (contract 4.10).
//!
//! The host name in a new URL is resolved only when the request is valid otherwise, and outside its transaction:
//! see `UrlCheck`. The signing secret is generated here, sealed before it reaches the store, and shown once. Request
//! headers and the client certificate are sealed too, and never shown.

use authority_domain::endpoint::EndpointRequest;
use authority_domain::endpoint::headers::RequestHeaders;
use authority_domain::list_filter::EndpointFilter;
use authority_domain::merchant::limits::Limits;
use authority_domain::{Endpoint, EndpointId, ErrorCode, ListKind, Refusal, Result, Tenant, Timestamp};
use authority_store::hand_off::SealedSecret;
use authority_store::tx::{KeyScope, SealedOption, Tx};
use serde::Serialize;

use crate::app::endpoint::client_certificate::inspected;
use crate::app::endpoint::url_check::UrlCheck;
use crate::app::lists::written;
use crate::app::merchant::keys::random;
use crate::app::{Answer, App, Caller, List, ListRequest, Mutation};
use crate::secret_box::SecretContext;

/// The version of an endpoint's first secret; the context it is sealed under names it.
const FIRST_SECRET: u32 = 1;

/// The endpoint and its secret, which is shown only once.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "WebhookEndpointWithSecret"))]
pub(in crate::app) struct WithSecret<'a> {
    #[serde(flatten)]
    pub(crate) endpoint: &'a Endpoint,
    /// The signing secret, `whsec_…`, shown only in this answer.
    pub(crate) secret: &'a str,
}

/// The owner of the endpoints that a request is about, and the owner's settings.
#[derive(Clone, Debug)]
pub struct Holder {
    pub(crate) tenant: Tenant,
    /// The scope of its idempotency keys.
    pub(crate) scope: KeyScope,
    /// Changes need `If-Match`.
    pub(crate) strict: bool,
}

impl From<&Caller> for Holder {
    fn from(caller: &Caller) -> Self {
        Self {
            tenant: caller.tenant.clone(),
            scope: KeyScope::Merchant(caller.tenant.clone()),
            strict: caller.merchant.settings.require_if_match,
        }
    }
}

impl Holder {
    /// A merchant whose endpoints the operator manages.
    pub(crate) fn merchant(tenant: Tenant) -> Self {
        let scope = KeyScope::OperatorFor(tenant.clone());
        Self { tenant, scope, strict: false }
    }

    /// The platform, which has one endpoint of its own.
    pub(in crate::app) fn operator() -> Self {
        Self { tenant: Tenant::operator(), scope: KeyScope::Operator, strict: false }
    }
}

/// The limits that the operator set for the owner.
async fn limits_of(tx: &mut Tx, tenant: &Tenant) -> Result<Limits> {
    if tenant.is_operator() {
        return Ok(Limits { endpoints: Some(1), ..Limits::default() });
    }
    let merchant = tx.merchant_get(&tenant.merchant_id).await?;
    merchant.map(|merchant| merchant.limits).ok_or_else(Refusal::internal)
}

/// Refuses an endpoint beyond the limit.
async fn check_count(tx: &mut Tx, tenant: &Tenant, limits: &Limits) -> Result<()> {
    let limit = limits.endpoints_max();
    if tx.endpoint_count(tenant).await? < limit {
        return Ok(());
    }
    if tenant.is_operator() {
        return Err(Refusal::new(ErrorCode::EndpointLimitReached, "The platform has its endpoint already."));
    }
    let detail =
        format!("This merchant's limit endpoints is {limit} per mode; the platform's operator can raise it.");
    Err(Refusal::new(ErrorCode::EndpointLimitReached, detail)
        .with("limit", "endpoints")
        .with("limit_value", limit))
}

/// The answer that shows an endpoint.
pub(in crate::app) fn shown(endpoint: Endpoint, now: Timestamp) -> Result<Answer> {
    let (version, id) = (endpoint.resource_version, endpoint.id.clone());
    Ok(Answer::record(200, &endpoint.seen_at(now))?.version(version).about(id.as_str()).volatile())
}

impl App {
    /// `POST /webhook-endpoints`.
    pub async fn endpoint_create(&self, holder: impl Into<Holder>, mutation: Mutation) -> Result<Answer> {
        let holder = holder.into();
        self.checking_url(&holder.tenant, |check| {
            self.endpoint_create_checked(holder.clone(), mutation.clone(), check)
        })
        .await
    }

    async fn endpoint_create_checked(
        &self,
        holder: Holder,
        mutation: Mutation,
        check: UrlCheck,
    ) -> Result<Answer> {
        let body = mutation.body.clone();
        let app = self.clone();
        self.for_holder(mutation, holder, async move |work, tenant| {
            let request = EndpointRequest::read(&body, app.urls.of(&tenant.merchant_id), tenant.livemode)?;
            let limits = limits_of(work.tx, &tenant).await?;
            let request = request.within(limits.max_in_flight)?;
            let request = request.inspected(|new| inspected(new, work.now))?;
            check_count(work.tx, &tenant, &limits).await?;
            check.of_body(app.urls.of(&tenant.merchant_id), &body, tenant.livemode)?;
            let id = EndpointId::generate(work.now, &mut work.dice);
            let profile = request.signature_profile().of_core();
            let secret = verify_core::secret::generate_for(profile, random(work));
            let context =
                SecretContext::SigningSecret { endpoint_id: id.as_str(), secret_version: FIRST_SECRET };
            let sealed =
                app.secrets.seal(app.dice.as_ref(), context, &secret).map_err(|_| Refusal::internal())?;
            let hint = verify_core::secret::hint(&secret);
            let headers = app.seal_headers(&id, request.headers())?;
            let certificate = app.seal_client_certificate(&id, request.client_certificate())?;
            let endpoint = request.into_endpoint(id, hint, tenant.livemode, work.now);
            let sealed = SealedSecret { version: i64::from(FIRST_SECRET), sealed, expires_at: None };
            work.tx.endpoint_insert(&tenant, &endpoint, &sealed).await?;
            for (option, sealed) in
                [(SealedOption::RequestHeaders, headers), (SealedOption::ClientCertificate, certificate)]
            {
                if sealed.is_some() {
                    let id = &endpoint.id;
                    work.tx.endpoint_sealed_put(&tenant, id, option, sealed.as_deref()).await?;
                }
            }
            let created = WithSecret { endpoint: &endpoint, secret: &secret };
            Ok(Answer::record(201, &created)?
                .version(endpoint.resource_version)
                .location(app.location("webhook-endpoints", endpoint.id.as_str()))
                .about(endpoint.id.as_str())
                .confidential())
        })
        .await
    }

    /// The request headers of an endpoint as they are stored; `None` where there are none.
    pub(in crate::app) fn seal_headers(
        &self,
        id: &EndpointId,
        headers: &RequestHeaders,
    ) -> Result<Option<Vec<u8>>> {
        if headers.is_empty() {
            return Ok(None);
        }
        let text = headers.to_text().map_err(|_| Refusal::internal())?;
        let context = SecretContext::RequestHeaders { endpoint_id: id.as_str() };
        let sealed = self.secrets.seal(self.dice.as_ref(), context, &text);
        sealed.map(Some).map_err(|_| Refusal::internal())
    }

    /// `GET /webhook-endpoints/:id`.
    pub async fn endpoint_get(&self, holder: impl Into<Holder>, id: EndpointId) -> Result<Answer> {
        let tenant = holder.into().tenant;
        let found = self.read(async move |tx| tx.endpoint_get(&tenant, &id).await).await?;
        shown(found.ok_or_else(EndpointId::missing)?, self.now())
    }

    /// `GET /webhook-endpoints`: newest first.
    pub async fn endpoints_list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        filter: EndpointFilter,
    ) -> Result<List> {
        let show = |endpoint: Endpoint| written(endpoint.seen_at(self.now()));
        self.list(ListKind::WebhookEndpoints, &caller.tenant, request, show, async move |tx, of| {
            Ok(tx.endpoints_page(&of.tenant, &filter.status, of.before, of.rows).await?)
        })
        .await
    }
}
