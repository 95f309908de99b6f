//! Answers of a site: pages, redirects, cookies, and the page that shows a refusal.

use askama::Template;
use authority_domain::{ErrorCode, Refusal, RequestId};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, COOKIE, LOCATION, RETRY_AFTER, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::shell::Bare;
use super::{Visitor, filters};
use crate::http::AppState;

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    shell: Bare,
    title: &'a str,
    detail: &'a str,
    code: &'a str,
    request: &'a str,
}

/// The answer to a form that no page of this session has made.
pub(crate) fn foreign_form<W: Visitor>(state: &AppState, id: &RequestId) -> Response {
    let detail = "This form was not made by a page of your session, so nothing was done. Go back, load the page again \
                  and send it from there.";
    let name = ("Not from your session", "foreign_form");
    error_page::<W>(state, StatusCode::FORBIDDEN, name, detail, id)
}

/// The answer to what a page of another site asks for.
pub(crate) fn foreign<W: Visitor>(state: &AppState, detail: &str, id: &RequestId) -> Response {
    error_page::<W>(state, StatusCode::FORBIDDEN, ("Not from this site", "foreign_request"), detail, id)
}

/// What a cookie holds.
pub(crate) fn cookie<'h>(headers: &'h HeaderMap, wanted: &str) -> Option<&'h str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == wanted).map(|(_, value)| value)
}

/// A page that shows a refusal and nothing else.
pub(crate) fn refused<W: Visitor>(state: &AppState, refusal: &Refusal, id: &RequestId) -> Response {
    let status = StatusCode::from_u16(refusal.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let title = if refusal.code == ErrorCode::NotFound { "Not found" } else { refusal.code.title() };
    let mut response = error_page::<W>(state, status, (title, refusal.code.as_str()), &refusal.detail, id);
    if let Some(seconds) = refusal.retry_after_s {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

fn error_page<W: Visitor>(
    state: &AppState,
    status: StatusCode,
    (title, code): (&str, &str),
    detail: &str,
    id: &RequestId,
) -> Response {
    let page = ErrorPage { shell: Bare::of::<W>(state), title, detail, code, request: id.as_str() };
    html(status, page.render().unwrap_or_default().into())
}

/// An HTML answer.
pub(crate) fn html(status: StatusCode, page: Bytes) -> Response {
    let mut response = Response::new(Body::from(page));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}

/// 303 to a path of the site.
pub(crate) fn redirect(path: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(location) = HeaderValue::try_from(path) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

/// The same with a cookie.
pub(crate) fn redirect_with(path: &str, cookie: &str) -> Response {
    let mut response = redirect(path);
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_among_others() {
        let headers = |lines: &[&'static str]| -> HeaderMap {
            lines.iter().map(|line| (COOKIE, HeaderValue::from_static(line))).collect()
        };
        let found = headers(&["a=b; the_session=x", "the_session=y"]);
        assert_eq!(cookie(&found, "the_session"), Some("x"));
        assert_eq!(cookie(&headers(&["xthe_session=x; the_session"]), "the_session"), None);
    }
}
