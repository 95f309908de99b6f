//! The outermost layer around an API's router: everything that all requests and all answers have in common.
//!
//! A request gets its id; a head that is too large or ambiguous is refused before anything else reads it (contract
//! 4.2 row 1); the router answers; a panic becomes a 500; a refusal gets its body; and every answer leaves with
//! the headers of contract 5.4. [`dress`] puts the layer and the two fallbacks around a router.
//!
//! Each request is counted, recorded as a span where traces are wanted, and logged under its id.
//!
//! Deliberately absent: CORS headers, and any answer to `OPTIONS` other than 405. The API is server-to-server.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use authority_domain::{ErrorCode, MerchantId, Refusal, RequestId, Result};
use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use http::header::{CACHE_CONTROL, CONNECTION, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderValue, Method, Uri};

use super::problem::{Problem, ProblemWriter};
use super::request_id::{self, SERVICE_REQUEST_ID};
use super::server::{Defect, Malformed};
use super::trace_context::{self, RequestTrace};
use crate::clock::Clock;
use crate::dice::Dice;
use crate::metrics::Metrics;
use crate::traces::Traces;

/// Longest request target (contract 4.2), in bytes.
const TARGET_LIMIT: usize = 8 * 1024;
/// Largest header block (contract 4.2), in bytes, each line counted with its `: ` and line end.
const HEADERS_LIMIT: usize = 32 * 1024;

/// The dependencies of the layer.
pub struct Door {
    /// Stamps request ids.
    pub clock: Arc<dyn Clock>,
    /// Makes request ids unique.
    pub dice: Arc<dyn Dice>,
    /// Writes problem bodies.
    pub problems: ProblemWriter,
    /// Whether clients reach the service by TLS: if so, answers tell them to keep using it.
    pub tls: Tls,
    /// Counts requests.
    pub metrics: Arc<Metrics>,
    /// Records requests.
    pub traces: Traces,
}

/// Whether clients reach the service by TLS (contract 5.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// Plain HTTP: development, or the operator's loopback listener.
    Absent,
    /// A proxy in front terminates TLS.
    InFront,
}

/// Puts the layer around an API's router, with 404 and 405 for unknown paths and methods.
pub fn dress<S: Clone + Send + Sync + 'static>(router: Router<S>, door: Arc<Door>) -> Router<S> {
    router
        .fallback(async || Problem(Refusal::new(ErrorCode::RouteNotFound, "There is no such route.")))
        .method_not_allowed_fallback(async || {
            Problem(Refusal::new(ErrorCode::MethodNotAllowed, "This route does not take this method."))
        })
        .layer(from_fn_with_state(door, answer))
}

async fn answer(State(door): State<Arc<Door>>, mut request: Request, next: Next) -> Response {
    let begun = door.clock.monotonic();
    let (method, route) = (request.method().clone(), request.extensions().get::<MatchedPath>().cloned());
    let request_id = request_id::generate(door.clock.as_ref(), door.dice.as_ref());
    request.extensions_mut().insert(request_id.clone());
    let path = route.as_ref().map_or("other", MatchedPath::as_str);
    let from = trace_context::read(request.headers());
    let mut span = door.traces.request(from, method.as_str(), path, request_id.as_str());
    request.extensions_mut().insert(RequestTrace(span.trace()));
    let mut response = match check_head(&request) {
        Ok(()) => guarded(request, next, &request_id).await,
        Err(refusal) => {
            let mut response = Problem(refusal).into_response();
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            response
        }
    };
    door.problems.write(&mut response, &request_id);
    set_headers(response.headers_mut(), &request_id, door.tls);
    let route = route.as_ref().map(MatchedPath::as_str);
    span.answered(response.status().as_u16());
    let took = door.clock.monotonic().saturating_sub(begun);
    door.metrics.request(door.problems.realm, &method, route, response.status().as_u16(), took);
    log(&request_id, door.problems.realm, &method, route, &response, took);
    response
}

/// Whose key a request had, in the extensions of its answer: for the log.
#[derive(Debug, Clone)]
pub(super) struct AnsweredTo(pub(super) MerchantId);

/// Logs one line for each request, with the id that its client got. The route is the template: text that a client
/// wrote into a path or a query stays out of the log.
fn log(
    request_id: &RequestId,
    api: &str,
    method: &Method,
    route: Option<&str>,
    response: &Response,
    took: Duration,
) {
    let (route, status, ms) = (route.unwrap_or("other"), response.status().as_u16(), took.as_millis());
    let merchant = response.extensions().get().map(|AnsweredTo(merchant)| tracing::field::display(merchant));
    if status >= 500 {
        tracing::warn!(%request_id, api, %method, route, merchant, status, ms, "a request could not be served");
    } else {
        tracing::debug!(%request_id, api, %method, route, merchant, status, ms, "answered");
    }
}

/// Runs the router; a panic becomes a 500. The panic message goes only to the panic hook.
async fn guarded(request: Request, next: Next, request_id: &RequestId) -> Response {
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(_) => {
            tracing::error!(%request_id, "a handler panicked");
            Problem(Refusal::internal()).into_response()
        }
    }
}

fn check_head(request: &Request) -> Result<()> {
    if let Some(Malformed(defect)) = request.extensions().get() {
        return Err(malformed(*defect));
    }
    if target_len(request.uri()) > TARGET_LIMIT {
        return Err(malformed(Defect::TargetTooLong));
    }
    if headers_len(request.headers()) > HEADERS_LIMIT {
        return Err(malformed(Defect::HeadersTooLarge));
    }
    Ok(())
}

fn malformed(defect: Defect) -> Refusal {
    let (code, detail) = match defect {
        Defect::AmbiguousLength => {
            (ErrorCode::InvalidRequest, "The request gives the length of its body in more than one way.")
        }
        Defect::Host => (ErrorCode::InvalidRequest, "The Host header is missing, repeated or malformed."),
        Defect::NoRequest => (ErrorCode::InvalidRequest, "This is not a well-formed HTTP/1.1 request."),
        Defect::TransferCoding => {
            (ErrorCode::NotImplemented, "The only transfer coding that is accepted is chunked.")
        }
        Defect::TargetTooLong => (ErrorCode::UriTooLong, "The request target is longer than 8 KiB."),
        Defect::HeadersTooLarge => {
            (ErrorCode::HeaderFieldsTooLarge, "The headers are larger than 32 KiB, or more than 100.")
        }
    };
    Refusal::new(code, detail)
}

fn target_len(uri: &Uri) -> usize {
    uri.path().len() + uri.query().map_or(0, |query| query.len() + 1)
}

fn headers_len(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum()
}

fn set_headers(headers: &mut HeaderMap, request_id: &RequestId, tls: Tls) {
    if let Ok(value) = HeaderValue::from_str(request_id.as_str()) {
        headers.insert(SERVICE_REQUEST_ID, value);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if tls == Tls::InFront {
        headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
}

#[cfg(test)]
mod tests;
