//! How many connections to receivers are kept open (contract 15.4).
//!
//! A pool keeps what was used lately for each host, and hosts there may be as many as endpoints: ten thousand of them
//! would hold ten thousand connections for some seconds each, until this process has no file handle left for anybody.
//! So every open connection is counted, and one that is made while there are as many as may be kept serves once and is
//! closed after its request. Nobody is kept from sending: what is in flight is bounded elsewhere.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};

/// The connections that are open at a time, of all pools of one client.
#[derive(Clone, Debug)]
pub(super) struct Keeping {
    open: Arc<AtomicUsize>,
    most: usize,
}

impl Keeping {
    /// Keeps connections until `most` are open.
    pub(super) fn new(most: usize) -> Self {
        Self { open: Arc::default(), most }
    }

    /// Counts a connection until it is closed.
    pub(super) fn count<S>(&self, stream: S) -> Kept<S> {
        let before = self.open.fetch_add(1, Ordering::Relaxed);
        Kept { stream, serves_once: before >= self.most, open: Arc::clone(&self.open) }
    }
}

/// A connection that is counted.
pub(super) struct Kept<S> {
    stream: S,
    serves_once: bool,
    open: Arc<AtomicUsize>,
}

impl<S> Drop for Kept<S> {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<S: Connection> Connection for Kept<S> {
    fn connected(&self) -> Connected {
        let connected = self.stream.connected();
        if self.serves_once {
            connected.poison();
        }
        connected
    }
}

impl<S: Read + Unpin> Read for Kept<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: Write + Unpin> Write for Kept<S> {
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
