//! The result of reading a member, and what the operation requires of its presence.
//!
//! [`crate::body::members`] reads a member by its rule and returns a [`Field`]. The caller then calls the one method
//! that says whether the member must be there: `required`, `optional`, `or`, `or_null`. Only the last takes a null.

use serde_json::Value;

use crate::body::errors::{Checked, Errors};
use crate::body::shape;
use crate::refusal::MemberCode;

/// A member after its rule was applied. Errors of the rule are already recorded.
#[must_use = "say whether the member is required"]
pub struct Field<'e, T> {
    state: State,
    value: T,
    pointer: String,
    errors: &'e mut Errors,
}

enum State {
    Absent,
    Null,
    Good,
    /// Recorded as an error; `value` is a stand-in.
    Wrong,
}

impl<'e, T> Field<'e, T> {
    pub(crate) fn read(
        value: Option<&Value>,
        stand_in: T,
        pointer: String,
        errors: &'e mut Errors,
        rule: impl FnOnce(&Value) -> Checked<T>,
    ) -> Self {
        let Some(value) = value.filter(|value| !value.is_null()) else {
            return Self::missing(value, stand_in, pointer, errors);
        };
        match rule(value) {
            Ok(value) => Self::judged(value, true, pointer, errors),
            Err((code, detail)) => {
                errors.push(pointer.clone(), code, detail);
                Self::judged(stand_in, false, pointer, errors)
            }
        }
    }

    pub(crate) fn missing(
        value: Option<&Value>,
        stand_in: T,
        pointer: String,
        errors: &'e mut Errors,
    ) -> Self {
        let state = if value.is_none() { State::Absent } else { State::Null };
        Self { state, value: stand_in, pointer, errors }
    }

    pub(crate) fn judged(value: T, good: bool, pointer: String, errors: &'e mut Errors) -> Self {
        Self { state: if good { State::Good } else { State::Wrong }, value, pointer, errors }
    }

    /// The member must be there and not null.
    pub fn required(self) -> T {
        shape::required(&self.pointer);
        if matches!(self.state, State::Absent | State::Null) {
            self.errors.push(self.pointer, MemberCode::Required, "This member is required.");
        }
        self.value
    }

    /// The member may be absent. A null is refused: a client whose variable was not set must not be granted the
    /// default.
    pub fn optional(self) -> Option<T> {
        match self.state {
            State::Absent => None,
            State::Null => {
                let detail = "This member cannot be null; leave it out instead.";
                self.errors.push(self.pointer, MemberCode::Required, detail);
                None
            }
            State::Good | State::Wrong => Some(self.value),
        }
    }

    /// The member may be absent, which means `default`.
    pub fn or(self, default: T) -> T {
        self.optional().unwrap_or(default)
    }

    /// The member may be absent or null, where the contract says "or null": `None` leaves the record's value,
    /// `Some(None)` clears it, `Some(Some(value))` sets it.
    pub fn or_null(self) -> Option<Option<T>> {
        shape::nullable(&self.pointer);
        match self.state {
            State::Absent => None,
            State::Null => Some(None),
            State::Good | State::Wrong => Some(Some(self.value)),
        }
    }

    /// Turns the value into another type, e.g. a text into the number it names.
    pub fn map<U>(self, turn: impl FnOnce(T) -> U) -> Field<'e, U> {
        Field { state: self.state, value: turn(self.value), pointer: self.pointer, errors: self.errors }
    }
}

impl<T: Ord> Field<'_, Vec<T>> {
    /// The same list as a set: sorted, each value once.
    pub(crate) fn sorted(self) -> Self {
        self.map(|mut list| {
            list.sort();
            list.dedup();
            list
        })
    }
}
