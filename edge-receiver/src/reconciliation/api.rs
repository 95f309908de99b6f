//! Where the events are listed, and what the request for a page says (contract 4.5, 4.9).
//!
//! The key goes to one origin alone: `API_BASE` is an `https` address, or one of this machine for development, without
//! anything that could lead elsewhere. Neither is ever shown.

use std::fmt;

use crate::configuration::InvalidVariable;
use crate::sink::is_usable_url;

/// The address of the authority, to which `/v1/merchant` is added: `https://host[:port][/path]`.
pub const API_BASE: &str = "API_BASE";
/// A key of the merchant with the scope `events:read`.
pub const API_KEY: &str = "API_KEY";

/// How many events a page has at most; the API gives no more than that (contract 4.5).
pub const PAGE_EVENTS: u8 = 100;
/// How many are asked for when a page of [`PAGE_EVENTS`] was too large.
pub const PAGE_EVENTS_IF_LARGE: u8 = 25;
/// The largest page that is read, in bytes: it is held in memory more than once.
pub const PAGE_BYTES_MAX: usize = 8 << 20;
/// The longest key that is sent, in bytes.
const KEY_BYTES_MAX: usize = 512;

// So the smaller page always fits, with the largest events there are (contract 5.6).
const _: () = assert!(PAGE_EVENTS_IF_LARGE as usize * (256 << 10) + (64 << 10) <= PAGE_BYTES_MAX);

/// The event list of one merchant and mode, which the key decides.
#[derive(Clone, PartialEq, Eq)]
pub struct Api {
    events_url: String,
    key: String,
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Api(not shown)")
    }
}

impl Api {
    /// The API that the two variables name; `None` when neither is set, which turns reconciliation off.
    ///
    /// # Errors
    /// [`InvalidVariable`]: one is missing beside the other, or has a form that cannot be used.
    pub fn new(base: Option<&str>, key: Option<&str>) -> Result<Option<Self>, InvalidVariable> {
        let (base, key) = match (base, key) {
            (None, None) => return Ok(None),
            (None, Some(_)) => return Err(InvalidVariable(API_BASE)),
            (Some(_), None) => return Err(InvalidVariable(API_KEY)),
            (Some(base), Some(key)) => (base, key),
        };
        let base = usable_base(base).ok_or(InvalidVariable(API_BASE))?;
        let is_key =
            (1..=KEY_BYTES_MAX).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_key {
            return Err(InvalidVariable(API_KEY));
        }
        Ok(Some(Self { events_url: format!("{base}/v1/merchant/events"), key: key.to_owned() }))
    }

    /// The address of the page behind `cursor` (the oldest events that are kept, without one), with at most `limit`
    /// events.
    #[must_use]
    pub fn page_url(&self, cursor: Option<&str>, limit: u8) -> String {
        let mut url = format!("{}?limit={limit}", self.events_url);
        if let Some(cursor) = cursor {
            url.push_str("&cursor=");
            // A cursor is opaque: whatever it holds arrives as it was given (RFC 3986, 2.1).
            for byte in cursor.bytes() {
                match byte {
                    b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' | b'.' | b'~' => {
                        url.push(byte.into())
                    }
                    _ => url.push_str(&format!("%{byte:02X}")),
                }
            }
        }
        url
    }

    /// The value of `Authorization`.
    #[must_use]
    pub fn authorization(&self) -> String {
        format!("Bearer {}", self.key)
    }
}

/// `text` without its last slashes, if the key may be sent there. What has queries, fragments or escapes is no base.
fn usable_base(text: &str) -> Option<&str> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-._~:[]".contains(&byte));
    (is_plain && is_usable_url(text)).then(|| text.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(base: &str) -> Option<Api> {
        Api::new(Some(base), Some("svc_test_1")).ok().flatten()
    }

    #[test]
    fn bases() {
        for (base, url) in [
            ("https://api.example.com", "https://api.example.com/v1/merchant/events?limit=100"),
            ("https://api.example.com//", "https://api.example.com/v1/merchant/events?limit=100"),
            ("https://a.b:8443/commerce/", "https://a.b:8443/commerce/v1/merchant/events?limit=100"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/merchant/events?limit=100"),
            ("http://localhost", "http://localhost/v1/merchant/events?limit=100"),
            ("http://[::1]:80", "http://[::1]:80/v1/merchant/events?limit=100"),
        ] {
            assert_eq!(api(base).map(|api| api.page_url(None, PAGE_EVENTS)).as_deref(), Some(url), "{base}");
        }
        for base in [
            "",
            "https://",
            "api.example.com",
            "http://api.example.com",
            "http://127.0.0.1.example.com",
            "http://localhost.example.com",
            "http://127.0.0.1@example.com",
            "https://user:password@api.example.com",
            "https://api.example.com?x=1",
            "https://api.example.com/#x",
            "https://api.example.com/%2e%2e",
            "https://api.example.com\\x",
            "https://api.example.com x",
            "https://\u{e4}pi.example.com",
            "HTTPS://api.example.com",
            "ftp://api.example.com",
            " https://api.example.com",
            "https://api.example.com\n",
        ] {
            assert_eq!(Api::new(Some(base), Some("k")), Err(InvalidVariable("API_BASE")), "{base:?}");
        }
    }

    #[test]
    fn reconciliation_is_off_without_both_and_wrong_with_one() {
        let base = Some("https://api.example.com");
        assert_eq!(Api::new(None, None), Ok(None));
        assert_eq!(Api::new(base, None), Err(InvalidVariable("API_KEY")));
        assert_eq!(Api::new(None, Some("k")), Err(InvalidVariable("API_BASE")));
        for key in ["", "a b", "a\n", "k\u{e4}y", &"k".repeat(513)] {
            assert_eq!(Api::new(base, Some(key)), Err(InvalidVariable("API_KEY")), "{key:?}");
        }
    }

    #[test]
    fn a_cursor_arrives_as_it_was_given() {
        let api = api("https://a.b").unwrap();
        for (cursor, written) in [("AZaz09-_.~", "AZaz09-_.~"), ("a&b=c d+\u{e4}", "a%26b%3Dc%20d%2B%C3%A4")]
        {
            let url = format!("https://a.b/v1/merchant/events?limit=25&cursor={written}");
            assert_eq!(api.page_url(Some(cursor), PAGE_EVENTS_IF_LARGE), url);
        }
    }

    #[test]
    fn the_key_is_not_shown() {
        let api = api("https://a.b").unwrap();
        assert_eq!(api.authorization(), "Bearer svc_test_1");
        assert_eq!(format!("{api:?}"), "Api(not shown)");
    }
}
