//! The event envelope: which members are read, and in which order their faults are reported.
//!
//! [`read`] walks the text once. Grammar comes first, to the last byte: nothing is said about a member of a
//! text that is not JSON. Then duplicate names and optional members (`invalid_payload`), then the required
//! members in the order of contract 10.2. What the envelope does not name is checked as JSON and passes.
//!
//! The envelope borrows from the text wherever nothing is escaped. It is not the event: a consumer parses
//! [`Envelope::text`], which is exactly what was verified.

mod members;
mod rules;

use alloc::borrow::Cow;

use crate::code::VerificationCode;
use crate::json::{self, Diligence, Value};
use members::Members;
pub use rules::is_event_id;

/// What a verified event says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope<'b> {
    /// `evt_…`, the key under which a receiver claims the event.
    pub id: Cow<'b, str>,
    /// The event's name; not necessarily one of [`crate::EventType`].
    pub event_type: Cow<'b, str>,
    /// A date, `YYYY-MM-DD`.
    pub api_version: Cow<'b, str>,
    /// A UTC time, `YYYY-MM-DDTHH:MM:SS.mmmZ`.
    pub created_at: Cow<'b, str>,
    /// Position in the stream of the merchant and mode, at most 2^53 − 1.
    pub sequence: Option<u64>,
    /// Version of the record in `data.object`, at most 2^53 − 1.
    pub resource_version: Option<u64>,
    /// Live or test data.
    pub livemode: Option<bool>,
    /// `mer_…`, the merchant that owns the record.
    pub merchant_id: Cow<'b, str>,
    /// The merchant's slug, 1 to 128 characters.
    pub merchant_slug: Cow<'b, str>,
    /// The whole JSON text.
    pub text: &'b str,
}

/// Reads an event's envelope from its JSON text, without any signature (contract 10.3 and 10.4).
///
/// # Errors
///
/// The first of [`VerificationCode::InvalidJson`] to [`VerificationCode::InvalidData`] that applies.
pub fn read(text: &[u8]) -> Result<Envelope<'_>, VerificationCode> {
    let text = core::str::from_utf8(text).map_err(|_| VerificationCode::InvalidJson)?;
    read_text(text, Diligence::Alone)
}

/// The same for a text that is known to be UTF-8. A caller who parses it afterwards may choose
/// [`Diligence::BesideParser`]; when that or the parser refuses, the verdict is what [`Diligence::Alone`] says. An
/// envelope that both accept is the same either way.
///
/// # Errors
///
/// As [`read`]; beside a parser, not necessarily the first that applies.
pub fn read_text(text: &str, diligence: Diligence) -> Result<Envelope<'_>, VerificationCode> {
    let mut members = Members::default();
    let is_object = members.find(text, diligence).map_err(|_| VerificationCode::InvalidJson)?;
    if !is_object || members.repeated {
        return Err(VerificationCode::InvalidPayload);
    }
    judge(text, &members)
}

fn judge<'b>(text: &'b str, members: &Members<'b>) -> Result<Envelope<'b>, VerificationCode> {
    use VerificationCode as Code;

    let sequence = optional(members.sequence, as_integer)?;
    let resource_version = optional(members.resource_version, as_integer)?;
    let livemode = optional(members.livemode, as_boolean)?;
    optional(members.recipient, as_object)?;
    optional(members.links, as_object)?;
    let id = required(members.id, rules::is_event_id, Code::InvalidEventId)?;
    let event_type = required(members.event_type, rules::is_event_type, Code::InvalidEventType)?;
    let api_version = required(members.api_version, rules::is_date, Code::InvalidApiVersion)?;
    let created_at = required(members.created_at, rules::is_time, Code::InvalidCreatedAt)?;
    let merchant_id = required(members.merchant_id, rules::is_merchant_id, Code::InvalidMerchant)?;
    let merchant_slug = required(members.merchant_slug, rules::is_slug, Code::InvalidMerchant)?;
    members.data_object.and_then(as_object).ok_or(Code::InvalidData)?;
    Ok(Envelope {
        id,
        event_type,
        api_version,
        created_at,
        sequence,
        resource_version,
        livemode,
        merchant_id,
        merchant_slug,
        text,
    })
}

/// An optional member: absent and `null` say the same, anything else must be of the right type.
fn optional<'b, T>(
    value: Option<Value<'b>>,
    read: impl FnOnce(Value<'b>) -> Option<T>,
) -> Result<Option<T>, VerificationCode> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => read(value).map(Some).ok_or(VerificationCode::InvalidPayload),
    }
}

/// A required member: a string that keeps its rule, else the member's own code.
fn required<'b>(
    value: Option<Value<'b>>,
    rule: fn(&str) -> bool,
    code: VerificationCode,
) -> Result<Cow<'b, str>, VerificationCode> {
    match value {
        Some(Value::String(raw)) => Some(raw.unescape()).filter(|text| rule(text)).ok_or(code),
        _ => Err(code),
    }
}

fn as_integer(value: Value<'_>) -> Option<u64> {
    match value {
        Value::Number(text) => json::safe_integer(text),
        _ => None,
    }
}

fn as_boolean(value: Value<'_>) -> Option<bool> {
    match value {
        Value::Boolean(value) => Some(value),
        _ => None,
    }
}

fn as_object(value: Value<'_>) -> Option<()> {
    (value == Value::Object).then_some(())
}
