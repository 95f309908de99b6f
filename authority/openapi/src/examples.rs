//! What answers look like: one example per definition, taken from a running service and kept in `examples.json`.

use std::sync::LazyLock;

use anyhow::{Context as _, Result};
use authority_domain::error_code::ErrorCode;
use serde_json::{Map, Value, json};

static EXAMPLES: LazyLock<Option<Map<String, Value>>> =
    LazyLock::new(|| serde_json::from_str(include_str!("examples.json")).ok());

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

/// All there is, on one page.
pub(crate) fn rows_of(definition: &str) -> Result<Value> {
    Ok(json!({ "data": [of(definition)?] }))
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
