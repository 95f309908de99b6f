//! Sessions of the merchant portal, and `POST /merchants/:m/:mode/portal-sessions` that begins one (contract 20).
//!
//! The operator asks for a link. Whoever opens it, once, has a session with the scopes that were asked for, until the
//! time that was asked for: it counts from the making of the link, so nobody prolongs a session by opening it late.

use serde_json::Value;

use crate::body;
use crate::body::Loopback;
use crate::id::{KeyId, PortalSessionId};
use crate::merchant::key_requests::scopes;
use crate::merchant::scope::Scope;
use crate::refusal::Result;
use crate::tenant::Tenant;
use crate::time::Timestamp;

/// The shortest session: a minute.
const LIFE_MIN_S: i64 = 60;
/// The longest one: a day (contract 20).
const LIFE_MAX_S: i64 = 86_400;
/// How long a session lasts when the operator does not say: an hour.
const LIFE_DEFAULT_S: i64 = 3_600;

/// A link to be made.
#[derive(Clone, Debug)]
pub struct PortalSessionRequest {
    /// What the session may do; at least one.
    pub scopes: Vec<Scope>,
    /// How long link and session last together, in milliseconds.
    pub life_ms: i64,
    /// Where the portal leads back to.
    pub return_url: Option<String>,
}

impl PortalSessionRequest {
    /// Reads the body. A session of test data may lead back to a service on this machine.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value, loopback: Loopback) -> Result<Self> {
        body::read(body, |m| Self {
            scopes: scopes(m).required(),
            life_ms: m.integer("expires_in_seconds", LIFE_MIN_S..=LIFE_MAX_S).or(LIFE_DEFAULT_S) * 1000,
            return_url: m.web_url("return_url", loopback).optional(),
        })
    }
}

/// A link, or the session that it became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortalSession {
    /// Names it in the audit log; opens nothing.
    pub id: PortalSessionId,
    /// SHA-256 of what the link holds, then of what the cookie holds.
    pub hash: [u8; 32],
    /// Whose data it shows.
    pub tenant: Tenant,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// The operator key that made it.
    pub key_id: KeyId,
    /// Where the portal leads back to.
    pub return_url: Option<String>,
    /// When the link was made.
    pub created_at: Timestamp,
    /// When it was opened.
    pub opened_at: Option<Timestamp>,
    /// When it ends, opened or not.
    pub expires_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_says_what_is_wrong_with_each_member() {
        let read = |body: Value| PortalSessionRequest::read(&body, Loopback::Refused);
        let plain = read(json!({ "scopes": ["webhooks:manage", "events:read", "events:read"] })).unwrap();
        assert_eq!(plain.scopes, [Scope::EventsRead, Scope::WebhooksManage]);
        assert_eq!((plain.life_ms, plain.return_url), (3_600_000, None));
        for (wrong, pointer) in [
            (json!({}), "/scopes"),
            (json!({ "scopes": [] }), "/scopes"),
            (json!({ "scopes": ["keys:write"] }), "/scopes/0"),
            (json!({ "scopes": ["events:read"], "expires_in_seconds": 59 }), "/expires_in_seconds"),
            (json!({ "scopes": ["events:read"], "expires_in_seconds": 86_401 }), "/expires_in_seconds"),
            (json!({ "scopes": ["events:read"], "return_url": "javascript:alert(1)" }), "/return_url"),
            (json!({ "scopes": ["events:read"], "return_url": "http://localhost:3000/" }), "/return_url"),
            (json!({ "scopes": ["events:read"], "return_url": "https://a:b@shop.example/" }), "/return_url"),
            (json!({ "scopes": ["events:read"], "return_url": "https://caf\u{e9}.example/" }), "/return_url"),
            (json!({ "scopes": ["events:read"], "return_url": null }), "/return_url"),
            (json!({ "scopes": ["events:read"], "other": 1 }), "/other"),
        ] {
            let refusal = read(wrong.clone()).unwrap_err();
            let pointers: Vec<_> = refusal.members.iter().map(|member| member.pointer.as_str()).collect();
            assert_eq!(pointers, [pointer], "{wrong}");
        }
    }

    #[test]
    fn test_data_may_lead_back_to_this_machine() {
        for (url, good) in [
            ("http://localhost:3000/webhooks", true),
            ("http://127.0.0.1/", true),
            ("http://[::1]:3000/", true),
            ("http://localhost.example/", false),
            ("http://192.0.2.1/", false),
            ("ftp://localhost/", false),
            ("https://shop.example/webhooks", true),
        ] {
            let body = json!({ "scopes": ["events:read"], "return_url": url });
            assert_eq!(PortalSessionRequest::read(&body, Loopback::Allowed).is_ok(), good, "{url}");
        }
    }
}
