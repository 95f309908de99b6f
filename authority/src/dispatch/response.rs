//! The rest of a response, after its headers (contract 7.2 and 15.5).
//!
//! The body means nothing. It is read a little way for two reasons only: its beginning is shown to the merchant's
//! developers as the excerpt, and a connection whose response was read to the end can be used again. Neither is worth
//! much, so bytes, frames and time are bounded, and whatever goes wrong here changes no outcome.

use std::fmt::Write as _;
use std::str::Utf8Error;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Body;
use tokio::time::timeout;

/// The bytes of a body that are kept as its excerpt (contract 2.9).
pub(super) const EXCERPT_BYTES: usize = 1024;

/// What every frame counts for at least, whatever it carries: an endless stream of empty frames must end too.
/// 64 KiB of such frames still fill an excerpt byte by byte.
const MIN_FRAME_COST: usize = 64;

/// Reads at most `max_bytes` of the body for at most `max_time` and returns its excerpt; `None` when no byte came.
/// A body that is not read to its end is dropped, which ends its connection or stream.
pub(super) async fn drain<B>(mut body: B, max_bytes: usize, max_time: Duration) -> Option<String>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut start = Vec::new();
    let mut cut = false;
    let reading = async {
        let mut left = max_bytes;
        while left > 0 {
            let Some(Ok(frame)) = body.frame().await else { break };
            let data = frame.data_ref().map_or(&[][..], |data| data);
            let room = EXCERPT_BYTES - start.len();
            cut |= data.len() > room;
            start.extend(data.iter().take(room));
            left = left.saturating_sub(data.len().max(MIN_FRAME_COST));
        }
    };
    // Running out of time is one of the ordinary ends of a drain.
    let _ = timeout(max_time, reading).await;
    if start.is_empty() { None } else { Some(excerpt(&start, cut)) }
}

/// Text of any bytes: invalid UTF-8 replaced, control characters escaped. Of a body that was `cut` here, a character
/// that lost its end is left out.
fn excerpt(bytes: &[u8], cut: bool) -> String {
    let lost_its_end = |error: &Utf8Error| cut && error.error_len().is_none();
    let whole = match std::str::from_utf8(bytes) {
        Err(error) if lost_its_end(&error) => bytes.get(..error.valid_up_to()).unwrap_or_default(),
        _ => bytes,
    };
    let mut text = String::with_capacity(whole.len());
    for c in String::from_utf8_lossy(whole).chars() {
        if c.is_control() {
            // Writing to a String cannot fail.
            let _ = write!(text, "{}", c.escape_default());
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use http_body_util::{Empty, Full, StreamBody};
    use hyper::body::Frame;
    use std::convert::Infallible;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn an_excerpt_is_text_whatever_the_bytes_are() {
        let table: [(&[u8], bool, &str); 9] = [
            (b"ok", false, "ok"),
            (b"line\r\n\ttab", false, "line\\r\\n\\ttab"),
            (b"a\0b\x1b[31mc\x7f", false, "a\\u{0}b\\u{1b}[31mc\\u{7f}"),
            ("c1 \u{85} end".as_bytes(), false, "c1 \\u{85} end"),
            ("ü€😀\"\\'".as_bytes(), false, "ü€😀\"\\'"),
            (b"a\xffb\xc3", false, "a\u{fffd}b\u{fffd}"),
            (b"a\xe2\x82", true, "a"),
            (b"a\xe2\x82", false, "a\u{fffd}"),
            (b"a\xff\xe2\x82", true, "a\u{fffd}\u{fffd}"),
        ];
        for (bytes, cut, expected) in table {
            assert_eq!(excerpt(bytes, cut), expected, "{bytes:?}");
        }
    }

    #[tokio::test]
    async fn the_excerpt_is_the_first_1024_bytes() {
        assert_eq!(drain(Empty::<Bytes>::new(), 65_536, LONG).await, None);
        let body = |length: usize| Full::new(Bytes::from("x".repeat(length)));
        for (length, kept) in [(1, 1), (1023, 1023), (1024, 1024), (1025, 1024), (100_000, 1024)] {
            assert_eq!(drain(body(length), 65_536, LONG).await, Some("x".repeat(kept)));
        }
        // The 512th "ü" begins at byte 1023 and loses its second byte.
        let umlauts = Full::new(Bytes::from(format!("x{}", "ü".repeat(600))));
        assert_eq!(drain(umlauts, 65_536, LONG).await, Some(format!("x{}", "ü".repeat(511))));
    }

    #[tokio::test]
    async fn endless_frames_end_whether_they_carry_much_or_nothing() {
        for (frame, expected) in [("", None), ("x", Some(1024)), ("0123456789", Some(1024))] {
            let mut taken = 0;
            let frames = stream::repeat_with(|| {
                taken += 1;
                Ok::<_, Infallible>(Frame::data(Bytes::from_static(frame.as_bytes())))
            });
            let excerpt = drain(StreamBody::new(Box::pin(frames)), 65_536, LONG).await;
            assert_eq!(excerpt.map(|text| text.len()), expected);
            assert_eq!(taken, 1024, "64 KiB at 64 bytes a frame");
        }
    }

    #[tokio::test]
    async fn a_body_that_never_goes_on_ends_with_what_it_had() {
        use futures_util::StreamExt as _;
        let first = stream::iter([Ok::<_, Infallible>(Frame::data(Bytes::from_static(b"begun")))]);
        let body = StreamBody::new(Box::pin(first.chain(stream::pending())));
        assert_eq!(drain(body, 65_536, Duration::from_millis(10)).await.as_deref(), Some("begun"));
    }
}
