//! The receivers: a port for every endpoint, so that each is a host of its own to whoever sends.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::journal::Journal;

/// Any number of receivers that answer 200 after the same delay.
#[derive(Debug)]
pub(crate) struct Receivers {
    pub(crate) journal: Journal,
    delay_ms: Arc<AtomicU64>,
}

impl Receivers {
    pub(crate) fn new() -> Self {
        Self { journal: Journal::default(), delay_ms: Arc::default() }
    }

    /// From now on every answer comes so much after its request.
    pub(crate) fn delay(&self, ms: u64) {
        self.delay_ms.store(ms, Ordering::Relaxed);
    }

    /// Opens one more; the address of its endpoint.
    pub(crate) async fn open(&self) -> String {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (journal, delay_ms) = (self.journal.clone(), Arc::clone(&self.delay_ms));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).unwrap();
                let (journal, delay_ms) = (journal.clone(), Arc::clone(&delay_ms));
                let service = service_fn(move |request| {
                    let (journal, delay_ms) = (journal.clone(), delay_ms.load(Ordering::Relaxed));
                    async move { answer(request, &journal, delay_ms).await }
                });
                let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                tokio::spawn(async move {
                    // Senders close connections as they like.
                    let _ = connection.await;
                });
            }
        });
        format!("http://{address}/hook")
    }
}

async fn answer(
    request: Request<Incoming>,
    journal: &Journal,
    delay_ms: u64,
) -> Result<Response<Empty<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.unwrap().to_bytes();
    journal.arrived(&body);
    if delay_ms > 0 {
        tokio::time::sleep(Duration::from_millis(delay_ms)).await;
    }
    Ok(Response::new(Empty::new()))
}
