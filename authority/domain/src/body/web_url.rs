//! URLs of pages and pictures: https, or a service on this machine where test data may name one.

use serde_json::{Value, json};
use url::{Host, Url};

use crate::body::{Checked, Field, Members, shape, text_of, wrong};
use crate::refusal::MemberCode;

/// Longest URL (contract 2.5, 2.8), in bytes.
const URL_LIMIT: usize = 2048;

/// Whether a URL may be that of a service on this machine, without TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loopback {
    /// For test data.
    Allowed,
    /// Everywhere else.
    Refused,
}

impl Members<'_> {
    /// An absolute https URL of at most 2048 bytes without user name or password, kept as it was written.
    pub fn https_url(&mut self, name: &'static str) -> Field<'_, String> {
        self.field(name, String::new(), |value| web_url(value, Loopback::Refused))
    }

    /// The same in ASCII (RFC 3986), or an http URL of this machine where `loopback` allows it.
    pub fn web_url(&mut self, name: &'static str, loopback: Loopback) -> Field<'_, String> {
        self.field(name, String::new(), |value| match web_url(value, loopback)? {
            text if text.is_ascii() => Ok(text),
            _ => wrong(MemberCode::InvalidUrl, "Must be written in ASCII."),
        })
    }
}

fn web_url(value: &Value, loopback: Loopback) -> Checked<String> {
    let pattern = match loopback {
        Loopback::Refused => "^https://",
        Loopback::Allowed => "^https?://",
    };
    shape::rule(|| json!({ "type": "string", "format": "uri", "pattern": pattern, "maxLength": URL_LIMIT }));
    let text = text_of(value)?;
    if text.len() > URL_LIMIT {
        return wrong(MemberCode::TooLong, "Must have at most 2048 bytes.");
    }
    // The parser drops tabs and line feeds and trims blanks; what is stored must be what was checked.
    let plain = !text.chars().any(|c| c.is_whitespace() || c.is_control());
    let good = plain
        && Url::parse(text).is_ok_and(|url| {
            let local = loopback == Loopback::Allowed && url.scheme() == "http" && is_loopback(&url);
            let encrypted = url.scheme() == "https" && url.has_host();
            (encrypted || local) && url.username().is_empty() && url.password().is_none()
        });
    if good { Ok(text.to_owned()) } else { wrong(MemberCode::InvalidUrl, "Must be an absolute https URL.") }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
