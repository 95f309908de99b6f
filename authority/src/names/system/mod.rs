//! Asks the name servers of this machine without a thread.
//!
//! The operating system's own function cannot be cancelled and holds a thread as long as its name servers take.
//! hickory-resolver asks the same servers (`/etc/resolv.conf`), knows `/etc/hosts` and `localhost`, and ends a
//! question that is dropped. Names are taken as complete: no search domain is appended, whatever the number of their
//! dots. Other sources that the operating system may be configured to ask (`nsswitch.conf`) are not asked.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;

use super::Resolve;
use super::lookups::{LookupLimits, Lookups};
use crate::clock::SystemClock;

/// How long an answer is cached, unless its own lifetime is shorter. Together with the age of a connection made from
/// it, this stays within the 30 s of contract 18.4-3.
const ANSWER_KEPT: Duration = Duration::from_secs(5);

/// The most answers that are cached.
const ANSWERS_MAX: u64 = 4096;

/// How often a question is asked, and how long each time: together within the 5 s that a connection may take.
const ASKED_FOR: Duration = Duration::from_millis(1500);
const ASKED_AGAIN: usize = 2;

/// For deliveries. Each look-up needs two sockets, and a process often has 1,024 file handles.
const DELIVERIES: LookupLimits = LookupLimits { quick: 64, slow: 24 };

/// For requests that bring a URL.
const REQUESTS: LookupLimits = LookupLimits { quick: 16, slow: 8 };

/// Resolves names with the configuration that this machine has when the process starts.
#[derive(Clone)]
pub struct SystemResolver {
    /// `None` when it could not be set up.
    names: Option<TokioResolver>,
    lookups: Arc<Lookups>,
}

impl std::fmt::Debug for SystemResolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SystemResolver")
    }
}

impl Default for SystemResolver {
    fn default() -> Self {
        let (config, options) = hickory_resolver::system_conf::read_system_conf().unwrap_or_else(|error| {
            tracing::warn!(%error, "/etc/resolv.conf names no name server; the one on this machine is asked");
            let local = NameServerConfig::udp_and_tcp(IpAddr::V4(Ipv4Addr::LOCALHOST));
            (ResolverConfig::from_parts(None, vec![], vec![local]), ResolverOpts::default())
        });
        Self::with(config, options)
    }
}

impl SystemResolver {
    /// A resolver that asks only these name servers and reads no file.
    #[must_use]
    pub fn asking(servers: &[SocketAddr]) -> Self {
        let servers = servers.iter().map(|server| {
            let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
                connection.port = server.port();
                connection
            });
            NameServerConfig::new(server.ip(), true, connections.to_vec())
        });
        let config = ResolverConfig::from_parts(None, vec![], servers.collect());
        let mut options = ResolverOpts::default();
        options.use_hosts_file = ResolveHosts::Never;
        Self::with(config, options)
    }

    /// The same cached answers for requests, whose look-ups take no slots from those of deliveries.
    #[must_use]
    pub fn for_requests(&self) -> Self {
        Self { names: self.names.clone(), lookups: lookups(REQUESTS, self.names.as_ref()) }
    }

    fn with(config: ResolverConfig, mut options: ResolverOpts) -> Self {
        options.timeout = ASKED_FOR;
        options.attempts = ASKED_AGAIN;
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.cache_size = ANSWERS_MAX;
        options.positive_max_ttl = Some(ANSWER_KEPT);
        // Most names have no address of one of the two kinds, and not every name server says how long such an answer
        // holds.
        options.negative_min_ttl = Some(ANSWER_KEPT);
        options.negative_max_ttl = Some(ANSWER_KEPT);
        let names = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
            .with_options(options)
            .build()
            .inspect_err(|error| tracing::error!(%error, "no name can be resolved"))
            .ok();
        Self { lookups: lookups(DELIVERIES, names.as_ref()), names }
    }
}

fn lookups(places: LookupLimits, names: Option<&TokioResolver>) -> Arc<Lookups> {
    let names = names.cloned();
    let ask = move |host: &str| {
        let (names, host) = (names.clone(), format!("{}.", host.trim_end_matches('.')));
        async move {
            let names = names.ok_or(io::ErrorKind::Unsupported)?;
            let found = names.lookup_ip(host).await.map_err(failure)?;
            Ok(found.into_iter().collect())
        }
        .boxed()
    };
    Lookups::new(places, Arc::new(SystemClock::new()), Box::new(ask))
}

fn failure(error: NetError) -> io::Error {
    let kind = match &error {
        NetError::Timeout => io::ErrorKind::TimedOut,
        error if error.is_no_records_found() => io::ErrorKind::NotFound,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        if ends_in_a_number(host) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "an address is no name"));
        }
        self.lookups.resolve(host).await
    }
}

/// Whether this is an address in one of its old notations (`127.1`, `0x7f.1`), which no name server knows.
fn ends_in_a_number(host: &str) -> bool {
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let hexadecimal = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    !last.is_empty()
        && hexadecimal.map_or_else(
            || last.bytes().all(|byte| byte.is_ascii_digit()),
            |digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        )
}

#[cfg(test)]
mod tests;
