//! HTTP/2 frame by frame, for receivers that do what no server does by itself.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

pub(crate) const REFUSED_STREAM: [u8; 4] = [0, 0, 0, 7];

/// A connection on which the test writes every frame itself.
pub(crate) struct Frames(TlsStream<TcpStream>);

impl Frames {
    /// Begins HTTP/2 on a connection, and says nothing of limits.
    pub(crate) async fn begin(connection: TlsStream<TcpStream>) -> Self {
        let mut frames = Self(connection);
        frames.0.read_exact(&mut [0; 24]).await.unwrap();
        frames.write(SETTINGS, 0, 0, &[]).await;
        frames
    }

    pub(crate) async fn write(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut frame = length[1..].to_vec();
        frame.extend([kind, flags]);
        frame.extend(stream.to_be_bytes());
        frame.extend(payload);
        self.0.write_all(&frame).await.unwrap();
        self.0.flush().await.unwrap();
    }

    /// Allows as much of a body as there can be.
    pub(crate) async fn open_wide(&mut self) {
        self.write(SETTINGS, 0, 0, &[0, 4, 0x7f, 0xff, 0xff, 0xff]).await;
        self.write(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0, 0]).await;
    }

    /// The kind, flags and stream of the next frame; `None` at the connection's end.
    async fn next(&mut self) -> Option<(u8, u8, u32)> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).await.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        self.0.read_exact(&mut payload).await.ok()?;
        Some((head[3], head[4], u32::from_be_bytes(head[5..].try_into().unwrap())))
    }

    /// The stream of the next request that has come whole; `None` at the connection's end.
    pub(crate) async fn request(&mut self) -> Option<u32> {
        loop {
            // A frame of the body with END_STREAM.
            if let (DATA, flags, stream) = self.next().await?
                && flags & 1 == 1
            {
                return Some(stream);
            }
        }
    }

    /// The stream of the next request whose headers have come.
    pub(crate) async fn head(&mut self) -> u32 {
        loop {
            if let (HEADERS, _, stream) = self.next().await.unwrap() {
                return stream;
            }
        }
    }

    /// Answers with 200 and no body.
    pub(crate) async fn answer(&mut self, stream: u32) {
        self.write(HEADERS, 0x5, stream, &[0x88]).await;
    }

    /// Answers whatever comes, until the connection ends.
    pub(crate) async fn answer_all(mut self) {
        while let Some(stream) = self.request().await {
            self.answer(stream).await;
        }
    }
}
