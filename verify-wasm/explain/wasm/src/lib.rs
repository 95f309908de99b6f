//! `explain` in WebAssembly: one question in, one JSON text out, through the module's memory.
//!
//! The npm package makes an instance when a developer asks for an explanation, and drops it with the answer. It says how
//! long the question is ([`explain_reserve`]), writes it to the address it gets, asks ([`explain_run`]), and reads as
//! many bytes as it is told from where the answer lies ([`explain_address`]). The module imports nothing.
//!
//! A question is a sequence of parts, each its length in four bytes, lowest first, and its bytes; all bits set as length
//! says that there is no such part. First `Service-Timestamp`, `Service-Signature`, `Service-Event-Id` and the body;
//! then three lists, each a number in four bytes and so many parts: the secrets, the secrets for comparison, and names
//! and values of header lines in turn.

#![cfg_attr(target_family = "wasm", no_std)]

extern crate alloc;

mod exchange;
#[cfg(target_family = "wasm")]
mod runtime;

use alloc::string::String;
use alloc::vec::Vec;

use verify_core::{Headers, Tolerance};
use verify_explain::{Delivery, HeaderLine, Trust, explain};
use zeroize::Zeroizing;

pub use exchange::{explain_address, explain_reserve, explain_run};

/// The length of a part that is not there.
const ABSENT: u32 = u32::MAX;

/// The answer to a question, or nothing when it is not one or its configuration could not be meant.
fn answer(question: &[u8], tolerance_seconds: f64, now: f64) -> Option<String> {
    let mut rest = Rest(question);
    let headers = Headers { timestamp: rest.part()?, signature: rest.part()?, event_id: rest.part()? };
    let body = rest.part()?;
    let secrets = rest.texts()?;
    let other_secrets = rest.texts()?;
    let lines = rest.lines()?;
    // Doubles saturate: what is no integer of this size is out of every range, or as far from any time as can be.
    let tolerance = Tolerance::new(tolerance_seconds as i64).ok()?;
    let trust = Trust { secrets: &secrets, other_secrets: &other_secrets, tolerance, now: now as i64 };
    let explanation = explain(&Delivery { body, headers, lines: &lines }, &trust).ok()?;
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
fn replace_by_answer(question: Vec<u8>, tolerance_seconds: f64, now: f64) -> Vec<u8> {
    let question = Zeroizing::new(question);
    answer(&question, tolerance_seconds, now).unwrap_or_default().into_bytes()
}
