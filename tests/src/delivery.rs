//! Signed deliveries, as the authority would send them.
//!
//! The time is fixed: [`NOW`] is the moment of the golden vectors (contract 10.8), and receivers under test have
//! their clocks set to it.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, header};
use verify_core::{Secret, header as delivery_header, sign};

/// The first secret of the golden vectors.
pub const SECRET: &str = "whsec_4fQ2mZr8Kc0VtYb7NwXh1LpJd5Ss9RgAeUoTiCnEq3M";
/// The second secret of the golden vectors.
pub const OTHER_SECRET: &str = "whsec_Zk81HvTqLw3PpYdN6cRrXa0GmBf2Jt5SeUoKiCnEq7W";
/// The moment of the golden vectors, 2026-09-01T12:00:00Z, Unix seconds.
pub const NOW: i64 = 1_788_264_000;

/// One delivery: the body and the headers that carry its signature.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The bytes that are signed and sent.
    pub body: Bytes,
    /// Header lines in the order in which they are sent; a name may occur more than once.
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

impl Delivery {
    /// An event with this id, signed with [`SECRET`] at [`NOW`].
    #[must_use]
    pub fn of_event(event_id: &str) -> Self {
        Self::signed(event(event_id, "webhook.test").into(), event_id, &[SECRET])
    }

    /// Any body at all, correctly signed with `secrets` (newest first) at [`NOW`].
    #[must_use]
    pub fn signed(body: Bytes, event_id: &str, secrets: &[&str]) -> Self {
        Self::signed_at(NOW, body, event_id, secrets)
    }

    /// The same at another time, Unix seconds.
    #[must_use]
    pub fn signed_at(now: i64, body: Bytes, event_id: &str, secrets: &[&str]) -> Self {
        let secrets: Vec<_> = secrets.iter().map(|text| Secret::parse(text).unwrap()).collect();
        let timestamp = format!("{now:010}");
        let signature = sign::signature_header(&secrets, &timestamp, &body);
        let headers = [
            (header::CONTENT_TYPE.as_str(), "application/json"),
            (delivery_header::EVENT_ID, event_id),
            (delivery_header::TIMESTAMP, &timestamp),
            (delivery_header::SIGNATURE, &signature),
        ];
        Self { body, headers: headers.map(|(name, value)| header_line(name, value.as_bytes())).into() }
    }

    /// The same with every line of `name` replaced by lines with these values; none removes it.
    #[must_use]
    pub fn with(mut self, name: &str, values: &[&str]) -> Self {
        self.headers.retain(|(present, _)| present != name);
        self.headers.extend(values.iter().map(|value| header_line(name, value.as_bytes())));
        self
    }

    /// The request that carries this delivery to `url`.
    #[must_use]
    pub fn request(&self, url: &str) -> Request<Bytes> {
        let mut request = Request::new(self.body.clone());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = url.parse().unwrap();
        for (name, value) in &self.headers {
            request.headers_mut().append(name, value.clone());
        }
        request
    }
}

/// A header line; the value may have any byte that a field value of HTTP may have (RFC 9110 5.5).
#[must_use]
pub fn header_line(name: &str, value: &[u8]) -> (HeaderName, HeaderValue) {
    (name.parse().unwrap(), HeaderValue::from_bytes(value).unwrap())
}

/// The body of an event that has nothing but what it must have.
#[must_use]
pub fn event(event_id: &str, event_type: &str) -> String {
    format!(
        r#"{{"id":"{event_id}","type":"{event_type}","api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z","merchant":{{"id":"mer_1","slug":"a"}},"data":{{"object":{{}}}}}}"#
    )
}
