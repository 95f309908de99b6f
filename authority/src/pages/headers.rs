//! The headers of every answer of a site.
//!
//! The policy lets a page load its own style sheet and its own script and nothing else, ask and send forms to this
//! origin alone, and stand in no frame. No script that stands in a page runs. `Cache-Control: no-store` and
//! `X-Content-Type-Options` are on every answer of this service ([`crate::http::answer`]).

use axum::response::Response;
use http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_FRAME_OPTIONS};
use http::{HeaderName, HeaderValue};

const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; \
                      img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Adds them.
pub(crate) async fn add(mut response: Response) -> Response {
    // A logo has a stricter one.
    response.headers_mut().entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    for (name, value) in [
        (REFERRER_POLICY, "no-referrer"),
        (X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
