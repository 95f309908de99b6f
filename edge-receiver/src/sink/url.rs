//! Which URLs events may be sent to.

/// Whether a URL is one that events may be sent to: `https`, or `http` on the machine itself, without user names. Only
/// its beginning is judged; what follows the host, the runtime parses.
#[must_use]
pub fn is_usable_url(url: &str) -> bool {
    // What the URL parser of the runtime would drop or read as something else.
    if !url.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') {
        return false;
    }
    let (rest, is_local_only) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
        (Some(rest), _) => (rest, false),
        (None, Some(rest)) => (rest, true),
        (None, None) => return false,
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    !host.is_empty() && !authority.contains('@') && (!is_local_only || is_loopback(host))
}

fn is_loopback(host: &str) -> bool {
    matches!(host, "127.0.0.1" | "localhost" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_leave_the_machine_by_https_only() {
        for usable in [
            "https://shop.example",
            "https://shop.example/webhooks?a=b",
            "https://shop.example:8443/",
            "https://127.0.0.1/",
            "http://127.0.0.1:8080/webhooks",
            "http://localhost/",
            "http://localhost:1?a@b",
            "http://[::1]:8080/",
            "http://[::1]",
        ] {
            assert!(is_usable_url(usable), "{usable}");
        }
        for refused in [
            "",
            "https://",
            "https:///path",
            "https://:443",
            "http://shop.example",
            "http://127.0.0.1.example",
            "http://127.0.0.2",
            "http://localhost.example/",
            "http://127.0.0.1:80@shop.example/",
            "http://localhost\\@shop.example/",
            "http://127.0.0.1\t.shop.example",
            "https://user:word@shop.example",
            "https://shop.example/\n",
            "https://sh\u{f6}p.example/",
            "HTTPS://shop.example",
            "ftp://localhost/",
            "//localhost",
            "localhost",
        ] {
            assert!(!is_usable_url(refused), "{refused:?}");
        }
    }
}
