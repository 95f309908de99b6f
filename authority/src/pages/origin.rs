//! The second line against forms of other sites; the first is the token of the session.
//!
//! Browsers say with `Sec-Fetch-Site` where a form came from. Where one does not, `Origin` must name this host. An
//! `Origin: null` says nothing: that is what a browser sends for a page of ours, which has `Referrer-Policy:
//! no-referrer`.

use http::HeaderMap;
use http::header::{HOST, ORIGIN};

/// Whether a form may have been sent by a page of this site.
pub(crate) fn is_ours(headers: &HeaderMap) -> bool {
    let line = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if let Some(site) = line("sec-fetch-site") {
        return matches!(site, "same-origin" | "none");
    }
    match line(ORIGIN.as_str()) {
        None | Some("null") => true,
        Some(origin) => {
            let authority = origin.split_once("://").map(|(_, authority)| authority);
            authority.is_some() && authority == line(HOST.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn a_form_of_another_site_is_told_by_what_the_browser_says() {
        let host = ("host", "127.0.0.1:8081");
        for (lines, ours) in [
            (vec![host], true),
            (vec![host, ("sec-fetch-site", "same-origin"), ("origin", "null")], true),
            (vec![host, ("sec-fetch-site", "none")], true),
            (vec![host, ("sec-fetch-site", "same-site")], false),
            (vec![host, ("sec-fetch-site", "cross-site"), ("origin", "http://127.0.0.1:8081")], false),
            (vec![host, ("origin", "null")], true),
            (vec![host, ("origin", "http://127.0.0.1:8081")], true),
            (vec![host, ("origin", "https://127.0.0.1:8081")], true),
            (vec![host, ("origin", "http://127.0.0.1:9999")], false),
            (vec![host, ("origin", "http://evil.example")], false),
            (vec![host, ("origin", "nonsense")], false),
        ] {
            let headers = lines
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
                .collect();
            assert_eq!(is_ours(&headers), ours, "{lines:?}");
        }
    }
}
