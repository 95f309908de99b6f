//! Reads the rest of a response, after its headers (contract 7.2 and 15.5).
//!
//! The body does not affect the outcome. A limited part of it is read for two reasons only: its beginning is shown
//! to the merchant's developers as the excerpt, and a connection whose response was read to the end can be used
//! again. The outcome is already final and does not wait: [`begin`] takes what arrives within a short wait, and the
//! remainder ([`Rest`]) is read separately. Bytes, frames and time are bounded, and no failure here changes an
//! outcome.

use std::fmt::Write as _;
use std::str::Utf8Error;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use http_body_util::BodyExt as _;
use hyper::body::Body;
use tokio::time::timeout;

/// The bytes of a body that are kept as its excerpt (contract 2.9).
pub(super) const EXCERPT_BYTES: usize = 1024;

/// The least that a frame counts against the byte limit, whatever it carries: an endless stream of empty frames must
/// end too. Even with one byte per frame, a limit of 64 KiB still fills an excerpt.
const MIN_FRAME_COST: usize = 64;

/// A body that may not be read to its end. Dropping it ends its connection or stream.
pub(super) struct Rest<B> {
    body: B,
    /// The bytes that may still be read.
    left: usize,
}

/// Reads the beginning of a body: what has arrived, and what arrives within `moment` until there is enough for the
/// excerpt. Returns the excerpt, `None` when no byte came, and the rest, unless the body has ended or `max_bytes`
/// were read.
pub(super) async fn begin<B>(body: B, max_bytes: usize, moment: Duration) -> (Option<String>, Option<Rest<B>>)
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut rest = Rest { body, left: max_bytes };
    let mut start = Start { bytes: Vec::new(), cut: false };
    // Running out of time is one of the ordinary ends.
    let ended = timeout(moment, rest.fill(&mut start)).await.unwrap_or(BodyEnd::No);
    let excerpt = (!start.bytes.is_empty()).then(|| excerpt(&start.bytes, start.cut));
    (excerpt, (ended == BodyEnd::No).then_some(rest))
}

/// The first bytes of a body.
struct Start {
    bytes: Vec<u8>,
    cut: bool,
}

/// Whether the body has ended, so that nothing more is to be read.
#[derive(PartialEq, Eq)]
enum BodyEnd {
    Yes,
    No,
}

impl<B> Rest<B>
where
    B: Body<Data = Bytes> + Unpin,
{
    /// Reads the rest for at most `max_time` and discards it.
    pub(super) async fn drain(mut self, max_time: Duration) {
        let reading = async { while self.next().await.is_some() {} };
        let _ = timeout(max_time, reading).await;
    }

    /// Reads until there is enough for the excerpt, and then what has arrived already.
    async fn fill(&mut self, start: &mut Start) -> BodyEnd {
        loop {
            let room = EXCERPT_BYTES - start.bytes.len();
            let next = if room > 0 {
                self.next().await
            } else {
                match self.next().now_or_never() {
                    Some(next) => next,
                    None => return BodyEnd::No,
                }
            };
            let Some(data) = next else { return BodyEnd::Yes };
            start.cut |= data.len() > room;
            start.bytes.extend(data.iter().take(room));
        }
    }

    /// The bytes of the next frame; `None` when the body has ended or the limit is reached.
    async fn next(&mut self) -> Option<Bytes> {
        if self.left == 0 {
            return None;
        }
        let frame = self.body.frame().await?.ok()?;
        let data = frame.into_data().unwrap_or_default();
        self.left = self.left.saturating_sub(data.len().max(MIN_FRAME_COST));
        Some(data)
    }
}

/// Makes text of any bytes: invalid UTF-8 is replaced, control characters are escaped. If the body was `cut` here,
/// an incomplete last character is left out.
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
        let (excerpt, rest) = begin(Empty::<Bytes>::new(), 65_536, LONG).await;
        assert!(excerpt.is_none() && rest.is_none());
        let body = |length: usize| Full::new(Bytes::from("x".repeat(length)));
        for (length, kept) in [(1, 1), (1023, 1023), (1024, 1024), (1025, 1024), (100_000, 1024)] {
            let (excerpt, rest) = begin(body(length), 65_536, LONG).await;
            assert_eq!(excerpt, Some("x".repeat(kept)));
            assert!(rest.is_none(), "what is there is read at once");
        }
        // The 512th "ü" begins at byte 1023 and loses its second byte.
        let umlauts = Full::new(Bytes::from(format!("x{}", "ü".repeat(600))));
        assert_eq!(begin(umlauts, 65_536, LONG).await.0, Some(format!("x{}", "ü".repeat(511))));
    }

    #[tokio::test]
    async fn endless_frames_end_whether_they_carry_much_or_nothing() {
        for (frame, expected) in [("", None), ("x", Some(1024)), ("0123456789", Some(1024))] {
            let mut taken = 0;
            let frames = stream::repeat_with(|| {
                taken += 1;
                Ok::<_, Infallible>(Frame::data(Bytes::from_static(frame.as_bytes())))
            });
            let (excerpt, rest) = begin(StreamBody::new(Box::pin(frames)), 65_536, LONG).await;
            assert!(rest.is_none());
            assert_eq!(excerpt.map(|text| text.len()), expected);
            assert_eq!(taken, 1024, "64 KiB at 64 bytes a frame");
        }
    }

    /// A body that gives one frame and then stays silent for ever.
    fn begun() -> impl Body<Data = Bytes, Error = Infallible> + Unpin {
        use futures_util::StreamExt as _;
        let first = stream::iter([Ok::<_, Infallible>(Frame::data(Bytes::from_static(b"begun")))]);
        StreamBody::new(Box::pin(first.chain(stream::pending())))
    }

    #[tokio::test]
    async fn a_body_that_never_goes_on_holds_nobody_up() {
        // What has already arrived needs no waiting time.
        for moment in [Duration::ZERO, Duration::from_millis(10)] {
            let (excerpt, rest) = begin(begun(), 65_536, moment).await;
            assert_eq!(excerpt.as_deref(), Some("begun"));
            rest.expect("there may be more").drain(Duration::from_millis(10)).await;
        }
    }

    #[tokio::test]
    async fn a_full_excerpt_does_not_wait_for_the_rest() {
        use futures_util::StreamExt as _;
        let (full, more) = (Bytes::from("x".repeat(1024)), Bytes::from("y".repeat(100_000)));
        let begun = stream::iter([Ok::<_, Infallible>(Frame::data(full))]);
        let (told, waits) = tokio::sync::oneshot::channel::<()>();
        let late = stream::once(async move {
            waits.await.expect("told");
            Ok(Frame::data(more))
        });
        let body = StreamBody::new(Box::pin(begun.chain(late).chain(stream::pending())));
        // `begin` returns once the beginning is there; waiting for the rest would take for ever.
        let (excerpt, rest) = begin(body, 65_536, Duration::MAX).await;
        assert_eq!(excerpt.map(|text| text.len()), Some(1024));
        told.send(()).expect("awaited");
        // The second frame exceeds the 64 KiB; the endless rest is not waited for.
        rest.expect("there is more").drain(Duration::MAX).await;
    }
}
