//! How many connections to receivers are open, and what was heard on each (contract 15.4, 18.4-4).
//!
//! A pool keeps what was used lately for each host, and hosts there may be as many as endpoints: ten thousand of them
//! would hold ten thousand connections for some seconds each, until this process has no file handle left for anybody.
//! So every open connection is counted. While there are as many as may be kept, a further one takes the place of one
//! that is idle; where none is, it serves once and is closed after its request. Nobody is kept from sending: what is in
//! flight is bounded elsewhere.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The connections that are open at a time, of all pools of one client.
#[derive(Clone, Debug)]
pub(super) struct ConnectionCount {
    open: Arc<AtomicUsize>,
    most: usize,
}

impl ConnectionCount {
    /// Keeps connections until `most` are open.
    pub(super) fn new(most: usize) -> Self {
        Self { open: Arc::default(), most }
    }

    /// Whether as many are open as may be kept.
    pub(super) fn is_full(&self) -> bool {
        self.open.load(Ordering::Relaxed) >= self.most
    }

    /// Counts a connection until it is closed.
    pub(super) fn count<S>(&self, stream: S) -> CountedConnection<S> {
        let before = self.open.fetch_add(1, Ordering::Relaxed);
        let open = Arc::clone(&self.open);
        // Under the traits of tokio, whose buffers say how much a read has brought.
        let stream = TokioIo::new(stream);
        CountedConnection { stream, serves_once: before >= self.most, open, heard: ReceivedBytes::default() }
    }
}

/// Counts what the receiver has said on a connection, TLS aside.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceivedBytes(Arc<AtomicU64>);

impl ReceivedBytes {
    /// The bytes so far.
    pub(super) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A connection that is counted.
pub(super) struct CountedConnection<S> {
    stream: TokioIo<S>,
    serves_once: bool,
    open: Arc<AtomicUsize>,
    heard: ReceivedBytes,
}

impl<S> CountedConnection<S> {
    pub(super) fn stream(&self) -> &S {
        self.stream.inner()
    }

    /// Whether it is one too many to be kept.
    pub(super) fn serves_once(&self) -> bool {
        self.serves_once
    }

    pub(super) fn heard(&self) -> ReceivedBytes {
        self.heard.clone()
    }
}

impl<S> Drop for CountedConnection<S> {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<S: Read + Unpin> AsyncRead for CountedConnection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        let read = buffer.filled().len().saturating_sub(before);
        self.heard.0.fetch_add(u64::try_from(read).unwrap_or(u64::MAX), Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl<S: Write + Unpin> AsyncWrite for CountedConnection<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }
}
