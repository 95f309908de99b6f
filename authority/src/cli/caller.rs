//! What the commands have in common that ask a running authority as a merchant's program does: where it is, and the key.
//!
//! The key comes from the environment, never as an argument.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::Failure;
use crate::config::{Lookup, read_listen};

/// Where the test key is.
const KEY: &str = "AUTHORITY_API_KEY";

/// The address of the merchant API without a slash at its end: the one given, or the one that this machine's
/// configuration listens at.
///
/// # Errors
/// [`Failure::Usage`] when the configuration names none.
pub(super) fn address(given: Option<&str>, environment: Lookup<'_>) -> Result<String, Failure> {
    match given {
        Some(url) => Ok(url.trim_end_matches('/').to_owned()),
        None => Ok(format!("http://{}", reachable(read_listen(environment)?))),
    }
}

/// The test key in the environment.
///
/// # Errors
/// [`Failure::Usage`] when there is none, or one of another kind.
pub(super) fn test_key(environment: Lookup<'_>) -> Result<String, Failure> {
    let wrong = |what: &str| Failure::Usage(format!("{KEY} {what}"));
    let key = environment(KEY).ok_or_else(|| wrong("is not set: it must hold a test key (svc_test_…)"))?;
    let key = key.into_string().map_err(|_| wrong("must be text"))?;
    if !key.starts_with("svc_test_") {
        return Err(wrong("must hold a test key (svc_test_…)"));
    }
    Ok(key)
}

/// An address that listens everywhere is reached on this machine.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}
