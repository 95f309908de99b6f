//! Whoever has a session of the portal.

use std::sync::Arc;

use authority_domain::{Author, ErrorCode, EventId, KeyId, Refusal, Result, Scope};
use axum::response::Response;
use http::request::Parts;
use tokio::sync::OwnedSemaphorePermit;

use super::{LINKS, PORTAL, Visit, enter};
use crate::app::live::Watched;
use crate::app::portal::sessions::PortalVisitor;
use crate::http::brand::Brand;
use crate::http::entry::failed;
use crate::http::rate_limit::Policy;
use crate::http::{AppState, bearer};
use crate::pages::answer::cookie;
use crate::pages::links::mode;
use crate::pages::shell::Place;
use crate::pages::view::Cell;
use crate::pages::{Presence, Site, Visitor};

/// What pages of events need.
pub(super) const EVENTS: &[Scope] = &[Scope::EventsRead];
/// What the page of keys needs ([`super::api_keys`]).
pub(super) const KEYS: &[Scope] = PortalVisitor::MANAGES;

impl Visitor for PortalVisitor {
    type Scope = Scope;

    const SITE: &'static Site = &PORTAL;
    const READS: &'static [Scope] = &[];
    const MANAGES: &'static [Scope] = &[Scope::WebhooksManage];
    const FOLLOWS: &'static [Scope] = &[Scope::EventsRead, Scope::WebhooksManage];

    /// A session ends by its time alone, whoever asks.
    async fn of(state: &AppState, parts: &Parts, _: Presence) -> Result<Option<Self>> {
        match cookie(&parts.headers, enter::COOKIE) {
            Some(cookie) => state.app.portal_session(cookie).await,
            None => Ok(None),
        }
    }

    fn watched(visit: &Visit) -> Option<Watched> {
        Some(Watched::Merchant(visit.who.caller.tenant.clone()))
    }

    fn nobody(state: &AppState, parts: &Parts) -> Response {
        let refusal = match cookie(&parts.headers, enter::COOKIE) {
            Some(_) => bearer::invalid(),
            None => Refusal::new(ErrorCode::MissingCredential, "There is no session."),
        };
        enter::ended(state, failed(state, parts, refusal), parts)
    }

    fn limit(&self, state: &AppState, policy: Policy) -> Result<()> {
        state.limiter.check(&self.caller.tenant, &self.caller.merchant.limits, policy).1
    }

    /// The merchant's requests of the API and of these pages are counted together.
    fn begin(&self, state: &AppState) -> Result<Option<OwnedSemaphorePermit>> {
        state.at_once.request(self.client()).map(Some)
    }

    fn may(&self, any_of: &[Scope]) -> bool {
        self.caller.may(any_of)
    }

    fn check_scope(&self, any_of: &[Scope]) -> Result<()> {
        self.caller.check_scope(any_of)
    }

    /// Endpoints and deliveries name events, which need a scope of their own.
    fn link(&self, id: &str) -> Cell {
        if EventId::parse(id).is_some() && !self.may(EVENTS) { Cell::text(id) } else { LINKS.id(id) }
    }

    fn author(&self) -> Author {
        Author::PortalSession(self.session_id.clone())
    }

    fn credential(&self) -> &KeyId {
        &self.caller.key_id
    }

    fn client(&self) -> &str {
        self.caller.tenant.merchant_id.as_str()
    }

    fn form_token(&self) -> &str {
        &self.form_token
    }

    fn name(&self) -> String {
        format!("{} ({})", self.caller.merchant.name, mode(self.caller.tenant.livemode))
    }

    fn places(&self) -> Vec<Place> {
        let places: [(&'static str, &str, &[Scope]); 4] = [
            ("Endpoints", "endpoints", Self::MANAGES),
            ("Deliveries", "deliveries", Self::MANAGES),
            ("Events", "events", EVENTS),
            ("API keys", "api-keys", KEYS),
        ];
        let seen = places.into_iter().filter(|(_, _, scopes)| self.may(scopes));
        seen.map(|(name, room, _)| Place { name, path: format!("{}/{room}", LINKS.root) }).collect()
    }

    fn brand(state: &AppState) -> Option<Arc<Brand>> {
        Some(Arc::clone(&state.brand))
    }

    fn way_back(&self) -> Option<&str> {
        self.return_url.as_deref()
    }
}
