//! Why was this delivery not accepted? Likely causes in order, each with what was seen and what to do.
//!
//! A developer hands in what their receiver was given: body, headers, the configured secrets, the time.
//! [`explain`] first asks [`verify_core`] for the verdict, which it never changes. Then it looks for what people
//! get wrong: for `invalid_signature` it undoes the usual changes of a body and the usual mistakes with a secret
//! until a signature fits (`search.rs`); for the other codes it looks at the very thing the code is about. A cause that
//! a signature has confirmed comes first and alone, what only the looks of something suggest comes after, and for every
//! refusal there is at least one cause.
//!
//! What is safe to say (contract 17): digests are compared whole and in constant time, so nobody gets closer to one by
//! asking; evidence is made of our own words, numbers, header names and member names of the contract, and never of the
//! contents of a secret, a signature, a body or a header's value. All the same it answers more questions than a
//! receiver should: it is for the developer, and not to be exposed to senders.
//!
//! The work is bounded: bodies above [`BODY_LIMIT`] are not searched, no altered body grows above four times of that.
//!
//! Deliberately absent: a clock, I/O, decompression, and anything that would verify. The crate is `no_std` and builds
//! for WebAssembly, as a module of its own, so that the core stays small.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod absent_header;
mod body_shape;
mod cause;
mod digest;
mod event_id;
mod json_fault;
mod keys;
mod layout;
mod member;
mod numbers;
mod plain_bytes;
mod report;
mod search;
mod secret_form;
mod signature_form;
mod text;
mod time;
mod tree;
mod wrapping;

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use verify_core::verify::MAX_SECRETS;
use verify_core::{BodyLimit, ConfigError, Headers, Tolerance, VerificationCode, Verifier, header};

pub use cause::Cause;
pub use report::{Explanation, Finding};
pub use verify_core::receiver::BODY_LIMIT;

/// What the receiver was given.
#[derive(Clone, Copy)]
pub struct Delivery<'a> {
    /// The body as the receiver has it; absent and empty are the same.
    pub body: Option<&'a [u8]>,
    /// The three headers that are verified, normalised as for [`Verifier::verify`].
    pub headers: Headers<'a>,
    /// All header lines of the request, as far as they are known: what a proxy renamed shows in them, and what it says
    /// about the body. May be empty, and may repeat those above.
    pub lines: &'a [HeaderLine<'a>],
}

impl<'a> Delivery<'a> {
    /// A delivery of these header lines: the first line of each name is the one that is verified.
    #[must_use]
    pub fn of_lines(body: &'a [u8], lines: &'a [HeaderLine<'a>]) -> Self {
        let value = |name: &str| {
            let line = lines.iter().find(|line| line.name.eq_ignore_ascii_case(name));
            line.map(|line| line.value.trim_ascii())
        };
        let headers = Headers {
            timestamp: value(header::TIMESTAMP),
            signature: value(header::SIGNATURE),
            event_id: value(header::EVENT_ID),
        };
        Self { body: Some(body), headers, lines }
    }
}

/// One header line.
#[derive(Clone, Copy)]
pub struct HeaderLine<'a> {
    /// In any letter case.
    pub name: &'a str,
    /// Of most headers the value is never looked at.
    pub value: &'a [u8],
}

/// What the receiver was configured with.
#[derive(Clone, Copy)]
pub struct Trust<'a> {
    /// The trusted secrets as they are configured, at most [`MAX_SECRETS`].
    pub secrets: &'a [&'a str],
    /// Further secrets that the sender may have signed with by mistake (the previous one, that of another endpoint or
    /// of the other mode), at most [`MAX_SECRETS`]. They are only searched and never make a delivery valid.
    pub other_secrets: &'a [&'a str],
    /// How far the timestamp may lie from `now`.
    pub tolerance: Tolerance,
    /// The receiver's time in Unix seconds.
    pub now: i64,
}

/// Judges a delivery as [`Verifier::verify`] does, and says why when it is not accepted.
///
/// # Errors
///
/// [`ConfigError::TooManySecrets`] for more than [`MAX_SECRETS`] of either kind.
pub fn explain(delivery: &Delivery<'_>, trust: &Trust<'_>) -> Result<Explanation, ConfigError> {
    explain_within(delivery, trust, BodyLimit::DEFAULT)
}

/// The same for a verifier with this bound for bodies.
///
/// # Errors
///
/// As [`explain`].
pub fn explain_within(
    delivery: &Delivery<'_>,
    trust: &Trust<'_>,
    body_limit: BodyLimit,
) -> Result<Explanation, ConfigError> {
    if trust.other_secrets.len() > MAX_SECRETS {
        return Err(ConfigError::TooManySecrets);
    }
    let verifier = Verifier::new(trust.secrets, trust.tolerance)?.with_body_limit(body_limit);
    let body_bytes = delivery.body.map_or(0, <[u8]>::len);
    if body_limit.admit(body_bytes).is_err() {
        return Ok(body_over_limit(body_bytes, body_limit));
    }
    let verdict = verifier.verify(delivery.body, &delivery.headers, trust.now).map(|_| ());
    let causes = verdict.err().map_or_else(Vec::new, |code| causes(code, delivery, trust));
    Ok(Explanation { verdict, causes })
}

/// What is to be said of a body above the bound, of which a verifier sees nothing but the length.
#[must_use]
pub fn body_over_limit(body_bytes: usize, body_limit: BodyLimit) -> Explanation {
    let evidence =
        format!("The body has {body_bytes} bytes, and the verifier takes {} at most.", body_limit.bytes());
    Explanation {
        verdict: Err(VerificationCode::InvalidPayload),
        causes: vec![Finding::new(Cause::BodyOverLimit, evidence)],
    }
}

fn causes(code: VerificationCode, delivery: &Delivery<'_>, trust: &Trust<'_>) -> Vec<Finding> {
    use VerificationCode as Code;

    let body = delivery.body.unwrap_or_default();
    match code {
        Code::MissingBody => body_shape::missing(delivery),
        Code::InvalidSecret => secret_form::causes(delivery, trust),
        Code::InvalidTimestamp => time::malformed(delivery),
        Code::StaleTimestamp => time::stale(delivery, trust),
        Code::MissingSignature => absent_header::causes(verify_core::header::SIGNATURE, delivery),
        Code::InvalidSignature => search::causes(delivery, trust),
        Code::InvalidJson => vec![json_fault::cause(body)],
        Code::EventIdMismatch => event_id::causes(delivery),
        _ => vec![member::cause(code, body)],
    }
}
