//! The proxy through which events are delivered, for networks without direct access to the internet (contract 7.6
//! rule 6).
//!
//! The address has the form `http://[user:password@]host[:port]`. The password is a secret: it is stored only as the
//! header that carries it, and is never shown.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Uri};
use percent_encoding::percent_decode_str;
use url::Url;

use super::variables::{ConfigError, Lookup, parsed};

const VARIABLE: &str = "AUTHORITY_EGRESS_PROXY";

/// A proxy that is used with HTTP CONNECT.
#[derive(Clone, PartialEq, Eq)]
pub struct EgressProxy {
    /// Scheme, host and port.
    pub address: Uri,
    /// The `Proxy-Authorization` header, if the proxy requires one.
    pub authorization: Option<HeaderValue>,
}

impl fmt::Debug for EgressProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EgressProxy").field("address", &self.address).finish_non_exhaustive()
    }
}

impl EgressProxy {
    pub(super) fn read(lookup: Lookup<'_>) -> Result<Option<Self>, ConfigError> {
        parsed(lookup, VARIABLE, "an address of the form http://[user:password@]host[:port]", Self::parse)
    }

    fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let host = url.host_str().filter(|_| url.scheme() == "http" && bare)?;
        let address = format!("http://{host}:{}/", url.port_or_known_default()?);
        Some(Self { address: address.parse().ok()?, authorization: authorization(&url)? })
    }
}

/// Basic authentication with the user and password of the address; the outer `None` when no header can hold them.
#[expect(clippy::option_option, reason = "no credentials, and none that can be used, are different things")]
fn authorization(url: &Url) -> Option<Option<HeaderValue>> {
    if url.username().is_empty() && url.password().is_none() {
        return Some(None);
    }
    let mut credentials: Vec<u8> = percent_decode_str(url.username()).collect();
    credentials.push(b':');
    credentials.extend(percent_decode_str(url.password().unwrap_or_default()));
    let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(credentials))).ok()?;
    value.set_sensitive(true);
    Some(Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_carry_credentials_that_nothing_shows() {
        let proxy = EgressProxy::parse("http://ada:p%40ss@proxy.example:3128").unwrap();
        assert_eq!(proxy.address, "http://proxy.example:3128/");
        let authorization = proxy.authorization.clone().unwrap();
        assert_eq!(authorization, format!("Basic {}", STANDARD.encode("ada:p@ss")));
        let shown = format!("{proxy:?} {authorization:?}");
        assert!(!shown.contains("ada") && !shown.contains("p@ss") && !shown.contains("Basic"), "{shown}");
        let proxy = EgressProxy::parse("http://proxy.example").unwrap();
        assert_eq!((proxy.address.port_u16(), proxy.authorization), (Some(80), None));
        assert_eq!(EgressProxy::parse("http://[::1]:3128").unwrap().address, "http://[::1]:3128/");
    }
}
