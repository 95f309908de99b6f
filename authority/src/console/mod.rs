//! The operator's console: pages on the operator listener, below `/console` (contract 20).
//!
//! A browser signs in with an operator key (`sign_in`) and gets a session ([`crate::app::console::sessions`]). Every
//! page is rendered here from what the use cases of the API answer, and works without JavaScript, of which there is
//! none. A page that reads goes through `visit::show`, a form through `visit::submit`: both find the session and check
//! the scope; the second also checks that the form was made for this session and sent from this origin. A form that
//! succeeded answers with a redirect, one that was refused with its page, the refusal in words, and what was typed.
//!
//! Texts that merchants, customers, receivers or processors wrote are shown by the filter `bdi` (`filters`) alone.
//! Deliberately absent: anything of its own that changes records, direct access to the store, and secrets, but for a
//! rotated one at the moment it is made.

mod alerts;
mod amount;
mod audit_log;
mod chart;
mod delivery;
mod endpoint;
mod event;
#[expect(unreachable_pub, reason = "askama's macro makes them public")]
mod filters;
mod form;
mod headers;
mod links;
mod merchants;
mod order;
mod origin;
mod overview;
mod records;
mod search;
mod shell;
mod sign_in;
mod view;
mod visit;

use axum::Router;
use axum::middleware::map_response;
use axum::routing::get;
use http::HeaderValue;
use http::header::CONTENT_TYPE;

use crate::http::entry::AppState;

/// Where the console is.
const ROOT: &str = "/console";

/// The console's routes, for the operator's listener.
pub fn routes() -> Router<AppState> {
    let pages = Router::new()
        .merge(sign_in::routes())
        .merge(overview::routes())
        .merge(search::routes())
        .merge(order::routes())
        .merge(event::routes())
        .merge(delivery::routes())
        .merge(endpoint::routes())
        .merge(merchants::routes())
        .merge(records::routes())
        .merge(alerts::routes())
        .merge(audit_log::routes())
        .route("/console/style.css", get(style))
        .route("/console/{*rest}", get(visit::nowhere));
    pages.method_not_allowed_fallback(visit::wrong_method).layer(map_response(headers::add))
}

async fn style() -> ([(http::HeaderName, HeaderValue); 1], &'static str) {
    let css = HeaderValue::from_static("text/css; charset=utf-8");
    ([(CONTENT_TYPE, css)], include_str!("style.css"))
}
