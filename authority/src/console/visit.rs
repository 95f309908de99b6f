//! Requests of an operator who is signed in.

use authority_domain::{Author, KeyId, OperatorScope, Result};
use axum::response::Response;
use http::Uri;
use http::request::Parts;

use super::{links, sign_in};
use crate::app::console::sessions::{Noted, READS, SignedIn};
use crate::app::live::Watched;
use crate::http::AppState;
use crate::http::rate_limit::Policy;
use crate::pages::answer::{cookie, redirect};
use crate::pages::shell::Place;
pub(super) use crate::pages::visit::{Outcome, done};
use crate::pages::{Presence, Site, Visitor, visit};

/// A request of an operator.
pub(super) type Visit = visit::Visit<SignedIn>;

/// What manages endpoints and sends something again.
pub(super) const MANAGES: &[OperatorScope] = SignedIn::MANAGES;

impl Visitor for SignedIn {
    type Scope = OperatorScope;

    const SITE: &'static Site = &links::CONSOLE;
    const READS: &'static [OperatorScope] = READS;
    const MANAGES: &'static [OperatorScope] = &[OperatorScope::KeysWrite];
    const FOLLOWS: &'static [OperatorScope] = Self::READS;

    async fn of(state: &AppState, parts: &Parts, presence: Presence) -> Result<Option<Self>> {
        let use_of_it = if presence == Presence::Person { Noted::Yes } else { Noted::No };
        match cookie(&parts.headers, sign_in::COOKIE) {
            Some(cookie) => state.app.console_session(cookie, use_of_it).await,
            None => Ok(None),
        }
    }

    fn watched(visit: &Visit) -> Option<Watched> {
        links::watched(visit.asked("of"), visit.asked("mode"))
    }

    fn nobody(_: &AppState, parts: &Parts) -> Response {
        to_sign_in(&parts.uri, parts.method.is_safe())
    }

    /// An operator has none.
    fn limit(&self, _: &AppState, _: Policy) -> Result<()> {
        Ok(())
    }

    fn may(&self, any_of: &[OperatorScope]) -> bool {
        self.operator.may(any_of)
    }

    fn check_scope(&self, any_of: &[OperatorScope]) -> Result<()> {
        self.operator.check_scope(any_of)
    }

    fn author(&self) -> Author {
        Author::Operator(self.operator.key_id.clone())
    }

    fn credential(&self) -> &KeyId {
        &self.operator.key_id
    }

    fn client(&self) -> &str {
        self.operator.key_id.as_str()
    }

    fn form_token(&self) -> &str {
        &self.form_token
    }

    fn name(&self) -> String {
        self.key_name.clone()
    }

    fn places(&self) -> Vec<Place> {
        [
            ("Merchants", "merchants"),
            ("Deliveries", "deliveries"),
            ("Alerts", "alerts"),
            ("Audit log", "audit-log"),
        ]
        .map(|(name, room)| Place { name, path: format!("{}/{room}", super::ROOT) })
        .into()
    }
}

/// Redirects to the sign-in page, which leads back to a page that was asked for.
fn to_sign_in(uri: &Uri, back: bool) -> Response {
    let mut target = sign_in::PATH.to_owned();
    if back && uri.path() != super::ROOT {
        let wanted = uri.path_and_query().map_or(uri.path(), |wanted| wanted.as_str());
        target = format!("{target}?to={}", links::encoded(wanted));
    }
    redirect(&target)
}
