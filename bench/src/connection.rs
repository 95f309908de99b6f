//! One HTTP connection of the load: it stays, and has one request in flight.

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// One connection that stays.
#[derive(Debug)]
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
    host: HeaderValue,
    authorization: Option<HeaderValue>,
    address: String,
}

impl Connection {
    /// Connects to `address`, host and port; every request brings `key`.
    pub async fn open(address: &str, key: Option<&str>) -> Self {
        Self {
            sender: connect(address).await,
            host: HeaderValue::try_from(address).unwrap(),
            authorization: key.map(|key| HeaderValue::try_from(format!("Bearer {key}")).unwrap()),
            address: address.to_owned(),
        }
    }

    /// Reads; the answer's body.
    pub async fn get(&mut self, path: &str) -> Bytes {
        self.call(Method::GET, path, Bytes::new()).await
    }

    /// Writes JSON; the answer's body.
    pub async fn post(&mut self, path: &str, body: impl Into<Bytes>) -> Bytes {
        self.call(Method::POST, path, body.into()).await
    }

    async fn call(&mut self, method: Method, path: &str, body: Bytes) -> Bytes {
        let (status, body) = self.ask(method, path, body).await;
        assert!(status.is_success(), "{path}: {status} {}", String::from_utf8_lossy(&body));
        body
    }

    /// Sends a request with this body of JSON; the answer's status and body, whatever they are.
    pub async fn ask(&mut self, method: Method, path: &str, body: Bytes) -> (StatusCode, Bytes) {
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, &self.host);
        if let Some(authorization) = &self.authorization {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        if !body.is_empty() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        if self.sender.ready().await.is_err() {
            // A server closes connections that rest.
            self.sender = connect(&self.address).await;
        }
        let response = self.sender.send_request(request.body(Full::new(body)).unwrap()).await.unwrap();
        let status = response.status();
        (status, response.into_body().collect().await.unwrap().to_bytes())
    }
}

async fn connect(address: &str) -> SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}
