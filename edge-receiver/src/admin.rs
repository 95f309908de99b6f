//! Who may look inside, and at what: the paths for people who look after the receiver, behind one token.
//!
//! | Request | What it does |
//! |---|---|
//! | `GET /health` | counts by state, the oldest event that is not handed over, reconciliation |
//! | `GET /events/:id` | one record with its event |
//! | `POST /events/:id/retry` | has the next attempt at it made now |
//! | `POST /reconciliation/run` | runs reconciliation now |
//! | `POST /reconciliation/restart` | forgets its position: the next run begins with the oldest event that is kept |
//!
//! Without a token in the configuration there are no such paths. With one, whoever does not bring it learns that, and
//! nothing else: the token is asked for before the method or whether there is such an event.

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use verify_core::event;

use crate::configuration::InvalidVariable;

/// The token, 16 to 512 visible ASCII characters. Looking inside is off while it is not set.
pub const ADMIN_TOKEN: &str = "ADMIN_TOKEN";

/// Something to look at or to have done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Route<'p> {
    /// How the receiver stands.
    Health,
    /// The record of this event.
    Event(&'p str),
    /// An attempt at this event now.
    Retry(&'p str),
    /// A run of reconciliation now.
    Reconcile,
    /// Reconciliation from the beginning.
    Restart,
}

impl<'p> Route<'p> {
    /// What is at `path`, `None` when there is nothing; an id that no event can have is nothing.
    #[must_use]
    pub fn of(path: &'p str) -> Option<Self> {
        match path {
            "/health" => return Some(Self::Health),
            "/reconciliation/run" => return Some(Self::Reconcile),
            "/reconciliation/restart" => return Some(Self::Restart),
            _ => {}
        }
        let rest = path.strip_prefix("/events/")?;
        match rest.strip_suffix("/retry") {
            Some(id) => event::is_event_id(id).then_some(Self::Retry(id)),
            None => event::is_event_id(rest).then_some(Self::Event(rest)),
        }
    }

    /// The one method that it takes.
    #[must_use]
    pub fn method(self) -> &'static str {
        match self {
            Self::Health | Self::Event(_) => "GET",
            Self::Retry(_) | Self::Reconcile | Self::Restart => "POST",
        }
    }
}

/// Whether somebody may look inside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// No token is configured, so nobody.
    Off,
    /// The token was not brought, or is another.
    Refused,
    /// The token is the configured one.
    Granted,
}

/// Judges a request by its `Authorization`: `Bearer` in any letter case, blanks, the token (RFC 6750, 2.1). How long
/// the comparison takes says nothing about the token.
///
/// # Errors
/// [`InvalidVariable`]: the configured token is too short to protect anything, too long, or cannot be sent.
pub fn access(token: Option<&str>, authorization: Option<&str>) -> Result<Access, InvalidVariable> {
    let Some(token) = token else {
        return Ok(Access::Off);
    };
    if !(16..=512).contains(&token.len()) || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(InvalidVariable(ADMIN_TOKEN));
    }
    let brought = authorization
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map_or("", |(_, token)| token.trim_matches(' '));
    // Digests are of one length, so the lengths of the two cannot be compared by accident.
    let is_same = Sha256::digest(brought).ct_eq(&Sha256::digest(token));
    Ok(if is_same.into() { Access::Granted } else { Access::Refused })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "a-token-of-thirty-two-characters";

    #[test]
    fn routes() {
        for (path, route) in [
            ("/health", Some(Route::Health)),
            ("/events/evt_1", Some(Route::Event("evt_1"))),
            ("/events/evt_a-B_9/retry", Some(Route::Retry("evt_a-B_9"))),
            ("/reconciliation/run", Some(Route::Reconcile)),
            ("/reconciliation/restart", Some(Route::Restart)),
            ("/", None),
            ("/health/", None),
            ("/Health", None),
            ("/events", None),
            ("/events/", None),
            ("/events/1", None),
            ("/events/evt_", None),
            ("/events/evt_1/", None),
            ("/events/evt_1/retry/", None),
            ("/events//retry", None),
            ("/events/evt_1%2fretry", None),
            ("/reconciliation", None),
        ] {
            assert_eq!(Route::of(path), route, "{path}");
        }
    }

    #[test]
    fn only_the_token_opens() {
        assert_eq!(access(None, Some(&format!("Bearer {TOKEN}"))), Ok(Access::Off));
        for granted in ["Bearer ", "bearer ", "BEARER   "] {
            assert_eq!(
                access(Some(TOKEN), Some(&format!("{granted}{TOKEN}"))),
                Ok(Access::Granted),
                "{granted}"
            );
        }
        let prefix = &TOKEN[..31];
        for refused in [
            None,
            Some(String::new()),
            Some(TOKEN.to_owned()),
            Some("Bearer".to_owned()),
            Some("Bearer ".to_owned()),
            Some(format!("Bearer {prefix}")),
            Some(format!("Bearer {TOKEN}x")),
            Some(format!("Bearer {}", TOKEN.to_uppercase())),
            Some(format!("Basic {TOKEN}")),
            Some(format!("Bearer\t{TOKEN}")),
            Some(format!("Bearer {TOKEN}, Bearer {TOKEN}")),
        ] {
            assert_eq!(access(Some(TOKEN), refused.as_deref()), Ok(Access::Refused), "{refused:?}");
        }
    }

    #[test]
    fn a_token_that_protects_nothing_is_a_mistake() {
        for unusable in
            ["", "fifteen-letters", "with a blank in it", "with-a-line-end-in-it\n", &"x".repeat(513)]
        {
            assert_eq!(access(Some(unusable), None), Err(InvalidVariable("ADMIN_TOKEN")), "{unusable:?}");
        }
    }
}
