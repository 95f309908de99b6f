//! Receivers as the tests of the delivery client need them: a listener on a free loopback port, and the few steps
//! (accept, read one request, wait for the end) that a test puts together beside the attempt.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use authority::clock::SystemClock;
use authority::dispatch::client::{DeliveryClient, DeliveryLimits, Egress};
use authority::dispatch::connector::Resolve;
use authority::dispatch::identity::ClientIdentity;
use authority::dispatch::transport::{AttemptReport, AttemptRequest, Transport};
use authority_domain::AttemptOutcome;
use authority_domain::endpoint::url::{TargetUrl, UrlPolicy, UrlRules};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// The body of every delivery here.
pub(crate) const BODY: &str = r#"{"id":"evt_01k3zqa7w5e8v9r2t4y6m8n0pq"}"#;

/// The answer of a receiver that takes the delivery.
pub(crate) const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// What an attempt that gets this answer comes to.
pub(crate) const SUCCESS: (AttemptOutcome, Option<u16>) = (AttemptOutcome::Success, Some(200));

/// A name server with one answer; no address at all is an answer too.
pub(crate) struct Answers(pub(crate) Vec<IpAddr>);

#[async_trait]
impl Resolve for Answers {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        Ok(self.0.clone())
    }
}

/// A name server that finds this machine whatever it is asked.
pub(crate) fn loopback() -> Arc<dyn Resolve> {
    Arc::new(Answers(vec!["127.0.0.1".parse().unwrap()]))
}

/// A client with these limits that knows no private authority.
pub(crate) fn client(limits: DeliveryLimits, resolver: Arc<dyn Resolve>) -> DeliveryClient {
    DeliveryClient::new(limits, Egress::default(), resolver, Arc::new(SystemClock::new())).unwrap()
}

/// A listener on a free port, and the port.
pub(crate) async fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// A receiver without TLS: its listener, a client with these limits, and its URL.
pub(crate) async fn plain(limits: DeliveryLimits) -> (TcpListener, DeliveryClient, TargetUrl) {
    let (listener, port) = listener().await;
    (listener, client(limits, loopback()), endpoint(&format!("http://127.0.0.1:{port}/hook")))
}

/// A test-mode endpoint of a development process.
pub(crate) fn endpoint(url: &str) -> TargetUrl {
    UrlRules::new(UrlPolicy::Development).parse(url, false).unwrap()
}

/// One attempt at this endpoint.
pub(crate) async fn attempt(client: &DeliveryClient, url: &TargetUrl) -> AttemptReport {
    attempt_as(client, url, None).await
}

/// One attempt at this endpoint, as this identity.
pub(crate) async fn attempt_as(
    client: &DeliveryClient,
    url: &TargetUrl,
    identity: Option<&Arc<ClientIdentity>>,
) -> AttemptReport {
    let mut headers = HeaderMap::new();
    headers.insert("service-event-id", HeaderValue::from_static("evt_01k3zqa7w5e8v9r2t4y6m8n0pq"));
    let (body, identity) = (Bytes::from_static(BODY.as_bytes()), identity.cloned());
    client.attempt(AttemptRequest { url, headers, body, identity, deadline: None }).await
}

/// Reads one request, headers and body.
pub(crate) async fn read_request(connection: &mut (impl AsyncRead + Unpin)) -> String {
    let mut request = Vec::new();
    while !request.ends_with(BODY.as_bytes()) {
        let read = connection.read_buf(&mut request).await.unwrap();
        assert_ne!(read, 0, "the connection ended inside a request: {}", String::from_utf8_lossy(&request));
    }
    String::from_utf8(request).unwrap()
}

/// Reads one request; `None` when the connection ends before it.
pub(crate) async fn next_request(connection: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut request = Vec::new();
    while !request.ends_with(BODY.as_bytes()) {
        if connection.read_buf(&mut request).await.unwrap_or(0) == 0 {
            return None;
        }
    }
    Some(String::from_utf8(request).unwrap())
}

/// Accepts a connection, reads one request and writes `answer`.
pub(crate) async fn answer_one(listener: &TcpListener, answer: impl AsRef<[u8]>) -> TcpStream {
    let mut connection = listener.accept().await.unwrap().0;
    read_request(&mut connection).await;
    connection.write_all(answer.as_ref()).await.unwrap();
    connection
}

/// Waits until the other side has closed the connection.
pub(crate) async fn closed(connection: &mut (impl AsyncRead + Unpin)) {
    let mut rest = [0; 1024];
    while let Ok(1..) = connection.read(&mut rest).await {}
}

/// Whether nobody has tried to connect. A connection that was made is in the queue already.
pub(crate) fn nobody_came(listener: TcpListener) -> bool {
    let listener = listener.into_std().unwrap();
    listener.accept().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

/// Ends a test that would otherwise wait for ever.
pub(crate) async fn bounded<T>(test: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), test).await.expect("the test hangs")
}

/// Runs a test while a receiver serves.
pub(crate) async fn during<T>(serving: impl Future<Output = ()>, test: impl Future<Output = T>) -> T {
    bounded(async {
        tokio::select! {
            done = test => done,
            () = serving => unreachable!("it serves for ever"),
        }
    })
    .await
}
