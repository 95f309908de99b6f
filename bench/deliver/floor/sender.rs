//! Signs and posts, and hands the outcome to the writer.
//!
//! One task per delivery, behind the endpoint's places and those of all; connections stay, each endpoint's its own.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc};
use verify_core::header;
use verify_core::secret::Secret;
use verify_core::sign::signature_header;

use super::writer::{Work, now_ms};

/// Requests in flight: contract 6.5 and 18.4-8.
const IN_FLIGHT: usize = 512;
const IN_FLIGHT_PER_ENDPOINT: usize = 128;

const EVENT_ID: HeaderName = HeaderName::from_static(header::EVENT_ID);
const TIMESTAMP: HeaderName = HeaderName::from_static(header::TIMESTAMP);
const SIGNATURE: HeaderName = HeaderName::from_static(header::SIGNATURE);
const VERSION: HeaderName = HeaderName::from_static(header::VERSION);
const DELIVERY_ID: HeaderName = HeaderName::from_static("service-delivery-id");
const ATTEMPT: HeaderName = HeaderName::from_static("service-attempt");

/// Where events go, with its connections.
pub(super) struct Endpoint {
    pub(super) id: Arc<str>,
    secret: Secret,
    address: String,
    host: HeaderValue,
    uri: Uri,
    places: Semaphore,
    idle: Mutex<Vec<SendRequest<Full<Bytes>>>>,
}

/// A delivery to be sent.
pub(super) struct Parcel {
    pub(super) delivery: String,
    pub(super) event: Arc<str>,
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) body: Arc<str>,
}

/// A delivery that was sent.
pub(super) struct Outcome {
    pub(super) delivery: String,
    pub(super) endpoint: Arc<str>,
    pub(super) started_at: i64,
    pub(super) finished_at: i64,
    pub(super) duration_ms: i64,
}

impl Outcome {
    /// One attempt of one delivery: its number is taken over from there.
    pub(super) fn attempt(&self) -> String {
        format!("att{}", &self.delivery[3..])
    }
}

pub(super) struct Sender {
    places: Semaphore,
    outcomes: mpsc::UnboundedSender<Work>,
}

impl Endpoint {
    pub(super) fn new(endpoint: &super::Endpoint) -> Arc<Self> {
        let uri: Uri = endpoint.url.parse().unwrap();
        let address = uri.authority().unwrap().as_str().to_owned();
        Arc::new(Self {
            id: endpoint.id.as_str().into(),
            secret: Secret::parse(&endpoint.secret).unwrap(),
            host: HeaderValue::from_str(&address).unwrap(),
            address,
            uri: uri.path().parse().unwrap(),
            places: Semaphore::new(IN_FLIGHT_PER_ENDPOINT),
            idle: Mutex::default(),
        })
    }

    async fn connection(&self) -> SendRequest<Full<Bytes>> {
        let idle = self.idle.lock().unwrap().pop();
        if let Some(mut connection) = idle
            && connection.ready().await.is_ok()
        {
            return connection;
        }
        let stream = TcpStream::connect(&self.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        sender
    }
}

impl Sender {
    pub(super) fn new(outcomes: mpsc::UnboundedSender<Work>) -> Arc<Self> {
        Arc::new(Self { places: Semaphore::new(IN_FLIGHT), outcomes })
    }

    pub(super) async fn send(self: Arc<Self>, parcel: Parcel) {
        let Parcel { delivery, event, endpoint, body } = parcel;
        let _own = endpoint.places.acquire().await.unwrap();
        let _shared = self.places.acquire().await.unwrap();
        let mut connection = endpoint.connection().await;
        let (started, started_at) = (Instant::now(), now_ms());
        let mut request = Request::new(Full::new(Bytes::from_owner(ArcBytes(Arc::clone(&body)))));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = endpoint.uri.clone();
        *request.headers_mut() = headers(&endpoint, &delivery, &event, &body, started_at);
        let response = connection.send_request(request).await.unwrap();
        assert!(response.status().is_success(), "{}", response.status());
        let duration_ms = i64::try_from(started.elapsed().as_millis()).unwrap();
        let endpoint_id = Arc::clone(&endpoint.id);
        let finished_at = now_ms();
        let outcome = Outcome { delivery, endpoint: endpoint_id, started_at, finished_at, duration_ms };
        // The writer ends with the process.
        let _ = self.outcomes.send(Work::Outcome(outcome));
        response.into_body().collect().await.unwrap();
        endpoint.idle.lock().unwrap().push(connection);
    }
}

/// Contract 7.1, as the authority sends them.
fn headers(endpoint: &Endpoint, delivery: &str, event: &str, body: &str, at: i64) -> HeaderMap {
    let timestamp = format!("{:010}", at / 1000);
    let signature = signature_header([&endpoint.secret], &timestamp, body.as_bytes());
    let text = |text: &str| HeaderValue::from_str(text).unwrap();
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(HOST, endpoint.host.clone());
    headers.insert(EVENT_ID, text(event));
    headers.insert(TIMESTAMP, text(&timestamp));
    headers.insert(SIGNATURE, text(&signature));
    headers.insert(VERSION, HeaderValue::from_static("2026-09-01"));
    headers.insert(DELIVERY_ID, text(delivery));
    headers.insert(ATTEMPT, HeaderValue::from_static("1"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static("Service-Webhooks/1"));
    headers.insert(http::header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers
}

/// A body that deliveries share.
struct ArcBytes(Arc<str>);

impl AsRef<[u8]> for ArcBytes {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}
