//! The connection's stream: deadlines for heads and answers, the head as it was received, and a close that lets
//! the peer read its answer.
//!
//! hyper reads from it and writes to it. While a head is expected, every byte read is also stored, because hyper
//! drops a `Content-Length` beside a `Transfer-Encoding` before any other code can see it. When a request was
//! answered before it was read to its end (401, 413, 431), the write side is closed first, and bytes that still
//! arrive are discarded for a while: closing a socket with unread input resets the connection, and the peer, still
//! sending, would see the reset instead of the answer (RFC 9112 section 9.6). Deliberately absent: the deadline of
//! the body (see [`super::request_body`]) and of idle time between requests (hyper's own).

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use super::connections::Slot;
use super::defect::Defect;
use super::own_answer::{OwnAnswer, bare_status};
use super::{Limits, READ_BUFFER_BYTES};

/// Most header lines of a request; hyper's own limit.
const HEADER_LINES: usize = 100;
/// How many bytes are discarded at a time.
const DISCARD_BYTES: usize = 8 * 1024;

/// The bytes of a head as they were read, possibly followed by the beginning of the body.
#[derive(Default)]
pub(super) struct Head(Vec<u8>);

impl Head {
    /// Whether nothing of a head has arrived.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = READ_BUFFER_BYTES.saturating_sub(self.0.len());
        self.0.extend(bytes.iter().take(room));
    }

    /// Whether the head, of which hyper has kept so many header lines, gives the length of its body in exactly one way.
    /// One that is not whole here (it began behind another request, pipelined) counts as ambiguous: no client in use
    /// sends chunked bodies that way. Its second half alone may be a head too, but has fewer lines.
    pub(super) fn has_one_length(&self, kept: usize) -> bool {
        let mut lines = [httparse::EMPTY_HEADER; HEADER_LINES];
        let mut request = httparse::Request::new(&mut lines);
        let complete = request.parse(&self.0).is_ok_and(|status| status.is_complete());
        let named =
            |name: &str| request.headers.iter().filter(|line| line.name.eq_ignore_ascii_case(name)).count();
        let lengths = named("content-length") + named("transfer-encoding");
        complete && lengths == 1 && request.headers.len() == kept
    }

    /// Whether the body's last transfer coding is not `chunked`, so that its end cannot be found.
    pub(super) fn ends_in_unknown_coding(&self) -> bool {
        let mut lines = [httparse::EMPTY_HEADER; HEADER_LINES];
        let mut request = httparse::Request::new(&mut lines);
        if !request.parse(&self.0).is_ok_and(|status| status.is_complete()) {
            return false;
        }
        let mut codings =
            request.headers.iter().filter(|line| line.name.eq_ignore_ascii_case("transfer-encoding"));
        let last = codings.next_back().and_then(|line| line.value.rsplit(|byte| *byte == b',').next());
        last.is_some_and(|coding| !coding.trim_ascii().eq_ignore_ascii_case(b"chunked"))
    }
}

/// A TCP stream with deadlines.
pub(super) struct LimitedStream {
    stream: TcpStream,
    slot: Arc<Slot>,
    head_timeout: Duration,
    head_deadline: Option<Pin<Box<Sleep>>>,
    /// The wait for a head that the deadline belongs to.
    head_awaited: u64,
    write_timeout: Duration,
    write_deadline: Option<Pin<Box<Sleep>>>,
    linger_timeout: Duration,
    answer_timeout: Duration,
    /// Runs from the time when an answer first had to wait for the peer until the peer has read all of it.
    answer_deadline: Option<Pin<Box<Sleep>>>,
    /// Set when the write side is closed.
    linger_deadline: Option<Pin<Box<Sleep>>>,
    /// The router that answers what hyper itself refuses, and the peer's address.
    router: (Router, SocketAddr),
    own_answer: Option<OwnAnswer>,
}

impl LimitedStream {
    pub(super) fn new(
        stream: TcpStream,
        slot: Arc<Slot>,
        limits: Limits,
        router: (Router, SocketAddr),
    ) -> Self {
        let head_awaited = slot.waiting_since().unwrap_or_default();
        Self {
            stream,
            slot,
            head_awaited,
            head_timeout: limits.head_timeout,
            head_deadline: Some(Box::pin(tokio::time::sleep(limits.head_timeout))),
            write_timeout: limits.write_timeout,
            write_deadline: None,
            answer_timeout: limits.answer_timeout,
            answer_deadline: None,
            linger_timeout: limits.linger_timeout,
            linger_deadline: None,
            router,
            own_answer: None,
        }
    }

    /// Intercepts an answer that hyper itself gives; another one is sent instead
    /// ([`own_answer`](super::own_answer)).
    fn takes_back(&mut self, bytes: &[u8]) -> bool {
        if self.slot.writes_answer() {
            return false;
        }
        let Some((status, date)) = bare_status(bytes) else { return false };
        let defect = Defect::behind(status, &self.slot.head());
        let (router, peer) = self.router.clone();
        self.own_answer = Some(OwnAnswer::new(router, peer, defect, date));
        true
    }

    /// Fails a write that has been pending for too long, or that belongs to an answer that has.
    fn bounded<T>(&mut self, written: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write_deadline = None;
            return written;
        }
        let late = |deadline: &mut Option<Pin<Box<Sleep>>>, timeout, cx: &mut Context<'_>| {
            let deadline = deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
            deadline.as_mut().poll(cx).is_ready()
        };
        let stalled = late(&mut self.write_deadline, self.write_timeout, cx);
        if stalled || late(&mut self.answer_deadline, self.answer_timeout, cx) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }

    /// Discards what arrives until the peer has closed its side too, or the deadline has passed.
    fn linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let timeout = self.linger_timeout;
        let deadline = self.linger_deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        // Checked first: with a peer that sends without a pause the deadline would never be checked otherwise.
        if deadline.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let mut scrap = [0; DISCARD_BYTES];
        loop {
            let mut buffer = ReadBuf::new(&mut scrap);
            match ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                Ok(()) | Err(_) => return Poll::Ready(()),
            }
        }
    }
}

impl AsyncRead for LimitedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(cx, buffer);
        let Some(awaited) = this.slot.waiting_since() else { return read };
        if awaited != this.head_awaited {
            // Another request's head: the deadline restarts with its first byte.
            this.head_awaited = awaited;
            this.head_deadline = None;
        }
        let new = buffer.filled().get(before..).unwrap_or_default();
        if !new.is_empty() {
            this.slot.head().keep(new);
            let timeout = this.head_timeout;
            this.head_deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        }
        let late = this.head_deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(cx).is_ready());
        if late && read.is_pending() { Poll::Ready(Err(io::ErrorKind::TimedOut.into())) } else { read }
    }
}

impl AsyncWrite for LimitedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.takes_back(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.bounded(written, cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if slices.iter().find(|slice| !slice.is_empty()).is_some_and(|first| this.takes_back(first)) {
            return Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()));
        }
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.bounded(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(cx);
        // hyper flushes when it has handed off everything.
        if flushed.is_ready() {
            this.answer_deadline = None;
            this.slot.note_written();
        }
        this.bounded(flushed, cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let Some(own_answer) = &mut this.own_answer {
            let written = own_answer.poll_write(cx, &mut this.stream);
            ready!(this.bounded(written, cx))?;
            this.own_answer = None;
        }
        if this.linger_deadline.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            if !this.slot.leaves_unread() {
                return Poll::Ready(Ok(()));
            }
        }
        this.linger(cx).map(Ok)
    }
}
