//! From a host name to a connection that is allowed (contract 7.6 rules 4 and 5).
//!
//! For every new connection: resolve the name, refuse when any of the answers is not allowed, connect to one of
//! exactly those addresses, and look once more at the address that was reached. The name is never resolved again, so
//! a name server that changes its answer in between (DNS rebinding) gains nothing. IP literals go through the same
//! check: a filter inside the resolver would not see them. The TLS layer wraps this connector, and one deadline
//! covers both.
//!
//! What is allowed depends on the [`NetworkScope`] the connector was built for; the client keeps one connector, and
//! with it one connection pool, for each.
//!
//! Where the operator has set an egress proxy ([`EgressProxy`]), public receivers are reached through it, and it
//! alone resolves and judges their names (contract 7.6 rule 6). Private receivers are reached directly. No other source
//! configures a proxy. Answers that the resolver has cached are judged like new ones.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use authority_domain::AttemptOutcome;
use authority_domain::endpoint::private_receivers::PrivateReceivers;
use authority_domain::endpoint::url::NetworkScope;
use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service;

use super::connection_count::{ConnectionCount, CountedConnection, Received};
use super::pool::Origin;
use crate::config::EgressProxy;
pub use crate::names::Resolve;

/// The most addresses of one name that are tried; each gets an equal share of the connect timeout, so that one
/// address that swallows packets leaves time for the others.
const MAX_ADDRESSES_TRIED: usize = 4;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectFailure {
    #[error("the host name does not resolve")]
    Dns(#[source] io::Error),
    #[error("the host name leads to an address that is not allowed")]
    Blocked,
    #[error("no connection")]
    Connect(#[source] io::Error),
    #[error("the TLS handshake failed")]
    Tls(#[source] BoxError),
    #[error("no connection within the connect timeout")]
    Timeout,
    #[error("the egress proxy makes no connection")]
    Proxy(#[source] BoxError),
    #[error("HTTP cannot begin on the connection")]
    Http(#[source] hyper::Error),
}

impl ConnectFailure {
    /// Why HTTP did not begin on a connection, on which this was received.
    pub(super) fn of_http(error: hyper::Error, received: &Received) -> Self {
        if received.tls_failed() { Self::Tls(error.into()) } else { Self::Http(error) }
    }

    /// The outcome of this failure; `None` where its cause says more.
    pub(super) fn outcome(&self) -> Option<AttemptOutcome> {
        match self {
            Self::Dns(_) => Some(AttemptOutcome::DnsError),
            Self::Blocked => Some(AttemptOutcome::BlockedAddress),
            Self::Connect(_) | Self::Proxy(_) => Some(AttemptOutcome::ConnectError),
            Self::Tls(_) => Some(AttemptOutcome::TlsError),
            Self::Timeout => Some(AttemptOutcome::Timeout),
            Self::Http(_) => None,
        }
    }
}

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;
pub(super) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Connects only to addresses that were judged and allowed.
#[derive(Clone)]
pub(super) struct CheckedConnector {
    resolver: Arc<dyn Resolve>,
    reach: NetworkScope,
    private: Arc<PrivateReceivers>,
    connect_timeout: Duration,
    proxy: Option<Tunnel<HttpConnector>>,
}

impl CheckedConnector {
    /// `proxy`, when set, carries every connection to a public receiver.
    pub(super) fn new(
        resolver: Arc<dyn Resolve>,
        reach: NetworkScope,
        private: Arc<PrivateReceivers>,
        connect_timeout: Duration,
        proxy: Option<&EgressProxy>,
    ) -> Self {
        let proxy = proxy.filter(|_| reach == NetworkScope::Public).map(tunnel);
        Self { resolver, reach, private, connect_timeout, proxy }
    }

    async fn connect(mut self, uri: Uri) -> Result<TokioIo<TcpStream>, ConnectFailure> {
        if let Some(tunnel) = &mut self.proxy {
            return tunnel.call(uri).await.map_err(|error| ConnectFailure::Proxy(error.into()));
        }
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let https = uri.scheme() == Some(&http::uri::Scheme::HTTPS);
        let port = uri.port_u16().unwrap_or(if https { 443 } else { 80 });
        let addresses = self.allowed_addresses(host).await?;
        let stream = self.connect_to_one_of(&addresses, port).await?;
        // Small requests, one write each: waiting for more to send would only delay them.
        stream.set_nodelay(true).map_err(ConnectFailure::Connect)?;
        Ok(TokioIo::new(stream))
    }

    /// Every address of the host; none when one of them is not allowed.
    async fn allowed_addresses(&self, host: &str) -> Result<Vec<IpAddr>, ConnectFailure> {
        let mut addresses = match host.parse::<IpAddr>() {
            Ok(literal) => vec![literal],
            Err(_) => self.resolver.resolve(host).await.map_err(ConnectFailure::Dns)?,
        };
        if addresses.is_empty() {
            return Err(ConnectFailure::Dns(io::ErrorKind::NotFound.into()));
        }
        if !addresses.iter().all(|address| self.allows(*address)) {
            return Err(ConnectFailure::Blocked);
        }
        addresses.dedup();
        addresses.truncate(MAX_ADDRESSES_TRIED);
        Ok(addresses)
    }

    fn allows(&self, address: IpAddr) -> bool {
        self.private.allow(self.reach, address)
    }

    async fn connect_to_one_of(&self, addresses: &[IpAddr], port: u16) -> Result<TcpStream, ConnectFailure> {
        let share = self.connect_timeout / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
        let mut failure = ConnectFailure::Timeout;
        for address in addresses {
            let address = SocketAddr::new(*address, port);
            failure = match timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return self.recheck(stream, address),
                Ok(Err(error)) => ConnectFailure::Connect(error),
                Err(_) => ConnectFailure::Timeout,
            };
        }
        Err(failure)
    }

    /// The peer must be the address that was judged.
    fn recheck(&self, stream: TcpStream, judged: SocketAddr) -> Result<TcpStream, ConnectFailure> {
        let peer = stream.peer_addr().map_err(ConnectFailure::Connect)?;
        if peer.ip().to_canonical() == judged.ip().to_canonical() && self.allows(peer.ip()) {
            Ok(stream)
        } else {
            Err(ConnectFailure::Blocked)
        }
    }
}

/// Asks this proxy for a way through (HTTP CONNECT).
fn tunnel(proxy: &EgressProxy) -> Tunnel<HttpConnector> {
    let mut to_proxy = HttpConnector::new();
    to_proxy.set_nodelay(true);
    let tunnel = Tunnel::new(proxy.address.clone(), to_proxy);
    match &proxy.authorization {
        Some(authorization) => tunnel.with_auth(authorization.clone()),
        None => tunnel,
    }
}

impl Service<Uri> for CheckedConnector {
    type Response = TokioIo<TcpStream>;
    type Error = ConnectFailure;
    type Future = BoxFuture<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}

/// One deadline over resolving, connecting and the TLS handshake, and one kind of error for all of them.
#[derive(Clone)]
pub(super) struct DeadlineConnector<C> {
    inner: C,
    connect_timeout: Duration,
    connection_count: ConnectionCount,
}

impl<C> DeadlineConnector<C> {
    pub(super) fn new(inner: C, connect_timeout: Duration, connection_count: ConnectionCount) -> Self {
        Self { inner, connect_timeout, connection_count }
    }
}

impl<C> Service<Origin> for DeadlineConnector<C>
where
    C: Service<Origin, Error = BoxError>,
    C::Future: Send + 'static,
{
    type Response = CountedConnection<C::Response>;
    type Error = ConnectFailure;
    type Future = BoxFuture<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx).map_err(connect_failure)
    }

    fn call(&mut self, origin: Origin) -> Self::Future {
        let connecting = timeout(self.connect_timeout, self.inner.call(origin));
        let connection_count = self.connection_count.clone();
        Box::pin(async move {
            match connecting.await {
                Ok(connected) => {
                    connected.map(|stream| connection_count.count(stream)).map_err(connect_failure)
                }
                Err(_) => Err(ConnectFailure::Timeout),
            }
        })
    }
}

/// An error that the TLS layer passes on is a [`ConnectFailure`]; any other error is a failed handshake.
fn connect_failure(error: BoxError) -> ConnectFailure {
    match error.downcast::<ConnectFailure>() {
        Ok(failure) => *failure,
        Err(handshake) => ConnectFailure::Tls(handshake),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::SystemResolver;

    async fn connect(reach: NetworkScope, uri: &str) -> Result<TokioIo<TcpStream>, ConnectFailure> {
        let names = Arc::new(SystemResolver::default());
        let connector = CheckedConnector::new(names, reach, Arc::default(), Duration::from_secs(5), None);
        connector.connect(uri.parse().unwrap()).await
    }

    #[tokio::test]
    async fn no_notation_of_a_private_address_connects() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let hosts = [
            "127.0.0.1",
            "127.1",
            "0x7f.1",
            "0x7f000001",
            "0177.0.0.1",
            "2130706433",
            "0.0.0.0",
            "0",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "localhost",
        ];
        for host in hosts {
            let connected = connect(NetworkScope::Public, &format!("https://{host}:{port}/")).await;
            // A text that is not an address as it stands is not resolved as a name either.
            let refused = matches!(connected, Err(ConnectFailure::Blocked | ConnectFailure::Dns(_)));
            assert!(refused, "{host}: {:?}", connected.err());
        }
        let listener = listener.into_std().unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock, "nothing has connected");
    }

    #[tokio::test]
    async fn a_loopback_connector_reaches_loopback_and_nothing_else() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let uri = format!("http://127.0.0.1:{port}/");
        let (connected, accepted) = tokio::join!(connect(NetworkScope::Loopback, &uri), listener.accept());
        assert_eq!(connected.unwrap().inner().local_addr().unwrap(), accepted.unwrap().1);
        for host in ["8.8.8.8", "10.0.0.1", "0.0.0.0", "[2001:4860:4860::8888]", "[::]"] {
            let connected = connect(NetworkScope::Loopback, &format!("http://{host}:{port}/")).await;
            assert!(matches!(connected, Err(ConnectFailure::Blocked)), "{host}: {:?}", connected.err());
        }
    }
}
