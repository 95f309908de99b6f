//! The link of `authority dev`, which opens the console once without a key ([`crate::app::console::dev_link`]).
//!
//! As with links to the portal, looking at it changes nothing, and a button opens it: programs that look at links use
//! none up, and the cookie is set on the answer to a form of our own page. Where no link was issued, which is
//! everywhere but in `dev`, its address is like any other where there is nothing.

use askama::Template;
use authority_domain::Refusal;
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::get;
use http::StatusCode;

use super::{ROOT, sign_in};
use crate::app::console::sessions::SignedIn;
use crate::http::AppState;
use crate::pages::answer::{foreign_form, html, redirect_with, refused};
use crate::pages::origin;
use crate::pages::shell::Bare;
use crate::pages::visit::{Names, nowhere, request_id_of};

#[derive(Template)]
#[template(path = "dev_link.html")]
struct Page {
    shell: Bare,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new().route("/console/open/{link}", get(look).post(open))
}

async fn look(State(state): State<AppState>, link: Names<String>, request: Request) -> Response {
    let link = link.map_or_else(|_| String::new(), |Path(link)| link);
    if !state.app.console_link_works(&link) {
        return nowhere::<SignedIn>(State(state), request).await;
    }
    match (Page { shell: Bare::of::<SignedIn>(&state) }).render() {
        Ok(page) => html(StatusCode::OK, page.into()),
        Err(_) => refused::<SignedIn>(&state, &Refusal::internal(), &request_id_of(&request.into_parts().0)),
    }
}

async fn open(State(state): State<AppState>, link: Names<String>, request: Request) -> Response {
    let link = link.map_or_else(|_| String::new(), |Path(link)| link);
    if !state.app.console_link_works(&link) {
        return nowhere::<SignedIn>(State(state), request).await;
    }
    let (parts, body) = request.into_parts();
    let id = request_id_of(&parts);
    if !origin::is_ours(&parts.headers) {
        return foreign_form::<SignedIn>(&state, &id);
    }
    match state.app.console_link_open(&link, id.clone()).await {
        Ok(Some(secret)) => redirect_with(ROOT, &sign_in::cookie_of(&secret)),
        // Somebody else was quicker.
        Ok(None) => nowhere::<SignedIn>(State(state), Request::from_parts(parts, body)).await,
        Err(refusal) => refused::<SignedIn>(&state, &refusal, &id),
    }
}
