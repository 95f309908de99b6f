//! One connection of the service, and the one to the server that goes with it.
//!
//! Each direction has a reader, which stamps what it reads with the time at which it is due on the other side, and a
//! writer, which waits for that time. A conversation is watched where the service is: what it sends when it is read,
//! what it gets when it is written.

use std::io::{Error, ErrorKind, Result};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::{mpsc, watch};

use super::conversation::Conversation;
use super::{Held, Shared, Upstream};

/// What is read at once, at most.
const PIECE: usize = 64 * 1024;

/// A connection to the server, of either kind.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Bytes, and when they are due on the other side.
type Piece = (Instant, Bytes);

/// Keeps a connection waiting while it is held.
type Gate = watch::Receiver<()>;

struct Link {
    shared: Arc<Shared>,
    conversation: Mutex<Conversation>,
    /// While the connection is held.
    held: Mutex<Option<Gate>>,
    /// Has changed when the connection has fallen silent.
    silenced: watch::Receiver<()>,
}

/// Carries everything between the service and the server until one of them closes, or all connections are cut.
pub(super) async fn carry(client: TcpStream, shared: Arc<Shared>) {
    let mut cuts = shared.cuts.subscribe();
    let silenced = shared.silences.subscribe();
    let link = Link { shared, conversation: Mutex::default(), held: Mutex::default(), silenced };
    tokio::select! {
        // Whatever ends the one connection ends the other, and nobody asks why.
        _ = between(client, &link) => {}
        _ = cuts.changed() => {}
    }
}

async fn between(client: TcpStream, link: &Link) -> Result<()> {
    client.set_nodelay(true)?;
    link.may_pass().await;
    let upstream = link.shared.upstream.lock().unwrap().clone();
    let server: Box<dyn Stream> = match upstream {
        Upstream::Socket(path) => Box::new(UnixStream::connect(path).await?),
        Upstream::Address(address) => {
            let server = TcpStream::connect(address).await?;
            server.set_nodelay(true)?;
            Box::new(server)
        }
    };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = tokio::io::split(server);
    let (sent, asked) = mpsc::unbounded_channel();
    let (answered, answers) = mpsc::unbounded_channel();
    tokio::try_join!(
        link.read(from_client, sent, |link, piece| link.conversation.lock().unwrap().sent(piece)),
        link.write(to_server, asked, |_, _| None),
        link.read(from_server, answered, |_, _| {}),
        link.write(to_client, answers, Link::delivered),
    )?;
    Ok(())
}

impl Link {
    async fn read(
        &self,
        mut from: impl AsyncRead + Unpin,
        to: mpsc::UnboundedSender<Piece>,
        seen: impl Fn(&Self, &[u8]),
    ) -> Result<()> {
        let mut buffer = BytesMut::with_capacity(PIECE);
        loop {
            buffer.reserve(PIECE);
            if from.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
            let piece = buffer.split().freeze();
            seen(self, &piece);
            let delay = Duration::from_nanos(self.shared.half_trip.load(Ordering::Relaxed));
            to.send((now() + delay, piece)).map_err(|_| Error::from(ErrorKind::BrokenPipe))?;
        }
    }

    async fn write(
        &self,
        mut to: impl AsyncWrite + Unpin,
        mut pieces: mpsc::UnboundedReceiver<Piece>,
        passing: impl Fn(&Self, &[u8]) -> Option<Gate>,
    ) -> Result<()> {
        while let Some((due, piece)) = pieces.recv().await {
            self.shared.pacer.until(due).await;
            self.may_pass().await;
            if let Some(gate) = passing(self, &piece) {
                *self.held.lock().unwrap() = Some(gate);
                self.may_pass().await;
            }
            to.write_all(&piece).await?;
        }
        // The other side has closed, and has sent everything.
        to.shutdown().await
    }

    /// Waits while this connection is held, or all are stalled; for ever when it has fallen silent.
    async fn may_pass(&self) {
        if self.silenced.has_changed().unwrap_or(true) {
            std::future::pending::<()>().await;
        }
        let gate = self.held.lock().unwrap().clone();
        if let Some(mut gate) = gate {
            // The holder never sends: it goes away.
            while gate.changed().await.is_ok() {}
            *self.held.lock().unwrap() = None;
        }
        let mut stalled = self.shared.stalled.subscribe();
        // The proxy itself keeps the sender.
        let _ = stalled.wait_for(|stalled| !stalled).await;
    }

    /// Counts what the service is about to get. Returns a gate when the connection is to be held here.
    fn delivered(&self, piece: &[u8]) -> Option<Gate> {
        let mut conversation = self.conversation.lock().unwrap();
        conversation.delivered(piece, &mut self.shared.trips.lock().unwrap());
        let trips = conversation.trips_in_transaction()?;
        let hold = self.shared.hold.lock().unwrap().take_if(|hold| hold.after <= trips)?;
        let (keeper, gate) = watch::channel(());
        // Whoever waited for it is gone: nothing is held.
        hold.held.send(Held { _gate: keeper }).ok()?;
        Some(gate)
    }
}

#[expect(clippy::disallowed_methods, reason = "a network's delay goes by the machine's clock")]
fn now() -> Instant {
    Instant::now()
}
