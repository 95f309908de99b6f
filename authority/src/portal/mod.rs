//! The merchant portal: pages on the merchant listener, below `/portal` (contract 20).
//!
//! The platform's operator makes a link and hands it on; whoever opens it (`enter`) has a session of one merchant and
//! mode, with the scopes that the operator chose ([`crate::app::portal::sessions`]). Pages and forms are those of
//! `pages`, asked with the merchant's own use cases: what belongs to another merchant or mode does not exist
//! here. Each page checks its scope: `events:read` for events, `webhooks:manage` for endpoints, deliveries and keys.
//!
//! The listener is public. A link or session that does not work counts against the address that it comes from like a
//! wrong key; what a session does counts against its merchant's limits like the API's requests. Deliberately absent:
//! anything that makes or ends API keys, which only the operator does (`api_keys`), and anything of its own that
//! changes records.

mod api_keys;
mod brand;
mod deliveries;
mod endpoint;
mod endpoints;
mod enter;
mod events;
mod home;
mod visitor;

use authority_domain::Result;
use axum::Router;

use crate::app::live::Watched;
use crate::app::portal::sessions::PortalVisitor;
use crate::http::AppState;
use crate::pages;
use crate::pages::links::Links;
use crate::pages::shell::Shell;
use crate::pages::{Site, visit};

/// The portal.
static PORTAL: Site = Site { name: "Portal", links: LINKS, search: false, api: "merchant" };

/// Its pages.
const LINKS: Links = Links {
    root: "/portal",
    rooms: &[("evt", "events"), ("dlv", "deliveries"), ("we", "endpoints")],
    otherwise: None,
};

/// A request of a visitor.
type Visit = visit::Visit<PortalVisitor>;

/// The frame of a page that keeps itself up to date.
async fn following(visit: &Visit) -> Result<Shell> {
    let watched = Watched::Merchant(visit.who.caller.tenant.clone());
    visit.following(format!("{}/live", LINKS.root), &watched).await
}

/// The portal's routes, for the merchant listener.
pub fn routes() -> Router<AppState> {
    let pages = Router::new()
        .merge(enter::routes())
        .merge(brand::routes())
        .merge(home::routes())
        .merge(events::routes())
        .merge(deliveries::routes())
        .merge(endpoints::routes())
        .merge(endpoint::routes())
        .merge(api_keys::routes());
    pages::site::<PortalVisitor>(pages)
}
