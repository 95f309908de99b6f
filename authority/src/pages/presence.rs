//! Who asks: the person, or the page by itself, which is no use of a session and never keeps it from ending.

use http::request::Parts;
use url::form_urlencoded;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// The person.
    Person,
    /// The page.
    Script,
}

impl Presence {
    /// Whoever sent a request: the page's script says so, and a page that loads itself again has a query of its own.
    pub(super) fn of(parts: &Parts) -> Self {
        let by_script = parts.headers.contains_key("x-requested-with");
        if by_script || follows(parts) { Self::Script } else { Self::Person }
    }
}

/// Whether the visitor asked for a page that loads itself again.
pub(super) fn follows(parts: &Parts) -> bool {
    let query = parts.uri.query().unwrap_or_default();
    parts.method.is_safe()
        && form_urlencoded::parse(query.as_bytes()).any(|pair| pair == ("follow".into(), "yes".into()))
}
