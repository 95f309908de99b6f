//! The event id: the header against the body of a delivery that is otherwise right.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use verify_core::event;
use verify_core::header::EVENT_ID;

use crate::Delivery;
use crate::absent_header;
use crate::cause::Cause;
use crate::report::Finding;
use crate::text::{count, trim};

/// Why `Service-Event-Id` is not the body's `id`.
pub(crate) fn causes(delivery: &Delivery<'_>) -> Vec<Finding> {
    let Some(value) = delivery.headers.event_id.filter(|value| !trim(value).is_empty()) else {
        return absent_header::causes(EVENT_ID, delivery);
    };
    let event = event::read(delivery.body.unwrap_or_default());
    let id = event.as_ref().map(|event| event.id.as_bytes()).unwrap_or_default();
    let mut parts = value.split(|byte| *byte == b',').map(trim);
    let finding = if unquoted(value) == Some(id) {
        Finding::new(Cause::EventIdQuoted, "Without its quotation marks the header is the body's id.")
    } else if value.contains(&b',') && parts.any(|part| part == id) {
        Finding::new(Cause::HeaderRepeated, "Service-Event-Id came in several lines; one is the body's id.")
    } else if trim(value) == id {
        Finding::new(Cause::EventIdDiffers, "Without the blanks around it the header is the body's id.")
    } else if value.eq_ignore_ascii_case(id) {
        Finding::new(Cause::EventIdDiffers, "Header and body differ in letter case only.")
    } else {
        let kind = if value.starts_with(b"evt_") { "begins" } else { "does not begin" };
        let lengths = (count(value.len(), "character"), count(id.len(), "character"));
        let evidence = format!(
            "The header has {} and {kind} with evt_; the body's id has {}, and they differ.",
            lengths.0, lengths.1
        );
        Finding::new(Cause::EventIdDiffers, evidence)
    };
    vec![finding]
}

fn unquoted(value: &[u8]) -> Option<&[u8]> {
    match value {
        [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => Some(inner),
        _ => None,
    }
}
