//! The body `{reason}`: why an operator takes something away, gives it back, or does not wait for money (contract
//! 6.2). The reason goes to the audit log.

use serde_json::Value;

use crate::body;
use crate::body::Text;
use crate::refusal::Result;

/// Reads a body that is a reason and nothing else.
///
/// # Errors
/// 422 with every wrong member.
pub fn read_reason(body: &Value) -> Result<String> {
    body::read(body, |m| m.string("reason", Text::LINE).required())
}

/// Reads a body that may hold a reason and nothing else.
///
/// # Errors
/// 422 with every wrong member.
pub fn read_optional_reason(body: &Value) -> Result<Option<String>> {
    body::read(body, |m| m.string("reason", Text::LINE).optional())
}
