//! What arrived at a receiver, and how a receiver judges it.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method};
use verify_core::event::Envelope;
use verify_core::verify::{Headers, Tolerance, Verifier};
use verify_core::{Profile, VerificationCode};

use super::Answer;

/// One request of the authority.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// How it was asked.
    pub method: Method,
    /// Where it came to, e.g. `/hook`.
    pub path: String,
    /// What follows the path behind a question mark; empty when nothing does.
    pub query: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its exact bytes.
    pub body: Bytes,
    /// What the header says; empty when there is none.
    pub event_id: String,
    /// The how many-th request with this event at this path, from 1.
    pub nth: usize,
    /// The how many-th request of all, from 1.
    pub number: usize,
    /// When it had arrived, Unix milliseconds.
    pub arrived_at: i64,
    /// The status that it is answered with.
    pub status: u16,
}

impl Arrival {
    /// The only line of a header, empty when there is none.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        let lines: Vec<_> = self.headers.get_all(name).iter().collect();
        assert!(lines.len() < 2, "{name} is there twice");
        lines.first().map_or("", |line| line.to_str().unwrap())
    }

    /// Verifies it as a receiver does that trusts `secret` and stands at the time of the arrival.
    ///
    /// # Errors
    /// The code of contract 10.2.
    pub fn verify(&self, secret: &str) -> Result<Envelope<'_>, VerificationCode> {
        self.verify_at(secret, self.arrived_at)
    }

    /// The same for a receiver that stands at another time, in Unix milliseconds.
    ///
    /// # Errors
    /// The code of contract 10.2.
    pub fn verify_at(&self, secret: &str, now_ms: i64) -> Result<Envelope<'_>, VerificationCode> {
        self.verify_for(Profile::Service, secret, now_ms)
    }

    /// Verifies it at the time of the arrival by the headers of Standard Webhooks.
    ///
    /// # Errors
    /// The code of contract 10.2.
    pub fn verify_standard(&self, secret: &str) -> Result<Envelope<'_>, VerificationCode> {
        self.verify_for(Profile::StandardWebhooks, secret, self.arrived_at)
    }

    fn verify_for(
        &self,
        profile: Profile,
        secret: &str,
        now_ms: i64,
    ) -> Result<Envelope<'_>, VerificationCode> {
        let verifier = Verifier::for_profile(profile, &[secret], Tolerance::DEFAULT).unwrap();
        let line = |name| self.headers.get(name).map(HeaderValue::as_bytes);
        let names = profile.header_names();
        let headers = Headers {
            timestamp: line(names.timestamp),
            signature: line(names.signature),
            event_id: line(names.event_id),
        };
        verifier.verify(Some(&self.body), &headers, now_ms.div_euclid(1000))
    }
}
/// What has arrived so far.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    /// In the order in which they arrived.
    pub all: Vec<Arrival>,
    counts: BTreeMap<(String, String), usize>,
    accepted: BTreeMap<String, BTreeSet<String>>,
}

impl Arrivals {
    /// Those at one path, in order.
    pub fn at(&self, path: &str) -> impl Iterator<Item = &Arrival> {
        self.all.iter().filter(move |arrival| arrival.path == path)
    }

    /// How many different events were answered with 2xx at a path.
    #[must_use]
    pub fn accepted(&self, path: &str) -> usize {
        self.accepted.get(path).map_or(0, BTreeSet::len)
    }

    /// The types of the events at one path, in the order of their stream: requests to one endpoint run beside each
    /// other.
    #[must_use]
    pub fn types_at(&self, path: &str) -> Vec<String> {
        let parse = |arrival: &Arrival| serde_json::from_slice::<serde_json::Value>(&arrival.body).unwrap();
        let mut events: Vec<_> = self.at(path).map(parse).collect();
        events.sort_by_key(|event| event["sequence"].as_u64());
        events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }

    pub(super) fn add(&mut self, mut arrival: Arrival, script: &super::Script) -> Answer {
        let count = self.counts.entry((arrival.path.clone(), arrival.event_id.clone())).or_default();
        *count += 1;
        arrival.nth = *count;
        arrival.number = self.all.len() + 1;
        let answer = script(&arrival);
        arrival.status = answer.status.as_u16();
        if answer.status.is_success() {
            self.accepted.entry(arrival.path.clone()).or_default().insert(arrival.event_id.clone());
        }
        self.all.push(arrival);
        answer
    }
}
