//! Refusals as RFC 9457 problem details (contract 5.1) with the headers that belong to them (5.3, 5.4).
//!
//! A handler returns [`Problem`], which travels as an extension of an empty response. [`super::answer`], which
//! knows the request's id and the API's name, writes the body with [`ProblemWriter`]. So no handler needs either.

use std::sync::Arc;

use authority_domain::refusal::MemberError;
use authority_domain::{ErrorCode, Refusal, RequestId};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// A refusal as a response. `?` converts a [`Refusal`] into it.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem(pub Refusal);

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status(self.0.code);
        response.extensions_mut().insert(self);
        response
    }
}

/// Writes the problem bodies of one API.
#[derive(Debug, Clone)]
pub struct ProblemWriter {
    /// The protection space in `WWW-Authenticate`, e.g. `merchant-api`.
    pub realm: &'static str,
    /// What the `type` of a problem begins with, before its code.
    type_prefix: Arc<str>,
}

impl ProblemWriter {
    /// Problems of the API with this realm. Their types are addresses below `base_url`, where the deployment documents
    /// the codes, and URNs where it names no such place (contract 5.1).
    pub fn new(realm: &'static str, base_url: Option<&str>) -> Self {
        let type_prefix = base_url.map_or("urn:service:error:".into(), |url| format!("{url}/").into());
        Self { realm, type_prefix }
    }

    /// Fills in the body and the headers of a response that carries a [`Problem`]; leaves any other as it is.
    pub fn write(&self, response: &mut Response, request_id: &RequestId) {
        let Some(Problem(refusal)) = response.extensions_mut().remove() else { return };
        let document = Document { refusal: &refusal, request_id, type_prefix: &self.type_prefix };
        // The document holds only texts and JSON values, so serializing cannot fail.
        let body = serde_json::to_vec(&document).unwrap_or_default();
        *response.status_mut() = status(refusal.code);
        let headers = response.headers_mut();
        headers.remove(CONTENT_LENGTH);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = refusal.retry_after_s {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        if let Some(challenge) = self.challenge(&refusal) {
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
        if refusal.code == ErrorCode::RequestTimeout || refusal.code == ErrorCode::InvalidRequest {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        *response.body_mut() = Body::from(body);
    }

    /// RFC 6750 section 3: no error code when no credential was given; the scopes when one of them is missing.
    fn challenge(&self, refusal: &Refusal) -> Option<HeaderValue> {
        let realm = format!("Bearer realm=\"{}\"", self.realm);
        let challenge = match refusal.code {
            ErrorCode::MissingCredential => realm,
            ErrorCode::InvalidApiKey | ErrorCode::ExpiredApiKey => {
                format!("{realm}, error=\"invalid_token\"")
            }
            ErrorCode::InsufficientScope => {
                format!("{realm}, error=\"insufficient_scope\", scope=\"{}\"", required_scopes(refusal))
            }
            _ => return None,
        };
        HeaderValue::try_from(challenge).ok()
    }
}

fn status(code: ErrorCode) -> StatusCode {
    StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn required_scopes(refusal: &Refusal) -> String {
    let scopes = refusal
        .extra
        .iter()
        .find(|(name, _)| *name == "required_scopes")
        .and_then(|(_, value)| value.as_array());
    let scopes: Vec<&str> = scopes.into_iter().flatten().filter_map(serde_json::Value::as_str).collect();
    scopes.join(" ")
}

/// The problem body, in the member order of contract 5.1.
struct Document<'a> {
    refusal: &'a Refusal,
    request_id: &'a RequestId,
    type_prefix: &'a str,
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let refusal = self.refusal;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &format_args!("{}{}", self.type_prefix, refusal.code))?;
        map.serialize_entry("title", refusal.code.title())?;
        map.serialize_entry("status", &refusal.code.status())?;
        map.serialize_entry("code", refusal.code.as_str())?;
        map.serialize_entry("detail", &refusal.detail)?;
        map.serialize_entry("request_id", self.request_id.as_str())?;
        if let Some(param) = &refusal.param {
            map.serialize_entry("param", param)?;
        }
        if !refusal.members.is_empty() {
            let errors: Vec<Member<'_>> = refusal.members.iter().map(Member).collect();
            map.serialize_entry("errors", &errors)?;
        }
        for (name, value) in &refusal.extra {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

struct Member<'a>(&'a MemberError);

impl Serialize for Member<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("pointer", &self.0.pointer)?;
        map.serialize_entry("code", self.0.code.as_str())?;
        map.serialize_entry("detail", &self.0.detail)?;
        map.end()
    }
}
