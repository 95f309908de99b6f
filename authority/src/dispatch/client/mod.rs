//! Sends one signed POST and reports its outcome (contract 7.1, 7.2, 15.5).
//!
//! A [`DeliveryClient`] takes a URL that passed the URL rules, the headers that belong to this attempt and the
//! event's bytes. One deadline runs over resolving, connecting, TLS, sending and reading the response's headers;
//! then the outcome is final. It is reported with as much of the body as arrives within a short wait. A body that
//! takes longer is read in the background for a bounded time, so that its connection can be used again. So no
//! receiver holds a slot longer than the deadline and that short wait together.
//!
//! Each network scope has a connection pool of its own: public hosts, private receivers of merchants and of the
//! platform, the development exception. A connection that one of them made is never used by another, so a pooled
//! connection has always passed the address rule of the request that uses it.
//!
//! A request that got no answer is sent again within the attempt where the receiver has not processed it, or where a
//! pooled connection turned out to be closed (contract 18.4-4). It goes out on another connection, under the same
//! deadline. Deliberately absent: redirects, proxies from the environment, cookies, compression and every other
//! retry. Whether to try again is the retry policy's decision.

mod limits;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use authority_domain::AttemptOutcome;
use authority_domain::delivery::outcome::{ReceiverWish, honours_retry_after, parse_retry_after};
use authority_domain::endpoint::private_receivers::{EndpointOwner, PrivateReceivers};
use authority_domain::endpoint::url::NetworkScope;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderValue, Method, Request, Response, Uri};
use http_body_util::Full;
use rustls::ClientConfig;
use tokio::sync::Semaphore;
use tokio::time::timeout;

pub use self::limits::{DeliveryLimits, kept_connections};
use super::connection_count::ConnectionCount;
use super::connector::{CheckedConnector, DeadlineConnector};
use super::exchange::{exchange, innermost, outcome_of};
use super::pool::{LeasedBody, Origin, Pool, PoolLimits};
use super::tls::TlsConnector;
use super::transport::{AttemptReport, AttemptRequest, DEADLINE_MAX, Transport};
use super::{response, tls};
use crate::clock::Clock;
use crate::config::EgressProxy;
use crate::names::Resolve;

/// How long an idle connection is kept. This is below the 5 s after which Node's HTTP server closes one, the
/// shortest common default: a request sent while the receiver closes the connection has to be sent again.
const CONNECTION_IDLE: Duration = Duration::from_secs(4);

/// The response header in which a receiver states a wish (contract 15.7).
const SERVICE_DELIVERY: &str = "service-delivery";

/// The most response bodies that are read in the background after their attempts were reported. Bodies beyond this
/// number are not read, and their connections are closed.
const READING_ON_MAX: usize = 256;

/// Why the client could not be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryClientError {
    /// The text given as extra roots is not a PEM file with certificates.
    #[error("the extra root certificates are not PEM certificates")]
    ExtraRoots,
    /// The TLS library refuses its own defaults.
    #[error("TLS cannot be set up")]
    Tls,
}

/// How the operator lets deliveries out of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Egress<'a> {
    /// The proxy through which public receivers are reached; it judges their addresses (contract 7.6 rule 6).
    pub proxy: Option<&'a EgressProxy>,
    /// The text of a PEM file whose certificates are trusted besides the public authorities.
    pub extra_roots_pem: Option<&'a [u8]>,
    /// The private receivers that are allowed.
    pub private: Option<&'a PrivateReceivers>,
}

/// The connection pool of each network scope.
struct Pools {
    public: Arc<Pool>,
    private_of_merchants: Arc<Pool>,
    private_of_platform: Arc<Pool>,
    loopback: Arc<Pool>,
    anywhere: Arc<Pool>,
}

impl Pools {
    fn of(&self, scope: NetworkScope) -> &Arc<Pool> {
        match scope {
            NetworkScope::Public => &self.public,
            NetworkScope::Private(EndpointOwner::Merchant) => &self.private_of_merchants,
            NetworkScope::Private(EndpointOwner::Platform) => &self.private_of_platform,
            NetworkScope::Loopback => &self.loopback,
            NetworkScope::Anywhere => &self.anywhere,
        }
    }
}

/// Sends deliveries.
pub struct DeliveryClient {
    pools: Pools,
    limits: DeliveryLimits,
    clock: Arc<dyn Clock>,
    connection_count: ConnectionCount,
    /// One permit for each body that is read in the background.
    reading_on: Arc<Semaphore>,
}

impl DeliveryClient {
    /// A client with these limits.
    ///
    /// # Errors
    ///
    /// [`DeliveryClientError`] when the roots cannot be read.
    pub fn new(
        limits: DeliveryLimits,
        egress: Egress<'_>,
        resolver: Arc<dyn Resolve>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, DeliveryClientError> {
        let tls = tls::client_config(egress.extra_roots_pem)?;
        let connection_count = ConnectionCount::new(limits.kept_connections);
        let private = Arc::new(egress.private.cloned().unwrap_or_default());
        let pool_of = |scope| {
            let (resolver, private) = (Arc::clone(&resolver), Arc::clone(&private));
            let connector =
                CheckedConnector::new(resolver, scope, private, limits.connect_timeout, egress.proxy);
            pool(scope, &tls, connector, limits, connection_count.clone(), Arc::clone(&clock))
        };
        let pools = Pools {
            public: pool_of(NetworkScope::Public),
            private_of_merchants: pool_of(NetworkScope::Private(EndpointOwner::Merchant)),
            private_of_platform: pool_of(NetworkScope::Private(EndpointOwner::Platform)),
            loopback: pool_of(NetworkScope::Loopback),
            anywhere: pool_of(NetworkScope::Anywhere),
        };
        let reading_on = Arc::new(Semaphore::new(READING_ON_MAX));
        Ok(Self { pools, limits, clock, connection_count, reading_on })
    }

    /// How many connections to receivers are open: in use, kept or being closed.
    #[must_use]
    pub fn open_connections(&self) -> usize {
        self.connection_count.open()
    }

    async fn report(&self, response: Response<LeasedBody>, duration: Duration) -> AttemptReport {
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

    /// Reads the beginning of a body. The rest is read in the background, if a permit is free.
    async fn excerpt(&self, body: LeasedBody, outcome: AttemptOutcome) -> Option<String> {
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
    /// Makes one attempt. It ends within the request's deadline, or else [`DeliveryLimits::deadline`], plus the wait
    /// for the excerpt, whatever the receiver does. Dropping the future closes its connection.
    async fn attempt(&self, request: AttemptRequest<'_>) -> AttemptReport {
        let pool = self.pools.of(request.url.scope());
        let deadline = request.deadline.map_or(self.limits.deadline, |own| own.min(DEADLINE_MAX));
        let started = self.clock.monotonic();
        let answer = match http_request(request) {
            Ok((origin, request)) => timeout(deadline, exchange(pool, &origin, request)).await,
            Err(error) => {
                tracing::error!(%error, "a checked URL cannot be requested");
                return AttemptReport::without_response(AttemptOutcome::ProtocolError, Duration::ZERO);
            }
        };
        let duration = self.clock.monotonic().saturating_sub(started);
        match answer {
            Ok(Ok(response)) => self.report(response, duration).await,
            Ok(Err(error)) => {
                let outcome = outcome_of(error.as_ref());
                tracing::debug!(outcome = outcome.as_str(), cause = ?innermost(error.as_ref()), "no response");
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
    reach: NetworkScope,
    tls: &ClientConfig,
    connector: CheckedConnector,
    limits: DeliveryLimits,
    connection_count: ConnectionCount,
    clock: Arc<dyn Clock>,
) -> Arc<Pool> {
    let https_only = match reach {
        NetworkScope::Public | NetworkScope::Private(EndpointOwner::Merchant) => true,
        NetworkScope::Private(EndpointOwner::Platform) | NetworkScope::Loopback | NetworkScope::Anywhere => {
            false
        }
    };
    let connector = TlsConnector::new(tls.clone(), https_only, connector);
    let connector = DeadlineConnector::new(connector, limits.connect_timeout, connection_count.clone());
    let limits = PoolLimits {
        age: limits.connection_age,
        idle: CONNECTION_IDLE,
        ping_interval: limits.ping_interval,
        ping_timeout: limits.ping_timeout,
        closing: limits.closing,
    };
    Pool::new(connector, limits, connection_count, clock)
}

/// The request with the headers that every delivery has (contract 7.1).
fn http_request(attempt: AttemptRequest<'_>) -> Result<(Origin, Request<Full<Bytes>>), http::Error> {
    let uri: Uri = attempt.url.as_str().parse().map_err(http::Error::from)?;
    let origin = Origin::of(&uri, attempt.identity)?;
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
    Ok((origin, request))
}
