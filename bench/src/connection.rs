//! One HTTP connection of the load: it stays, and has one request in flight.

use bytes::Bytes;
use futures_util::future::join_all;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tests::authority::Authority;
use tokio::net::TcpStream;

/// One connection that stays.
#[derive(Debug)]
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
    lines: HeaderMap,
    address: String,
}

impl Connection {
    /// Connects to `address`, host and port; every request brings `key`.
    pub async fn open(address: &str, key: Option<&str>) -> Self {
        let line = |key| (header::AUTHORIZATION, bearer(key));
        Self::bringing(address, key.map(line).into_iter().collect()).await
    }

    /// Connects to the operator API of an authority, so many times.
    pub async fn of_operator(authority: &Authority, count: usize) -> Vec<Self> {
        let (address, key) = (authority.operator_address(), Some(authority.operator_key()));
        join_all((0..count).map(|_| Self::open(&address, key))).await
    }

    /// Every request from now on brings `key`.
    pub fn become_bearer_of(&mut self, key: &str) {
        self.lines.insert(header::AUTHORIZATION, bearer(key));
    }

    /// Connects to `address`; every request brings these header lines.
    pub async fn bringing(address: &str, mut lines: HeaderMap) -> Self {
        lines.insert(header::HOST, HeaderValue::try_from(address).unwrap());
        Self { sender: connect(address).await, lines, address: address.to_owned() }
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
        let media = (!body.is_empty()).then_some("application/json");
        let response = self.send(method, path, media, body).await;
        (response.status(), response.into_body())
    }

    /// Sends a request with a body of this media type; the answer, whatever it is.
    pub async fn send(
        &mut self,
        method: Method,
        path: &str,
        media: Option<&'static str>,
        body: Bytes,
    ) -> Response<Bytes> {
        let mut request = Request::builder().method(method).uri(path).body(Full::new(body)).unwrap();
        *request.headers_mut() = self.lines.clone();
        if let Some(media) = media {
            request.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
        }
        if self.sender.ready().await.is_err() {
            // A server closes connections that rest.
            self.sender = connect(&self.address).await;
        }
        let (head, body) = self.sender.send_request(request).await.unwrap().into_parts();
        Response::from_parts(head, body.collect().await.unwrap().to_bytes())
    }
}

fn bearer(key: &str) -> HeaderValue {
    HeaderValue::try_from(format!("Bearer {key}")).unwrap()
}

async fn connect(address: &str) -> SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}
