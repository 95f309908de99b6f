//! The way in and out: a link is looked at, opened once, and the session that it became is signed out of.
//!
//! Programs that preview links ask for them with GET, so GET shows a page with one button and changes nothing; the
//! button's POST opens the link. A link that was used, has ended or never was, and a request without a session, all get
//! the same page, which says what to do and nothing else.
//!
//! The cookie holds the session's secret. `HttpOnly` keeps it from scripts, `SameSite=Strict` from requests that other
//! sites begin, `Secure` from connections in clear text. Opening a link sets it on the answer to a form of our own
//! page, so the redirect behind it carries it although the link was on another site. It ends with the browser.
//! Opening another link in the same browser ends the session that its cookie named before.
//!
//! Signing out answers with a page that leads back to the platform, and not with a redirect: the policy sends forms to
//! this origin alone, and browsers apply that to where a form is redirected.

use askama::Template;
use authority_domain::{ErrorCode, Refusal};
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use http::header::SET_COOKIE;
use http::request::Parts;
use http::{HeaderValue, StatusCode};

use super::LINKS;
use crate::app::portal::sessions::PortalVisitor;
use crate::http::entry::failed;
use crate::http::rate_limit::Policy;
use crate::http::{AppState, bearer};
use crate::pages::answer::{cookie, foreign_form, html, redirect_with, refused};
use crate::pages::form::Size;
use crate::pages::origin;
use crate::pages::shell::Bare;
use crate::pages::visit::{Names, request_id_of, submit};

/// The cookie of a session.
pub(super) const COOKIE: &str = "portal_session";
const ATTRIBUTES: &str = "Path=/portal; HttpOnly; Secure; SameSite=Strict";

#[derive(Template)]
#[template(path = "link.html")]
struct LinkPage {
    shell: Bare,
}

#[derive(Template)]
#[template(path = "no_session.html")]
struct NoSessionPage {
    shell: Bare,
}

#[derive(Template)]
#[template(path = "signed_out.html")]
struct SignedOutPage {
    shell: Bare,
    way_back: Option<String>,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/portal/enter/{link}", get(look).post(open))
        .route("/portal/sign-out", post(sign_out))
}

async fn look(State(state): State<AppState>, link: Names<String>, request: Request) -> Response {
    let link = link.map_or_else(|_| String::new(), |Path(link)| link);
    let (parts, _) = request.into_parts();
    match state.app.portal_link_works(&link).await {
        Ok(true) => page(StatusCode::OK, &LinkPage { shell: Bare::of::<PortalVisitor>(&state) }),
        Ok(false) => ended(&state, failed(&state, &parts, bearer::invalid()), &parts),
        Err(refusal) => refused::<PortalVisitor>(&state, &refusal, &request_id_of(&parts)),
    }
}

async fn open(State(state): State<AppState>, link: Names<String>, request: Request) -> Response {
    let link = link.map_or_else(|_| String::new(), |Path(link)| link);
    let (parts, _) = request.into_parts();
    let id = request_id_of(&parts);
    if !origin::is_ours(&parts.headers) {
        return foreign_form::<PortalVisitor>(&state, &id);
    }
    let opened = state.app.portal_open(&link, id.clone()).await;
    if let Ok(Some(_)) = &opened {
        end_former(&state, &parts).await;
    }
    match opened {
        Ok(Some(secret)) => redirect_with(LINKS.root, &format!("{COOKIE}={}; {ATTRIBUTES}", *secret)),
        Ok(None) => ended(&state, failed(&state, &parts, bearer::invalid()), &parts),
        Err(refusal) => refused::<PortalVisitor>(&state, &refusal, &id),
    }
}

/// Ends the session that this browser had: its cookie is replaced, and nobody could end it any more. What cannot be
/// ended now ends by its time.
async fn end_former(state: &AppState, parts: &Parts) {
    let Some(cookie) = cookie(&parts.headers, COOKIE) else { return };
    if let Ok(Some(former)) = state.app.portal_session(cookie).await
        && let Err(refusal) = state.app.portal_sign_out(&former, request_id_of(parts)).await
    {
        tracing::warn!(%refusal, "the former session of a browser could not be ended");
    }
}

async fn sign_out(State(state): State<AppState>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let id = request_id_of(&parts);
    let request = Request::from_parts(parts, body);
    let shell = Bare::of::<PortalVisitor>(&state);
    let mut response =
        submit::<PortalVisitor, _, _>(state, request, Size::Small, &[], Policy::Write, async |visit, _| {
            visit.app.portal_sign_out(&visit.who, id).await?;
            visit.page_when_done(&SignedOutPage { shell, way_back: visit.who.return_url.clone() })
        })
        .await;
    if response.status() == StatusCode::OK
        && let Ok(gone) = HeaderValue::try_from(format!("{COOKIE}=; {ATTRIBUTES}; Max-Age=0"))
    {
        response.headers_mut().insert(SET_COOKIE, gone);
    }
    response
}

/// The page for whoever has no link and no session that works; `refusal` says whether the address asked too often.
pub(super) fn ended(state: &AppState, refusal: Refusal, parts: &Parts) -> Response {
    if refusal.code == ErrorCode::RateLimited {
        return refused::<PortalVisitor>(state, &refusal, &request_id_of(parts));
    }
    page(StatusCode::FORBIDDEN, &NoSessionPage { shell: Bare::of::<PortalVisitor>(state) })
}

fn page(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(text) => html(status, text.into()),
        Err(_) => html(StatusCode::INTERNAL_SERVER_ERROR, Default::default()),
    }
}
