//! Signing in and out.
//!
//! The cookie holds the session's secret. `HttpOnly` keeps it from scripts, `SameSite=Strict` from requests that
//! other sites begin, `Secure` from connections in clear text; browsers take loopback addresses as secure, so the
//! console works on `http://127.0.0.1` too. Its path is `/console`: cookies do not tell ports apart, and with a wider
//! path every other service on the same host would be sent it. That rules out the prefix `__Host-`, which asks for
//! `Path=/`. It has no lifetime of its own: it ends with the browser, and the session ends by itself.
//!
//! Wrong keys count against the address that they come from, in the same bucket as those of the API.

use askama::Template;
use authority_domain::merchant::api_key::ApiKey;
use authority_domain::{ErrorCode, Refusal};
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use http::StatusCode;
use http::header::RETRY_AFTER;
use url::form_urlencoded;

use super::ROOT;
use super::visit::Outcome;
use crate::app::console::sessions::SignedIn;
use crate::http::entry::failed;
use crate::http::rate_limit::Policy;
use crate::http::{AppState, bearer};
use crate::pages::answer::{cookie, foreign_form, html, redirect_with, refused};
use crate::pages::form::{Form, Size};
use crate::pages::shell::{Bare, Refused};
use crate::pages::visit::{request_id_of, submit};
use crate::pages::{filters, origin};

/// Where to sign in.
pub(super) const PATH: &str = "/console/sign-in";

/// The cookie of a session.
pub(super) const COOKIE: &str = "console_session";
const ATTRIBUTES: &str = "Path=/console; HttpOnly; Secure; SameSite=Strict";

#[derive(Template)]
#[template(path = "sign_in.html")]
struct Page<'a> {
    shell: Bare,
    to: &'a str,
    refused: Option<Refused>,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new().route(PATH, get(ask).post(sign_in)).route("/console/sign-out", post(sign_out))
}

async fn ask(State(state): State<AppState>, request: Request) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let to = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "to");
    page(&state, to.as_ref().map_or(ROOT, |(_, to)| to), None)
}

async fn sign_in(State(state): State<AppState>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let id = request_id_of(&parts);
    if !origin::is_ours(&parts.headers) {
        return foreign_form::<SignedIn>(&state, &id);
    }
    let form = match Form::read(&parts.headers, body, Size::Small).await {
        Ok(form) => form,
        Err(refusal) => return refused::<SignedIn>(&state, &refusal, &id),
    };
    let signed_in = match ApiKey::parse(form.text("key")) {
        Ok(key) => state.app.console_sign_in(&key, id).await,
        Err(_) => Err(bearer::invalid()),
    };
    match signed_in {
        Ok(secret) => redirect_with(inside(form.text("to")), &cookie_of(&secret)),
        Err(refusal) => page(&state, form.text("to"), Some(failed(&state, &parts, refusal))),
    }
}

async fn sign_out(State(state): State<AppState>, request: Request) -> Response {
    let cookie = cookie(request.headers(), COOKIE).unwrap_or_default().to_owned();
    let (parts, body) = request.into_parts();
    let id = request_id_of(&parts);
    let request = Request::from_parts(parts, body);
    let response =
        submit::<SignedIn, _, _>(state, request, Size::Small, &[], Policy::Write, async |visit, _| {
            let SignedIn { operator, .. } = &visit.who;
            visit.app.console_sign_out(&cookie, &operator.key_id, id).await?;
            Ok(Outcome::Redirect(PATH.to_owned()))
        })
        .await;
    if response.status() != StatusCode::SEE_OTHER {
        return response;
    }
    redirect_with(PATH, &format!("{COOKIE}=; {ATTRIBUTES}; Max-Age=0"))
}

/// The line that sets the cookie.
pub(super) fn cookie_of(secret: &str) -> String {
    format!("{COOKIE}={secret}; {ATTRIBUTES}")
}

/// A path of the console, so that no link to the sign-in page leads anywhere else.
fn inside(to: &str) -> &str {
    let rest = to.strip_prefix(ROOT);
    let below = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    let plain = to.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if below && plain { to } else { ROOT }
}

fn page(state: &AppState, to: &str, refusal: Option<Refusal>) -> Response {
    let refusal = refusal.map(|refusal| match refusal.code {
        ErrorCode::InvalidApiKey => {
            Refusal { detail: "This is no operator key that works here.".to_owned(), ..refusal }
        }
        ErrorCode::InsufficientScope => {
            let detail =
                "This operator key lacks the scope operator:read, which every page of the console needs.";
            Refusal { detail: detail.to_owned(), ..refusal }
        }
        _ => refusal,
    });
    let retry_after = refusal.as_ref().and_then(|refusal| refusal.retry_after_s);
    let refused = refusal.map(Refused::from);
    let status = refused.as_ref().map_or(200, |refused| refused.status);
    let page = Page { shell: Bare::of::<SignedIn>(state), to: inside(to), refused };
    let mut response = match page.render() {
        Ok(page_text) => html(StatusCode::from_u16(status).unwrap_or(StatusCode::OK), page_text.into()),
        Err(_) => html(StatusCode::INTERNAL_SERVER_ERROR, Default::default()),
    };
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signing_in_leads_nowhere_but_into_the_console() {
        for (to, leads) in [
            ("/console/orders/a?b=c", "/console/orders/a?b=c"),
            ("/console?x", "/console?x"),
            ("/consoles", ROOT),
            ("//evil.example", ROOT),
            ("https://evil.example/console", ROOT),
            ("/console/\\evil", ROOT),
            ("/console/\r\nx: y", ROOT),
            ("", ROOT),
        ] {
            assert_eq!(inside(to), leads);
        }
    }
}
