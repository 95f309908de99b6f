//! Receivers in private networks, which only the operator of this deployment can allow (contract 7.6).
//!
//! The operator lists networks and hosts, separately for the endpoints of merchants and for the platform's own. A host
//! of the list is a private receiver: every address behind it must be in a listed network, and no other host reaches
//! these networks. So a merchant whose own name leads into the network is refused like before, whatever its name
//! server answers later.
//!
//! Some addresses are never allowed: the metadata services of clouds (`METADATA`), link-local addresses, and for
//! merchants this machine. A list that names a network outside `PRIVATE` is refused as a whole. Deliberately absent:
//! a way to allow every host.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::endpoint::address_policy::{is_public, v4, v6};
pub use crate::endpoint::owner::EndpointOwner;
use crate::endpoint::url::NetworkScope;
use crate::endpoint::url::host_name::{is_dns_name, is_or_is_below};

/// The networks that a list may name, in whole or in part.
const PRIVATE: [IpNet; 5] = [
    v4([10, 0, 0, 0], 8),                 // private use, RFC 1918
    v4([172, 16, 0, 0], 12),              // private use, RFC 1918
    v4([192, 168, 0, 0], 16),             // private use, RFC 1918
    v4([100, 64, 0, 0], 10),              // shared address space, which overlay networks use, RFC 6598
    v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), // unique local addresses, RFC 4193
];

/// This machine, which only the platform's list may name.
const LOOPBACK: [IpNet; 2] = [
    v4([127, 0, 0, 0], 8),             // RFC 1122 section 3.2.1.3
    v6([0, 0, 0, 0, 0, 0, 0, 1], 128), // RFC 4291 section 2.5.3
];

/// Services inside [`PRIVATE`] that hand out a cloud's credentials. Those at link-local addresses need no row.
const METADATA: [IpNet; 5] = [
    v4([100, 100, 100, 200], 32),                     // Alibaba Cloud
    v6([0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0], 32),       // Amazon: instances, pods, name and time servers
    v6([0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0], 32),       // Google Cloud
    v6([0xfd00, 0x0042, 0, 0, 0, 0, 0, 0x0042], 128), // Scaleway
    v6([0xfd00, 0xa9fe, 0xa9fe, 0, 0, 0, 0, 0], 48),  // 169.254.169.254 written in a unique local address
];

/// Why a list is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReceiverListError {
    /// An entry is neither a network, nor an address, nor a host name.
    #[error("an entry is neither a network nor a host name")]
    Entry,
    /// A network that is not within the private ones.
    #[error("an entry is a network that is not a private one, or one that receivers are never in")]
    NotPrivate,
    /// Networks without a host.
    #[error("networks are listed but no host, so nothing would be allowed")]
    NoHost,
    /// Hosts without a network.
    #[error("hosts are listed but no network, so nothing would be allowed")]
    NoNetwork,
}

/// The private receivers that one owner may have; none by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceiverList {
    networks: Vec<IpNet>,
    hosts: Vec<String>,
}

impl ReceiverList {
    /// Reads a comma-separated list of networks (`10.20.0.0/16`), addresses and host names (`hooks.corp.example`), each
    /// of which stands for itself and every name below it. The order is free.
    ///
    /// # Errors
    /// [`ReceiverListError`], the first thing that is wrong.
    pub fn parse(owner: EndpointOwner, text: &str) -> Result<Self, ReceiverListError> {
        let mut list = Self::default();
        for item in text.split(',').map(|item| item.trim_matches(' ')) {
            match network(item) {
                Some(network) if may_be_listed(owner, &network) => list.networks.push(network),
                Some(_) => return Err(ReceiverListError::NotPrivate),
                None => list.hosts.push(host(item).ok_or(ReceiverListError::Entry)?),
            }
        }
        match (list.networks.is_empty(), list.hosts.is_empty()) {
            (false, false) => Ok(list),
            (true, _) => Err(ReceiverListError::NoNetwork),
            (false, true) => Err(ReceiverListError::NoHost),
        }
    }

    /// Whether this host (IDNA-encoded, in lower case, without a dot at the end) is a private receiver.
    pub(super) fn names(&self, host: &str) -> bool {
        self.hosts.iter().any(|listed| is_or_is_below(host, listed))
    }

    fn contains(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(&address))
            && !METADATA.iter().any(|metadata| metadata.contains(&address))
    }
}

/// The private receivers of both owners.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrivateReceivers {
    /// Of merchants.
    pub merchants: ReceiverList,
    /// Of the platform's own endpoint.
    pub platform: ReceiverList,
}

impl PrivateReceivers {
    /// Whether a receiver in this scope may have this address. IPv4-mapped IPv6 addresses are judged as IPv4.
    #[must_use]
    pub fn allow(&self, scope: NetworkScope, address: IpAddr) -> bool {
        let address = address.to_canonical();
        match scope {
            NetworkScope::Public => is_public(address),
            NetworkScope::Private(EndpointOwner::Merchant) => self.merchants.contains(address),
            NetworkScope::Private(EndpointOwner::Platform) => self.platform.contains(address),
            NetworkScope::Loopback => address.is_loopback(),
            NetworkScope::Anywhere => true,
        }
    }
}

fn network(item: &str) -> Option<IpNet> {
    let network = item.parse::<IpNet>().ok().or_else(|| item.parse::<IpAddr>().ok().map(IpNet::from));
    network.map(|network| network.trunc())
}

/// The host as URLs are normalised. A name that ends in a number would be read as an address.
fn host(item: &str) -> Option<String> {
    let host = item.trim_end_matches('.').to_ascii_lowercase();
    let ends_in_a_number = host.rsplit('.').next()?.starts_with(|first: char| first.is_ascii_digit());
    (is_dns_name(&host) && !ends_in_a_number).then_some(host)
}

fn may_be_listed(owner: EndpointOwner, network: &IpNet) -> bool {
    let loopback = LOOPBACK.iter().filter(|_| owner == EndpointOwner::Platform);
    PRIVATE.iter().chain(loopback).any(|private| private.contains(network))
        && !METADATA.iter().any(|metadata| metadata.contains(network))
}

#[cfg(test)]
mod tests {
    use super::EndpointOwner::{Merchant, Platform};
    use super::*;

    #[test]
    fn a_list_names_private_networks_and_hosts() {
        let list =
            ReceiverList::parse(Merchant, "10.20.1.0/16, corp.EXAMPLE. ,fd12::/16,100.64.0.7,app").unwrap();
        assert_eq!(list.hosts, ["corp.example", "app"]);
        assert_eq!(
            list.networks.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["10.20.0.0/16", "fd12::/16", "100.64.0.7/32"]
        );
        for (host, named) in [
            ("corp.example", true),
            ("a.b.corp.example", true),
            ("app", true),
            ("acorp.example", false),
            ("example", false),
            ("corp.example.com", false),
        ] {
            assert_eq!(list.names(host), named, "{host}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_list_is_said() {
        use ReceiverListError::{Entry, NoHost, NoNetwork, NotPrivate};
        let table = [
            ("", Entry),
            ("10.0.0.0/8,", Entry),
            ("10.0.0.0/33,corp.example", Entry),
            ("10.0.0,corp.example", Entry),
            ("10.0.0.0/8;corp.example", Entry),
            ("10.0.0.0/8,*.corp.example", Entry),
            ("10.0.0.0/8,http://corp.example", Entry),
            ("10.0.0.0/8,corp.example:8080", Entry),
            ("10.0.0.0/8,corp..example", Entry),
            ("10.0.0.0/8,.corp.example", Entry),
            ("10.0.0.0/8", NoHost),
            ("corp.example", NoNetwork),
            ("0.0.0.0/0,corp.example", NotPrivate),
            ("::/0,corp.example", NotPrivate),
            ("10.0.0.0/7,corp.example", NotPrivate),
            ("93.184.215.14,corp.example", NotPrivate),
            ("169.254.0.0/16,corp.example", NotPrivate),
            ("169.254.169.254,corp.example", NotPrivate),
            ("168.63.129.16,corp.example", NotPrivate),
            ("fe80::/10,corp.example", NotPrivate),
            ("100.100.100.200,corp.example", NotPrivate),
            ("fd00:ec2::254,corp.example", NotPrivate),
            ("::ffff:10.0.0.1,corp.example", NotPrivate),
            ("224.0.0.1,corp.example", NotPrivate),
        ];
        for (text, error) in table {
            for owner in [Merchant, Platform] {
                assert_eq!(ReceiverList::parse(owner, text), Err(error), "{text}");
            }
        }
        for this_machine in ["127.0.0.0/8,localhost", "127.0.0.1,localhost", "::1,localhost"] {
            assert_eq!(ReceiverList::parse(Merchant, this_machine), Err(NotPrivate), "{this_machine}");
            assert!(ReceiverList::parse(Platform, this_machine).is_ok(), "{this_machine}");
        }
    }

    /// The widest lists that can be written allow no address that hands out credentials, and nothing public.
    #[test]
    fn the_widest_list_has_bounds() {
        let all = "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,fc00::/7,corp.example";
        let merchants = ReceiverList::parse(Merchant, all).unwrap();
        let platform = ReceiverList::parse(Platform, &format!("{all},127.0.0.0/8,::1")).unwrap();
        let private = PrivateReceivers { merchants, platform };
        let judged = |address: &str| {
            let address = address.parse().unwrap();
            [Merchant, Platform].map(|owner| private.allow(NetworkScope::Private(owner), address))
        };
        for address in ["10.0.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "fd12:3456::1"] {
            assert_eq!(judged(address), [true, true], "{address}");
            assert!(!private.allow(NetworkScope::Public, address.parse().unwrap()), "{address}");
        }
        assert_eq!(judged("::ffff:10.0.0.1"), [true, true], "judged as IPv4");
        for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(judged(address), [false, true], "{address}");
        }
        let never = "169.254.169.254 169.254.170.2 ::ffff:169.254.169.254 fe80::a9fe:a9fe 100.100.100.200 192.0.0.192 \
            168.63.129.16 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:42::42 0.0.0.0 :: 255.255.255.255 \
            224.0.0.1 8.8.8.8 2606:4700::1111";
        for address in never.split(' ') {
            assert_eq!(judged(address), [false, false], "{address}");
        }
    }
}
