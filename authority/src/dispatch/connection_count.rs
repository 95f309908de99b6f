//! How many connections to receivers are open, and what was received on each (contract 15.4, 18.4-4).
//!
//! A pool keeps recently used connections for each host, and there may be as many hosts as endpoints. Ten thousand
//! hosts would hold ten thousand connections for some seconds each, until this process has no file handle left. So a
//! [`ConnectionCount`] counts every open connection. While it is full, a new connection replaces an idle one; if
//! none is idle, the new one is closed as soon as it is: over HTTP/1.1 after a single request. The limit never stops a
//! request: requests in flight are bounded elsewhere.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How much is read of a connection on which a write has failed.
const LAST_WORDS: usize = 4096;

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

    /// How many are open.
    pub(super) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// Whether the limit of open connections is reached.
    pub(super) fn is_full(&self) -> bool {
        self.open() >= self.most
    }

    /// Counts a connection until it is closed.
    pub(super) fn count<S>(&self, stream: S) -> CountedConnection<S> {
        let before = self.open.fetch_add(1, Ordering::Relaxed);
        let open = Arc::clone(&self.open);
        // Wrapped for tokio's traits, whose buffers say how many bytes a read brought.
        let stream = TokioIo::new(stream);
        CountedConnection {
            stream,
            above_limit: before >= self.most,
            open,
            heard: Received::default(),
            closed: None,
            unread: Vec::new(),
        }
    }
}

/// What came on a connection: the number of bytes after TLS decryption, and whether TLS has failed.
#[derive(Clone, Debug, Default)]
pub(super) struct Received(Arc<ReceivedSoFar>);

#[derive(Debug, Default)]
struct ReceivedSoFar {
    bytes: AtomicU64,
    tls_failed: AtomicBool,
}

impl Received {
    /// The bytes so far.
    pub(super) fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// Whether TLS ended the connection, after its handshake: with an alert of the receiver's, or because what came is
    /// not TLS. In TLS 1.3 a receiver that refuses the client's certificate, or misses one, says so in this way.
    pub(super) fn tls_failed(&self) -> bool {
        self.0.tls_failed.load(Ordering::Relaxed)
    }

    fn note(&self, error: &io::Error) {
        if error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) {
            self.0.tls_failed.store(true, Ordering::Relaxed);
        }
    }
}

/// A connection that [`ConnectionCount`] counts until it is dropped.
pub(super) struct CountedConnection<S> {
    stream: TokioIo<S>,
    above_limit: bool,
    open: Arc<AtomicUsize>,
    heard: Received,
    /// How a write failed, until it is known why.
    closed: Option<io::Error>,
    /// What was read to find that out.
    unread: Vec<u8>,
}

impl<S> CountedConnection<S> {
    pub(super) fn stream(&self) -> &S {
        self.stream.inner()
    }

    /// Whether it was opened above the limit, and so is not kept.
    pub(super) fn above_limit(&self) -> bool {
        self.above_limit
    }

    pub(super) fn heard(&self) -> Received {
        self.heard.clone()
    }
}

impl<S: Read + Unpin> CountedConnection<S> {
    fn read(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))
            .inspect_err(|error| self.heard.note(error))?;
        let read = buffer.filled().len().saturating_sub(before);
        self.heard.0.bytes.fetch_add(u64::try_from(read).unwrap_or(u64::MAX), Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }

    /// Passes on how a write ended. A receiver that refuses the client's certificate sends an alert and closes; where
    /// the write fails because of the latter, the alert is still to be read.
    fn wrote<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        match polled {
            Poll::Ready(Err(error)) if is_closed(&error) => {
                self.closed = Some(error);
                self.last_words(cx).map(Err)
            }
            other => other,
        }
    }

    /// Reads once after a write has failed: why the receiver has closed the connection. A closed connection is always
    /// ready to be read, as soon as that is noticed. An answer that has come is kept to be read.
    fn last_words(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        let mut room = [0; LAST_WORDS];
        let mut buffer = ReadBuf::new(&mut room);
        match ready!(self.read(cx, &mut buffer)) {
            Err(refusal) if self.heard.tls_failed() => return Poll::Ready(refusal),
            Ok(()) => self.unread.extend_from_slice(buffer.filled()),
            Err(_) => {}
        }
        Poll::Ready(self.closed.take().unwrap_or_else(|| io::ErrorKind::BrokenPipe.into()))
    }
}

fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset)
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
        if !self.unread.is_empty() {
            let taken = self.unread.len().min(buffer.remaining());
            buffer.put_slice(&self.unread.drain(..taken).collect::<Vec<u8>>());
            return Poll::Ready(Ok(()));
        }
        self.read(cx, buffer)
    }
}

impl<S: Read + Write + Unpin> AsyncWrite for CountedConnection<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.closed.is_some() {
            return self.last_words(cx).map(Err);
        }
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.wrote(cx, polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.closed.is_some() {
            return self.last_words(cx).map(Err);
        }
        let polled = Pin::new(&mut self.stream).poll_flush(cx);
        self.wrote(cx, polled)
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
        if self.closed.is_some() {
            return self.last_words(cx).map(Err);
        }
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.wrote(cx, polled)
    }
}
