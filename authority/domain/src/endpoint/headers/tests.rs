//! Headers of an endpoint, right and wrong.

use serde_json::{Map, Value, json};

use super::*;
use crate::body;
use crate::refusal::Result;

fn of(headers: &Value) -> Result<Option<RequestHeaders>> {
    body::read(&json!({ "headers": headers }), read)
}

fn errors(headers: &Value) -> Vec<String> {
    of(headers).unwrap_err().told()
}

/// `count` headers whose values have `length` bytes.
fn many(count: usize, length: usize) -> Value {
    (0..count).map(|n| (format!("x-{n}"), json!("v".repeat(length)))).collect::<Map<_, _>>().into()
}

#[test]
fn what_is_allowed_comes_back_in_lower_case() {
    let longest = "n".repeat(NAME_MAX);
    let token = "!#$%&'*+-.^_`|~09az";
    for (name, value) in [
        ("Authorization", "Bearer abc.DEF-1=="),
        ("X-API-Key", "~"),
        ("x-tenant", "a b\tc"),
        ("servicex", "1"),
        ("webhook", "1"),
        ("x-forwarded", "1"),
        ("proxy", "1"),
        ("cookie", "a=\"1\"; b=2"),
        (token, "!"),
        (&longest, &"v".repeat(VALUE_MAX)),
    ] {
        let read = of(&json!({ name: value })).unwrap().unwrap();
        assert_eq!(read.names(), [name.to_ascii_lowercase()]);
        assert_eq!(read.iter().collect::<Vec<_>>(), [(name.to_ascii_lowercase().as_str(), value)]);
        assert_eq!(RequestHeaders::of_text(&read.to_text().unwrap()), Some(read));
    }
    assert_eq!(body::read(&json!({}), read).unwrap(), None);
    for none in [json!(null), json!({})] {
        assert_eq!(of(&none).unwrap(), Some(RequestHeaders::default()), "{none}");
    }
    let read = of(&json!({ "b": "2", "A": "1", "c": "3" })).unwrap().unwrap();
    assert_eq!(read.names(), ["a", "b", "c"]);
}

#[test]
fn bounds_are_exact() {
    for good in [many(HEADERS_MAX, 100), many(4, 1021)] {
        assert!(of(&good).is_ok());
    }
    // 4 names of 3 bytes and 4 values of 1021: 4096 together.
    let mut over = many(4, 1021);
    over["x-0"] = json!("v".repeat(1022));
    assert_eq!(errors(&over), ["/headers too_long"]);
    assert_eq!(errors(&many(HEADERS_MAX + 1, 1)), ["/headers too_long"]);
    assert_eq!(errors(&json!({ "x": "v".repeat(VALUE_MAX + 1) })), ["/headers/x too_long"]);
    assert_eq!(errors(&json!({ "x": "" })), ["/headers/x too_short"]);
}

#[test]
fn what_is_no_header_is_refused_by_its_place() {
    let too_long = "n".repeat(NAME_MAX + 1);
    for name in ["", " ", "a b", "a:", ":authority", "é", "a\r\nb", "a\0", "(a)", "a,b", &too_long] {
        assert_eq!(errors(&json!({ name: "v" })), [format!("/headers/{name} invalid_value")], "{name:?}");
    }
    for value in [" v", "v ", "\tv", "v\t", " ", "a\r\nb: c", "a\nb", "a\rb", "a\0b", "a\u{7f}b", "é", "🛒"]
    {
        assert_eq!(errors(&json!({ "x": value })), ["/headers/x invalid_value"], "{value:?}");
    }
    for value in [json!(1), json!(null), json!(["v"]), json!({})] {
        assert_eq!(errors(&json!({ "x": value })), ["/headers/x wrong_type"], "{value}");
    }
    for headers in [json!([]), json!("x: v"), json!(1)] {
        assert_eq!(errors(&headers), ["/headers wrong_type"], "{headers}");
    }
    assert_eq!(errors(&json!({ "X-Key": "1", "x-key": "2" })), ["/headers duplicate"]);
    assert_eq!(errors(&json!({ "a b": "1", "host": "h", "ok": "1" })).len(), 2, "each wrong header is named");
}

#[test]
fn refused_names_are_refused_in_any_case_with_a_reason() {
    let names = "Service-Signature service- Webhook-Id User-Agent Accept-Encoding traceparent TraceState Content-Type \
        content-length Content-Encoding Content-Digest Host Connection Keep-Alive Proxy-Authorization \
        proxy-connection TE Trailer Transfer-Encoding Upgrade HTTP2-Settings Expect Forwarded \
        X-Forwarded-For x-forwarded- Via If-Match If-None-Match Range X-Real-IP Max-Forwards Priority \
        Alt-Used Early-Data Upgrade-Insecure-Requests";
    for name in names.split(' ') {
        let refusal = of(&json!({ name: "v" })).unwrap_err();
        let [error] = refusal.members.as_slice() else { panic!("{name}") };
        assert_eq!((&error.pointer, error.code), (&format!("/headers/{name}"), MemberCode::InvalidValue));
        let said = ["The service sends this", "This header"];
        assert!(said.iter().any(|said| error.detail.starts_with(said)), "{name}");
        assert!(!is_free(&name.to_ascii_lowercase()));
    }
    let patterns: Vec<&str> = REFUSED.iter().flat_map(|(_, names)| names.split(' ')).collect();
    for (n, pattern) in patterns.iter().enumerate() {
        assert_eq!(*pattern, pattern.to_ascii_lowercase());
        let plain = pattern.trim_end_matches('*');
        let first = patterns.iter().position(|other| other.trim_end_matches('*') == plain);
        assert_eq!(first, Some(n), "{pattern} is there once");
    }
}

#[test]
fn no_error_and_no_debug_shows_a_value() {
    let secret = "s3cr3t-value";
    let padded = format!("{secret}\r\n");
    let long = secret.repeat(100);
    for headers in [
        json!({ "x": format!(" {secret}") }),
        json!({ "x": padded }),
        json!({ "x": long }),
        json!({ "x": [secret] }),
        json!({ "host": secret }),
        json!({ "a b": secret }),
        json!({ "X": secret, "x": secret }),
        json!(secret),
    ] {
        let refusal = of(&headers).unwrap_err();
        assert!(!format!("{refusal:?}").contains(secret), "{headers}");
    }
    let read = of(&json!({ "x-key": secret })).unwrap().unwrap();
    assert_eq!(format!("{read:?}"), r#"RequestHeaders(["x-key"], values redacted)"#);
}

#[test]
fn only_what_was_written_is_read() {
    for text in ["", "[]", "null", "{\"a\":1}", "a: b", "{\"a\":\"b\"", "whsec_abc"] {
        assert_eq!(RequestHeaders::of_text(text), None, "{text}");
    }
}
