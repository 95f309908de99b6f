//! One request to a site by somebody who has a session: who it is, what it may see, and how it is answered.

use std::collections::BTreeMap;

use askama::Template;
use authority_domain::event::cause::TraceParent;
use authority_domain::{Refusal, RequestId, Result, Timestamp};
use axum::extract::Request;
use axum::response::Response;
use http::StatusCode;
use http::request::Parts;
use serde_json::json;
use subtle::ConstantTimeEq;
use tokio::sync::OwnedSemaphorePermit;
use url::form_urlencoded;

use super::answer::{foreign_form, refused};
use super::form::{Form, Size};
pub(crate) use super::handler::{Names, nowhere, shows, submits, submits_a_body};
use super::live::Live;
use super::outcome::answered;
pub(crate) use super::outcome::{Outcome, done};
use super::presence::{Presence, follows};
use super::shell::{Refused, Shell};
use super::{Visitor, origin};
use crate::app::live::Watched;
use crate::app::{App, IfMatch, ListRequest, Mutation};
use crate::http::AppState;
use crate::http::rate_limit::Policy;
use crate::http::trace_context::RequestTrace;

/// Rows of a list on one page.
const ROWS: u16 = 25;

/// A request of somebody who has a session.
pub(crate) struct Visit<W> {
    /// The use cases.
    pub(crate) app: App,
    /// Whoever asks.
    pub(crate) who: W,
    /// The time of the request.
    pub(crate) now: Timestamp,
    /// The frame of the page.
    pub(crate) shell: Shell,
    query: BTreeMap<String, String>,
    reads: bool,
    path: String,
    request_id: RequestId,
    trace: Option<TraceParent>,
    /// Its place among the requests of whoever asks.
    _under_way: Option<OwnedSemaphorePermit>,
}

/// Answers a request that reads.
pub(super) async fn show<W, F, Fut>(state: AppState, request: Request, act: F) -> Response
where
    W: Visitor,
    F: FnOnce(Visit<W>) -> Fut,
    Fut: Future<Output = Result<Outcome>>,
{
    let (parts, _) = request.into_parts();
    let id = request_id_of(&parts);
    match enter::<W>(&state, &parts, W::READS, Policy::Read, Presence::of(&parts)).await {
        Ok(visit) => {
            let who = visit.who.clone();
            let outcome = in_turn(&state, &who, act(visit)).await;
            answered(&state, outcome, &who, &id)
        }
        Err(response) => response,
    }
}

/// Answers a form of this size. It must carry the token of the session and come from this origin. `policy` is what the
/// operation of the API counts against.
pub(crate) async fn submit<W, F, Fut>(
    state: AppState,
    request: Request,
    size: Size,
    scopes: &[W::Scope],
    policy: Policy,
    act: F,
) -> Response
where
    W: Visitor,
    F: FnOnce(Visit<W>, Form) -> Fut,
    Fut: Future<Output = Result<Outcome>>,
{
    let (parts, body) = request.into_parts();
    let id = request_id_of(&parts);
    let visit = match enter::<W>(&state, &parts, scopes, policy, Presence::Person).await {
        Ok(visit) => visit,
        Err(response) => return response,
    };
    let read = async {
        let place = match size {
            Size::Small => None,
            Size::WithABody => Some(state.at_once.large_form(visit.who.client())?),
        };
        Ok::<_, Refusal>((Form::read(&parts.headers, body, size).await?, place))
    };
    let (form, _place) = match read.await {
        Ok(read) => read,
        Err(refusal) => return refused::<W>(&state, &refusal, &id),
    };
    let given = form.token().as_bytes();
    if !bool::from(given.ct_eq(visit.who.form_token().as_bytes())) || !origin::is_ours(&parts.headers) {
        return foreign_form::<W>(&state, &id);
    }
    let who = visit.who.clone();
    let outcome = in_turn(&state, &who, act(visit, form)).await;
    answered(&state, outcome, &who, &id)
}

/// Waits for a turn among the lists of whoever asks, and keeps it while the answer is made; refuses if by then too many
/// answers are unread.
async fn in_turn<W: Visitor>(
    state: &AppState,
    who: &W,
    answer: impl Future<Output = Result<Outcome>>,
) -> Result<Outcome> {
    let _turn = state.at_once.page(who.client()).await?;
    // Meanwhile others of its answers may have been made.
    state.unsent.check(who.credential())?;
    answer.await
}

/// The session, if it may do this; otherwise the answer.
pub(super) async fn enter<W: Visitor>(
    state: &AppState,
    parts: &Parts,
    scopes: &[W::Scope],
    policy: Policy,
    presence: Presence,
) -> Result<Visit<W>, Response> {
    let id = request_id_of(parts);
    let no = |refusal: Refusal| refused::<W>(state, &refusal, &id);
    let found = W::of(state, parts, presence).await.map_err(no)?;
    let Some(who) = found else { return Err(W::nobody(state, parts)) };
    who.limit(state, policy).map_err(no)?;
    let under_way = who.begin(state).map_err(no)?;
    state.unsent.check(who.credential()).map_err(no)?;
    if !scopes.is_empty() {
        who.check_scope(scopes).map_err(no)?;
    }
    let query: BTreeMap<String, String> =
        form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
    let mut shell = Shell::new(&who, query.get("done").map(String::as_str), state);
    if follows(parts) {
        shell.follow();
    }
    Ok(Visit {
        app: state.app.clone(),
        now: state.app.now(),
        shell,
        who,
        query,
        reads: parts.method.is_safe(),
        path: parts.uri.path().to_owned(),
        request_id: id,
        trace: parts.extensions.get().and_then(|RequestTrace(trace)| *trace),
        _under_way: under_way,
    })
}

impl<W: Visitor> Visit<W> {
    /// A value of the query; empty when there is none.
    pub(crate) fn asked(&self, name: &str) -> &str {
        self.query.get(name).map_or("", |text| text.trim())
    }

    /// The page of a list that is asked for. `filter` is what its cursors are bound to.
    pub(crate) fn list_request(&self, filter: &str) -> ListRequest {
        let cursor = Some(self.asked("cursor").to_owned()).filter(|cursor| !cursor.is_empty());
        ListRequest { limit: ROWS, cursor, filter: filter.to_owned() }
    }

    /// The frame of a page that keeps itself up to date. It is asked for before what the page shows, so that nothing is
    /// missed. The answer to a form has an address of its own and is not followed, nor is an older page of a list.
    ///
    /// # Errors
    /// Only what the store reports.
    pub(crate) async fn following(&self, stream: String, watched: &Watched) -> Result<Shell> {
        if !self.reads || !self.asked("cursor").is_empty() {
            return Ok(self.shell.clone());
        }
        let seen = self.app.change_mark(watched).await?.to_string();
        Ok(self.shell.clone().with(Some(Live { stream, seen })))
    }

    /// The same where it is known only afterwards what the page is about: it is asked for once more by itself.
    pub(crate) fn following_late(&self, stream: String) -> Shell {
        self.shell.clone().with(self.reads.then(|| Live { stream, seen: String::new() }))
    }

    /// Whether the visitor has any of these scopes, so that a page shows only what it may see and send.
    pub(crate) fn may(&self, scopes: &[W::Scope]) -> bool {
        self.who.may(scopes)
    }

    /// The write that a form asks for, under the name that the API has for it.
    pub(crate) fn mutation(&self, operation: &'static str, form: &Form) -> Mutation {
        Mutation {
            operation,
            request_id: self.request_id.clone(),
            trace: self.trace,
            idempotency: form.idempotency(&self.path),
            if_match: form.version().map(IfMatch::Version),
            author: Some(self.who.author()),
            body: json!({}),
        }
    }

    /// The same request with a refusal on its page, for a form that is shown again.
    pub(crate) fn refused(&mut self, refusal: Refusal) -> &Self {
        self.shell.refused = Some(Refused::from(refusal));
        self
    }

    /// A page; its status is that of the refusal that it shows.
    ///
    /// # Errors
    /// `internal_error` when the template fails.
    pub(crate) fn page(&self, template: &impl Template) -> Result<Outcome> {
        let status = self.shell.refused.as_ref().map_or(200, |refused| refused.status);
        Ok(Outcome::Page(StatusCode::from_u16(status).unwrap_or(StatusCode::OK), rendered(template)?))
    }

    /// The page that alone tells of a write that was done.
    ///
    /// # Errors
    /// `internal_error` when the template fails.
    pub(crate) fn page_when_done(&self, template: &impl Template) -> Result<Outcome> {
        Ok(Outcome::Done(rendered(template)?))
    }
}

fn rendered(template: &impl Template) -> Result<String> {
    template.render().map_err(|_| Refusal::internal())
}

/// The id of a request, as its answer names it.
pub(crate) fn request_id_of(parts: &Parts) -> RequestId {
    parts.extensions.get().cloned().unwrap_or_else(|| RequestId::from_store(String::new()))
}
