//! The receivers: a port for every endpoint, so that each is a host of its own to whoever sends. They answer at once,
//! or when they are told to, and count.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// Any number of receivers. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receivers {
    arrived: Arc<AtomicUsize>,
    silent: Arc<watch::Sender<bool>>,
}

impl Receivers {
    /// Deliveries that have arrived so far.
    pub(crate) fn arrived(&self) -> usize {
        self.arrived.load(Ordering::Relaxed)
    }

    /// Keeps every answer back until [`Receivers::answer`].
    pub(crate) fn keep_silent(&self) {
        self.silent.send_replace(true);
    }

    /// Answers at once from now on, and what was kept back too.
    pub(crate) fn answer(&self) {
        self.silent.send_replace(false);
    }

    /// Opens one more; the address of its endpoint.
    pub(crate) async fn open(&self) -> String {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.unwrap();
        let address = listener.local_addr().unwrap();
        let receivers = self.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).unwrap();
                let receivers = receivers.clone();
                let service = service_fn(move |request| {
                    let receivers = receivers.clone();
                    async move { receivers.take(request).await }
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

    async fn take(&self, request: Request<Incoming>) -> Result<Response<Empty<Bytes>>, hyper::Error> {
        request.into_body().collect().await?;
        self.arrived.fetch_add(1, Ordering::Relaxed);
        let mut silent = self.silent.subscribe();
        // This value keeps the sender.
        let _ = silent.wait_for(|silent| !silent).await;
        Ok::<_, hyper::Error>(Response::new(Empty::new()))
    }
}
