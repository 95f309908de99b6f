//! Reads a request's body: size and media type first, JSON later (contract 4.2 rows 8 and 11, 5.6).
//!
//! The handler reads a [`Payload`] before it checks conditions and query, and parses it as JSON after them,
//! because errors are reported in that order. A body on GET, HEAD and DELETE is ignored and not read; the server
//! then closes the connection after its answer.

use authority_domain::body::strict_json;
use authority_domain::{ErrorCode, Refusal, Result};
use axum::BoxError;
use axum::body::Body;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, Method};
use http_body::Body as _;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::{Map, Value};

use super::media_type::MediaType;
use super::server::BodyTimeout;

/// Largest request body (contract 5.6), in bytes.
pub const BODY_LIMIT: usize = 256 * 1024;

/// The bytes of a body with an acceptable size and type; empty when there was none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload(Bytes);

impl Payload {
    /// Reads a body.
    ///
    /// # Errors
    /// `payload_too_large` for its declared or its real size, `unsupported_media_type`, `request_timeout` when it
    /// does not arrive in time, `invalid_request` when the client aborted it.
    pub async fn read(method: &Method, headers: &HeaderMap, body: Body) -> Result<Self> {
        let ignored = matches!(*method, Method::GET | Method::HEAD | Method::DELETE);
        if ignored || body.is_end_stream() {
            return Ok(Self(Bytes::new()));
        }
        // A declared length is checked before anything is read, and so before the client is asked to send the
        // body.
        if body.size_hint().lower() > BODY_LIMIT as u64 {
            return Err(too_large());
        }
        let is_declared = body.size_hint().lower() > 0;
        let mut body = Limited::new(body, BODY_LIMIT);
        let mut first = Bytes::new();
        // In chunks only the first of them tells whether there is a body.
        while !is_declared && first.is_empty() {
            let Some(frame) = body.frame().await else { return Ok(Self(first)) };
            first = frame.map_err(|error| broken(&error))?.into_data().unwrap_or_default();
        }
        check_media_type(method, headers)?;
        let rest = body.collect().await.map_err(|error| broken(&error))?.to_bytes();
        Ok(Self(if first.is_empty() { rest } else { [first, rest].concat().into() }))
    }

    /// The JSON of an operation that needs a body.
    ///
    /// # Errors
    /// `body_required`, `invalid_json`.
    pub fn required(&self) -> Result<Value> {
        if self.0.is_empty() {
            return Err(Refusal::new(ErrorCode::BodyRequired, "This operation needs a JSON body."));
        }
        parse(&self.0)
    }

    /// The JSON of an operation whose body is optional; no body is the same as `{}`.
    ///
    /// # Errors
    /// `invalid_json`.
    pub fn optional(&self) -> Result<Value> {
        if self.0.is_empty() { Ok(Value::Object(Map::new())) } else { parse(&self.0) }
    }

    /// The canonical JSON for the idempotency fingerprint; no body is the same as `{}`.
    ///
    /// # Errors
    /// `invalid_json`.
    pub fn canonical(&self) -> Result<String> {
        if self.0.is_empty() {
            return Ok("{}".to_owned());
        }
        strict_json::canonical(&self.0).map_err(invalid_json)
    }
}

fn parse(bytes: &[u8]) -> Result<Value> {
    strict_json::parse(bytes).map_err(invalid_json)
}

fn invalid_json(error: strict_json::InvalidJson) -> Refusal {
    Refusal::new(ErrorCode::InvalidJson, error.to_string())
}

fn too_large() -> Refusal {
    Refusal::new(ErrorCode::PayloadTooLarge, "The body is larger than 256 KiB.")
}

/// What ended the read: the limit, the deadline, or the client.
fn broken(error: &BoxError) -> Refusal {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error.as_ref());
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return too_large();
        }
        if error.is::<BodyTimeout>() {
            return Refusal::new(ErrorCode::RequestTimeout, "The body did not arrive in time.");
        }
        cause = error.source();
    }
    Refusal::new(ErrorCode::InvalidRequest, "The body ended before its announced length.")
}

fn check_media_type(method: &Method, headers: &HeaderMap) -> Result<()> {
    let refuse = |detail: &str| Err(Refusal::new(ErrorCode::UnsupportedMediaType, detail));
    if headers.contains_key(CONTENT_ENCODING) {
        return refuse("A Content-Encoding is not accepted.");
    }
    let mut lines = headers.get_all(CONTENT_TYPE).iter();
    let (Some(line), None) = (lines.next(), lines.next()) else {
        return refuse("The body needs exactly one Content-Type.");
    };
    let Some(media) = line.to_str().ok().and_then(MediaType::parse) else {
        return refuse("The Content-Type is malformed.");
    };
    let json = media.essence == "application/json";
    let merge_patch = *method == Method::PATCH && media.essence == "application/merge-patch+json";
    if !json && !merge_patch {
        return refuse("The body must be application/json.");
    }
    if media.parameters.iter().any(|(name, value)| name == "charset" && !value.eq_ignore_ascii_case("utf-8"))
    {
        return refuse("The charset must be utf-8.");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use serde_json::json;

    use super::*;

    async fn read(
        method: Method,
        lines: &[(http::HeaderName, &str)],
        body: &[u8],
    ) -> Result<Payload, ErrorCode> {
        let headers: HeaderMap =
            lines.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap())).collect();
        let body = Body::from(body.to_vec());
        Payload::read(&method, &headers, body).await.map_err(|refusal| refusal.code)
    }

    /// What is sent in chunks has no declared length: these chunks are its pieces.
    #[tokio::test]
    async fn chunks_without_bytes_are_no_body() {
        let read = async |chunks: &[&'static str], media_type: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            headers.extend(media_type.map(|name| (CONTENT_TYPE, HeaderValue::from_static(name))));
            let chunks: Vec<_> =
                chunks.iter().map(|chunk| Ok::<_, BoxError>(Bytes::from_static(chunk.as_bytes()))).collect();
            let body = Body::from_stream(futures_util::stream::iter(chunks));
            Payload::read(&Method::POST, &headers, body).await.map_err(|refusal| refusal.code)
        };
        for nothing in [&[][..], &["", ""]] {
            assert_eq!(read(nothing, None).await, Ok(Payload(Bytes::new())));
            assert_eq!(read(nothing, Some("text/plain")).await, Ok(Payload(Bytes::new())));
        }
        let json = Some("application/json");
        assert_eq!(read(&["{}"], json).await, Ok(Payload("{}".into())));
        assert_eq!(read(&["", "{\"a\"", ":1", "}"], json).await, Ok(Payload("{\"a\":1}".into())));
        assert_eq!(read(&["", "{}"], None).await, Err(ErrorCode::UnsupportedMediaType));
    }

    #[tokio::test]
    async fn media_types() {
        let good = [
            (Method::POST, "application/json"),
            (Method::POST, "Application/JSON"),
            (Method::PUT, "application/json; charset=utf-8"),
            (Method::POST, "application/json;charset=\"UTF-8\""),
            (Method::POST, "application/json; profile=x"),
            (Method::POST, "application/json ; charset=utf-8"),
            (Method::POST, "application/json\t;\tcharset=utf-8"),
            (Method::POST, "application/json;"),
            (Method::POST, "application/json; ;charset=utf-8 ; "),
            (Method::POST, "application/json; profile=\"a;b \\\" c\"; CharSet=\"utf\\-8\""),
            (Method::PATCH, "application/merge-patch+json"),
            (Method::PATCH, "application/json"),
        ];
        for (method, media_type) in good {
            let payload = read(method, &[(CONTENT_TYPE, media_type)], b"{}").await;
            assert_eq!(payload, Ok(Payload("{}".into())), "{media_type}");
        }
        let bad: &[&[(http::HeaderName, &str)]] = &[
            &[],
            &[(CONTENT_TYPE, "")],
            &[(CONTENT_TYPE, "json")],
            &[(CONTENT_TYPE, "text/json")],
            &[(CONTENT_TYPE, "application/json5")],
            &[(CONTENT_TYPE, "application/merge-patch+json")],
            &[(CONTENT_TYPE, "application/problem+json")],
            &[(CONTENT_TYPE, "application/x-www-form-urlencoded")],
            &[(CONTENT_TYPE, "application/json; charset=latin1")],
            &[(CONTENT_TYPE, "application/json; charset=utf-16")],
            &[(CONTENT_TYPE, "application/json; charset=utf-8; charset=utf-16")],
            &[(CONTENT_TYPE, "application/json; charset = utf-8")],
            &[(CONTENT_TYPE, "application/json; charset=")],
            &[(CONTENT_TYPE, "application/json; charset=\"utf-8")],
            &[(CONTENT_TYPE, "application/json; charset=\"utf-8\"x")],
            &[(CONTENT_TYPE, "application /json")],
            &[(CONTENT_TYPE, "application/json charset=utf-8")],
            &[(CONTENT_TYPE, "application/json, application/json")],
            &[(CONTENT_TYPE, "application/json"), (CONTENT_TYPE, "application/json")],
            &[(CONTENT_TYPE, "application/json"), (CONTENT_ENCODING, "gzip")],
            &[(CONTENT_TYPE, "application/json"), (CONTENT_ENCODING, "identity")],
        ];
        for lines in bad {
            assert_eq!(
                read(Method::POST, lines, b"{}").await,
                Err(ErrorCode::UnsupportedMediaType),
                "{lines:?}"
            );
        }
    }

    #[tokio::test]
    async fn sizes() {
        let json = &[(CONTENT_TYPE, "application/json")];
        let fits = vec![b' '; BODY_LIMIT];
        assert_eq!(read(Method::POST, json, &fits).await, Ok(Payload(fits.clone().into())));
        let too_large = vec![b' '; BODY_LIMIT + 1];
        assert_eq!(read(Method::POST, json, &too_large).await, Err(ErrorCode::PayloadTooLarge));
        // Length is checked before the media type.
        assert_eq!(read(Method::POST, &[], &too_large).await, Err(ErrorCode::PayloadTooLarge));
    }

    #[tokio::test]
    async fn the_real_size_counts_where_none_is_declared() {
        let frames = (0..5).map(|_| Ok::<_, std::io::Error>(Bytes::from(vec![b' '; 64 * 1024])));
        let body = Body::from_stream(futures_util::stream::iter(frames));
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let refusal = Payload::read(&Method::POST, &headers, body).await.unwrap_err();
        assert_eq!(refusal.code, ErrorCode::PayloadTooLarge);
    }

    #[tokio::test]
    async fn a_body_where_none_belongs_is_ignored() {
        for method in [Method::GET, Method::HEAD, Method::DELETE] {
            assert_eq!(read(method, &[], b"{not json").await, Ok(Payload(Bytes::new())));
        }
    }

    #[tokio::test]
    async fn no_body_needs_no_type_and_counts_as_an_empty_object_where_it_may() {
        let payload = read(Method::POST, &[], b"").await.unwrap();
        assert_eq!(payload.required().unwrap_err().code, ErrorCode::BodyRequired);
        assert_eq!(payload.optional(), Ok(json!({})));
        assert_eq!(payload.canonical(), Ok("{}".to_owned()));
    }

    #[test]
    fn json_is_read_strictly() {
        let payload = |text: &'static str| Payload(Bytes::from_static(text.as_bytes()));
        assert_eq!(payload(r#"{"b":1,"a":[1.0]}"#).required(), Ok(json!({"a": [1.0], "b": 1})));
        assert_eq!(payload(r#"{"b":1, "a":[1.0]}"#).canonical(), Ok(r#"{"a":[1.0],"b":1}"#.to_owned()));
        for text in ["{", "{\"a\":1,\"a\":2}", " ", "\u{feff}{}"] {
            assert_eq!(payload(text).required().unwrap_err().code, ErrorCode::InvalidJson, "{text}");
            assert_eq!(payload(text).optional().unwrap_err().code, ErrorCode::InvalidJson, "{text}");
        }
    }
}
