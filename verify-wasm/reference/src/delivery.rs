//! A whole delivery: the fifteen conditions of contract 10.2, each as it is written there, in that order.

use sha2::{Digest as _, Sha256};

use crate::event;
use crate::tree::Node;

/// A delivery, and how its receiver is configured.
#[derive(Debug, Clone)]
pub struct Delivery<'d> {
    /// The raw body.
    pub body: Option<&'d [u8]>,
    /// `Service-Timestamp`, its lines joined.
    pub timestamp: Option<&'d [u8]>,
    /// `Service-Signature`, likewise.
    pub signature: Option<&'d [u8]>,
    /// `Service-Event-Id`, likewise.
    pub event_id: Option<&'d [u8]>,
    /// What the receiver trusts.
    pub secrets: &'d [String],
    /// Seconds.
    pub tolerance: i64,
    /// The receiver's time, Unix seconds.
    pub now: i64,
}

/// The verdict on a configuration that no delivery could be judged by.
pub const CONFIGURATION: &str = "configuration";

pattern!(SECRET = r"\Awhsec_[\x21-\x7e]{1,506}\z");
pattern!(TIMESTAMP = r"\A[0-9]{10}\z");
pattern!(BLANK = r"\A[ \t]*\z");
pattern!(CANDIDATE = r"\A[ \t]*v1=([0-9a-f]{64})[ \t]*\z");

/// The longest signature header that is looked at, without blanks around it.
const SIGNATURE_LIMIT: usize = 16_384;

impl Delivery<'_> {
    /// `"ok"`, the code of the first condition that holds, or [`CONFIGURATION`].
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        if !(1..=3600).contains(&self.tolerance) || self.secrets.len() > 8 {
            return CONFIGURATION;
        }
        let Some(body) = self.body.filter(|body| !body.is_empty()) else { return "missing_body" };
        if self.secrets.is_empty() || !self.secrets.iter().all(|secret| is_secret(secret)) {
            return "invalid_secret";
        }
        let timestamp = self.timestamp.unwrap_or_default();
        let seconds = std::str::from_utf8(timestamp).ok().filter(|_| TIMESTAMP.is_match(timestamp));
        let Some(seconds) = seconds.and_then(|text| text.parse::<i128>().ok()) else {
            return "invalid_timestamp";
        };
        if (i128::from(self.now) - seconds).abs() > i128::from(self.tolerance) {
            return "stale_timestamp";
        }
        let signature = self.signature.unwrap_or_default();
        if BLANK.is_match(signature) {
            return "missing_signature";
        }
        if !self.secrets.iter().any(|secret| holds(signature, &digest(secret, timestamp, body))) {
            return "invalid_signature";
        }
        match event::verdict(body) {
            "ok" if self.names(body) => "ok",
            "ok" => "event_id_mismatch",
            code => code,
        }
    }

    /// Whether the header names the event that the body says it is.
    fn names(&self, body: &[u8]) -> bool {
        let root = Node::parse(body);
        let id = root.as_ref().and_then(|root| root.text("id"));
        id.is_some() && id.map(str::as_bytes) == self.event_id
    }
}

/// Whether the text is a usable signing secret (contract 10.5).
#[must_use]
pub fn is_secret(text: &str) -> bool {
    SECRET.is_match(text.as_bytes())
}

/// Whether one of the header's candidates is this digest.
fn holds(header: &[u8], digest: &str) -> bool {
    let blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    let before = header.iter().take_while(|byte| blank(byte)).count();
    let after = header.iter().rev().take_while(|byte| blank(byte)).count();
    if header.len() - before - after > SIGNATURE_LIMIT {
        return false;
    }
    header.split(|byte| *byte == b',').any(|item| {
        CANDIDATE
            .captures(item)
            .and_then(|found| found.get(1))
            .is_some_and(|found| found.as_bytes() == digest.as_bytes())
    })
}

/// HMAC-SHA256 by the letter of RFC 2104, in lowercase hexadecimal.
#[must_use]
pub fn digest(secret: &str, timestamp: &[u8], body: &[u8]) -> String {
    const BLOCK: usize = 64;
    let mut key = secret.as_bytes().to_vec();
    if key.len() > BLOCK {
        key = Sha256::digest(&key).to_vec();
    }
    key.resize(BLOCK, 0);
    let pad = |byte: u8| key.iter().map(|part| part ^ byte).collect::<Vec<_>>();
    let inner = Sha256::digest([&pad(0x36), timestamp, b".", body].concat());
    let outer = Sha256::digest([pad(0x5c), inner.to_vec()].concat());
    outer.iter().map(|byte| format!("{byte:02x}")).collect()
}
