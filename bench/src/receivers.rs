//! Where events arrive: a port for every endpoint, so that each is a host of its own to whoever sends.

use std::error::Error;
use std::net::Ipv4Addr;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// An answer without a body.
pub type Answered<E> = Result<Response<Empty<Bytes>>, E>;

/// Opens a port where `answer` answers; the address of its endpoint.
pub async fn open<E, F>(answer: impl Fn(Request<Incoming>) -> F + Clone + Send + 'static) -> String
where
    E: Into<Box<dyn Error + Send + Sync>>,
    F: Future<Output = Answered<E>> + Send + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            let service = service_fn(answer.clone());
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::spawn(async move {
                // Senders close connections as they like.
                let _ = connection.await;
            });
        }
    });
    format!("http://{address}/hook")
}
