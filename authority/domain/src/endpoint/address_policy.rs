//! Which network addresses a delivery may reach (contract 7.6 rule 4).
//!
//! A merchant names the host of its endpoint, so a merchant could name a host that resolves into the network the
//! service itself lives in. The delivery connector resolves the name, asks [`is_public`] about every answer, and
//! connects to exactly the address that was asked about.
//!
//! IPv4 is a list of refusals: everything else is public. IPv6 is the other way round: only global unicast
//! 2000::/3 can be public, less the blocks inside it that embed IPv4 addresses or have special uses. Blocks outside
//! 2000::/3 (`::`, `::1`, 64:ff9b::/96, 64:ff9b:1::/48, 100::/64, 5f00::/16, fc00::/7, fe80::/10, ff00::/8) need no
//! row of their own. Deliberately absent: name resolution, and the development exception, which is a property of
//! the URL ([`crate::endpoint::url`]) and not of an address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// IPv4 blocks that are refused. Sources: the IANA IPv4 Special-Purpose Address Registry (RFC 6890) and the RFC
/// that made each entry.
const REFUSED_V4: [IpNet; 16] = [
    v4([0, 0, 0, 0], 8),        // "this network", RFC 791 section 3.2
    v4([10, 0, 0, 0], 8),       // private use, RFC 1918
    v4([100, 64, 0, 0], 10),    // shared address space behind carrier NAT, RFC 6598
    v4([127, 0, 0, 0], 8),      // loopback, RFC 1122 section 3.2.1.3
    v4([168, 63, 129, 16], 32), // a cloud's metadata and DNS service in a public range, contract 7.6
    v4([169, 254, 0, 0], 16),   // link local, cloud metadata services among them, RFC 3927
    v4([172, 16, 0, 0], 12),    // private use, RFC 1918
    v4([192, 0, 0, 0], 24),     // IETF protocol assignments, RFC 6890 section 2.1
    v4([192, 0, 2, 0], 24),     // documentation TEST-NET-1, RFC 5737
    v4([192, 88, 99, 0], 24),   // 6to4 relay anycast, RFC 3068, deprecated by RFC 7526
    v4([192, 168, 0, 0], 16),   // private use, RFC 1918
    v4([198, 18, 0, 0], 15),    // benchmarking, RFC 2544
    v4([198, 51, 100, 0], 24),  // documentation TEST-NET-2, RFC 5737
    v4([203, 0, 113, 0], 24),   // documentation TEST-NET-3, RFC 5737
    v4([224, 0, 0, 0], 4),      // multicast, RFC 5771
    v4([240, 0, 0, 0], 4),      // reserved, and the limited broadcast address, RFC 1112 and RFC 8190
];

/// The only IPv6 block that is handed out as global unicast, RFC 4291 section 2.4 and RFC 3587.
const GLOBAL_UNICAST_V6: IpNet = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// Blocks inside [`GLOBAL_UNICAST_V6`] that are refused.
const REFUSED_V6: [IpNet; 4] = [
    // IETF protocol assignments: Teredo (embeds IPv4), ORCHID, benchmarking, RFC 2928
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23),
    v6([0x2001, 0x0db8, 0, 0, 0, 0, 0, 0], 32), // documentation, RFC 3849
    v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16),      // 6to4 (embeds IPv4), RFC 3056
    v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20),      // documentation, RFC 9637
];

pub(super) const fn v4([a, b, c, d]: [u8; 4], prefix_len: u8) -> IpNet {
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix_len))
}

pub(super) const fn v6([a, b, c, d, e, f, g, h]: [u16; 8], prefix_len: u8) -> IpNet {
    IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), prefix_len))
}

/// Whether a delivery may connect to this address. IPv4-mapped IPv6 addresses are judged as IPv4.
pub fn is_public(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let refused = |blocks: &[IpNet]| blocks.iter().any(|block| block.contains(&address));
    if address.is_ipv4() {
        !refused(&REFUSED_V4)
    } else {
        GLOBAL_UNICAST_V6.contains(&address) && !refused(&REFUSED_V6)
    }
}
