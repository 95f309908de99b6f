//! Where browsers reach the merchant portal: at the root of the host of `AUTHORITY_BASE_URL`, and without that setting
//! at the merchant listener itself.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use url::Url;

/// The origin of the configured base URL; empty without one. Its path is left out, because the pages and their cookie
/// are at `/portal`.
pub(super) fn configured(base_url: Option<&str>) -> String {
    let url = base_url.and_then(|url| Url::parse(url).ok());
    url.map(|url| url.origin().ascii_serialization()).unwrap_or_default()
}

/// The origin of a listener as this machine reaches it.
pub(super) fn of_listener(address: SocketAddr) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, address.port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_portal_is_at_the_root_of_its_host() {
        for (base_url, origin) in [
            (None, ""),
            (Some("https://commerce.example/api"), "https://commerce.example"),
            (Some("http://127.0.0.1:8080"), "http://127.0.0.1:8080"),
        ] {
            assert_eq!(configured(base_url), origin);
        }
        for (address, origin) in [
            ("0.0.0.0:8080", "http://127.0.0.1:8080"),
            ("[::]:8080", "http://[::1]:8080"),
            ("192.0.2.1:80", "http://192.0.2.1:80"),
        ] {
            assert_eq!(of_listener(address.parse().unwrap()), origin);
        }
    }
}
