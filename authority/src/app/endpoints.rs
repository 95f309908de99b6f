//! Webhook endpoints: make, list, read, test (contract 4.10).
//!
//! The name in the URL is resolved before the transaction. The signing secret is made here, sealed before it touches the store, and shown once.

use std::time::Duration;

use authority_domain::change::{Change, Record, WebhookTest};
use authority_domain::cursor::ListKind;
use authority_domain::endpoint::{ENDPOINTS_MAX, Endpoint, EndpointStatus};
use authority_domain::error_code::ErrorCode;
use authority_domain::id::EndpointId;
use authority_domain::refusal::Refusal;
use authority_domain::requests::{EndpointRequest, EndpointTestRequest, url_address_blocked};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use authority_store::StoreError;
use authority_store::commit::{Audience, commit_changes};
use authority_store::ports::{KeyScope, SealedSecret, Tx};
use serde::Serialize;
use serde_json::Value;
use verify_core::catalog::EventType;

use super::access::Caller;
use super::keys::random;
use super::lists::{List, ListRequest, written};
use super::{Answer, App, Mutation};
use crate::names::leads_astray;
use crate::secret_box::SecretContext;

/// An endpoint's first secret has this version; the context it is sealed under names it.
const FIRST_SECRET: u32 = 1;

/// The endpoint and the secret that is shown this once.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "WebhookEndpointWithSecret"))]
pub(super) struct WithSecret<'a> {
    #[serde(flatten)]
    pub(super) endpoint: &'a Endpoint,
    /// The signing secret, `whsec_…`, shown this once.
    pub(super) secret: &'a str,
}

/// Whose endpoints a request is about, and what holds for them.
#[derive(Clone, Debug)]
pub struct Holder {
    pub(super) tenant: Tenant,
    /// Within what its idempotency keys count.
    pub(super) scope: KeyScope,
    /// How many endpoints there may be.
    limit: i64,
    /// Changes need `If-Match`.
    pub(super) strict: bool,
}

impl From<&Caller> for Holder {
    fn from(caller: &Caller) -> Self {
        Self {
            tenant: caller.tenant.clone(),
            scope: KeyScope::Merchant(caller.tenant.clone()),
            limit: ENDPOINTS_MAX,
            strict: caller.merchant.settings.require_if_match,
        }
    }
}

impl Holder {
    /// A merchant, for the operator.
    pub(crate) fn merchant(tenant: Tenant) -> Self {
        let scope = KeyScope::OperatorFor(tenant.clone());
        Self { tenant, scope, limit: ENDPOINTS_MAX, strict: false }
    }

    /// The platform, which has one endpoint of its own.
    pub(super) fn operator() -> Self {
        Self { tenant: Tenant::operator(), scope: KeyScope::Operator, limit: 1, strict: false }
    }
}

/// The answer that shows an endpoint.
pub(super) fn shown(endpoint: Endpoint, now: Timestamp) -> Result<Answer, Refusal> {
    let (version, id) = (endpoint.resource_version, endpoint.id.clone());
    Ok(Answer::record(200, &endpoint.seen_at(now))?.version(version).about(id.as_str()).volatile())
}

/// A test event that was made.
#[derive(Serialize)]
#[serde(tag = "object", rename = "webhook_test_request")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "WebhookTestRequest"))]
pub(super) struct TestRequested<'a> {
    /// The event.
    event_id: &'a str,
    /// Its delivery.
    delivery_id: &'a str,
    /// Where it goes.
    endpoint_id: &'a EndpointId,
    /// Whether it is of live mode.
    livemode: bool,
}

/// How long a request waits for the name server of a receiver, at most.
const RESOLVE_LIMIT: Duration = Duration::from_secs(2);

impl App {
    /// Whether the name in the URL of this body leads where events may go (contract 7.6 rule 4), as far as can be found
    /// out now. Asked before the transaction: a name server may take its time. What is no URL is refused elsewhere.
    ///
    /// # Errors
    /// `endpoint_url_forbidden`, to be given when nothing else is wrong.
    pub(super) async fn judged_target(&self, body: &Value, livemode: bool) -> Result<(), Refusal> {
        let url = body.get("url").and_then(Value::as_str);
        let target = url.and_then(|url| self.urls.parse(url, livemode).ok());
        let (Some(names), Some(target)) = (&self.names, target) else { return Ok(()) };
        if leads_astray(names.as_ref(), &target, RESOLVE_LIMIT).await {
            return Err(url_address_blocked());
        }
        Ok(())
    }

    /// `POST /webhook-endpoints`.
    ///
    /// # Errors
    /// 422 for wrong members; `endpoint_url_forbidden`; `endpoint_limit_reached`.
    pub async fn endpoint_create(
        &self,
        holder: impl Into<Holder>,
        mutation: Mutation,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let app = self.clone();
        let Holder { tenant, scope, limit, .. } = holder.into();
        let target = self.judged_target(&body, tenant.livemode).await;
        mutation
            .run(self, scope, move |work| {
                Box::pin(async move {
                    let request = EndpointRequest::read(&body, &app.urls, tenant.livemode)?;
                    target?;
                    if work.tx.endpoint_count(&tenant).await? >= limit {
                        return Err(Refusal::new(
                            ErrorCode::EndpointLimitReached,
                            format!("There may be {limit} at most, and there are as many."),
                        ));
                    }
                    let id = EndpointId::generate(work.now, &mut work.dice);
                    let secret = verify_core::secret::generate(random(work));
                    let context = SecretContext { endpoint_id: id.as_str(), secret_version: FIRST_SECRET };
                    let sealed = app
                        .secrets
                        .seal(app.dice.as_ref(), context, &secret)
                        .map_err(|_| Refusal::internal())?;
                    let hint = verify_core::secret::hint(&secret);
                    let endpoint = request.into_endpoint(id, hint, tenant.livemode, work.now);
                    let sealed = SealedSecret { version: i64::from(FIRST_SECRET), sealed, expires_at: None };
                    work.tx.endpoint_insert(&tenant, &endpoint, &sealed).await?;
                    let created = WithSecret { endpoint: &endpoint, secret: &secret };
                    Ok(Answer::record(201, &created)?
                        .version(endpoint.resource_version)
                        .location(app.location("webhook-endpoints", endpoint.id.as_str()))
                        .about(endpoint.id.as_str())
                        .confidential())
                })
            })
            .await
    }

    /// `GET /webhook-endpoints/:id`.
    ///
    /// # Errors
    /// `not_found`; `None` is a malformed id.
    pub async fn endpoint_get(
        &self,
        holder: impl Into<Holder>,
        id: Option<EndpointId>,
    ) -> Result<Answer, Refusal> {
        let id = id.ok_or_else(|| Refusal::not_found("webhook endpoint"))?;
        let tenant = holder.into().tenant;
        let endpoint = self
            .store
            .read(move |tx: &mut dyn Tx| Box::pin(async move { tx.endpoint_get(&tenant, &id).await }))
            .await
            .map_err(|error: StoreError| Refusal::from(error))?
            .ok_or_else(|| Refusal::not_found("webhook endpoint"))?;
        shown(endpoint, self.now())
    }

    /// `GET /webhook-endpoints`: newest first.
    ///
    /// # Errors
    /// `invalid_cursor`.
    pub async fn endpoints_list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        status: Vec<EndpointStatus>,
    ) -> Result<List, Refusal> {
        let status: Vec<String> = status.iter().map(|status| status.as_str().to_owned()).collect();
        let show = |endpoint: Endpoint| written(endpoint.seen_at(self.now()));
        self.list(ListKind::WebhookEndpoints, &caller.tenant, request, show, move |tx, of| {
            Box::pin(async move { Ok(tx.endpoints_page(&of.tenant, &status, of.before, of.rows).await?) })
        })
        .await
    }

    /// `POST /webhook-endpoints/:id/test`: an ordinary event, delivered to this endpoint alone.
    ///
    /// # Errors
    /// `not_found`; 422 for wrong members; `endpoint_disabled`.
    pub async fn endpoint_test(
        &self,
        caller: &Caller,
        mutation: Mutation,
        id: Option<EndpointId>,
        body: Option<Value>,
    ) -> Result<Answer, Refusal> {
        let tenant = caller.tenant.clone();
        let merchant = caller.merchant.context();
        let requested_by = caller.key_id.to_string();
        mutation
            .run(self, KeyScope::Merchant(tenant.clone()), move |work| {
                Box::pin(async move {
                    let missing = || Refusal::not_found("webhook endpoint");
                    let id = id.ok_or_else(missing)?;
                    let endpoint = work.tx.endpoint_get(&tenant, &id).await?.ok_or_else(missing)?;
                    let request = EndpointTestRequest::read(body.as_ref())?;
                    if endpoint.status == EndpointStatus::Disabled {
                        return Err(Refusal::new(ErrorCode::EndpointDisabled, "The endpoint is disabled."));
                    }
                    let test =
                        WebhookTest { endpoint_id: id.clone(), message: request.message, requested_by };
                    let changes =
                        [Change { event_type: EventType::WebhookTest, record: Record::WebhookTest(test) }];
                    let audience = Audience::Tested(id.clone());
                    let done = commit_changes(
                        work.tx,
                        &tenant,
                        &merchant,
                        &changes,
                        &audience,
                        work.now,
                        &mut work.dice,
                    )
                    .await?;
                    let (Some(event), Some(delivery)) = (done.events.first(), done.deliveries.first()) else {
                        return Err(Refusal::internal());
                    };
                    let requested = TestRequested {
                        event_id: event.id.as_str(),
                        delivery_id: delivery.id.as_str(),
                        endpoint_id: &id,
                        livemode: tenant.livemode,
                    };
                    Answer::record(202, &requested)
                })
            })
            .await
    }
}
