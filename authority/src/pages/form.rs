//! The form of a request: read within a bound, its members taken one by one.

use std::collections::BTreeMap;

use authority_domain::{ErrorCode, Refusal, Result};
use axum::body::Body;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method};
use http_body_util::{BodyExt as _, Limited};
use serde_json::Value;
use url::form_urlencoded;

use crate::app::IdempotencyKey;
use crate::http::idempotency_key::fingerprint;

/// How much a form may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// More than a form needs that holds no body of a delivery.
    Small,
    /// The headers and the body of a delivery (contract 5.6), in the form's own encoding: three bytes for each of them.
    WithABody,
}

impl Size {
    /// In bytes.
    const fn most(self) -> usize {
        match self {
            Self::Small => 64 * 1024,
            Self::WithABody => 3 * (256 + 32) * 1024,
        }
    }
}

/// The token of the session.
const TOKEN: &str = "_token";
/// The idempotency key.
const ONCE: &str = "_once";
/// The version of the record that the form was made for.
const VERSION: &str = "_version";

/// The body of the API's request: what was left empty is left out.
pub(crate) fn body<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let given = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(given.collect())
}

/// What was typed. Has no `Debug`: it may hold a key.
#[derive(Clone)]
pub(crate) struct Form(BTreeMap<String, String>);

impl Form {
    /// Reads the body, up to the bytes of its `size`; of members that are given twice the last one counts.
    ///
    /// # Errors
    /// `unsupported_media_type`, `payload_too_large`.
    pub(crate) async fn read(headers: &HeaderMap, body: Body, size: Size) -> Result<Self> {
        let media = headers.get(CONTENT_TYPE).and_then(|line| line.to_str().ok()).unwrap_or_default();
        let essence = media.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return Err(Refusal::new(ErrorCode::UnsupportedMediaType, "The body must be a form."));
        }
        let body = Limited::new(body, size.most()).collect().await.map_err(|_| {
            Refusal::new(ErrorCode::PayloadTooLarge, "The form is too large, or did not arrive whole.")
        })?;
        Ok(Self(form_urlencoded::parse(&body.to_bytes()).into_owned().collect()))
    }

    /// What was typed, without the blanks around it; empty when there is no such member.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |text| text.trim())
    }

    /// The same; `None` when the form has no such member.
    pub(crate) fn typed(&self, name: &str) -> Option<&str> {
        self.0.contains_key(name).then(|| self.text(name))
    }

    /// A text of several lines, as it was pasted: browsers send their ends as CR LF.
    pub(crate) fn lines(&self, name: &str) -> String {
        self.0.get(name).map_or_else(String::new, |text| text.replace("\r\n", "\n"))
    }

    /// A text for the body of a request; `None` when nothing was typed.
    pub(crate) fn given(&self, name: &str) -> Option<Value> {
        Some(self.text(name)).filter(|text| !text.is_empty()).map(Value::from)
    }

    /// The token of the session.
    pub(crate) fn token(&self) -> &str {
        self.text(TOKEN)
    }

    /// The version of the record that the form was made for.
    pub(crate) fn version(&self) -> Option<i64> {
        self.text(VERSION).parse().ok()
    }

    /// The idempotency key of this form. A form without one, which no page of ours has, gets none.
    pub(crate) fn idempotency(&self, path: &str) -> Option<IdempotencyKey> {
        let key = self.text(ONCE);
        if key.len() != 32 || !key.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let typed = self.0.iter().filter(|(name, _)| !name.starts_with('_'));
        let canonical = form_urlencoded::Serializer::new(String::new()).extend_pairs(typed).finish();
        let fingerprint = fingerprint(&Method::POST, path, "", &canonical);
        Some(IdempotencyKey { key: key.to_owned(), fingerprint })
    }
}
