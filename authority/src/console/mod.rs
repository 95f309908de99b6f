//! The operator's console: pages on the operator listener, below `/console` (contract 20).
//!
//! A browser signs in with an operator key (`sign_in`) and gets a session ([`crate::app::console::sessions`]). Pages
//! and forms are those of `pages`, which this adds to: what an operator sees over all merchants. A page that reads goes
//! through `visit::shows`, a form through `visit::submits`. A form that succeeded answers with a redirect, one that was
//! refused with its page, the refusal in words, and what was typed.
//!
//! Deliberately absent: anything of its own that changes records, direct access to the store, and secrets, but for a
//! rotated one at the moment it is made.

mod alerts;
mod audit_log;
mod delivery;
mod dev_link;
mod endpoint;
mod event;
mod links;
mod merchants;
mod order;
mod overview;
mod records;
mod refund_form;
mod search;
mod sign_in;
mod visit;

use axum::Router;

use crate::app::console::sessions::SignedIn;
use crate::http::AppState;
use crate::pages;

/// Where the console is.
const ROOT: &str = links::LINKS.root;

/// The console's routes, for the operator's listener.
pub fn routes() -> Router<AppState> {
    let pages = Router::new()
        .merge(sign_in::routes())
        .merge(dev_link::routes())
        .merge(overview::routes())
        .merge(search::routes())
        .merge(order::routes())
        .merge(event::routes())
        .merge(delivery::routes())
        .merge(endpoint::routes())
        .merge(merchants::routes())
        .merge(records::routes())
        .merge(alerts::routes())
        .merge(audit_log::routes());
    pages::site::<SignedIn>(pages)
}
