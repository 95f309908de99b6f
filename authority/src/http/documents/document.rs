//! A document in the forms in which it is served, plain and compressed, each with an `ETag` of its own.
//!
//! A large document is stored compressed only. Its plain form is made when a client first asks for it.

use std::io::Read;
use std::sync::{Arc, OnceLock};

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;
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
    /// The plain form is unpacked when it is first asked for.
    Unpacked {
        gzip: Form,
        plain: Arc<OnceLock<Form>>,
    },
}

/// One of the forms, with the `ETag` that is this form's own (RFC 9110 8.8.3.3).
#[derive(Clone)]
struct Form {
    bytes: Bytes,
    tag: Option<HeaderValue>,
}

impl Document {
    pub(super) fn in_both_forms(media_type: &'static str, plain: &'static [u8], gzip: &'static [u8]) -> Self {
        Self { media_type, stored: Stored::Both { plain: Form::stored(plain), gzip: Form::stored(gzip) } }
    }

    pub(super) fn unpacked(media_type: &'static str, gzip: &'static [u8]) -> Self {
        Self { media_type, stored: Stored::Unpacked { gzip: Form::stored(gzip), plain: Arc::default() } }
    }

    pub(super) fn plain(media_type: &'static str, bytes: &'static [u8]) -> Self {
        Self { media_type, stored: Stored::Plain(Form::stored(bytes)) }
    }

    pub(super) fn compressed(media_type: &'static str, gzip: &'static [u8]) -> Self {
        Self { media_type, stored: Stored::Gzip(Form::stored(gzip)) }
    }

    /// The form that the client accepts, or 304 if it has it.
    pub(super) fn answer(&self, headers: &HeaderMap) -> Response {
        let (form, is_compressed) = match &self.stored {
            Stored::Both { gzip, .. } | Stored::Unpacked { gzip, .. } if accepts_gzip(headers) => {
                (gzip, true)
            }
            Stored::Gzip(form) => (form, true),
            Stored::Plain(form) | Stored::Both { plain: form, .. } => (form, false),
            Stored::Unpacked { gzip, plain } => (plain.get_or_init(|| gzip.unpacked()), false),
        };
        let mut response = form.answer(self.media_type, headers);
        if is_compressed {
            response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

impl Form {
    fn stored(bytes: &'static [u8]) -> Self {
        Self::new(Bytes::from_static(bytes))
    }

    fn new(bytes: Bytes) -> Self {
        let tag = HeaderValue::try_from(format!("\"{}\"", hex::encode(Sha256::digest(&bytes)))).ok();
        Self { bytes, tag }
    }

    /// The plain form of a compressed one.
    fn unpacked(&self) -> Self {
        let mut plain = Vec::new();
        // The build has packed it: it unpacks.
        let unpacked = GzDecoder::new(self.bytes.as_ref()).read_to_end(&mut plain);
        debug_assert!(unpacked.is_ok(), "{unpacked:?}");
        Self::new(plain.into())
    }

    fn answer(&self, media_type: &'static str, headers: &HeaderMap) -> Response {
        let varies = (VARY, "Accept-Encoding");
        let mut response =
            ([(CONTENT_TYPE, media_type), varies.clone()], Body::from(self.bytes.clone())).into_response();
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
