//! The platform's colour and logo, served to anybody: the page of a link has them before there is a session.

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::get;
use http::HeaderValue;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};

use crate::app::portal::sessions::PortalVisitor;
use crate::http::AppState;
use crate::http::brand::Logo;
use crate::pages::visit::nowhere;

/// Opened by itself, an SVG is a document: it runs no script, loads nothing and has no origin.
const OF_LOGO: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new().route("/portal/brand.css", get(css)).route("/portal/logo", get(logo))
}

async fn css(State(state): State<AppState>, request: Request) -> Response {
    match state.brand.css.clone() {
        Some(css) => file("text/css; charset=utf-8", css.into()),
        None => nowhere::<PortalVisitor>(State(state), request).await,
    }
}

async fn logo(State(state): State<AppState>, request: Request) -> Response {
    let Some(Logo { media_type, bytes }) = state.brand.logo.clone() else {
        return nowhere::<PortalVisitor>(State(state), request).await;
    };
    let mut response = file(media_type, bytes.into());
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(OF_LOGO));
    response
}

fn file(media_type: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}
