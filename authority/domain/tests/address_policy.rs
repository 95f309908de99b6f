//! `is_public` against the edges of every block, and against a second table written as bit arithmetic.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use authority_domain::endpoint::address_policy::is_public;
use proptest::prelude::*;

/// The blocks that are refused, from their first to their last address; the addresses beside them are public.
const REFUSED: [(&str, &str); 20] = [
    ("0.0.0.0", "0.255.255.255"),
    ("10.0.0.0", "10.255.255.255"),
    ("100.64.0.0", "100.127.255.255"),
    ("127.0.0.0", "127.255.255.255"),
    ("168.63.129.16", "168.63.129.16"),
    ("169.254.0.0", "169.254.255.255"),
    ("172.16.0.0", "172.31.255.255"),
    ("192.0.0.0", "192.0.0.255"),
    ("192.0.2.0", "192.0.2.255"),
    ("192.88.99.0", "192.88.99.255"),
    ("192.168.0.0", "192.168.255.255"),
    ("198.18.0.0", "198.19.255.255"),
    ("198.51.100.0", "198.51.100.255"),
    ("203.0.113.0", "203.0.113.255"),
    ("224.0.0.0", "255.255.255.255"),
    ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
];

/// The address that lies so many behind or before this one; `None` beyond the ends.
fn beside(address: IpAddr, step: i8) -> Option<IpAddr> {
    match address {
        IpAddr::V4(v4) => {
            u32::from(v4).checked_add_signed(step.into()).map(|bits| Ipv4Addr::from(bits).into())
        }
        IpAddr::V6(v6) => {
            u128::from(v6).checked_add_signed(step.into()).map(|bits| Ipv6Addr::from(bits).into())
        }
    }
}

#[test]
fn the_last_address_before_a_block_its_edges_and_the_first_after_it() {
    for (first, last) in REFUSED {
        let [first, last]: [IpAddr; 2] = [first, last].map(|address| address.parse().unwrap());
        assert!(!is_public(first) && !is_public(last), "{first} to {last}");
        for public in [beside(first, -1), beside(last, 1)].into_iter().flatten() {
            assert!(is_public(public), "{public} beside {first} to {last}");
        }
    }
}

#[test]
fn addresses_by_name() {
    let public = "::ffff:8.8.8.8 2000:: 2001:4860:4860::8888 2606:4700:4700::1111";
    // Within blocks; IPv4-compatible (RFC 4291 section 2.5.5.1), IPv4-mapped, IPv4-translated (RFC 2765), NAT64
    // well-known and local (RFC 6052, RFC 8215); what else is not global unicast.
    let refused = "127.0.0.1 169.254.169.254 239.255.255.255 240.0.0.0 :: ::1 ::2 ::8.8.8.8 ::ffff:127.0.0.1 \
        ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:8.8.8.8 64:ff9b::8.8.8.8 64:ff9b::10.0.0.1 \
        64:ff9b:1::8.8.8.8 100:: 100::1 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff \
        2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:20::1 2002:7f00:1:: 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 \
        ff02::1";
    for (addresses, expected) in [(public, true), (refused, false)] {
        for address in addresses.split(' ') {
            assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
        }
    }
}

/// The same rule, written as shifts and comparisons of integers.
fn public_by_bits(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => public_v4_by_bits(u32::from(v4)),
        IpAddr::V6(v6) => {
            let bits = u128::from(v6);
            if bits >> 32 == 0xffff {
                return public_v4_by_bits((bits & 0xffff_ffff) as u32);
            }
            bits >> 125 == 0b001
                && bits >> 105 != 0x2001_0000 >> 9
                && bits >> 96 != 0x2001_0db8
                && bits >> 112 != 0x2002
                && bits >> 108 != 0x3fff0
        }
    }
}

fn public_v4_by_bits(bits: u32) -> bool {
    let first_octet = bits >> 24;
    !(first_octet == 0
        || first_octet == 10
        || first_octet == 127
        || first_octet >= 224
        || (0x6440_0000..=0x647f_ffff).contains(&bits)
        || bits == 0xa83f_8110
        || bits >> 16 == 0xa9fe
        || (0xac10_0000..0xac20_0000).contains(&bits)
        || bits >> 8 == 0xc0_0000
        || bits >> 8 == 0xc0_0002
        || bits >> 8 == 0xc0_5863
        || bits >> 16 == 0xc0a8
        || bits >> 17 == 0xc612 >> 1
        || bits >> 8 == 0xc6_3364
        || bits >> 8 == 0xcb_0071)
}

/// Addresses near the interesting prefixes: uniform ones would hardly ever meet a /24 or a /96.
fn near_a_block() -> impl Strategy<Value = IpAddr> {
    let v4_stems = prop::sample::select(vec![
        0_u32,
        0x0a00_0000,
        0x6440_0000,
        0x7f00_0000,
        0xa83f_8110,
        0xa9fe_0000,
        0xac10_0000,
        0xc000_0000,
        0xc000_0200,
        0xc058_6300,
        0xc0a8_0000,
        0xc612_0000,
        0xc633_6400,
        0xcb00_7100,
        0xe000_0000,
        0xf000_0000,
    ]);
    let v4 = (v4_stems, any::<u32>(), 0_u32..32)
        .prop_map(|(stem, noise, width)| stem ^ (noise & ((1_u32 << width) - 1)));
    let v6_stems = prop::sample::select(vec![
        0_u128,
        0xffff << 32,
        0x64_ff9b << 96,
        (0x64_ff9b << 96) | (1 << 80),
        0x100 << 112,
        0x2000 << 112,
        0x2001 << 112,
        0x2001_0200 << 96,
        0x2001_0db8 << 96,
        0x2002 << 112,
        0x3fff << 112,
        0x5f00 << 112,
        0xfc00 << 112,
        0xfe80 << 112,
        0xff00 << 112,
    ]);
    let v6 = (v6_stems, any::<u128>(), 0_u32..128)
        .prop_map(|(stem, noise, width)| stem ^ (noise & ((1_u128 << width) - 1)));
    prop_oneof![
        v4.clone().prop_map(|bits| IpAddr::V4(Ipv4Addr::from(bits))),
        v6.prop_map(|bits| IpAddr::V6(Ipv6Addr::from(bits))),
        v4.prop_map(|bits| IpAddr::V6(Ipv4Addr::from(bits).to_ipv6_mapped())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8_000))]

    #[test]
    fn both_tables_agree_on_random_addresses(address in any::<IpAddr>()) {
        prop_assert_eq!(is_public(address), public_by_bits(address));
    }

    #[test]
    fn both_tables_agree_near_the_blocks(address in near_a_block()) {
        prop_assert_eq!(is_public(address), public_by_bits(address));
    }

    #[test]
    fn a_mapped_address_is_judged_as_the_ipv4_address_it_carries(bits in any::<u32>()) {
        let v4 = Ipv4Addr::from(bits);
        prop_assert_eq!(is_public(v4.to_ipv6_mapped().into()), is_public(v4.into()));
    }
}
