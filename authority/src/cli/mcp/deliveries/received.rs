//! What the receiver got, judged with the secrets of this server.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use verify_core::{Tolerance, VerificationCode, secret};
use verify_explain::{Cause, Delivery, Explanation, Finding, HeaderLine, Trust};
use zeroize::Zeroizing;

use super::{answer, finding};
use crate::cli::mcp::arguments::Arguments;
use crate::cli::mcp::outcome::ToolError;
use crate::clock::{Clock as _, SystemClock};
use crate::dice::{Dice as _, SystemDice};

/// Judges a delivery as its receiver should have.
pub(super) fn explain(secrets: &[Zeroizing<String>], arguments: &Arguments) -> Result<Value, ToolError> {
    if !arguments.has("headers") {
        let detail = "Give delivery_id, or headers and the body as the receiver got them.";
        return Err(ToolError::new("invalid_arguments", detail));
    }
    let body = body(arguments)?;
    let lines: Vec<HeaderLine<'_>> = arguments
        .members("headers")
        .map(|(name, value)| HeaderLine { name, value: value.as_str().unwrap_or_default().as_bytes() })
        .collect();
    let tolerance = arguments.integer("tolerance").map_or(Ok(Tolerance::DEFAULT), Tolerance::new);
    let tolerance = tolerance.map_err(|_| ToolError::argument("tolerance", "must be 1 to 3600"))?;
    let now =
        arguments.integer("received_at").unwrap_or_else(|| SystemClock::new().now_ms().div_euclid(1000));
    let delivery = Delivery::of_lines(&body, &lines);
    let stand_in = [stand_in()];
    let known: Vec<&str> =
        (if secrets.is_empty() { &stand_in } else { secrets }).iter().map(|secret| secret.as_str()).collect();
    let trust = Trust { secrets: &known, other_secrets: &[], tolerance, now };
    let explanation = verify_explain::explain(&delivery, &trust)
        .map_err(|_| ToolError::new("too_many_secrets", "This server was started with too many secrets."))?;
    Ok(if secrets.is_empty() { unsigned(explanation) } else { judged(&explanation) })
}

fn judged(explanation: &Explanation) -> Value {
    let code = explanation.verdict.err().map_or("ok", VerificationCode::as_str);
    let mut answer = answer(Some(code), &explanation.causes);
    if let (true, Some(members)) = (explanation.verdict.is_ok(), answer.as_object_mut()) {
        let hint = "The delivery verifies with the secret of this server. If the receiver refuses it, it has another \
                    secret, or verifies other bytes than these: compare the body it hands to the verifier.";
        members.insert("hint".to_owned(), hint.into());
    }
    answer
}

/// What can be said when no secret is known: everything but whether the signature is right.
fn unsigned(explanation: Explanation) -> Value {
    let Explanation { verdict, causes } = explanation;
    if verdict != Err(VerificationCode::InvalidSignature) {
        return answer(verdict.err().map(VerificationCode::as_str), &causes);
    }
    // What shows in the form of the signature is certain; that no secret fits is not, since none is known.
    let mut causes: Vec<Finding> =
        causes.into_iter().filter(|finding| finding.cause != Cause::OtherSecretOrBytes).collect();
    if causes.is_empty() {
        let evidence =
            "Headers and timestamp are right. Whether the signature is cannot be told without the secret.";
        causes = vec![finding(Cause::OtherSecret, evidence), finding(Cause::BodyReserialized, evidence)];
    }
    let mut answer = answer(None, &causes);
    if let Some(members) = answer.as_object_mut() {
        let hint = "The signature was not checked: whoever starts this server can name the variable with the receiver's \
                    secret, authority mcp --secret-env NAME.";
        members.insert("hint".to_owned(), json!(hint));
    }
    answer
}

/// The bytes of the body.
fn body(arguments: &Arguments) -> Result<Vec<u8>, ToolError> {
    match (arguments.text("body"), arguments.text("body_base64")) {
        (Some(_), Some(_)) => Err(ToolError::argument("body_base64", "does not go with body")),
        (_, Some(encoded)) => {
            BASE64_STANDARD.decode(encoded).map_err(|_| ToolError::argument("body_base64", "must be base64"))
        }
        (text, None) => Ok(text.unwrap_or_default().as_bytes().to_vec()),
    }
}

/// A secret that nobody has, so that all that comes before the signature is judged.
fn stand_in() -> Zeroizing<String> {
    let mut random = [0; 32];
    SystemDice.fill(&mut random);
    Zeroizing::new(secret::generate(random))
}
