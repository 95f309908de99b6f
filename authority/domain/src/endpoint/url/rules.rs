//! The rules of an owner, and which of them a URL breaks.

use url::{Host, Url};

use crate::endpoint::owner::EndpointOwner;
use crate::endpoint::private_receivers::{PrivateReceivers, ReceiverList};
use crate::endpoint::url::host_name::{is_dns_name, is_or_is_below};
use crate::endpoint::url::target::{
    MAX_URL_BYTES, NetworkScope, TargetUrl, UrlRefusal, raw_authority, refusal_of,
};
use crate::id::MerchantId;

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
        Ok(TargetUrl::new(url, scope))
    }
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
        Ok(TargetUrl::new(url, NetworkScope::Loopback))
    } else {
        Err(UrlRefusal::PortForbidden)
    }
}
