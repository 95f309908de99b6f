//! One signed POST, and what came of it (contract 7.1, 7.2, 15.5).
//!
//! A [`DeliveryClient`] takes a URL that passed the URL rules, the headers that belong to this attempt and the
//! event's bytes. One deadline runs over resolving, connecting, TLS, sending and reading the response's headers; then
//! the outcome stands. It is reported with as much of the body as arrives within a moment. A body that takes longer is
//! read on for a bounded time beside everything else, as a favour to its connection, which can then be used again; so
//! no receiver holds a slot longer than the deadline and that moment together.
//!
//! There are two connection pools, one for public hosts and one for the development exception. A connection that one
//! of them made is never used by the other, so a pooled connection has always passed the address rule of the request
//! that uses it.
//!
//! Deliberately absent: redirects, proxies of the environment, cookies, compression and retries of
//! requests that may have reached the receiver. Trying again is the retry policy's decision.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use authority_domain::endpoint_url::Reach;
use authority_domain::outcome::{AttemptOutcome, ReceiverWish, honours_retry_after, parse_retry_after};
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderValue, Method, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{Client, Error as RequestError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::connector::{CheckedConnector, ConnectFailure, DeadlineConnector};
use super::kept::Keeping;
use super::transport::{AttemptReport, AttemptRequest, Transport};
use super::{response, tls};
use crate::clock::Clock;
use crate::config::EgressProxy;
use crate::names::Resolve;

/// Connections kept open per host: as many as one endpoint may have requests in flight (contract 7.4).
const POOL_IDLE_PER_HOST: usize = 8;

/// How long an unused connection is kept. Below the 5 s after which Node's HTTP server closes one, the shortest
/// common default: a request sent while the receiver closes would be lost and cost a retry.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(4);

/// The bytes of response headers after which no more are read; what one read brought beyond it still counts.
const MAX_RESPONSE_HEAD_BYTES: usize = 64 * 1024;

/// The most response headers that are read.
const MAX_RESPONSE_HEADERS: usize = 100;

/// An HTTP/2 connection serves many attempts, also after one timed out on it. With a ping after this much silence,
/// answered within [`HTTP2_PING_TIMEOUT`], a dead one is found by the end of the first attempt it fails (15 s).
const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(10);

/// How long the answer to a ping may take.
const HTTP2_PING_TIMEOUT: Duration = Duration::from_secs(5);

/// What the receiver asks for (contract 15.7).
const SERVICE_DELIVERY: &str = "service-delivery";

type Pool = Client<DeadlineConnector<HttpsConnector<CheckedConnector>>, Full<Bytes>>;

/// Open connections above which a new one serves a single request. Room for as many hosts as get events at the same
/// time, and far from the 1,024 file handles that a process often has.
const KEPT_CONNECTIONS: usize = 512;

/// Responses whose bodies are read on after their attempts were reported. Those beyond are not: their connections end.
const READING_ON_MAX: usize = 256;

/// How long an attempt may take and how much of a response is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryLimits {
    /// Resolving, connecting and the TLS handshake together.
    pub connect_timeout: Duration,
    /// From the beginning to the end of the response's headers.
    pub deadline: Duration,
    /// How long a success waits for the beginning of its body. It needs none; an empty or short one comes with the
    /// headers.
    pub success_moment: Duration,
    /// The same of every other response, whose body may say what is wrong.
    pub failure_moment: Duration,
    /// The time for the response's body, after that.
    pub drain_timeout: Duration,
    /// The bytes of the response's body that are read.
    pub drain_bytes: usize,
    /// Open connections above which a new one serves a single request.
    pub kept_connections: usize,
}

impl Default for DeliveryLimits {
    /// The values of contract 7.2: 5 s, 15 s, 2 s and 64 KiB; 50 ms and 250 ms for the excerpt.
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            deadline: Duration::from_secs(15),
            success_moment: Duration::from_millis(50),
            failure_moment: Duration::from_millis(250),
            drain_timeout: Duration::from_secs(2),
            drain_bytes: 64 * 1024,
            kept_connections: KEPT_CONNECTIONS,
        }
    }
}

/// Why there can be no client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryClientError {
    /// The text given as extra roots is not a PEM file with certificates.
    #[error("the extra root certificates are not PEM certificates")]
    ExtraRoots,
    /// The TLS library refuses its own defaults.
    #[error("TLS cannot be set up")]
    Tls,
}

/// Sends deliveries.
pub struct DeliveryClient {
    public: Pool,
    loopback: Pool,
    limits: DeliveryLimits,
    clock: Arc<dyn Clock>,
    /// One place for each body that is read on.
    reading_on: Arc<Semaphore>,
}

impl DeliveryClient {
    /// A client with these limits. `extra_roots_pem` is the text of a PEM file whose certificates are trusted besides
    /// the public authorities.
    ///
    /// # Errors
    ///
    /// [`DeliveryClientError`] when the roots cannot be read.
    pub fn new(
        limits: DeliveryLimits,
        extra_roots_pem: Option<&[u8]>,
        resolver: Arc<dyn Resolve>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, DeliveryClientError> {
        Self::behind(None, limits, extra_roots_pem, resolver, clock)
    }

    /// The same behind an egress proxy, when there is one: public receivers are reached through it alone, and it judges
    /// their addresses (contract 7.6 rule 6).
    ///
    /// # Errors
    ///
    /// [`DeliveryClientError`] when the roots cannot be read.
    pub fn behind(
        proxy: Option<&EgressProxy>,
        limits: DeliveryLimits,
        extra_roots_pem: Option<&[u8]>,
        resolver: Arc<dyn Resolve>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, DeliveryClientError> {
        let tls = tls::client_config(extra_roots_pem)?;
        let keeping = Keeping::new(limits.kept_connections);
        let connect_timeout = limits.connect_timeout;
        let pool_of = |reach| {
            let connector = CheckedConnector::new(Arc::clone(&resolver), reach, connect_timeout, proxy);
            pool(reach, &tls, connector, connect_timeout, keeping.clone())
        };
        Ok(Self {
            public: pool_of(Reach::Public),
            loopback: pool_of(Reach::Loopback),
            limits,
            clock,
            reading_on: Arc::new(Semaphore::new(READING_ON_MAX)),
        })
    }

    async fn report(&self, response: Response<Incoming>, duration: Duration) -> AttemptReport {
        let status = response.status().as_u16();
        let retry_after_ms = response
            .headers()
            .get(RETRY_AFTER)
            .filter(|_| honours_retry_after(status))
            .and_then(|value| parse_retry_after(value.to_str().ok()?, self.clock.now_ms()));
        let wish = response.headers().get(SERVICE_DELIVERY);
        let wish = wish.and_then(|value| ReceiverWish::of_header(status, value.to_str().ok()?));
        let outcome = AttemptOutcome::of_status(status);
        let excerpt = self.excerpt(response.into_body(), outcome).await;
        AttemptReport {
            outcome,
            status: Some(status),
            retry_after_ms,
            wish,
            excerpt,
            duration_ms: whole_ms(duration),
        }
    }

    /// The beginning of a body; the rest is read on, if there is a place for it.
    async fn excerpt(&self, body: Incoming, outcome: AttemptOutcome) -> Option<String> {
        let limits = self.limits;
        let success = outcome == AttemptOutcome::Success;
        let moment = if success { limits.success_moment } else { limits.failure_moment };
        let (excerpt, rest) = response::begin(body, limits.drain_bytes, moment).await;
        if let Some(rest) = rest
            && let Ok(place) = Arc::clone(&self.reading_on).try_acquire_owned()
        {
            tokio::spawn(async move {
                rest.drain(limits.drain_timeout).await;
                drop(place);
            });
        }
        excerpt
    }
}

#[async_trait]
impl Transport for DeliveryClient {
    /// Makes one attempt. It ends within [`DeliveryLimits::deadline`] and the moment for the excerpt,
    /// whatever the receiver does. A future that is dropped closes its connection.
    async fn attempt(&self, request: AttemptRequest<'_>) -> AttemptReport {
        let pool = match request.url.reach() {
            Reach::Public => &self.public,
            Reach::Loopback => &self.loopback,
        };
        let started = self.clock.monotonic();
        let answer = match http_request(request) {
            Ok(request) => timeout(self.limits.deadline, pool.request(request)).await,
            Err(error) => {
                tracing::error!(%error, "a checked URL cannot be requested");
                return AttemptReport::without_response(AttemptOutcome::ProtocolError, Duration::ZERO);
            }
        };
        let duration = self.clock.monotonic().saturating_sub(started);
        match answer {
            Ok(Ok(response)) => self.report(response, duration).await,
            Ok(Err(error)) => {
                let outcome = outcome_of(&error);
                tracing::debug!(outcome = outcome.as_str(), cause = ?innermost(&error), "no response");
                AttemptReport::without_response(outcome, duration)
            }
            Err(_) => AttemptReport::without_response(AttemptOutcome::Timeout, duration),
        }
    }
}

impl AttemptReport {
    fn without_response(outcome: AttemptOutcome, duration: Duration) -> Self {
        let duration_ms = whole_ms(duration);
        Self { outcome, status: None, retry_after_ms: None, wish: None, excerpt: None, duration_ms }
    }
}

fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn pool(
    reach: Reach,
    tls: &ClientConfig,
    connector: CheckedConnector,
    connect_timeout: Duration,
    keeping: Keeping,
) -> Pool {
    let builder = HttpsConnectorBuilder::new().with_tls_config(tls.clone());
    let builder = match reach {
        Reach::Public => builder.https_only(),
        Reach::Loopback => builder.https_or_http(),
    };
    let connector = builder.enable_all_versions().wrap_connector(connector);
    Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(POOL_IDLE_TIMEOUT)
        .pool_max_idle_per_host(POOL_IDLE_PER_HOST)
        .http1_max_buf_size(MAX_RESPONSE_HEAD_BYTES)
        .http1_max_headers(MAX_RESPONSE_HEADERS)
        .http2_keep_alive_interval(HTTP2_PING_INTERVAL)
        .http2_keep_alive_timeout(HTTP2_PING_TIMEOUT)
        .http2_max_header_list_size(MAX_RESPONSE_HEAD_BYTES as u32)
        .build(DeadlineConnector::new(connector, connect_timeout, keeping))
}

/// The request with the headers that every delivery has (contract 7.1).
fn http_request(attempt: AttemptRequest<'_>) -> Result<Request<Full<Bytes>>, http::uri::InvalidUri> {
    let uri: Uri = attempt.url.as_str().parse()?;
    let length = attempt.body.len();
    let mut request = Request::new(Full::new(attempt.body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = uri;
    let headers = request.headers_mut();
    *headers = attempt.headers;
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    headers.insert(USER_AGENT, HeaderValue::from_static("Service-Webhooks/1"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    Ok(request)
}

/// Which outcome a failed request is. The first error of the chain that says something decides.
fn outcome_of(error: &RequestError) -> AttemptOutcome {
    let mut current: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = current {
        if let Some(failure) = error.downcast_ref::<ConnectFailure>() {
            return failure.outcome();
        }
        if let Some(error) = error.downcast_ref::<hyper::Error>() {
            if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
                return AttemptOutcome::ConnectError;
            }
            if error.is_parse() {
                return AttemptOutcome::ProtocolError;
            }
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            // A receiver may refuse after the handshake (TLS 1.3), and then it is the reading that fails.
            let refused = error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>());
            return if refused { AttemptOutcome::TlsError } else { AttemptOutcome::ConnectError };
        }
        current = error.source();
    }
    AttemptOutcome::ProtocolError
}

fn innermost(error: &RequestError) -> String {
    let mut innermost: &dyn StdError = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
