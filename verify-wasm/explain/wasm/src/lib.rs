//! `explain` in WebAssembly: one question in, one JSON text out, through the module's memory.
//!
//! The npm package makes an instance when a developer asks for an explanation, and drops it with the answer. It says
//! how long the question is ([`explain_reserve`]), writes it to the address it gets, asks ([`explain_run`]), and
//! reads as many bytes as it is told from where the answer lies ([`explain_address`]). The module imports nothing.
//!
//! A question is a sequence of parts, each its length in four bytes, lowest first, and its bytes; all bits set as
//! length says that there is no such part. First `Service-Timestamp`, `Service-Signature`, `Service-Event-Id` and the
//! body; then three lists, each a number in four bytes and so many parts: the secrets, the secrets for comparison,
//! and names and values of header lines in turn. A body above the verifier's bound is not written; its length is told
//! beside.

#![cfg_attr(target_family = "wasm", no_std)]

extern crate alloc;

mod exchange;
#[cfg(target_family = "wasm")]
mod runtime;

use alloc::string::String;
use alloc::vec::Vec;

use verify_core::{BodyLimit, Headers, Tolerance};
use verify_explain::{Delivery, HeaderLine, Trust, body_over_limit, explain_within};
use zeroize::Zeroizing;

pub use exchange::{explain_address, explain_reserve, explain_run};

/// The length of a part that is not there.
const ABSENT: u32 = u32::MAX;

/// What of a question are numbers.
struct Settings {
    tolerance_seconds: f64,
    now: f64,
    body_bytes: f64,
    body_limit: f64,
}

/// The answer to a question, or nothing when it is not one or its configuration could not be meant.
fn answer(question: &[u8], settings: &Settings) -> Option<String> {
    let mut rest = Rest(question);
    let headers = Headers { timestamp: rest.part()?, signature: rest.part()?, event_id: rest.part()? };
    let body = rest.part()?;
    let secrets = rest.texts()?;
    let other_secrets = rest.texts()?;
    let lines = rest.lines()?;
    // Doubles saturate: what is no integer of this size is out of every range, or as far from any time as can be.
    let tolerance = Tolerance::new(settings.tolerance_seconds as i64).ok()?;
    let body_limit = BodyLimit::new(settings.body_limit as i64).ok()?;
    let body_bytes = settings.body_bytes as usize;
    if body_limit.admit(body_bytes).is_err() {
        return Some(body_over_limit(body_bytes, body_limit).to_json());
    }
    let trust =
        Trust { secrets: &secrets, other_secrets: &other_secrets, tolerance, now: settings.now as i64 };
    let explanation = explain_within(&Delivery { body, headers, lines: &lines }, &trust, body_limit).ok()?;
    Some(explanation.to_json())
}

/// What of a question is not read yet.
struct Rest<'q>(&'q [u8]);

impl<'q> Rest<'q> {
    fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*number))
    }

    /// The next part, if the question goes on; of it, what is there.
    fn part(&mut self) -> Option<Option<&'q [u8]>> {
        let length = self.number()?;
        if length == ABSENT {
            return Some(None);
        }
        let (part, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(Some(part))
    }

    fn text(&mut self) -> Option<&'q str> {
        core::str::from_utf8(self.part()?.unwrap_or_default()).ok()
    }

    fn texts(&mut self) -> Option<Vec<&'q str>> {
        (0..self.number()?).map(|_| self.text()).collect()
    }

    fn lines(&mut self) -> Option<Vec<HeaderLine<'q>>> {
        let count = self.number()?;
        (0..count)
            .map(|_| Some(HeaderLine { name: self.text()?, value: self.part()?.unwrap_or_default() }))
            .collect()
    }
}

/// Answers what was written, and wipes it.
fn replace_by_answer(question: Vec<u8>, settings: &Settings) -> Vec<u8> {
    let question = Zeroizing::new(question);
    answer(&question, settings).unwrap_or_default().into_bytes()
}
