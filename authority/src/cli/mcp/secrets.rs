//! Arguments that seem to hold a secret are refused before anything else is done with them.
//!
//! No tool takes a secret, but a model that was shown one may pass it on. What a tool is called with is often kept: in
//! the conversation, in logs of the program that runs the model. So the answer says what to do about it, and repeats
//! nothing.

use rmcp::model::JsonObject;
use serde_json::Value;
use verify_core::secret;

use super::outcome::ToolError;

/// How our keys begin.
const KEYS: [&str; 3] = ["svc_live_", "svc_test_", "svc_op_"];

/// So many letters and digits behind a prefix are no longer an example.
const TAIL_MIN: usize = 20;

/// Refuses arguments that seem to hold a secret or a key.
///
/// # Errors
/// [`ToolError`] `secret_in_arguments`.
pub(super) fn refuse(arguments: Option<&JsonObject>) -> Result<(), ToolError> {
    if !arguments.into_iter().flatten().any(|(name, value)| holds_secret(name) || any(value)) {
        return Ok(());
    }
    Err(ToolError::new(
        "secret_in_arguments",
        "The arguments seem to hold a signing secret or an API key. No tool takes one. If it is real, treat it as \
         disclosed: rotate it. Secrets to explain deliveries with are named at the start: authority mcp --secret-env NAME.",
    ))
}

fn any(value: &Value) -> bool {
    match value {
        Value::String(text) => holds_secret(text),
        Value::Array(items) => items.iter().any(any),
        Value::Object(members) => members.iter().any(|(name, value)| holds_secret(name) || any(value)),
        _ => false,
    }
}

fn holds_secret(text: &str) -> bool {
    let is_tail = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '=');
    KEYS.into_iter().chain([secret::PREFIX]).any(|prefix| {
        text.match_indices(prefix).any(|(at, _)| {
            let tail = text.get(at + prefix.len()..).unwrap_or_default();
            tail.chars().take_while(|c| is_tail(*c)).count() >= TAIL_MIN
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_found_wherever_they_stand_and_examples_are_not() {
        let secret = format!("whsec_{}", "aB3".repeat(14));
        let key = format!("svc_live_{}", "x".repeat(49));
        for value in
            [json!(secret), json!(format!("key={key}")), json!([[{ "a": key }]]), json!({ secret: 1 })]
        {
            let arguments = JsonObject::from_iter([("a".to_owned(), value.clone())]);
            let error = refuse(Some(&arguments)).unwrap_err().into_text();
            assert!(
                error.contains("secret_in_arguments") && !error.contains("aB3") && !error.contains("xxx")
            );
        }
        for value in
            [json!("whsec_…"), json!("svc_test_ key"), json!(["whsec_"]), json!({ "v1": "a" }), json!(7)]
        {
            assert!(refuse(Some(&JsonObject::from_iter([("a".to_owned(), value)]))).is_ok());
        }
    }
}
