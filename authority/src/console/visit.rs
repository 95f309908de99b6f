//! One request to the console by somebody who is signed in: who it is, what it may see, and how it is answered.

use std::collections::BTreeMap;

use askama::Template;
use authority_domain::audit_log::Author;
use authority_domain::error_code::ErrorCode;
use authority_domain::event::cause::TraceParent;
use authority_domain::id::RequestId;
use authority_domain::merchant::scope::OperatorScope;
use authority_domain::refusal::Refusal;
use authority_domain::time::Timestamp;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER, SET_COOKIE};
use http::request::Parts;
use http::{HeaderValue, StatusCode, Uri};
use subtle::ConstantTimeEq;
use url::form_urlencoded;

use super::form::{self, Form};
use super::shell::{Refused, Shell};
use super::{filters, links, origin, sign_in};
use crate::app::console::sessions::SignedIn;
use crate::app::lists::ListRequest;
use crate::app::{App, IfMatch, Mutation};
use crate::http::entry::AppState;
use crate::http::request_id;
use crate::http::trace_context::RequestTrace;

/// Rows of a list on one page.
const ROWS: u16 = 25;

/// What the pages need that only read.
pub(super) const READS: &[OperatorScope] = &[OperatorScope::OperatorRead];

/// A request of somebody who is signed in.
pub(super) struct Visit {
    /// The use cases.
    pub(super) app: App,
    /// Whoever asks.
    pub(super) who: SignedIn,
    /// The time of the request.
    pub(super) now: Timestamp,
    /// The frame of the page.
    pub(super) shell: Shell,
    query: BTreeMap<String, String>,
    path: String,
    request_id: RequestId,
    trace: Option<TraceParent>,
}

/// What a handler makes of a request.
pub(super) enum Outcome {
    /// A page with its status.
    Page(StatusCode, String),
    /// Somewhere else: what follows a form that was done.
    Redirect(String),
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    title: &'a str,
    detail: &'a str,
    code: &'a str,
    request: &'a str,
}

/// Answers a request that reads.
pub(super) async fn show<F, Fut>(state: AppState, request: Request, act: F) -> Response
where
    F: FnOnce(Visit) -> Fut,
    Fut: Future<Output = Result<Outcome, Refusal>>,
{
    let (parts, _) = request.into_parts();
    let id = request_id_of(&parts);
    match enter(&state, &parts, READS).await {
        Ok(visit) => {
            let key = visit.who.operator.key_id.clone();
            let turn = state.pages.turn(key.as_str()).await;
            let outcome = match turn {
                Ok(_turn) => act(visit).await,
                Err(refusal) => Err(refusal),
            };
            answered(&state, outcome, &key, false, &id)
        }
        Err(response) => response,
    }
}

/// Answers a form. It must carry the token of the session and come from this origin.
pub(super) async fn submit<F, Fut>(
    state: AppState,
    request: Request,
    scopes: &'static [OperatorScope],
    act: F,
) -> Response
where
    F: FnOnce(Visit, Form) -> Fut,
    Fut: Future<Output = Result<Outcome, Refusal>>,
{
    let (parts, body) = request.into_parts();
    let id = request_id_of(&parts);
    let visit = match enter(&state, &parts, scopes).await {
        Ok(visit) => visit,
        Err(response) => return response,
    };
    let form = match Form::read(&parts.headers, body, form::WITH_A_BODY).await {
        Ok(form) => form,
        Err(refusal) => return refused(&refusal, &id),
    };
    let given = form.token().as_bytes();
    if !bool::from(given.ct_eq(visit.who.form_token.as_bytes())) || !origin::is_ours(&parts.headers) {
        return foreign_form(&id);
    }
    let key = visit.who.operator.key_id.clone();
    let outcome = act(visit, form).await;
    answered(&state, outcome, &key, true, &id)
}

/// A path below `/console` where there is nothing.
pub(super) async fn nowhere(State(state): State<AppState>, request: Request) -> Response {
    show(state, request, async |_| Err(Refusal::not_found("page"))).await
}

/// A path of the console, asked with a method that it does not have.
pub(super) async fn wrong_method(request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let refusal = Refusal::new(ErrorCode::MethodNotAllowed, "This page does not take this method.");
    refused(&refusal, &request_id_of(&parts))
}

/// The answer to a form that no page of this session has made.
pub(super) fn foreign_form(id: &RequestId) -> Response {
    let detail = "This form was not made by a page of your session, so nothing was done. Go back, load the page again \
                  and send it from there.";
    error_page(StatusCode::FORBIDDEN, "Not from your session", detail, "foreign_form", id)
}

/// The session, if it may do this; otherwise the answer.
async fn enter(state: &AppState, parts: &Parts, scopes: &[OperatorScope]) -> Result<Visit, Response> {
    let id = request_id_of(parts);
    let found = match sign_in::cookie(&parts.headers) {
        Some(cookie) => state.app.console_session(cookie).await.map_err(|refusal| refused(&refusal, &id))?,
        None => None,
    };
    let Some(who) = found else { return Err(to_sign_in(&parts.uri, parts.method.is_safe())) };
    state.unsent.check(&who.operator.key_id).map_err(|refusal| refused(&refusal, &id))?;
    if !scopes.is_empty() {
        who.operator.check_scope(scopes).map_err(|refusal| refused(&refusal, &id))?;
    }
    let query: BTreeMap<String, String> =
        form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
    let dice = state.app.dice.clone();
    let shell = Shell::new(&who, query.get("done").map(String::as_str), dice);
    Ok(Visit {
        app: state.app.clone(),
        now: state.app.now(),
        shell,
        who,
        query,
        path: parts.uri.path().to_owned(),
        request_id: id,
        trace: parts.extensions.get().and_then(|RequestTrace(trace)| *trace),
    })
}

/// Redirects to the sign-in page, which leads back to a page that was asked for.
fn to_sign_in(uri: &Uri, back: bool) -> Response {
    let mut target = sign_in::PATH.to_owned();
    if back && uri.path() != super::ROOT {
        let wanted = uri.path_and_query().map_or(uri.path(), |wanted| wanted.as_str());
        target = format!("{target}?to={}", links::encoded(wanted));
    }
    redirect(&target)
}

impl Visit {
    /// A value of the query; empty when there is none.
    pub(super) fn asked(&self, name: &str) -> &str {
        self.query.get(name).map_or("", |text| text.trim())
    }

    /// The page of a list that is asked for. `filter` is what its cursors are bound to.
    pub(super) fn list_request(&self, filter: &str) -> ListRequest {
        let cursor = Some(self.asked("cursor").to_owned()).filter(|cursor| !cursor.is_empty());
        ListRequest { limit: ROWS, cursor, filter: filter.to_owned() }
    }

    /// Whether the key has any of these scopes, so that a page shows only forms that it may send.
    pub(super) fn may(&self, scopes: &[OperatorScope]) -> bool {
        self.who.operator.may(scopes)
    }

    /// The write that a form asks for, under the name that the API has for it.
    pub(super) fn mutation(&self, operation: &'static str, form: &Form) -> Mutation {
        Mutation {
            operation,
            request_id: self.request_id.clone(),
            trace: self.trace,
            idempotency: form.idempotency(&self.path),
            if_match: form.version().map(IfMatch::Version),
            author: Some(Author::Operator(self.who.operator.key_id.clone())),
        }
    }

    /// The same request with a refusal on its page, for a form that is shown again.
    pub(super) fn refused(&mut self, refusal: Refusal) {
        self.shell.refused = Some(Refused::from(refusal));
    }

    /// A page; its status is that of the refusal that it shows.
    ///
    /// # Errors
    /// `internal_error` when the template fails.
    pub(super) fn page(&self, template: &impl Template) -> Result<Outcome, Refusal> {
        let status = self.shell.refused.as_ref().map_or(200, |refused| refused.status);
        let html = template.render().map_err(|_| Refusal::internal())?;
        Ok(Outcome::Page(StatusCode::from_u16(status).unwrap_or(StatusCode::OK), html))
    }
}

/// Sends the browser to `path` and lets that page say what was done.
pub(super) fn done(path: &str, what: &str) -> Outcome {
    let joint = if path.contains('?') { '&' } else { '?' };
    Outcome::Redirect(format!("{path}{joint}done={what}"))
}

fn answered(
    state: &AppState,
    outcome: Result<Outcome, Refusal>,
    key: &authority_domain::id::KeyId,
    wrote: bool,
    id: &RequestId,
) -> Response {
    let held = outcome.and_then(|outcome| {
        Ok(match outcome {
            Outcome::Redirect(path) => redirect(&path),
            Outcome::Page(status, page) => html(status, state.unsent.hold(key, page.into(), wrote)?),
        })
    });
    held.unwrap_or_else(|refusal| refused(&refusal, id))
}

/// A page that shows a refusal and nothing else.
pub(super) fn refused(refusal: &Refusal, id: &RequestId) -> Response {
    let status = StatusCode::from_u16(refusal.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let title = if refusal.code == ErrorCode::NotFound { "Not found" } else { refusal.code.title() };
    let mut response = error_page(status, title, &refusal.detail, refusal.code.as_str(), id);
    if let Some(seconds) = refusal.retry_after_s {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

fn error_page(status: StatusCode, title: &str, detail: &str, code: &str, id: &RequestId) -> Response {
    let page = ErrorPage { title, detail, code, request: id.as_str() };
    html(status, page.render().unwrap_or_default().into())
}

/// An HTML answer.
pub(super) fn html(status: StatusCode, page: Bytes) -> Response {
    let mut response = Response::new(Body::from(page));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}

/// 303 to a path of the console.
pub(super) fn redirect(path: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(location) = HeaderValue::try_from(path) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

/// The same with a cookie.
pub(super) fn redirect_with(path: &str, cookie: &str) -> Response {
    let mut response = redirect(path);
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

/// The id of a request, as its answer names it.
pub(super) fn request_id_of(parts: &Parts) -> RequestId {
    let id = parts.extensions.get::<request_id::RequestId>().map_or("", |id| id.as_str());
    RequestId::from_store(id.to_owned())
}
