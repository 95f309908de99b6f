//! The proxies that are trusted to report the client address of a request (contract 18.1).

use std::net::IpAddr;

use ipnet::IpNet;

use super::variables::{ConfigError, Lookup, parsed};

/// The networks of the trusted proxies; none by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    pub(super) fn read(lookup: Lookup<'_>) -> Result<Self, ConfigError> {
        let expected = "a comma list of networks and addresses, such as 10.0.0.0/8,fd00::1";
        Ok(parsed(lookup, "AUTHORITY_TRUSTED_PROXIES", expected, Self::parse)?.unwrap_or_default())
    }

    /// Parses a comma-separated list of networks (`10.0.0.0/8`) and addresses; `None` if an entry is neither.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let network = |item: &str| {
            let item = item.trim_matches(' ');
            item.parse::<IpNet>().ok().or_else(|| item.parse::<IpAddr>().ok().map(IpNet::from))
        };
        text.split(',').map(network).collect::<Option<_>>().map(Self)
    }

    /// Whether this address belongs to a trusted proxy.
    #[must_use]
    pub fn trust(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_and_addresses_and_nothing_else() {
        assert!(TrustedProxies::parse("127.0.0.1,10.0.0.0/8, ::1 ,fd00::/8").is_some());
        for bad in ["", "10.0.0.0/33", "proxy.example", "10.0.0.1,", "10.0.0.1;10.0.0.2"] {
            assert_eq!(TrustedProxies::parse(bad), None, "{bad}");
        }
    }
}
