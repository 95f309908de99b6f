//! A delivery in the module's memory, and the verdict on it.

use core::ops::Range;

use verify_core::json::Diligence;
use verify_core::mac::DIGEST_LEN;
use verify_core::verify::Claim;
use verify_core::{BodyLimit, Envelope, Headers, Tolerance, VerificationCode, event};

use crate::facts::number;
use crate::memory::{self, Place};
use crate::secrets;

/// The length of a timestamp that can be valid.
pub(crate) const TIMESTAMP_LEN: usize = 10;

/// Judge the headers alone (conditions 1 to 5 of contract 10.2), so that nothing is computed in vain.
const HEADERS_ONLY: u32 = 1;
/// The host has left the inner digests in their place.
const DIGESTS_GIVEN: u32 = 2;
/// Write the event's fields to the exchange area and the numbers.
const FIELDS_WANTED: u32 = 4;
/// The host parses the text after a 0, and asks again without this mode when it gets anything else or the parser fails.
const BESIDE_PARSER: u32 = 8;
/// The headers are those of Standard Webhooks, and the secrets were prepared for that profile. The host leaves no
/// digests.
const STANDARD_WEBHOOKS: u32 = 16;

/// What is answered for a valid delivery whose body is ASCII.
const BODY_IS_ASCII: u32 = 0x100;

/// What is answered instead of a code to a tolerance or a bound that [`secrets::configure`] does not let pass.
const NOT_CONFIGURED: u32 = u32::MAX;

/// The parts of a delivery, as they lie there.
pub(crate) struct Delivery {
    headers: Headers<'static>,
    body: Option<&'static [u8]>,
}

impl Delivery {
    /// `lengths` of timestamp, signature, event id and body, in bytes, -1 for absent.
    pub(crate) fn in_place(lengths: [i32; 4]) -> Self {
        let [timestamp, signature, event_id, body] = lengths.map(|length| usize::try_from(length).ok());
        let signature_at = body.unwrap_or_default();
        let event_id_at = signature_at.saturating_add(signature.unwrap_or_default());
        let part = |place, skip| move |length| memory::bytes(place, skip, length);
        let headers = Headers {
            // A timestamp of any other length is invalid, whatever it says: JavaScript does not write it.
            timestamp: timestamp
                .map(|length| if length == TIMESTAMP_LEN { length } else { 0 })
                .map(part(Place::Timestamp, 0)),
            signature: signature.map(part(Place::Body, signature_at)),
            event_id: event_id.map(part(Place::Body, event_id_at)),
        };
        Self { headers, body: body.map(part(Place::Body, 0)) }
    }
}

pub(crate) fn admit(length: f64, body_limit: f64) -> u32 {
    let Ok(limit) = BodyLimit::new(body_limit as i64) else { return NOT_CONFIGURED };
    limit.admit(length as usize).map_or_else(number, |()| 0)
}

pub(crate) fn judge(
    delivery: &Delivery,
    secret_count: usize,
    tolerance_seconds: f64,
    now: f64,
    mode: u32,
) -> u32 {
    let Ok(tolerance) = Tolerance::new(tolerance_seconds as i64) else { return NOT_CONFIGURED };
    // A float beyond the integers saturates, and is then as far from any timestamp as can be.
    let claim = match Claim::check(delivery.body, &delivery.headers, secret_count > 0, tolerance, now as i64)
    {
        Ok(claim) => claim,
        Err(code) => return number(code),
    };
    if mode & HEADERS_ONLY != 0 {
        return 0;
    }
    verdict(&claim, secret_count, mode).unwrap_or_else(number)
}

fn verdict(claim: &Claim<'static, '_>, secret_count: usize, mode: u32) -> Result<u32, VerificationCode> {
    check_signature(claim, secret_count, mode)?;
    read(claim, mode)
}

/// A function of its own: runtimes compile one when it is first called, and this one is half of the module.
#[inline(never)]
fn read(claim: &Claim<'static, '_>, mode: u32) -> Result<u32, VerificationCode> {
    let diligence = if mode & BESIDE_PARSER == 0 { Diligence::Alone } else { Diligence::BesideParser };
    let mut is_ascii = false;
    let envelope = claim.read(|body| {
        let (text, ascii) = memory::as_text(body).ok_or(VerificationCode::InvalidJson)?;
        is_ascii = ascii;
        event::read_text(text, diligence)
    })?;
    if mode & FIELDS_WANTED != 0 {
        write_fields(&envelope);
    }
    Ok(if is_ascii { BODY_IS_ASCII } else { 0 })
}

fn check_signature(claim: &Claim<'_, '_>, secret_count: usize, mode: u32) -> Result<(), VerificationCode> {
    let secrets = 0..secret_count;
    if mode & STANDARD_WEBHOOKS != 0 {
        return check_standard_signature(claim, secrets);
    }
    claim.check_signature(secrets.filter_map(|index| {
        let secret = secrets::in_place(index)?;
        if mode & DIGESTS_GIVEN == 0 {
            return Some(claim.sign(&secret));
        }
        let inner = memory::bytes(Place::Digests, index * DIGEST_LEN, DIGEST_LEN);
        Some(secret.sign_digest(inner.try_into().ok()?))
    }))
}

#[inline(never)]
fn check_standard_signature(claim: &Claim<'_, '_>, secrets: Range<usize>) -> Result<(), VerificationCode> {
    claim.check_standard_signature(
        secrets.filter_map(|index| Some(claim.sign_standard(&secrets::in_place(index)?))),
    )
}

/// Writes the fields' texts one after the other, and to the numbers: sequence and resource version (not a number when
/// there is none), live mode (0 none, 1 false, 2 true), the bytes of the first five texts, and those of all.
fn write_fields(envelope: &Envelope<'_>) {
    let Envelope { id, event_type, api_version, created_at, merchant_id, merchant_slug, .. } = envelope;
    let texts: [&str; 6] = [id, event_type, api_version, created_at, merchant_id, merchant_slug];
    let mut length = 0;
    for text in texts {
        memory::write_behind(Place::Exchange, length, text.as_bytes());
        length += text.len();
    }
    // The rules allow integers up to 2^53 - 1, which a double holds exactly.
    let integer = |value: Option<u64>| value.map_or(f64::NAN, |value| value as f64);
    let numbers = [
        integer(envelope.sequence),
        integer(envelope.resource_version),
        envelope.livemode.map_or(0.0, |live| if live { 2.0 } else { 1.0 }),
        id.len() as f64,
        event_type.len() as f64,
        merchant_id.len() as f64,
        length as f64,
        if merchant_slug.is_ascii() { 1.0 } else { 0.0 },
    ];
    let mut bytes = [0; 64];
    for (place, number) in bytes.as_chunks_mut().0.iter_mut().zip(numbers) {
        *place = number.to_le_bytes();
    }
    memory::write(Place::Numbers, &bytes);
}
