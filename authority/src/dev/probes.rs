//! The requests that a receiver must be able to tell apart (contract 11.3), sent directly to the built-in receiver.
//!
//! They are made from an event that was delivered, in the bytes that `GET /events/:event` returns, and from the
//! endpoint's secret. With the secret a valid duplicate can be made; without it, only requests that must be refused.

use bytes::Bytes;
use http::Request;
use http::header::CONTENT_TYPE;
use http_body_util::Full;
use serde::Deserialize;
use verify_core::header;
use verify_core::secret::{self, Secret, UnusableSecret};
use verify_core::sign::signature_header;

use super::client::{CallError, Http};
use super::data_dir::SavedEndpoint;
use super::receiver;
use crate::dice::Dice;

/// The age of the stale request in seconds: twice the receiver's tolerance.
const STALE_BY_S: i64 = 600;

/// The kinds of requests that are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// The event again, correctly signed.
    Duplicate,
    /// The body with one byte changed; the signature is that of the original.
    AlteredBody,
    /// Correctly signed, with a timestamp of ten minutes ago.
    StaleTimestamp,
    /// Signed with a secret that the receiver does not know.
    WrongSecret,
}

impl Probe {
    /// All probes, in the order in which they are sent.
    pub(crate) const ALL: [Self; 4] =
        [Self::Duplicate, Self::AlteredBody, Self::StaleTimestamp, Self::WrongSecret];

    /// The name shown to people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Duplicate => "a duplicate",
            Self::AlteredBody => "an altered body",
            Self::StaleTimestamp => "a stale timestamp",
            Self::WrongSecret => "a wrong secret",
        }
    }

    /// The answer that the probe must get (contract 11.1).
    pub(crate) fn expected(self) -> (u16, &'static str) {
        match self {
            Self::Duplicate => (200, "duplicate"),
            Self::AlteredBody | Self::WrongSecret => (401, "invalid_signature"),
            Self::StaleTimestamp => (401, "stale_timestamp"),
        }
    }
}

/// The answer that a probe got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answered {
    /// The probe.
    pub(crate) probe: Probe,
    /// The status.
    pub(crate) status: u16,
    /// The code in the body, empty when there is none.
    pub(crate) code: String,
}

impl Answered {
    /// Whether the answer is the expected one.
    pub(crate) fn is_expected(&self) -> bool {
        (self.status, self.code.as_str()) == self.probe.expected()
    }
}

/// A delivered event, and the data needed to forge requests from it.
pub(crate) struct Sample<'a> {
    /// Its id.
    pub(crate) event_id: &'a str,
    /// Its exact bytes.
    pub(crate) body: Bytes,
    /// The receiver's endpoint.
    pub(crate) endpoint: &'a SavedEndpoint,
    /// The time, Unix seconds.
    pub(crate) now: i64,
}

/// Why the probes could not be sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProbeError {
    /// The receiver did not answer.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The endpoint's secret is malformed.
    #[error(transparent)]
    Secret(#[from] UnusableSecret),
    /// A value does not fit into an HTTP header.
    #[error("the request cannot be written: {0}")]
    Request(#[from] http::Error),
}

/// Sends all probes, one after the other.
///
/// # Errors
/// [`ProbeError`]; an unexpected answer is not an error.
pub(crate) async fn send_all(
    http: &Http,
    sample: &Sample<'_>,
    dice: &dyn Dice,
) -> Result<Vec<Answered>, ProbeError> {
    let mut answers = Vec::with_capacity(Probe::ALL.len());
    for probe in Probe::ALL {
        let answer = http.send(request(probe, sample, dice)?).await?;
        answers.push(Answered { probe, status: answer.status.as_u16(), code: code(&answer.body) });
    }
    Ok(answers)
}

fn request(probe: Probe, sample: &Sample<'_>, dice: &dyn Dice) -> Result<Request<Full<Bytes>>, ProbeError> {
    let age = if probe == Probe::StaleTimestamp { STALE_BY_S } else { 0 };
    let timestamp = format!("{:010}", sample.now - age);
    let secret = if probe == Probe::WrongSecret {
        let mut random = [0; 32];
        dice.fill(&mut random);
        Secret::parse(&secret::generate(random))?
    } else {
        Secret::parse(&sample.endpoint.secret)?
    };
    let signature = signature_header([&secret], &timestamp, &sample.body);
    let body = if probe == Probe::AlteredBody { altered(&sample.body) } else { sample.body.clone() };
    Ok(Request::post(receiver::url(sample.endpoint.port))
        .header(CONTENT_TYPE, "application/json")
        .header(header::EVENT_ID, sample.event_id)
        .header(header::TIMESTAMP, timestamp)
        .header(header::SIGNATURE, signature)
        .body(Full::new(body))?)
}

/// The body with the lowest bit of its middle byte flipped.
fn altered(body: &Bytes) -> Bytes {
    let mut bytes = body.to_vec();
    let middle = bytes.len() / 2;
    if let Some(byte) = bytes.get_mut(middle) {
        *byte ^= 1;
    }
    bytes.into()
}

fn code(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Code {
        code: String,
    }
    serde_json::from_slice(body).map(|Code { code }| code).unwrap_or_default()
}
