//! `POST /merchants/:m/api-keys` and `POST /api-keys/:id/rotate` (contract 2.11, 6.2).

use serde_json::Value;

use crate::body;
use crate::body::{Field, Members, Text};
use crate::merchant::scope::Scope;
use crate::refusal::{MemberCode, Result};
use crate::tenant::Mode;
use crate::time::Timestamp;

/// How long a replaced key goes on working when the operator does not say: a day.
const OVERLAP_DEFAULT_S: i64 = 86_400;

/// How long it may go on at most: 30 days.
const OVERLAP_MAX_S: i64 = 2_592_000;

/// An API key to be issued.
#[derive(Clone, Debug)]
pub struct ApiKeyRequest {
    /// For people.
    pub name: String,
    /// Live or test.
    pub livemode: bool,
    /// At least one.
    pub scopes: Vec<Scope>,
    /// When it stops to work.
    pub expires_at: Option<Timestamp>,
}

impl ApiKeyRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value, now: Timestamp) -> Result<Self> {
        body::read(body, |m| {
            let request = Self {
                name: m.string("name", Text::LINE).required(),
                livemode: m.one_of("mode").map(|mode: Mode| mode == Mode::Live).required(),
                scopes: scopes(m).required(),
                expires_at: m.time("expires_at").optional(),
            };
            check_end(m, request.expires_at, now);
            request
        })
    }
}

/// A key to be replaced by a new one.
#[derive(Clone, Debug)]
pub struct ApiKeyRotation {
    /// How long the old one goes on working, in milliseconds.
    pub overlap_ms: i64,
    /// What the new one may do; `None` for the same.
    pub scopes: Option<Vec<Scope>>,
    /// When the new one stops to work; `None` for when the old one would have, `Some(None)` for never.
    pub expires_at: Option<Option<Timestamp>>,
}

impl ApiKeyRotation {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value, now: Timestamp) -> Result<Self> {
        body::read(body, |m| {
            m.not_writable("id name mode livemode");
            let overlap_s = m.integer("overlap_seconds", 0..=OVERLAP_MAX_S).or(OVERLAP_DEFAULT_S);
            let rotation = Self {
                overlap_ms: overlap_s * 1000,
                scopes: scopes(m).optional(),
                expires_at: m.time("expires_at").or_null(),
            };
            check_end(m, rotation.expires_at.flatten(), now);
            rotation
        })
    }
}

/// The scopes that a key or a session is to have; at least one, sorted, each once.
pub(crate) fn scopes<'m>(m: &'m mut Members<'_>) -> Field<'m, Vec<Scope>> {
    m.list("scopes", 1..=Scope::ALL.len(), |value| body::one_of(value, Scope::ALL)).sorted()
}

fn check_end(m: &mut Members<'_>, expires_at: Option<Timestamp>, now: Timestamp) {
    if expires_at.is_some_and(|at| at <= now) {
        m.refuse("expires_at", MemberCode::OutOfRange, "must be in the future");
    }
}
