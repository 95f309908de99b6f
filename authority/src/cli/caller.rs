//! Shared by the commands that call a running authority the way a merchant's program does: its address and the key.
//!
//! The key comes from the environment or a file that it names, never as an argument.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::Failure;
use crate::config::{Lookup, WEB_ADDRESS, given, read_listen, web_address};

/// The variable that holds the test key.
const KEY: &str = "AUTHORITY_API_KEY";

/// The address of the merchant API without a slash at its end: the given address, or the listen address in this
/// machine's configuration.
///
/// # Errors
/// [`Failure::Usage`] when the given address, or without one the configured one, is malformed.
pub(super) fn address(given: Option<&str>, environment: Lookup<'_>) -> Result<String, Failure> {
    match given {
        Some(url) => {
            let usable =
                web_address(url).ok_or_else(|| Failure::Usage(format!("--url must be {WEB_ADDRESS}")))?;
            Ok(usable.as_str().trim_end_matches('/').to_owned())
        }
        None => Ok(format!("http://{}", reachable(read_listen(environment)?))),
    }
}

/// The test key from the environment.
///
/// # Errors
/// [`Failure::Usage`] when there is no key, or a key of another kind.
pub(super) fn test_key(environment: Lookup<'_>) -> Result<String, Failure> {
    let wrong = |what: &str| Failure::Usage(format!("{KEY} {what}"));
    let given = given(environment, KEY)?;
    let (key, _) = given.ok_or_else(|| wrong("is not set: it must hold a test key (svc_test_…)"))?;
    if !key.starts_with("svc_test_") || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(wrong("must hold a test key (svc_test_…)"));
    }
    Ok(key)
}

/// Replaces a wildcard listen address by the loopback address.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}
