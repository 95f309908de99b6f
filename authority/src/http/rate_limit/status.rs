//! The two header fields that tell a client its rate limit status (IETF draft "RateLimit header fields for HTTP",
//! revision 10).

use http::{HeaderMap, HeaderName, HeaderValue};

use super::{Policy, whole_seconds};
use crate::config::Quota;
use crate::http::token_buckets::Taken;

const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// A client's rate limit status after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "goes into the headers of the answer"]
pub struct RateLimitStatus(pub(super) Option<(Policy, Quota, Taken)>);

impl RateLimitStatus {
    /// Writes `RateLimit-Policy` and `RateLimit`; nothing when limits are disabled.
    pub fn write(self, headers: &mut HeaderMap) {
        let Some((policy, quota, Taken { remaining, full_after, .. })) = self.0 else { return };
        let name = policy.name();
        let fields = [
            (RATE_LIMIT_POLICY, format!("\"{name}\";q={};w={}", quota.refill, quota.window.as_secs())),
            (RATE_LIMIT, format!("\"{name}\";r={remaining};t={}", whole_seconds(full_after))),
        ];
        for (field, text) in fields {
            if let Ok(value) = HeaderValue::try_from(text) {
                headers.insert(field, value);
            }
        }
    }
}
