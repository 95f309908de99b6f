//! Where a delivery may be sent (contract 7.6 rules 1 to 3).
//!
//! [`UrlRules::parse`] turns the text a merchant gave into a [`TargetUrl`], once when the endpoint is written and
//! again before every attempt, because the rules may have become stricter since. What comes out is normalised
//! (host in lower case and IDNA-encoded, default port and trailing dot removed), and only such a value can be handed
//! to the delivery client. A [`UrlRefusal`] names the rule that a URL breaks.
//!
//! The parser is the WHATWG one, which is what the client on the other side of the wire would use too. It is
//! lenient, so everything that it would silently repair (missing slashes, white space, backslashes) is refused here
//! first. It also recognises an IPv4 address in every notation (`127.1`, `0x7f.1`, `2130706433`, full-width digits),
//! so IP literals are refused by its result and not by a pattern.
//!
//! Which receivers are private is the operator's choice ([`crate::endpoint::private_receivers`]).
//!
//! Deliberately absent: name resolution. What the name points to is judged at every connect by
//! [`crate::endpoint::address_policy`] and the same list of private receivers.

use std::fmt;

use url::{Host, ParseError, Url};

use crate::endpoint::private_receivers::{EndpointOwner, PrivateReceivers, ReceiverList};
use crate::id::MerchantId;

/// The longest endpoint URL in bytes, as given and as normalised (contract 2.8).
pub const MAX_URL_BYTES: usize = 2048;

/// The longest DNS name in bytes as written with dots (RFC 1035 section 3.1).
const MAX_HOST_BYTES: usize = 253;
/// The longest label of a DNS name in bytes (RFC 1035 section 2.3.4).
const MAX_LABEL_BYTES: usize = 63;

/// Names that are never public, each with everything below it (contract 7.6 rule 3): RFC 6761 (`localhost`),
/// RFC 6762 (`local`), ICANN's reservation of 2024 (`internal`), RFC 8375 (`home.arpa`).
const PRIVATE_SUFFIXES: [&str; 4] = ["localhost", "local", "internal", "home.arpa"];

/// Which part of the network a process may deliver to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrlPolicy {
    /// Public hosts over https only.
    Public,
    /// Also this machine's loopback over http or https, for test mode only (contract 7.6, development exception).
    Development,
}

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

/// The rules for the endpoints of one owner: the policy of this process, the names it must not deliver to because they
/// are its own, and the owner's private receivers.
#[derive(Debug, Clone)]
pub struct UrlRules {
    policy: UrlPolicy,
    denied_hosts: Vec<String>,
    owner: EndpointOwner,
    private: ReceiverList,
}

/// The rules for the endpoints of merchants, and for the platform's own.
#[derive(Debug, Clone)]
pub struct UrlRulesByOwner {
    merchants: UrlRules,
    platform: UrlRules,
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

impl UrlRulesByOwner {
    /// The rules under this policy, with no host denied.
    #[must_use]
    pub fn new(policy: UrlPolicy, private: &PrivateReceivers) -> Self {
        let rules = |owner, private: &ReceiverList| UrlRules {
            owner,
            private: private.clone(),
            ..UrlRules::new(policy)
        };
        Self {
            merchants: rules(EndpointOwner::Merchant, &private.merchants),
            platform: rules(EndpointOwner::Platform, &private.platform),
        }
    }

    /// The same rules, which also refuse this host name (IDNA-encoded) and every name below it.
    #[must_use]
    pub fn deny_host(self, host: &str) -> Self {
        Self { merchants: self.merchants.deny_host(host), platform: self.platform.deny_host(host) }
    }

    /// The rules for the endpoints with this merchant id; the operator's id is the platform's.
    #[must_use]
    pub fn of(&self, merchant_id: &MerchantId) -> &UrlRules {
        match EndpointOwner::of(merchant_id) {
            EndpointOwner::Merchant => &self.merchants,
            EndpointOwner::Platform => &self.platform,
        }
    }
}

impl UrlRules {
    /// The rules for merchants under this policy, with no host denied and no private receiver.
    #[must_use]
    pub fn new(policy: UrlPolicy) -> Self {
        let (owner, private) = (EndpointOwner::Merchant, ReceiverList::default());
        Self { policy, denied_hosts: Vec::new(), owner, private }
    }

    /// The same rules, which also refuse this host name (IDNA-encoded) and every name below it.
    #[must_use]
    pub fn deny_host(mut self, host: &str) -> Self {
        self.denied_hosts.push(host.trim_end_matches('.').to_ascii_lowercase());
        self
    }

    /// Reads an endpoint URL. `livemode` is that of the endpoint: the development exception is for test mode only.
    ///
    /// # Errors
    ///
    /// [`UrlRefusal`], the first rule that the text breaks.
    pub fn parse(&self, text: &str, livemode: bool) -> Result<TargetUrl, UrlRefusal> {
        if text.len() > MAX_URL_BYTES {
            return Err(UrlRefusal::TooLong);
        }
        if text.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\') {
            return Err(UrlRefusal::Malformed);
        }
        let authority = raw_authority(text)?;
        let url = Url::parse(text).map_err(refusal_of)?;
        let scope = self.scope(&url, authority, livemode);
        let in_clear =
            matches!(scope, NetworkScope::Loopback | NetworkScope::Private(EndpointOwner::Platform));
        match url.scheme() {
            "https" => {}
            "http" if in_clear => {}
            _ => return Err(UrlRefusal::SchemeNotHttps),
        }
        // The parser drops an empty user name, so the original text is checked.
        if authority.contains('@') {
            return Err(UrlRefusal::Userinfo);
        }
        if url.fragment().is_some() {
            return Err(UrlRefusal::Fragment);
        }
        let target = match scope {
            NetworkScope::Loopback => loopback_target(url)?,
            scope => self.named_target(url, scope)?,
        };
        // Percent-encoding and IDNA can make a URL longer than it was given.
        if target.as_str().len() > MAX_URL_BYTES {
            return Err(UrlRefusal::TooLong);
        }
        Ok(target)
    }

    fn scope(&self, url: &Url, authority: &str, livemode: bool) -> NetworkScope {
        if self.policy == UrlPolicy::Development && !livemode && names_loopback(authority) {
            return NetworkScope::Loopback;
        }
        match url.host() {
            Some(Host::Domain(name)) if self.private.names(name.strip_suffix('.').unwrap_or(name)) => {
                NetworkScope::Private(self.owner)
            }
            _ => NetworkScope::Public,
        }
    }

    fn named_target(&self, mut url: Url, scope: NetworkScope) -> Result<TargetUrl, UrlRefusal> {
        let public = scope == NetworkScope::Public;
        let host = match url.host() {
            Some(Host::Domain(name)) => name.strip_suffix('.').unwrap_or(name).to_owned(),
            Some(Host::Ipv4(_) | Host::Ipv6(_)) => return Err(UrlRefusal::IpLiteral),
            None => return Err(UrlRefusal::NotAbsolute),
        };
        if !is_dns_name(&host) {
            return Err(UrlRefusal::HostInvalid);
        }
        let never_public = || PRIVATE_SUFFIXES.iter().any(|suffix| is_or_is_below(&host, suffix));
        if public && (!host.contains('.') || never_public()) {
            return Err(UrlRefusal::HostNotPublic);
        }
        if self.denied_hosts.iter().any(|denied| is_or_is_below(&host, denied)) {
            return Err(UrlRefusal::HostDenied);
        }
        // `None` is the port of the scheme.
        if !matches!(url.port(), None | Some(443 | 1024..)) {
            return Err(UrlRefusal::PortForbidden);
        }
        url.set_host(Some(&host)).map_err(refusal_of)?;
        Ok(TargetUrl { url, scope })
    }
}

impl TargetUrl {
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
fn raw_authority(text: &str) -> Result<&str, UrlRefusal> {
    let (_, rest) = text.split_once("://").ok_or(UrlRefusal::NotAbsolute)?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() { Err(UrlRefusal::NotAbsolute) } else { Ok(authority) }
}

/// Whether the authority is one of the three names of contract 7.6's exception, with or without a port. Other
/// notations of the same addresses are IP literals like any other.
fn names_loopback(authority: &str) -> bool {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    ["127.0.0.1", "[::1]", "localhost"].iter().any(|name| host.eq_ignore_ascii_case(name))
}

fn loopback_target(url: Url) -> Result<TargetUrl, UrlRefusal> {
    // Port 0 cannot be connected to.
    if matches!(url.port_or_known_default(), Some(1..)) {
        Ok(TargetUrl { url, scope: NetworkScope::Loopback })
    } else {
        Err(UrlRefusal::PortForbidden)
    }
}

fn refusal_of(error: ParseError) -> UrlRefusal {
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

/// Letters, digits, hyphens and underscores in labels of bounded length. RFC 1123 does not allow underscores in host
/// names, but such names resolve and are in use.
pub(super) fn is_dns_name(host: &str) -> bool {
    host.len() <= MAX_HOST_BYTES
        && host.split('.').all(|label| {
            (1..=MAX_LABEL_BYTES).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        })
}

pub(super) fn is_or_is_below(host: &str, name: &str) -> bool {
    host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
