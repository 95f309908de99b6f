//! The head of a request as it crosses into the module: one text, taken apart here.

use verify_core::header;

/// What stands where a request has no such header. No value can contain it (RFC 9110 5.5).
const ABSENT: &str = "\r";

/// The header lines that cross, in this order. Where the profile is that of Standard Webhooks, its three headers stand
/// in the places of the service's own.
pub const LINES: [&str; 8] = [
    "content-type",
    "content-encoding",
    "content-length",
    "transfer-encoding",
    header::TIMESTAMP,
    header::SIGNATURE,
    header::EVENT_ID,
    "authorization",
];

/// The head of a request. A header of several lines is their joined value, as `Headers.get` of the runtime joins them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RequestHead<'t> {
    /// Upper-case method name.
    pub method: &'t str,
    /// Without query.
    pub path: &'t str,
    /// `Content-Type`.
    pub content_type: Option<&'t str>,
    /// `Content-Encoding`.
    pub content_encoding: Option<&'t str>,
    /// `Content-Length`.
    pub content_length: Option<&'t str>,
    /// `Transfer-Encoding`.
    pub transfer_encoding: Option<&'t str>,
    /// `Service-Timestamp`, or `webhook-timestamp`.
    pub timestamp: Option<&'t str>,
    /// `Service-Signature`, or `webhook-signature`.
    pub signature: Option<&'t str>,
    /// `Service-Event-Id`, or `webhook-id`.
    pub event_id: Option<&'t str>,
    /// `Authorization`.
    pub authorization: Option<&'t str>,
}

/// Takes a head apart that consists of method, URL and [`LINES`], one below the other.
#[must_use]
pub fn read(text: &str) -> RequestHead<'_> {
    let mut parts = text.split('\n');
    let (method, url) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let mut line = || parts.next().filter(|value| *value != ABSENT);
    RequestHead {
        method,
        path: path(url),
        content_type: line(),
        content_encoding: line(),
        content_length: line(),
        transfer_encoding: line(),
        timestamp: line(),
        signature: line(),
        event_id: line(),
        authorization: line(),
    }
}

/// The path of a URL as the runtime writes it: behind the first slash of what follows the scheme, up to the query. Such
/// a URL has a path, and within it `?` and `#` are always encoded.
fn path(url: &str) -> &str {
    let behind_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = behind_scheme.find('/').and_then(|start| behind_scheme.get(start..)).unwrap_or("/");
    path.split(['?', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use verify_core::Profile;

    use super::*;

    #[test]
    fn a_head_with_every_header() {
        let text = "POST\nhttp://localhost:8787/webhooks\napplication/json\ngzip\n12\nchunked\n1\nv1=a, v1=b\nevt_1\nBearer x";
        assert_eq!(
            read(text),
            RequestHead {
                method: "POST",
                path: "/webhooks",
                content_type: Some("application/json"),
                content_encoding: Some("gzip"),
                content_length: Some("12"),
                transfer_encoding: Some("chunked"),
                timestamp: Some("1"),
                signature: Some("v1=a, v1=b"),
                event_id: Some("evt_1"),
                authorization: Some("Bearer x"),
            }
        );
    }

    #[test]
    fn absent_and_empty_headers_are_told_apart() {
        let head = read("GET\nhttps://a.example/\n\r\n\n\r\n\r\n\r\n\n\r\n\r");
        assert_eq!((head.content_type, head.content_encoding), (None, Some("")));
        assert_eq!((head.timestamp, head.signature, head.event_id), (None, Some(""), None));
        assert_eq!(read(""), RequestHead { path: "/", ..RequestHead::default() });
    }

    #[test]
    fn paths() {
        for (url, expected) in [
            ("http://a.example/", "/"),
            ("http://a.example", "/"),
            ("https://a.example:8787/webhooks?a=/b#c", "/webhooks"),
            ("https://a.example/events/evt_1/retry", "/events/evt_1/retry"),
            ("https://a.example//x", "//x"),
            ("https://a.example/%3F?x", "/%3F"),
            ("/webhooks", "/webhooks"),
        ] {
            assert_eq!(path(url), expected, "{url}");
        }
    }

    #[test]
    fn the_javascript_hands_over_the_same_lines() {
        let script = include_str!("runtime.js");
        let listed = script.split_once("const LINES = [").and_then(|(_, rest)| rest.split_once("];"));
        let quoted = |text: &'static str| text.split('"').skip(1).step_by(2);
        assert_eq!(quoted(listed.unwrap().0).collect::<Vec<_>>(), LINES);
        let exchanged =
            script.split_once("const STANDARD_NAMES = {").and_then(|(_, rest)| rest.split_once("};"));
        let [service, standard] = [Profile::Service, Profile::StandardWebhooks].map(Profile::header_names);
        let expected = [
            [service.timestamp, standard.timestamp],
            [service.signature, standard.signature],
            [service.event_id, standard.event_id],
        ];
        assert_eq!(quoted(exchanged.unwrap().0).collect::<Vec<_>>(), expected.concat());
    }
}
