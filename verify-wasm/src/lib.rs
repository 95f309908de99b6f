//! The core in WebAssembly: `verify-core` behind functions that JavaScript can call.
//!
//! This crate forwards and decides nothing. The npm package (`pkg/`) prepares one [`Verifier`] per receiver.
//! For each delivery it writes the three headers and the body, one after the other, into the module's
//! [`Input`], says how long each part is, and gets a small number back: 0, or that of a
//! [code](code_name). Nothing is allocated on the way, and no string crosses unless somebody asks for the
//! [fields](Input::take_fields); the event itself is built by `JSON.parse` on the JavaScript side.
//!
//! Numbers cross as JavaScript numbers: ten-digit seconds are exact in a double (contract 10.1).
//!
//! The module is small because it leaves the standard library out: only `core`, an allocator made for
//! WebAssembly, and a panic that traps without a message. (On other targets, where this crate is only checked,
//! the standard library provides those.)

#![cfg_attr(target_family = "wasm", no_std)]

extern crate alloc;

#[cfg(target_family = "wasm")]
mod runtime;

use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;

use verify_core::{Envelope, Headers, Secret, Tolerance, VerificationCode, sign};
use wasm_bindgen::prelude::*;

/// The length JavaScript passes for a header or body that is absent.
const ABSENT: i32 = -1;

/// Signing secrets on their way in. JavaScript adds each text and hands the list to what needs it.
#[wasm_bindgen]
#[derive(Default)]
pub struct Secrets(Vec<String>);

#[wasm_bindgen]
impl Secrets {
    /// No secret yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one secret as it is configured, usable or not.
    pub fn add(&mut self, secret: String) {
        self.0.push(secret);
    }
}

/// Memory of the module that JavaScript writes a delivery into. It keeps the size of the largest one so far.
#[wasm_bindgen]
#[derive(Default)]
pub struct Input {
    bytes: Vec<u8>,
    fields: Fields,
}

/// What is known of a verified event without building it.
#[derive(Default)]
struct Fields {
    text: String,
    sequence: Option<f64>,
    resource_version: Option<f64>,
    livemode: Option<bool>,
}

#[wasm_bindgen]
impl Input {
    /// Empty input.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for `length` bytes and returns their address, or null when there is not so much memory. The
    /// address holds until the next call. `length` is a double, because integers of WebAssembly wrap around.
    pub fn reserve(&mut self, length: f64) -> *const u8 {
        let length = length as usize;
        if self.bytes.len() < length {
            self.bytes.clear();
            if self.bytes.try_reserve_exact(length).is_err() {
                return core::ptr::null();
            }
            self.bytes.resize(length, 0);
        }
        self.bytes.as_ptr()
    }

    /// What [`Verifier::check_envelope`] read last, one field per line: id, type, API version, time of
    /// creation, merchant id, merchant slug. No field holds a line break, because the rules of contract 10.3
    /// allow no control character in any of them.
    #[wasm_bindgen(js_name = takeFields)]
    pub fn take_fields(&mut self) -> String {
        core::mem::take(&mut self.fields.text)
    }

    /// The same event's position in its stream.
    #[wasm_bindgen(getter)]
    pub fn sequence(&self) -> Option<f64> {
        self.fields.sequence
    }

    /// The same event's version of its resource.
    #[wasm_bindgen(getter, js_name = resourceVersion)]
    pub fn resource_version(&self) -> Option<f64> {
        self.fields.resource_version
    }

    /// Whether the same event belongs to live traffic.
    #[wasm_bindgen(getter)]
    pub fn livemode(&self) -> Option<bool> {
        self.fields.livemode
    }
}

/// Trusted secrets with their key states prepared, and the tolerance.
#[wasm_bindgen]
pub struct Verifier(verify_core::Verifier);

#[wasm_bindgen]
impl Verifier {
    /// Prepares the secrets.
    ///
    /// # Errors
    ///
    /// More than eight secrets, or a tolerance outside 1 to 3600 seconds (contract 10.1, 10.5).
    #[wasm_bindgen(constructor)]
    pub fn new(secrets: &Secrets, tolerance_seconds: f64) -> Result<Self, JsError> {
        // A double for the same reason as in `Input::reserve`; the cast saturates and so stays out of range.
        let tolerance = Tolerance::new(tolerance_seconds as i64)?;
        Ok(Self(verify_core::Verifier::new(&secrets.0, tolerance)?))
    }

    /// Judges the delivery in `input`, whose parts have these lengths in bytes, in this order, -1 for absent.
    /// `now` is Unix seconds. Returns 0 for a valid delivery, else the number of its code.
    pub fn check(
        &self,
        input: &Input,
        timestamp: i32,
        signature: i32,
        event_id: i32,
        body: i32,
        now: f64,
    ) -> u32 {
        let parts = Parts::cut(&input.bytes, [timestamp, signature, event_id, body]);
        parts.verify(&self.0, now).map_or_else(number, |_| 0)
    }

    /// The same, and keeps the event's fields for [`Input::take_fields`] and its neighbours.
    #[wasm_bindgen(js_name = checkEnvelope)]
    pub fn check_envelope(
        &self,
        input: &mut Input,
        timestamp: i32,
        signature: i32,
        event_id: i32,
        body: i32,
        now: f64,
    ) -> u32 {
        let parts = Parts::cut(&input.bytes, [timestamp, signature, event_id, body]);
        match parts.verify(&self.0, now) {
            Ok(envelope) => {
                input.fields = Fields::of(&envelope);
                0
            }
            Err(code) => number(code),
        }
    }
}

/// How many codes there are. They are numbered from 1, in order of precedence (contract 10.2).
#[wasm_bindgen(js_name = codeCount)]
pub fn code_count() -> u32 {
    VerificationCode::ALL.len() as u32
}

/// The name of a code.
#[wasm_bindgen(js_name = codeName)]
pub fn code_name(number: u32) -> Option<String> {
    code(number).map(|code| code.as_str().to_owned())
}

/// The HTTP status that a receiver answers a code with (contract 11.1).
#[wasm_bindgen(js_name = codeStatus)]
pub fn code_status(number: u32) -> Option<u16> {
    code(number).map(VerificationCode::http_status)
}

/// The version of the SDK contract.
#[wasm_bindgen(js_name = contractVersion)]
pub fn contract_version() -> String {
    verify_core::CONTRACT_VERSION.to_owned()
}

/// The API version that the authority stamps on events today.
#[wasm_bindgen(js_name = apiVersion)]
pub fn api_version() -> String {
    verify_core::API_VERSION.to_owned()
}

/// The value of `Service-Signature` over the timestamp and body in `input`, one candidate per secret in their
/// order; nothing when there is no secret or an unusable one.
#[wasm_bindgen(js_name = signatureHeader)]
pub fn signature_header(secrets: &Secrets, input: &Input, timestamp: i32, body: i32) -> Option<String> {
    let parts = Parts::cut(&input.bytes, [timestamp, ABSENT, ABSENT, body]);
    let timestamp = core::str::from_utf8(parts.headers.timestamp?).ok()?;
    let prepared = secrets.0.iter().map(|text| Secret::parse(text)).collect::<Result<Vec<_>, _>>().ok()?;
    Some(sign::signature_header(&prepared, timestamp, parts.body.unwrap_or_default()))
        .filter(|v| !v.is_empty())
}

/// A delivery as it lies in the input.
struct Parts<'i> {
    headers: Headers<'i>,
    body: Option<&'i [u8]>,
}

impl<'i> Parts<'i> {
    fn cut(mut rest: &'i [u8], [timestamp, signature, event_id, body]: [i32; 4]) -> Self {
        let mut next = |length: i32| {
            let length = usize::try_from(length).ok()?;
            let (part, after) = rest.split_at_checked(length)?;
            rest = after;
            Some(part)
        };
        let headers =
            Headers { timestamp: next(timestamp), signature: next(signature), event_id: next(event_id) };
        Self { headers, body: next(body) }
    }

    fn verify(&self, verifier: &verify_core::Verifier, now: f64) -> Result<Envelope<'i>, VerificationCode> {
        // A float beyond the integers saturates, and is then as far from any timestamp as can be.
        verifier.verify(self.body, &self.headers, now as i64)
    }
}

fn code(number: u32) -> Option<VerificationCode> {
    let index = usize::try_from(number).ok()?.checked_sub(1)?;
    VerificationCode::ALL.get(index).copied()
}

/// The number that [`code_name`] knows a code by.
fn number(code: VerificationCode) -> u32 {
    code as u32 + 1
}

impl Fields {
    fn of(envelope: &Envelope<'_>) -> Self {
        let Envelope { id, event_type, api_version, created_at, merchant_id, merchant_slug, .. } = envelope;
        let fields: [&str; 6] = [id, event_type, api_version, created_at, merchant_id, merchant_slug];
        Self {
            text: fields.join("\n"),
            // The rules allow integers up to 2^53 - 1, which a double holds exactly.
            sequence: envelope.sequence.map(|number| number as f64),
            resource_version: envelope.resource_version.map(|number| number as f64),
            livemode: envelope.livemode,
        }
    }
}
