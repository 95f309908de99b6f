//! What is wrong with a body: each error with its member, collected while the whole body is read.

use serde_json::Value;

use crate::refusal::{MemberCode, MemberError};

/// Errors that are collected before the reader stops adding: far more than the 50 that are shown, so that the error
/// that decides the code is still found; and bounded, so that a hostile body cannot use up memory.
const COLLECT_LIMIT: usize = 1_000;

/// The result of a rule: the value, or what is wrong with it.
pub type Checked<T> = Result<T, (MemberCode, String)>;

/// The refusal of a rule.
pub(crate) fn wrong<T>(code: MemberCode, detail: impl Into<String>) -> Checked<T> {
    Err((code, detail.into()))
}

/// The text of a value that has to be one.
pub(crate) fn text_of(value: &Value) -> Checked<&str> {
    value.as_str().ok_or_else(|| (MemberCode::WrongType, "Must be a string.".to_owned()))
}

/// The errors found so far.
#[derive(Default)]
pub(crate) struct Errors {
    pub(super) list: Vec<MemberError>,
    /// While the shape of an absent object is built from stand-ins.
    muted: bool,
}

impl Errors {
    pub(crate) fn push(&mut self, pointer: String, code: MemberCode, detail: impl Into<String>) {
        if !self.muted && self.list.len() < COLLECT_LIMIT {
            self.list.push(MemberError::new(pointer, code, detail));
        }
    }

    /// Runs `build` without recording what it finds.
    pub(super) fn muted<T>(&mut self, build: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.muted, true);
        let built = build(self);
        self.muted = before;
        built
    }
}
