//! The trace that a request is part of (W3C Trace Context): its client names the span from which it asks.
//!
//! A header that breaks the standard is ignored, as the standard asks for: it never fails a request. `tracestate` is
//! not passed on.

use authority_domain::event::cause::TraceParent;
use http::HeaderMap;

use crate::traces::TRACEPARENT;

/// What goes on from a request; in its extensions while it is handled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestTrace(pub(crate) Option<TraceParent>);

/// The span that these headers name; two lines name none.
pub(super) fn read(headers: &HeaderMap) -> Option<TraceParent> {
    let mut lines = headers.get_all(TRACEPARENT).iter();
    match (lines.next(), lines.next()) {
        (Some(line), None) => TraceParent::parse(line.to_str().ok()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn one_valid_line_names_a_span() {
        let read = |lines: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(TRACEPARENT, http::HeaderValue::from_bytes(line).unwrap());
            }
            super::read(&headers).map(|span| span.to_string())
        };
        assert_eq!(read(&[VALID.as_bytes()]).as_deref(), Some(VALID));
        for lines in [&[][..], &[VALID.as_bytes(), VALID.as_bytes()], &[b"00-nonsense"], &[b"\xff"]] {
            assert_eq!(read(lines), None, "{lines:?}");
        }
    }
}
