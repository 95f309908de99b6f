//! What the authority recorded of a delivery: the outcome of its last attempt, and what the receiver answered.
//!
//! The authority signed it right, so the fault is on the receiver's side or between the two.

use serde::Deserialize;
use serde_json::{Value, json};
use verify_explain::{Cause, Finding};

use super::{answer, finding};
use crate::cli::listen::code_of;
use crate::cli::mcp::outcome::ToolError;
use crate::cli::mcp::records;
use crate::dev::client::Api;

#[derive(Deserialize)]
struct Delivery {
    event_id: String,
    attempts: Vec<Attempt>,
}

#[derive(Deserialize)]
struct Attempt {
    number: i64,
    started_at: String,
    signed_timestamp: i64,
    outcome: String,
    response_status: Option<i64>,
    response_excerpt: Option<String>,
}

/// Explains the last attempt of a delivery.
pub(super) async fn explain(api: &Api, id: &str) -> Result<Value, ToolError> {
    let delivery: Delivery = api.get_as(&records::delivery_path(id)).await?;
    let Some(attempt) = delivery.attempts.last() else {
        return Err(ToolError::new("no_attempt", "The delivery has not been attempted yet."));
    };
    let code = attempt.response_excerpt.as_deref().and_then(code_of);
    let causes = causes(attempt, code);
    let mut answer =
        if attempt.outcome == "success" { answer(Some("ok"), &[]) } else { answer(code, &causes) };
    if let Some(members) = answer.as_object_mut() {
        let hint = hint(&attempt.outcome, !causes.is_empty());
        members.insert("event_id".to_owned(), json!(delivery.event_id));
        members.insert(
            "attempt".to_owned(),
            json!({
                "number": attempt.number, "started_at": attempt.started_at, "outcome": attempt.outcome,
                "response_status": attempt.response_status,
            }),
        );
        members.insert("hint".to_owned(), json!(hint));
    }
    Ok(answer)
}

/// What makes a receiver refuse a genuine delivery with this code, the likeliest cause first. Without a code only 401
/// says that it was about the signature.
fn causes(attempt: &Attempt, code: Option<&str>) -> Vec<Finding> {
    let likely: &[Cause] = match code {
        Some("invalid_signature") => &[Cause::OtherSecret, Cause::BodyReserialized],
        Some("stale_timestamp") => &[Cause::ClockSkew],
        Some("missing_signature" | "invalid_timestamp") => &[Cause::HeaderRenamed, Cause::HeaderDropped],
        Some("missing_body") => &[Cause::BodyConsumed],
        Some("invalid_secret") => &[Cause::SecretMissing, Cause::SecretPrefixMissing, Cause::SecretBlanks],
        Some("event_id_mismatch") => &[Cause::EventIdDiffers],
        None if attempt.response_status == Some(401) => &[Cause::OtherSecret, Cause::BodyReserialized],
        _ => &[],
    };
    let answered = attempt.response_status.map_or_else(|| "nothing".to_owned(), |status| status.to_string());
    let evidence = format!(
        "The authority signed the delivery with the timestamp {}, and the receiver answered {answered}{}.",
        attempt.signed_timestamp,
        code.map(|code| format!(" {code}")).unwrap_or_default(),
    );
    likely.iter().map(|cause| finding(*cause, evidence.clone())).collect()
}

/// What the outcome of an attempt means (contract 2.9).
fn hint(outcome: &str, about_verification: bool) -> &'static str {
    match outcome {
        "success" => "The receiver acknowledged it.",
        _ if about_verification => {
            "For certainty, call this tool with the headers and the body that the receiver got."
        }
        "http_error" => "The receiver's own code refused it or failed: see its log. Only 2xx acknowledges.",
        "redirect" => {
            "Redirects are not followed: give the endpoint the URL that the receiver has in the end."
        }
        "timeout" => {
            "The receiver did not answer in time: answer 2xx once the event is claimed, and act afterwards."
        }
        "dns_error" => "The name in the endpoint's URL does not resolve.",
        "connect_error" => "Nothing accepted the connection: check the port, and whether the receiver runs.",
        "tls_error" => "The certificate was refused or the handshake failed.",
        "blocked_address" => "The URL leads to an address that deliveries may not go to.",
        _ => "What came back is not HTTP, or breaks its limits.",
    }
}
