//! The two profiles of an endpoint's deliveries (contract 15.12): which headers carry the signature.
//!
//! The rules differ in three places: the names of the headers, how a secret becomes a key, and what is signed and how
//! that is written. Everything else, codes and precedence included, is the same for both.

use crate::{header, standard_webhooks};

/// By which headers a delivery is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// By `Service-*`, which every delivery has (contract 10).
    #[default]
    Service,
    /// By `webhook-*`, as the libraries of Standard Webhooks do it ([`standard_webhooks`]).
    StandardWebhooks,
}

/// The names of a profile's three headers, in lowercase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderNames {
    /// Names the event.
    pub event_id: &'static str,
    /// Unix seconds of the attempt, ten digits.
    pub timestamp: &'static str,
    /// One signature for each secret that is valid.
    pub signature: &'static str,
}

impl Profile {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Service, Self::StandardWebhooks];

    /// The profile's name in records and configurations.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::StandardWebhooks => "standard-webhooks",
        }
    }

    /// The profile of exactly this name.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "an unknown name is no error here: `None`")]
    pub fn from_str(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.as_str() == name)
    }

    /// The headers that it looks at.
    #[must_use]
    pub const fn header_names(self) -> HeaderNames {
        match self {
            Self::Service => HeaderNames {
                event_id: header::EVENT_ID,
                timestamp: header::TIMESTAMP,
                signature: header::SIGNATURE,
            },
            Self::StandardWebhooks => HeaderNames {
                event_id: standard_webhooks::EVENT_ID,
                timestamp: standard_webhooks::TIMESTAMP,
                signature: standard_webhooks::SIGNATURE,
            },
        }
    }
}
