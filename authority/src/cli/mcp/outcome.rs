//! What a tool answers: one text, of bounded size; or an error with a code, as the API has it.

use serde_json::{Map, Value, json};

use crate::dev::client::CallError;

/// The most that a tool answers, in bytes of text.
pub(super) const RESULT_LIMIT: usize = 128 * 1024;

/// Why a tool did not do what was asked. It is shown to the model, which can act on it.
#[derive(Debug)]
pub(super) struct ToolError {
    /// What to branch on: a code of the API, or one of this server.
    code: String,
    /// For people and models.
    detail: String,
    /// Further members of a problem body.
    facts: Map<String, Value>,
}

impl ToolError {
    /// An error of this server's own.
    pub(super) fn new(code: &str, detail: impl Into<String>) -> Self {
        Self { code: code.to_owned(), detail: detail.into(), facts: Map::new() }
    }

    /// One argument is not as it must be.
    pub(super) fn argument(name: &str, rule: impl Into<String>) -> Self {
        let mut error = Self::new("invalid_arguments", "An argument does not fit the tool's input schema.");
        error.add("errors", json!([{ "pointer": format!("/{name}"), "detail": rule.into() }]));
        error
    }

    fn add(&mut self, name: &str, value: Value) {
        self.facts.insert(name.to_owned(), value);
    }

    /// The text of the result.
    pub(super) fn into_text(self) -> String {
        let mut members = Map::new();
        members.insert("code".to_owned(), self.code.into());
        members.insert("detail".to_owned(), self.detail.into());
        members.extend(self.facts);
        Value::Object(members).to_string()
    }
}

impl From<CallError> for ToolError {
    fn from(error: CallError) -> Self {
        let detail = error.to_string();
        match error {
            CallError::NoAnswer { .. } => Self::new("no_answer", detail),
            CallError::Unexpected { .. } => Self::new("unexpected_answer", detail),
            CallError::Refused { status, code, problem, .. } => {
                let mut facts = match problem.map(|problem| *problem) {
                    Some(Value::Object(members)) => members,
                    _ => Map::new(),
                };
                // What only repeats the code.
                for name in ["type", "title", "code"] {
                    facts.remove(name);
                }
                let detail = match facts.remove("detail") {
                    Some(Value::String(text)) => text,
                    _ => detail,
                };
                facts.insert("status".to_owned(), status.into());
                let code = if code.is_empty() { "unexpected_answer".to_owned() } else { code };
                Self { code, detail, facts }
            }
        }
    }
}

/// `text`, if it is not too long for a result.
pub(super) fn bounded(text: String) -> Result<String, ToolError> {
    if text.len() <= RESULT_LIMIT {
        return Ok(text);
    }
    let detail = format!(
        "The result has {} bytes, and a tool answers {RESULT_LIMIT} at most. Ask for less, or read it from the API \
         directly.",
        text.len()
    );
    Err(ToolError::new("result_too_large", detail))
}
