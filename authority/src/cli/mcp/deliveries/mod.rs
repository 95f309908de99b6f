//! `explain_delivery`: why a receiver refused a webhook delivery.
//!
//! Either of two things is known. What the receiver got: its headers and its body are judged as the receiver should
//! have judged them ([`received`]). Or only that a delivery failed: what the authority recorded of its attempts is
//! read, and the code in the receiver's answer says what to look for ([`recorded`]).
//!
//! A signature can only be checked with the secret. It comes from the variables that `--secret-env` named when the
//! server was started, and the tool has no argument for it, not even for the name of a variable: the model would then
//! choose what is read. Without a secret everything else is still judged, and the answer says what is missing.

mod received;
mod recorded;

use serde_json::{Value, json};
use verify_explain::{Cause, Finding};

use super::arguments::{Arguments, Kind, Parameter, optional};
use super::outcome::ToolError;
use super::server::Connection;
use crate::cli::verify::json_of;

/// The longest body, in bytes of text: base64 of [`verify_explain::BODY_LIMIT`].
const BODY_MAX: usize = 1_400_000;

/// The arguments of `explain_delivery`.
pub(super) const EXPLAIN: &[Parameter] = &[
    optional(
        "delivery_id",
        Kind::Text { min: 1, max: 128 },
        "A delivery of the authority, dlv_…: explains its last attempt by what the receiver answered. Goes with no \
                other argument.",
    ),
    optional(
        "headers",
        Kind::Texts { max: 100 },
        "All headers of the request as the receiver got them, {\"Service-Signature\": \"v1=…\", …}. Those that a \
                proxy renamed are found here, too.",
    ),
    optional(
        "body",
        Kind::Text { min: 0, max: BODY_MAX },
        "The body as the receiver has it, to the byte; may be empty.",
    ),
    optional(
        "body_base64",
        Kind::Text { min: 0, max: BODY_MAX },
        "The same in base64, where the bytes are not UTF-8 or to be on the safe side.",
    ),
    optional(
        "received_at",
        Kind::Integer { min: 0, max: 9_999_999_999 },
        "When the receiver verified it, Unix seconds; now if it is left out.",
    ),
    optional(
        "tolerance",
        Kind::Integer { min: 1, max: 3600 },
        "How far the timestamp may be from that, in seconds; 300 if it is left out.",
    ),
];

/// The verdict and its likely causes.
pub(super) async fn explain(connection: &Connection, arguments: &Arguments) -> Result<String, ToolError> {
    let Some(id) = arguments.text("delivery_id") else {
        return received::explain(&connection.secrets, arguments).map(|answer| answer.to_string());
    };
    let mut others = EXPLAIN.iter().filter(|parameter| parameter.name != "delivery_id");
    if let Some(other) = others.find(|parameter| arguments.has(parameter.name)) {
        return Err(ToolError::argument(other.name, "does not go with delivery_id"));
    }
    recorded::explain(&connection.merchant, id).await.map(|answer| answer.to_string())
}

/// The answer: a code of contract 10.2 or `ok`, if it is known, and the causes.
fn answer(code: Option<&str>, causes: &[Finding]) -> Value {
    json!({ "code": code, "causes": json_of(causes) })
}

fn finding(cause: Cause, evidence: impl Into<String>) -> Finding {
    Finding { cause, evidence: evidence.into() }
}
