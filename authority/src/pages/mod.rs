//! What the pages of the console and of the portal are made of (contract 20).
//!
//! A [`Site`] is one of the two: its name, its root, the rooms that its links lead to. A request to a site comes from a
//! [`Visitor`], who has a session: `visit` finds it, checks the scope and, for a form, that the form was made for this
//! session and sent from this origin. What both sites show and do alike is here: the parts of a page (`view`, `chart`,
//! `filters`, `templates`), deliveries and events as they are told (`delivery`, `event`), and the forms of an endpoint
//! (`endpoint`). Each site adds its pages, its way in, and the use cases that its visitors have.
//!
//! Every page works without JavaScript. One script (`live`) keeps pages up to date where a browser runs it, and does
//! nothing else. Texts that merchants, customers, receivers or processors wrote are shown by the filter `bdi` alone.
//! Deliberately absent: anything that changes records by itself, and direct access to the store.

pub(crate) mod answer;
pub(crate) mod api_call;
pub(crate) mod chart;
pub(crate) mod delivery;
pub(crate) mod endpoint;
pub(crate) mod event;
#[expect(unreachable_pub, reason = "askama's macro makes them public")]
pub(crate) mod filters;
pub(crate) mod form;
mod handler;
pub(crate) mod headers;
pub(crate) mod links;
pub(crate) mod live;
pub(crate) mod origin;
mod outcome;
mod presence;
pub(crate) mod problem;
pub(crate) mod shell;
pub(crate) mod view;
pub(crate) mod visit;

use std::sync::Arc;

use authority_domain::{Author, KeyId, Result};
use axum::Router;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::get;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use tokio::sync::OwnedSemaphorePermit;

use self::links::Links;
pub(crate) use self::presence::Presence;
use self::shell::Place;
use self::view::Cell;
use self::visit::Visit;
use crate::app::live::Watched;
use crate::http::AppState;
use crate::http::brand::Brand;
use crate::http::rate_limit::Policy;

/// One of the two sites.
#[derive(Debug)]
pub(crate) struct Site {
    /// As titles call it.
    pub(crate) name: &'static str,
    /// Where its pages are.
    pub(crate) links: Links,
    /// It has a search.
    pub(crate) search: bool,
    /// Below `/v1`, the API that its visitors have.
    pub(crate) api: &'static str,
}

/// Somebody with a session of a site.
pub(crate) trait Visitor: Clone + Send + Sync + 'static {
    /// A scope of the site's visitors.
    type Scope: Send + Sync + 'static;

    /// The site.
    const SITE: &'static Site;
    /// What pages need that only read; empty when each page says it for itself.
    const READS: &'static [Self::Scope];
    /// What manages endpoints and sends something again.
    const MANAGES: &'static [Self::Scope];

    /// What following a page needs; any of them.
    const FOLLOWS: &'static [Self::Scope];

    /// The visitor whose running session the request names.
    ///
    /// # Errors
    /// Only what the store reports.
    fn of(
        state: &AppState,
        parts: &Parts,
        presence: Presence,
    ) -> impl Future<Output = Result<Option<Self>>> + Send;

    /// What a request for a stream wants to watch; `None` for what there is not.
    fn watched(visit: &Visit<Self>) -> Option<Watched>;

    /// The answer to a request without a running session.
    fn nobody(state: &AppState, parts: &Parts) -> Response;

    /// Takes a token of the visitor's rate limit, where there is one.
    ///
    /// # Errors
    /// `rate_limited`.
    fn limit(&self, state: &AppState, policy: Policy) -> Result<()>;

    /// Takes a place among the requests of the visitor's client that are under way, where there is a bound.
    ///
    /// # Errors
    /// `rate_limited`.
    fn begin(&self, _: &AppState) -> Result<Option<OwnedSemaphorePermit>> {
        Ok(None)
    }

    /// Whether the visitor has any of these scopes.
    fn may(&self, any_of: &[Self::Scope]) -> bool;

    /// Refuses a visitor who has none of these scopes.
    ///
    /// # Errors
    /// `insufficient_scope`.
    fn check_scope(&self, any_of: &[Self::Scope]) -> Result<()>;

    /// An id that leads to its record, where the visitor may see that.
    fn link(&self, id: &str) -> Cell {
        Self::SITE.links.id(id)
    }

    /// The author of what the visitor writes.
    fn author(&self) -> Author;

    /// The credential that answers count against until they are read.
    fn credential(&self) -> &KeyId;

    /// Whoever shares the turns of lists with this visitor.
    fn client(&self) -> &str;

    /// What every form of the session carries.
    fn form_token(&self) -> &str;

    /// As the head of a page calls the visitor.
    fn name(&self) -> String;

    /// The pages in the head of each page.
    fn places(&self) -> Vec<Place>;

    /// How the site looks, where whoever runs it may choose.
    fn brand(_: &AppState) -> Option<Arc<Brand>> {
        None
    }

    /// Where the site leads back to, when somebody outside sent the visitor.
    fn way_back(&self) -> Option<&str> {
        None
    }
}

/// The routes of a site: its pages, its style sheet, and what says that there is nothing else.
pub(crate) fn site<W: Visitor>(pages: Router<AppState>) -> Router<AppState> {
    let root = W::SITE.links.root;
    pages
        .merge(live::routes::<W>())
        .route(&format!("{root}/style.css"), get(style))
        .route(&format!("{root}/"), get(async || answer::redirect(root)))
        .route(&format!("{root}/{{*rest}}"), get(handler::nowhere::<W>))
        .method_not_allowed_fallback(handler::wrong_method::<W>)
        .layer(map_response(headers::add))
}

async fn style() -> ([(http::HeaderName, HeaderValue); 1], &'static str) {
    let css = HeaderValue::from_static("text/css; charset=utf-8");
    ([(CONTENT_TYPE, css)], include_str!("style.css"))
}
