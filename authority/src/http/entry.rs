//! The shared checks of every request, in the order of contract 4.2: authentication, rate limit, permission, and
//! the form of the request.
//!
//! A request comes with its [`Operation`] (see [`super::routes`]). `merchant` and `operator` run the checks that
//! all operations share (rows 3 to 11), call the handler's function with the result, and have `reply.rs` turn its
//! answer into a response. Checks that depend on a stored record (rows 12 to 16) happen in the use case, inside its
//! transaction.

use std::ops::Deref;
use std::sync::Arc;

use arc_swap::ArcSwap;
use authority_domain::event::cause::TraceParent;
use authority_domain::{Author, ErrorCode, KeyId, Refusal, RequestId, Result};
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{HeaderMap, HeaderName};
use verify_core::catalog::API_VERSION;

use super::answer::AnsweredTo;
use super::at_once::{AtOnce, PageTurn};
use super::bearer;
use super::body::Payload;
use super::brand::Brand;
use super::client_address::client_address;
use super::idempotency_key::{self, fingerprint};
use super::if_match;
use super::if_none_match::IfNoneMatch;
use super::live::Live;
use super::operation::{Access, BodyRule, Operation};
use super::path::Names;
use super::problem::Problem;
use super::query::Query;
use super::rate_limit::{Failure, Policy, RateLimitStatus, RateLimiter};
use super::reply::{Holder, Reply, refused, respond};
use super::server::PeerAddress;
use super::trace_context::RequestTrace;
use super::unsent::Unsent;
use crate::app;
use crate::app::figures::RecentFigures;
use crate::app::{App, Caller, Mutation, Operator};
use crate::config::TrustedProxies;
use crate::metrics::Metrics;

pub(super) const SERVICE_VERSION: HeaderName = HeaderName::from_static("service-version");

/// The state that the handlers of both APIs share. A clone is one count: the router makes several for each request.
#[derive(Clone)]
pub struct AppState(Arc<StateParts>);

impl From<StateParts> for AppState {
    fn from(parts: StateParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for AppState {
    type Target = StateParts;

    fn deref(&self) -> &StateParts {
        &self.0
    }
}

/// What an [`AppState`] consists of.
#[derive(Clone)]
pub struct StateParts {
    /// The use cases.
    pub app: App,
    /// The rate limit buckets of merchants, and those of failed authentication on both APIs.
    pub limiter: Arc<RateLimiter>,
    /// The proxies that are trusted to name the client's address.
    pub proxies: Arc<ArcSwap<TrustedProxies>>,
    /// Answers that their clients have not read yet.
    pub unsent: Arc<Unsent>,
    /// Every write of the merchant API needs an idempotency key, whatever its merchant's setting (contract 4.3).
    pub require_idempotency_key: bool,
    /// How the merchants' portal looks.
    pub brand: Arc<Brand>,
    /// The pages that follow, on the listener whose state this is.
    pub live: Arc<Live>,
    /// What clients have under way.
    pub at_once: Arc<AtOnce>,
    /// The counters of this process.
    pub metrics: Arc<Metrics>,
    /// The database figures that were read recently.
    pub figures: Arc<RecentFigures>,
}

/// A request that passed the shared checks.
pub(super) struct AuthorizedRequest<C> {
    /// The authenticated caller.
    pub(super) who: C,
    /// The parameters, for the handler to read.
    pub(super) query: Query,
    /// The names in the path, for the handler to read.
    pub(super) names: Names,
    operation: &'static Operation,
    request_id: RequestId,
    trace: Option<TraceParent>,
    payload: Payload,
    method: http::Method,
    path: String,
    idempotency_key: Option<String>,
    if_match: Option<app::IfMatch>,
}

/// Whoever may call an API. An operator's writes are recorded under its key.
pub(super) trait Actor: Send + Sized + 'static {
    /// The author for the audit log; `None` for a merchant.
    fn author(&self) -> Option<Author>;

    /// Runs the shared checks of this API, then `act`.
    fn enter(
        state: AppState,
        request: Request,
        act: Act<Self>,
    ) -> impl Future<Output = Response> + Send + 'static;
}

/// A handler's function without its type, so that the shared checks are compiled once and not for each operation.
pub(super) type Act<C> =
    Arc<dyn Fn(App, AuthorizedRequest<C>) -> BoxFuture<'static, Result<Reply>> + Send + Sync>;

impl Actor for Caller {
    fn author(&self) -> Option<Author> {
        None
    }

    async fn enter(state: AppState, request: Request, act: Act<Self>) -> Response {
        merchant(state, request, act).await
    }
}

impl Actor for Operator {
    fn author(&self) -> Option<Author> {
        Some(Author::Operator(self.key_id.clone()))
    }

    async fn enter(state: AppState, request: Request, act: Act<Self>) -> Response {
        operator(state, request, act).await
    }
}

impl<C: Actor> AuthorizedRequest<C> {
    /// Rows 10 and 11 for an operation that writes: no parameters, readable JSON; also returns what identifies the
    /// logical write.
    pub(super) fn write(self) -> Result<(C, Mutation)> {
        let canonical_query = self.query.canonical().to_owned();
        self.query.finish()?;
        let body = match self.operation.body_rule() {
            BodyRule::Required => self.payload.required()?,
            BodyRule::Optional => self.payload.optional()?,
        };
        let idempotency = match self.idempotency_key {
            None => None,
            Some(key) => Some(app::IdempotencyKey {
                key,
                fingerprint: fingerprint(
                    &self.method,
                    &self.path,
                    &canonical_query,
                    &self.payload.canonical()?,
                ),
            }),
        };
        let mutation = Mutation {
            operation: self.operation.name,
            request_id: self.request_id,
            trace: self.trace,
            idempotency,
            if_match: self.if_match,
            author: self.who.author(),
            body,
        };
        Ok((self.who, mutation))
    }
}

/// Runs an operation of the merchant API, or of the sandbox, which needs a test key and no scope.
async fn merchant(state: AppState, request: Request, act: Act<Caller>) -> Response {
    let (parts, body) = request.into_parts();
    let Some(operation) = operation_of(&parts) else { return undescribed() };
    let unsent = Arc::clone(&state.unsent);
    let (caller, (standing, allowed)) = match authenticate(&state, operation, &parts).await {
        Ok(known) => known,
        Err(refusal) => return refused(operation, refusal),
    };
    let has = IfNoneMatch::read(&parts.method, &parts.headers);
    let (key, merchant_id) = (caller.key_id.clone(), caller.tenant.merchant_id.clone());
    let outcome = async {
        allowed?;
        let _under_way = state.at_once.request(merchant_id.as_str())?;
        unsent.check(&key)?;
        let writes = operation.verb.writes();
        caller.check_merchant(writes)?;
        match operation.access {
            Access::Merchant(any_of) => caller.check_scope(any_of)?,
            Access::TestKey => caller.check_test_mode()?,
            Access::Operator(_) | Access::Everybody => return Err(Refusal::internal()),
        }
        let needs_key = state.require_idempotency_key || caller.merchant.settings.require_idempotency_key;
        let entered = read(caller, operation, writes && needs_key, parts, body).await?;
        let page = page_turn(operation, &state, &key, entered.who.tenant.merchant_id.as_str()).await?;
        Ok((act(state.app.clone(), entered).await?, page))
    };
    let mut response = respond(operation, outcome.await, &has, &Holder { unsent: &unsent, key: &key });
    standing.write(response.headers_mut());
    response.extensions_mut().insert(AnsweredTo(merchant_id));
    response
}

/// Runs an operation of the operator API. Valid operator keys have no rate limits, because this API is never
/// reachable from outside. Invalid keys have one.
async fn operator(state: AppState, request: Request, act: Act<Operator>) -> Response {
    let (parts, body) = request.into_parts();
    let Some(operation) = operation_of(&parts) else { return undescribed() };
    let found = match bearer::read(&parts.headers) {
        Ok(key) => state.app.operator_of(&key).await,
        Err(refusal) => Err(refusal),
    };
    let known = match found.map_err(|refusal| failed(&state, &parts, refusal)) {
        Ok(known) => known,
        Err(refusal) => return refused(operation, refusal),
    };
    let has = IfNoneMatch::read(&parts.method, &parts.headers);
    let (unsent, key) = (Arc::clone(&state.unsent), known.key_id.clone());
    let outcome = async {
        unsent.check(&key)?;
        let Access::Operator(any_of) = operation.access else { return Err(Refusal::internal()) };
        known.check_scope(any_of)?;
        let entered = read(known, operation, false, parts, body).await?;
        let page = page_turn(operation, &state, &key, key.as_str()).await?;
        Ok((act(state.app.clone(), entered).await?, page))
    };
    respond(operation, outcome.await, &has, &Holder { unsent: &unsent, key: &key })
}

/// Waits until a page of a list, or what takes as much, may be built; refuses if by then too many answers are unread.
async fn page_turn(
    operation: &Operation,
    state: &AppState,
    key: &KeyId,
    client: &str,
) -> Result<Option<PageTurn>> {
    if !operation.is_list() && !operation.reads_much {
        return Ok(None);
    }
    let turn = state.at_once.page(client).await?;
    state.unsent.check(key)?;
    Ok(Some(turn))
}

/// The operation of the route that matched.
fn operation_of(parts: &Parts) -> Option<&'static Operation> {
    parts.extensions.get::<&'static Operation>().copied()
}

/// The answer of a handler that was added without an operation; [`super::routes::Routes`] has no way to do so.
fn undescribed() -> Response {
    Problem(Refusal::internal()).into_response()
}

type Limited = (RateLimitStatus, Result<()>);

/// Rows 3 and 4. A failed authentication counts against the client's address.
async fn authenticate(state: &AppState, operation: &Operation, parts: &Parts) -> Result<(Caller, Limited)> {
    let found = match bearer::read(&parts.headers) {
        Ok(key) => state.app.merchant_of(&key).await,
        Err(refusal) => Err(refusal),
    };
    match found {
        Ok(caller) => {
            let policy = operation.policy.unwrap_or_else(|| Policy::of_method(&parts.method));
            let limited = state.limiter.check(&caller.tenant, &caller.merchant.limits, policy);
            Ok((caller, limited))
        }
        Err(refusal) => Err(failed(state, parts, refusal)),
    }
}

/// The refusal for failed authentication; `rate_limited` once its address has failed too often.
pub(crate) fn failed(state: &AppState, parts: &Parts, refusal: Refusal) -> Refusal {
    let failure = match refusal.code {
        ErrorCode::MissingCredential => Failure::NoCredential,
        code if code.status() == 401 => Failure::WrongCredential,
        _ => return refusal,
    };
    let Some(PeerAddress(peer)) = parts.extensions.get() else { return refusal };
    let client = client_address(&state.proxies.load(), peer.ip(), &parts.headers);
    state.limiter.authentication_failed(failure, client).err().unwrap_or(refusal)
}

/// Rows 7 to 9.
async fn read<C>(
    who: C,
    operation: &'static Operation,
    needs_key: bool,
    mut parts: Parts,
    body: Body,
) -> Result<AuthorizedRequest<C>> {
    check_version(&parts.headers)?;
    let payload = Payload::read(&parts.method, &parts.headers, body).await?;
    let writes = operation.verb.writes();
    let idempotency_key = if writes { idempotency_key::read(&parts.headers)? } else { None };
    if needs_key && idempotency_key.is_none() {
        return Err(Refusal::new(
            ErrorCode::IdempotencyKeyRequired,
            "This request needs an Idempotency-Key.",
        )
        .param("Idempotency-Key"));
    }
    let if_match = if writes { if_match::read(&parts.headers)? } else { None };
    let request_id = parts.extensions.get::<RequestId>().cloned().ok_or_else(Refusal::internal)?;
    Ok(AuthorizedRequest {
        who,
        query: Query::parse(parts.uri.query())?.of(operation),
        names: Names::of(&mut parts).await,
        operation,
        request_id,
        trace: parts.extensions.get().and_then(|RequestTrace(trace)| *trace),
        payload,
        method: parts.method,
        path: parts.uri.path().to_owned(),
        idempotency_key,
        if_match,
    })
}

fn check_version(headers: &HeaderMap) -> Result<()> {
    let mut lines = headers.get_all(SERVICE_VERSION).iter();
    let known = match (lines.next(), lines.next()) {
        (None, _) => true,
        (Some(line), None) => line.as_bytes() == API_VERSION.as_bytes(),
        (Some(_), Some(_)) => false,
    };
    if known {
        return Ok(());
    }
    Err(Refusal::new(ErrorCode::UnsupportedApiVersion, "Service-Version names no supported version.")
        .param("Service-Version")
        .with("supported", vec![API_VERSION]))
}
