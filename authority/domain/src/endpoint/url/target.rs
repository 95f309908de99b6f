//! A URL that may be delivered to, and the refusal of one that may not.

use std::fmt;

use url::{ParseError, Url};

use crate::endpoint::owner::EndpointOwner;

/// The longest endpoint URL in bytes, as given and as normalised (contract 2.8).
pub const MAX_URL_BYTES: usize = 2048;

/// Which part of the network a URL points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NetworkScope {
    /// A host name; every address behind it must be public.
    Public,
    /// A host that the operator has listed for this owner's endpoints; every address behind it must be in one of the
    /// listed networks.
    Private(EndpointOwner),
    /// `127.0.0.1`, `[::1]` or `localhost`; every address behind it must be a loopback address.
    Loopback,
    /// Any host, with any address. Only [`TargetUrl::anywhere`] makes such a URL; an endpoint never has one.
    Anywhere,
}

/// A URL that may be delivered to. Its `Debug` form shows the origin only: paths and queries often carry tokens.
#[derive(Clone, PartialEq, Eq)]
pub struct TargetUrl {
    url: Url,
    scope: NetworkScope,
}

/// Why a URL is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum UrlRefusal {
    /// More than [`MAX_URL_BYTES`].
    #[error("the URL is longer than {MAX_URL_BYTES} bytes")]
    TooLong,
    /// White space, control characters or backslashes.
    #[error("the URL contains white space, control characters or backslashes")]
    Malformed,
    /// Not `scheme://host…`.
    #[error("the URL is not absolute")]
    NotAbsolute,
    /// Another scheme than https.
    #[error("the scheme must be https")]
    SchemeNotHttps,
    /// A user name or password, even an empty one.
    #[error("the URL must not contain a user name or password")]
    Userinfo,
    /// A fragment, even an empty one.
    #[error("the URL must not contain a fragment")]
    Fragment,
    /// An IP address in any notation.
    #[error("the host must be a DNS name, not an IP address")]
    IpLiteral,
    /// Not a DNS name.
    #[error("the host is not a valid DNS name")]
    HostInvalid,
    /// A name without a dot, or below a suffix that is never public.
    #[error("the host is not a public DNS name")]
    HostNotPublic,
    /// A name of this service itself.
    #[error("the host belongs to this service")]
    HostDenied,
    /// Neither 443 nor 1024 to 65535.
    #[error("the port must be 443 or from 1024 to 65535")]
    PortForbidden,
}

impl TargetUrl {
    /// A URL that the rules of its owner have let through.
    pub(super) const fn new(url: Url, scope: NetworkScope) -> Self {
        Self { url, scope }
    }

    /// Reads a URL that the person at this machine chose, for a developer's tool: http or https, any host, any address
    /// and any port. Never for what a merchant gave.
    ///
    /// # Errors
    ///
    /// [`UrlRefusal`], the first rule that the text breaks; `SchemeNotHttps` stands for a scheme that is not http
    /// either.
    pub fn anywhere(text: &str) -> Result<Self, UrlRefusal> {
        if text.len() > MAX_URL_BYTES {
            return Err(UrlRefusal::TooLong);
        }
        if text.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\') {
            return Err(UrlRefusal::Malformed);
        }
        if raw_authority(text)?.contains('@') {
            return Err(UrlRefusal::Userinfo);
        }
        let url = Url::parse(text).map_err(refusal_of)?;
        match (url.scheme(), url.fragment(), url.port_or_known_default()) {
            ("http" | "https", None, Some(1..)) => Ok(Self { url, scope: NetworkScope::Anywhere }),
            ("http" | "https", None, _) => Err(UrlRefusal::PortForbidden),
            ("http" | "https", Some(_), _) => Err(UrlRefusal::Fragment),
            _ => Err(UrlRefusal::SchemeNotHttps),
        }
    }

    /// The whole URL, normalised. It may carry secrets of the merchant: not for logs.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// The host name, IDNA-encoded, or one of the loopback addresses.
    #[must_use]
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
    }

    /// Which part of the network it points to.
    #[must_use]
    pub fn scope(&self) -> NetworkScope {
        self.scope
    }
}

impl fmt::Debug for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TargetUrl({:?}, {})", self.scope, self.url.origin().ascii_serialization())
    }
}

/// The text between `scheme://` and the path, query or fragment.
pub(super) fn raw_authority(text: &str) -> Result<&str, UrlRefusal> {
    let (_, rest) = text.split_once("://").ok_or(UrlRefusal::NotAbsolute)?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() { Err(UrlRefusal::NotAbsolute) } else { Ok(authority) }
}

pub(super) fn refusal_of(error: ParseError) -> UrlRefusal {
    match error {
        ParseError::InvalidIpv4Address | ParseError::InvalidIpv6Address => UrlRefusal::IpLiteral,
        ParseError::InvalidPort => UrlRefusal::PortForbidden,
        ParseError::IdnaError | ParseError::InvalidDomainCharacter | ParseError::EmptyHost => {
            UrlRefusal::HostInvalid
        }
        ParseError::Overflow => UrlRefusal::TooLong,
        _ => UrlRefusal::NotAbsolute,
    }
}
