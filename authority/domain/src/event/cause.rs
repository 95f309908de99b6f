//! What caused an event: the request that made the change, and the trace which that request was part of.
//!
//! Both are stored beside the event and never in it: the bytes that merchants get do not depend on who asked.
//! Deliveries carry the trace on to the receiver (`traceparent`), and the log names the request. An event that the
//! service made by itself (a renewal, an expiry) has neither.

use std::fmt;

use crate::id::RequestId;

/// What caused an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    /// The request that made the change.
    pub request_id: Option<RequestId>,
    /// The span which that request was.
    pub trace: Option<TraceParent>,
}

/// A span of a trace, as the header `traceparent` names it (W3C Trace Context, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    /// The trace; not zero.
    pub trace_id: [u8; 16],
    /// The span in it; not zero.
    pub span_id: [u8; 8],
    /// Bit 0: the trace is recorded. Bit 1: the trace's id is random. The others are zero.
    pub flags: u8,
}

/// The flags that have a meaning (W3C Trace Context Level 2, section 3.2.2.5); the others must not be passed on.
const KNOWN_FLAGS: u8 = 0b11;

/// The bytes of version 00 in text.
const LENGTH: usize = 55;

impl TraceParent {
    /// Reads the header; `None` when it breaks the rules of its version, so that it has to be ignored. Of a version
    /// that is not known yet the members of version 00 are read (section 3.2.2).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (known, further) = text.as_bytes().split_at_checked(LENGTH)?;
        let [v1, v2, b'-', rest @ ..] = known else { return None };
        let [version] = bytes(&[*v1, *v2])?;
        match (version, further) {
            (0xff, _) => return None,
            (_, []) => {}
            (0, _) => return None,
            (_, [b'-', ..]) => {}
            _ => return None,
        }
        let (trace_id, rest) = rest.split_at_checked(32)?;
        let (span_id, rest) = rest.strip_prefix(b"-")?.split_at_checked(16)?;
        let [flags] = bytes(rest.strip_prefix(b"-")?)?;
        let (trace_id, span_id) = (bytes::<16>(trace_id)?, bytes::<8>(span_id)?);
        let named = trace_id != [0; 16] && span_id != [0; 8];
        named.then_some(Self { trace_id, span_id, flags: flags & KNOWN_FLAGS })
    }
}

/// The header in version 00.
impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trace_id, span_id) = (u128::from_be_bytes(self.trace_id), u64::from_be_bytes(self.span_id));
        write!(f, "00-{trace_id:032x}-{span_id:016x}-{:02x}", self.flags)
    }
}

/// Bytes written in lower-case hexadecimal digits, two for each.
fn bytes<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let digit = |byte: &u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = text.as_chunks::<2>() else { return None };
    let mut read = [0; N];
    if pairs.len() != N {
        return None;
    }
    for (byte, [high, low]) in read.iter_mut().zip(pairs) {
        *byte = digit(high)? << 4 | digit(low)?;
    }
    Some(read)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn what_is_valid_is_written_again_in_version_00() {
        for (given, written) in [
            (format!("00-{TRACE}-{SPAN}-01"), "01"),
            (format!("00-{TRACE}-{SPAN}-00"), "00"),
            (format!("00-{TRACE}-{SPAN}-03"), "03"),
            (format!("00-{TRACE}-{SPAN}-ff"), "03"),
            (format!("01-{TRACE}-{SPAN}-01"), "01"),
            (format!("cc-{TRACE}-{SPAN}-01-what-the-future-brings"), "01"),
        ] {
            let read = TraceParent::parse(&given).map(|read| read.to_string());
            assert_eq!(read, Some(format!("00-{TRACE}-{SPAN}-{written}")), "{given}");
        }
    }

    #[test]
    fn everything_else_is_ignored() {
        for given in [
            String::new(),
            "00".to_owned(),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-01-"),
            format!("00-{TRACE}-{SPAN}-011"),
            format!("01-{TRACE}-{SPAN}-01x"),
            format!("00-{TRACE}-{SPAN}-0"),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{}-{SPAN}-01", "0".repeat(32)),
            format!("00-{TRACE}-{}-01", "0".repeat(16)),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{TRACE}x{SPAN}-01"),
            format!("00_{TRACE}-{SPAN}-01"),
            format!(" 00-{TRACE}-{SPAN}-01"),
            format!("0x-{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-é"),
        ] {
            assert_eq!(TraceParent::parse(&given), None, "{given}");
        }
    }

    proptest! {
        #[test]
        fn every_span_can_be_named(trace_id in any::<[u8; 16]>(), span_id in any::<[u8; 8]>(), flags in 0..=3_u8) {
            prop_assume!(trace_id != [0; 16] && span_id != [0; 8]);
            let span = TraceParent { trace_id, span_id, flags };
            prop_assert_eq!(TraceParent::parse(&span.to_string()), Some(span));
        }

        #[test]
        fn no_text_panics(text in "(\\PC{0,60}|[0-9a-f-]{50,60})") {
            let _ = TraceParent::parse(&text);
        }
    }
}
