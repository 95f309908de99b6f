//! The client's address behind proxies (contract 18.1): `AUTHORITY_TRUSTED_PROXIES`.
//!
//! Only the word of a trusted proxy counts: `Forwarded` (RFC 7239) or `X-Forwarded-For` is read from its end, the
//! hop next to this service, up to the first address that does not belong to a trusted proxy. The client may have
//! written everything before that itself. A proxy passes on headers that it does not know: when both headers are
//! present and disagree, neither is believed, and the proxy counts as the client.

use std::net::IpAddr;

use http::header::FORWARDED;
use http::{HeaderMap, HeaderName};

use crate::config::TrustedProxies;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address that a request came from.
#[must_use]
pub fn client_address(proxies: &TrustedProxies, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
    let peer = peer.to_canonical();
    if !proxies.trust(peer) {
        return peer;
    }
    let told = |name| headers.contains_key(&name).then(|| lines(headers, &name));
    let by_forwarded = told(FORWARDED).map(|lines| walk(proxies, peer, forwarded_for(&lines)));
    let by_list =
        told(X_FORWARDED_FOR).map(|lines| walk(proxies, peer, lines.split(',').map(node).collect()));
    match (by_forwarded, by_list) {
        (Some(one), Some(other)) if one != other => peer,
        (one, other) => one.or(other).unwrap_or(peer),
    }
}

/// Walks from the last hop towards the client; an unreadable hop ends the walk.
fn walk(proxies: &TrustedProxies, peer: IpAddr, hops: Vec<Option<IpAddr>>) -> IpAddr {
    let mut client = peer;
    for hop in hops.into_iter().rev() {
        let Some(hop) = hop else { break };
        client = hop;
        if !proxies.trust(hop) {
            break;
        }
    }
    client
}

/// Joins the lines of a list header into one list.
fn lines(headers: &HeaderMap, name: &HeaderName) -> String {
    let lines: Vec<_> =
        headers.get_all(name).iter().map(|line| String::from_utf8_lossy(line.as_bytes())).collect();
    lines.join(",")
}

/// The `for` of each element, first hop first.
fn forwarded_for(text: &str) -> Vec<Option<IpAddr>> {
    let address = |element: &str| {
        let pairs = outside_quotes(element, ';');
        let mut named = pairs.iter().filter_map(|pair| {
            let (name, value) = pair.split_once('=')?;
            name.trim_matches([' ', '\t']).eq_ignore_ascii_case("for").then_some(value)
        });
        let value = named.next()?.trim_matches([' ', '\t']);
        node(value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value))
    };
    outside_quotes(text, ',').into_iter().map(address).collect()
}

/// Splits at separators outside of quotation marks.
fn outside_quotes(text: &str, separator: char) -> Vec<&str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |c| {
        let splits = c == separator && !quoted;
        if c == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && c == '\\' && !escaped;
        splits
    })
    .collect()
}

/// An address with or without a port; `None` for `unknown`, an obfuscated name and everything else.
fn node(text: &str) -> Option<IpAddr> {
    let text = text.trim_matches([' ', '\t']);
    let port_fine = |port: &str| {
        port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
    };
    let address = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            port_fine(port).then(|| address.parse().ok().map(IpAddr::V6))?
        }
        None => text.parse().ok().or_else(|| {
            let (address, port) = text.split_once(':')?;
            port.parse::<u16>().ok()?;
            address.parse().ok().map(IpAddr::V4)
        }),
    };
    address.map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(trusted: &str, peer: &str, lines: &[(HeaderName, &str)]) -> String {
        let headers = lines.iter().map(|(name, line)| (name.clone(), line.parse().unwrap())).collect();
        client_address(&TrustedProxies::parse(trusted).unwrap(), peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed_and_only_up_to_the_first_stranger() {
        const X: HeaderName = X_FORWARDED_FOR;
        const F: HeaderName = FORWARDED;
        type Lines<'a> = &'a [(HeaderName, &'a str)];
        let table: &[(&str, Lines<'_>, &str)] = &[
            ("192.0.2.1", &[(X, "198.51.100.7")], "192.0.2.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("::ffff:10.0.0.1", &[(X, "198.51.100.7")], "198.51.100.7"),
            ("10.0.0.1", &[(X, "198.51.100.7")], "198.51.100.7"),
            ("10.0.0.1", &[(X, "203.0.113.9, 198.51.100.7")], "198.51.100.7"),
            ("10.0.0.1", &[(X, "203.0.113.9"), (X, "198.51.100.7, 10.0.0.2")], "198.51.100.7"),
            ("10.0.0.1", &[(X, "10.0.0.3,10.0.0.2")], "10.0.0.3"),
            ("10.0.0.1", &[(X, "198.51.100.7:4711")], "198.51.100.7"),
            ("10.0.0.1", &[(X, "[2001:db8::1]:4711")], "2001:db8::1"),
            ("10.0.0.1", &[(X, "2001:db8::1")], "2001:db8::1"),
            ("10.0.0.1", &[(X, "198.51.100.7, nonsense")], "10.0.0.1"),
            ("10.0.0.1", &[(X, "198.51.100.7, , 10.0.0.2")], "10.0.0.2"),
            ("fd00::1", &[(F, "for=198.51.100.7")], "198.51.100.7"),
            ("10.0.0.1", &[(F, "For=203.0.113.9, for=198.51.100.7;proto=https;by=10.0.0.1")], "198.51.100.7"),
            ("10.0.0.1", &[(F, "for=\"[2001:db8::1]:4711\"")], "2001:db8::1"),
            ("10.0.0.1", &[(F, "host=\"a,b;for=203.0.113.9\";for=198.51.100.7")], "198.51.100.7"),
            ("10.0.0.1", &[(F, "host=\"a\\\",for=203.0.113.9\";for=198.51.100.7")], "198.51.100.7"),
            ("10.0.0.1", &[(F, "for=198.51.100.7, for=_hidden")], "10.0.0.1"),
            ("10.0.0.1", &[(F, "for=unknown")], "10.0.0.1"),
            ("10.0.0.1", &[(F, "proto=https")], "10.0.0.1"),
            ("10.0.0.1", &[(F, "for=198.51.100.7"), (X, "198.51.100.7")], "198.51.100.7"),
            ("10.0.0.1", &[(F, "for=203.0.113.9"), (X, "198.51.100.7")], "10.0.0.1"),
        ];
        for (peer, lines, expected) in table {
            assert_eq!(client("10.0.0.0/8, fd00::/8", peer, lines), *expected, "{peer} {lines:?}");
        }
        let headers = [(X, "198.51.100.7".parse().unwrap())].into_iter().collect();
        let nobody = client_address(&TrustedProxies::default(), IpAddr::from([127, 0, 0, 1]), &headers);
        assert_eq!(nobody.to_string(), "127.0.0.1");
    }
}
