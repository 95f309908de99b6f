//! A document that is served as it is stored: plain, compressed or both, each form with an `ETag` of its own.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use sha2::{Digest, Sha256};

/// A document in the forms that are stored.
#[derive(Clone)]
pub(super) struct Document {
    media_type: &'static str,
    stored: Stored,
}

#[derive(Clone)]
enum Stored {
    Plain(Form),
    /// Every browser accepts it; it is sent also to clients that do not say what they accept.
    Gzip(Form),
    Both {
        plain: Form,
        gzip: Form,
    },
}

/// One of the forms, with the `ETag` that is this form's own (RFC 9110 8.8.3.3).
#[derive(Clone)]
struct Form {
    bytes: &'static [u8],
    tag: Option<HeaderValue>,
}

impl Document {
    pub(super) fn in_both_forms(media_type: &'static str, plain: &'static [u8], gzip: &'static [u8]) -> Self {
        Self { media_type, stored: Stored::Both { plain: Form::new(plain), gzip: Form::new(gzip) } }
    }

    pub(super) fn plain(media_type: &'static str, bytes: &'static [u8]) -> Self {
        Self { media_type, stored: Stored::Plain(Form::new(bytes)) }
    }

    pub(super) fn compressed(media_type: &'static str, gzip: &'static [u8]) -> Self {
        Self { media_type, stored: Stored::Gzip(Form::new(gzip)) }
    }

    /// The form that the client accepts, or 304 if it has it.
    pub(super) fn answer(&self, headers: &HeaderMap) -> Response {
        let (form, is_compressed) = match &self.stored {
            Stored::Both { gzip, .. } if accepts_gzip(headers) => (gzip, true),
            Stored::Gzip(form) => (form, true),
            Stored::Plain(form) | Stored::Both { plain: form, .. } => (form, false),
        };
        let mut response = form.answer(self.media_type, headers);
        if is_compressed {
            response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

impl Form {
    fn new(bytes: &'static [u8]) -> Self {
        let tag = HeaderValue::try_from(format!("\"{}\"", hex::encode(Sha256::digest(bytes)))).ok();
        Self { bytes, tag }
    }

    fn answer(&self, media_type: &'static str, headers: &HeaderMap) -> Response {
        let varies = (VARY, "Accept-Encoding");
        let mut response =
            ([(CONTENT_TYPE, media_type), varies.clone()], Body::from(self.bytes)).into_response();
        if let Some(tag) = &self.tag {
            let mut known = headers.get_all(IF_NONE_MATCH).iter();
            if known.any(|line| {
                line == "*" || line.as_bytes().windows(tag.len()).any(|part| part == tag.as_bytes())
            }) {
                response = (StatusCode::NOT_MODIFIED, [varies]).into_response();
            }
            response.headers_mut().insert(ETAG, tag.clone());
        }
        response
    }
}

/// Whether `Accept-Encoding` names gzip and does not refuse it (RFC 9110 12.5.3).
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>);
        name.trim().eq_ignore_ascii_case("gzip") && weight.is_ok_and(|weight| weight > 0.0)
    })
}
