//! The answer: a verdict and findings, and the JSON text that carries them to JavaScript.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use verify_core::VerificationCode;

use crate::cause::Cause;

/// What was found about one delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Exactly the verdict of [`verify_core::Verifier::verify`].
    pub verdict: Result<(), VerificationCode>,
    /// The likeliest first. Empty when the delivery is valid, and only then.
    pub causes: Vec<Finding>,
}

/// One likely cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What happened.
    pub cause: Cause,
    /// What was seen, in one or two sentences; bytes are counted from 0. Holds nothing of a secret or of a digest.
    pub evidence: String,
}

impl Finding {
    pub(crate) fn new(cause: Cause, evidence: impl Into<String>) -> Self {
        Self { cause, evidence: evidence.into() }
    }
}

impl Explanation {
    /// `ok` or the code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.verdict.map_or_else(VerificationCode::as_str, |()| "ok")
    }

    /// `{"code":"…","causes":[{"cause":"…","evidence":"…","fix":"…"}]}` (contract 17).
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = String::from("{\"code\":");
        push_string(&mut text, self.code());
        text.push_str(",\"causes\":[");
        for (index, finding) in self.causes.iter().enumerate() {
            text.push_str(if index == 0 { "{\"cause\":" } else { ",{\"cause\":" });
            push_string(&mut text, finding.cause.as_str());
            text.push_str(",\"evidence\":");
            push_string(&mut text, &finding.evidence);
            text.push_str(",\"fix\":");
            push_string(&mut text, finding.cause.fix());
            text.push('}');
        }
        text.push_str("]}");
        text
    }
}

fn push_string(text: &mut String, value: &str) {
    text.push('"');
    for character in value.chars() {
        match character {
            '"' | '\\' => {
                text.push('\\');
                text.push(character);
            }
            '\0'..='\u{1f}' => {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{:04x}", u32::from(character));
            }
            _ => text.push(character),
        }
    }
    text.push('"');
}
