//! How many connections to receivers are open, and how many bytes were received on each (contract 15.4, 18.4-4).
//!
//! A pool keeps recently used connections for each host, and there may be as many hosts as endpoints. Ten thousand
//! hosts would hold ten thousand connections for some seconds each, until this process has no file handle left. So a
//! [`ConnectionCount`] counts every open connection. While it is full, a new connection replaces an idle one; if
//! none is idle, the new one serves a single request and is then closed. The limit never stops a request: requests
//! in flight are bounded elsewhere.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The number of open connections in all pools of one client.
#[derive(Clone, Debug)]
pub(super) struct ConnectionCount {
    open: Arc<AtomicUsize>,
    most: usize,
}

impl ConnectionCount {
    /// Lets connections be kept until `most` are open.
    pub(super) fn new(most: usize) -> Self {
        Self { open: Arc::default(), most }
    }

    /// Whether the limit of open connections is reached.
    pub(super) fn is_full(&self) -> bool {
        self.open.load(Ordering::Relaxed) >= self.most
    }

    /// Counts a connection until it is closed.
    pub(super) fn count<S>(&self, stream: S) -> CountedConnection<S> {
        let before = self.open.fetch_add(1, Ordering::Relaxed);
        let open = Arc::clone(&self.open);
        // Wrapped for tokio's traits, whose buffers say how many bytes a read brought.
        let stream = TokioIo::new(stream);
        CountedConnection { stream, serves_once: before >= self.most, open, heard: ReceivedBytes::default() }
    }
}

/// Counts the bytes received on a connection, after TLS decryption.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceivedBytes(Arc<AtomicU64>);

impl ReceivedBytes {
    /// The bytes so far.
    pub(super) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A connection that [`ConnectionCount`] counts until it is dropped.
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

    /// Whether it was opened above the limit, and so serves a single request.
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
