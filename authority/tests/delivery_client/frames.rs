//! HTTP/2 frame by frame, for receivers that do what no server does by itself.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
pub(crate) const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

pub(crate) const REFUSED_STREAM: [u8; 4] = [0, 0, 0, 7];

/// A connection on which the test writes every frame itself.
pub(crate) struct Frames {
    stream: TlsStream<TcpStream>,
    /// The settings that the client has not acknowledged yet.
    unacknowledged: u32,
}

impl Frames {
    /// Begins HTTP/2 on a connection, and says nothing of limits.
    pub(crate) async fn begin(connection: TlsStream<TcpStream>) -> Self {
        let mut frames = Self { stream: connection, unacknowledged: 0 };
        frames.stream.read_exact(&mut [0; 24]).await.unwrap();
        frames.set(&[]).await;
        frames
    }

    async fn set(&mut self, settings: &[u8]) {
        self.write(SETTINGS, 0, 0, settings).await;
        self.unacknowledged += 1;
    }

    /// Allows so many streams at a time, and waits until the client knows.
    pub(crate) async fn allow(&mut self, streams: u8) {
        self.set(&[0, 3, 0, 0, 0, streams]).await;
        while self.unacknowledged > 0 {
            self.next().await.unwrap();
        }
    }

    pub(crate) async fn write(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut frame = length[1..].to_vec();
        frame.extend([kind, flags]);
        frame.extend(stream.to_be_bytes());
        frame.extend(payload);
        self.stream.write_all(&frame).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    /// Allows as much of a body as there can be.
    pub(crate) async fn open_wide(&mut self) {
        self.set(&[0, 4, 0x7f, 0xff, 0xff, 0xff]).await;
        self.write(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0, 0]).await;
    }

    /// The kind, flags and stream of the next frame; `None` at the connection's end.
    async fn next(&mut self) -> Option<(u8, u8, u32)> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).await.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        self.stream.read_exact(&mut payload).await.ok()?;
        if (head[3], head[4]) == (SETTINGS, 1) {
            self.unacknowledged -= 1;
        }
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
