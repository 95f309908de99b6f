//! What answers and events look like: one example per definition in `examples.json`, and of every event type what its
//! owner gets, and what a partner gets where partners get a copy, in `events.json`. All were taken from a running
//! service.

use std::sync::LazyLock;

use anyhow::{Context as _, Result};
use authority_domain::ErrorCode;
use serde_json::{Map, Value, json};
use verify_core::EventType;

static EXAMPLES: LazyLock<Option<Map<String, Value>>> =
    LazyLock::new(|| serde_json::from_str(include_str!("examples.json")).ok());

static EVENTS: LazyLock<Option<Map<String, Value>>> =
    LazyLock::new(|| serde_json::from_str(include_str!("events.json")).ok());

/// The examples of an event, by whom it is for.
pub(crate) fn of_event(event_type: EventType) -> Result<Map<String, Value>> {
    let events = EVENTS.as_ref().context("events.json is no JSON object")?;
    let taken = events.get(event_type.as_str()).with_context(|| format!("{event_type} has no example"))?;
    let whose = [("owner", "To the merchant whose record it is."), ("partner", "To a partner.")];
    let shown = whose.into_iter().filter_map(|(reader, summary)| {
        let event = taken.get(reader)?;
        Some((reader.to_owned(), json!({ "summary": summary, "value": event })))
    });
    Ok(shown.collect())
}

/// The example of a definition.
pub(crate) fn of(definition: &str) -> Result<Value> {
    let examples = EXAMPLES.as_ref().context("examples.json is no JSON object")?;
    examples.get(definition).cloned().with_context(|| format!("{definition} has no example"))
}

/// A page with one.
pub(crate) fn page_of(definition: &str) -> Result<Value> {
    Ok(json!({ "data": [of(definition)?], "next_cursor": "AQEAAZf0b2x3" }))
}

/// A page of a feed.
pub(crate) fn feed_of(definition: &str) -> Result<Value> {
    Ok(json!({ "data": [of(definition)?], "next_cursor": "AQEAAZf0b2x3", "resume_cursor": "AQEAAZf0b2x3" }))
}

/// A refusal with this code.
pub(crate) fn problem(code: ErrorCode) -> Value {
    let mut problem = json!({
        "type": format!("urn:service:error:{code}"),
        "title": code.title(),
        "status": code.status(),
        "code": code.as_str(),
        "detail": code.meaning(),
        "request_id": "req_01k3zqa7t0e9h8w8r1v0c2n5xk",
    });
    let facts = match code {
        ErrorCode::ResourceVersionConflict => json!({ "current_version": 8, "supplied_version": 7 }),
        ErrorCode::InvalidStateTransition | ErrorCode::ProcessorConflict => {
            json!({ "current_status": "succeeded", "requested_status": "failed" })
        }
        ErrorCode::InsufficientScope => json!({ "required_scopes": ["orders:read"] }),
        ErrorCode::InvalidParameter | ErrorCode::UnknownParameter => json!({ "param": "limit" }),
        ErrorCode::InvalidCursor => json!({ "param": "cursor" }),
        ErrorCode::RefundAmountExceeded => json!({ "refundable": 1200 }),
        ErrorCode::ConnectionExists => json!({ "connection_id": "pcn_01k3zqa7t0e9h8w8r1v0c2n5xk" }),
        ErrorCode::ConnectionNotActive => json!({ "current_status": "revoked" }),
        ErrorCode::ShareExists => json!({ "share_id": "osh_01k3zqa7t0e9h8w8r1v0c2n5xk" }),
        ErrorCode::CursorExpired => json!({ "oldest_retained_sequence": 5001 }),
        ErrorCode::ValidationFailed => json!({ "errors": [
            { "pointer": "/amount", "code": "out_of_range", "detail": "Must be from 1 to 999999999999." },
        ] }),
        ErrorCode::UnknownField => json!({ "errors": [
            { "pointer": "/colour", "code": "unknown_field", "detail": "This operation does not define this member." },
        ] }),
        ErrorCode::FieldNotWritable => json!({ "errors": [
            { "pointer": "/status", "code": "field_not_writable",
              "detail": "This member cannot be written by this operation." },
        ] }),
        _ => json!({}),
    };
    if let (Some(problem), Value::Object(facts)) = (problem.as_object_mut(), facts) {
        problem.extend(facts);
    }
    problem
}
