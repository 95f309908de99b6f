//! What a handler returned as a response: its body, counted against the credential until it is read, and the headers of
//! contract 5.4. In debug builds an answer that the operation does not declare panics: a test that hits this has
//! found a wrong description.

use std::sync::Arc;

use authority_domain::{KeyId, Refusal, Result};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG, LOCATION};
use http::{HeaderName, HeaderValue, StatusCode};
use verify_core::catalog::API_VERSION;

use super::at_once::PageTurn;
use super::entry::SERVICE_VERSION;
use super::if_none_match::{IfNoneMatch, not_modified};
use super::operation::{Content, Operation};
use super::page::into_json;
use super::problem::Problem;
use super::unsent::Unsent;
use crate::app::{Answer, List};

const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The result of a handler's function.
pub(super) enum Reply {
    /// A record or a result.
    Answer(Answer),
    /// A page.
    List(List),
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}

impl From<List> for Reply {
    fn from(list: List) -> Self {
        Self::List(list)
    }
}

/// The credential that an answer counts against until it is read.
pub(super) struct Holder<'a> {
    pub(super) unsent: &'a Arc<Unsent>,
    pub(super) key: &'a KeyId,
}

/// The response of an operation.
pub(super) fn respond(
    operation: &Operation,
    outcome: Result<(Reply, Option<PageTurn>)>,
    has: &IfNoneMatch,
    holder: &Holder<'_>,
) -> Response {
    // The page's turn ends once its answer is counted.
    let granted = outcome.and_then(|(reply, _page)| {
        debug_assert!(declares(operation, &reply), "{} answers what it does not declare", operation.name);
        let hold = |answer| holder.unsent.hold(holder.key, answer, operation.verb.writes());
        into_response(reply, has, hold)
    });
    let mut response = granted.unwrap_or_else(|refusal| refused(operation, refusal));
    response.headers_mut().insert(SERVICE_VERSION, HeaderValue::from_static(API_VERSION));
    response
}

/// The response to a request that was refused.
pub(super) fn refused(operation: &Operation, refusal: Refusal) -> Response {
    debug_assert!(
        operation.may_answer(refusal.code),
        "{} answers {}, which it does not declare",
        operation.name,
        refusal.code
    );
    Problem(refusal).into_response()
}

/// Whether one of the operation's answers is of this kind.
fn declares(operation: &Operation, reply: &Reply) -> bool {
    operation.answers.iter().any(|declared| match (reply, declared.content) {
        (Reply::Answer(answer), Content::Record(_)) => {
            declared.status == answer.status
                && declared.tagged == answer.version.is_some()
                && declared.located == answer.location.is_some()
                && (!declared.conditional || !answer.volatile)
        }
        (Reply::List(list), Content::Page(_)) => list.resume_cursor.is_none(),
        (Reply::List(list), Content::Feed(_)) => list.resume_cursor.is_some(),
        _ => false,
    })
}

fn into_response(
    reply: Reply,
    has: &IfNoneMatch,
    hold: impl FnOnce(Bytes) -> Result<Bytes>,
) -> Result<Response> {
    match reply {
        Reply::Answer(mut answer) => {
            let same = !answer.volatile && answer.version.is_some_and(|version| has.names(version));
            let body = hold(std::mem::take(&mut answer.body).into())?;
            let response = answered(answer, body);
            Ok(if same { not_modified(response) } else { response })
        }
        Reply::List(list) => Ok(json(hold(into_json(list))?)),
    }
}

fn json(body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn answered(answer: Answer, body: Bytes) -> Response {
    let mut response = json(body);
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let headers = response.headers_mut();
    if let Some(version) = answer.version
        && let Ok(tag) = HeaderValue::try_from(format!("\"{version}\""))
    {
        headers.insert(ETAG, tag);
    }
    if let Some(location) = answer.location.and_then(|location| HeaderValue::try_from(location).ok()) {
        headers.insert(LOCATION, location);
    }
    if answer.replayed {
        headers.insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
    }
    response
}
