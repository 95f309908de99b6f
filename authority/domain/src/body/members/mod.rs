//! Reads the members of a request body, collecting every error (contract 5.1 `errors`, 4.2 row 15).
//!
//! A body parser is a closure that names each member once, with its rule, and says whether it is required:
//!
//! ```
//! use authority_domain::body::{Text, read};
//! use serde_json::json;
//!
//! struct Line { id: String, quantity: i64 }
//! struct Shipment { carrier: String, tracking_number: Option<String>, lines: Option<Vec<Line>> }
//!
//! let body = json!({"carrier": "dhl", "line_items": [{"line_item_id": "li_1", "quantity": 2}]});
//! let shipment = read(&body, |m| {
//!     m.not_writable("status order_number");
//!     Shipment {
//!         carrier: m.string("carrier", Text::line(1, 64)).required(),
//!         tracking_number: m.string("tracking_number", Text::line(1, 100)).optional(),
//!         lines: m
//!             .array("line_items", 1..=100, |line| Line {
//!                 id: line.string("line_item_id", Text::ID).required(),
//!                 quantity: line.integer("quantity", 1..=100_000).required(),
//!             })
//!             .optional(),
//!     }
//! })?;
//! assert_eq!((shipment.carrier.as_str(), shipment.lines.map(|l| l.len())), ("dhl", Some(1)));
//! # Ok::<(), authority_domain::refusal::Refusal>(())
//! ```
//!
//! The closure always runs to its end, so that the client sees all of its errors at once; where a member is wrong,
//! the closure gets a stand-in of the right type, and [`read`] drops the result that was built from it. Members that
//! the closure did not name are unknown; those it declared not writable get their own code. Deliberately absent:
//! rules between members and the record; the closure reports the former with [`Members::refuse`], the transition
//! finds the latter.

mod nested;

use serde_json::{Map, Value};

use crate::body::errors::{Checked, Errors};
use crate::body::{Field, shape};
use crate::refusal::{MemberCode, Refusal, Result};

/// Reads a body.
///
/// # Errors
/// A [`Refusal`] with every wrong member: `field_not_writable`, `unknown_field` or `validation_failed`.
pub fn read<T>(body: &Value, build: impl FnOnce(&mut Members<'_>) -> T) -> Result<T> {
    if shape::is_asked_for() {
        Errors::default().muted(|errors| Members::scope(None, String::new(), errors, build));
        return Err(Refusal::internal());
    }
    let Value::Object(object) = body else {
        return Err(Refusal::member("", MemberCode::WrongType, "The body must be an object."));
    };
    let mut errors = Errors::default();
    let built = Members::scope(Some(object), String::new(), &mut errors, build);
    Refusal::check(errors.list).map(|()| built)
}

/// The members of one object.
pub struct Members<'a> {
    object: Option<&'a Map<String, Value>>,
    pointer: String,
    named: Vec<&'static str>,
    not_writable: Vec<&'static str>,
    errors: &'a mut Errors,
}

impl<'a> Members<'a> {
    /// Reads one object and then reports the members that were not named.
    fn scope<T>(
        object: Option<&'a Map<String, Value>>,
        pointer: String,
        errors: &'a mut Errors,
        build: impl FnOnce(&mut Members<'_>) -> T,
    ) -> T {
        let mut members = Members { object, pointer, named: Vec::new(), not_writable: Vec::new(), errors };
        shape::begin();
        let built = build(&mut members);
        shape::end();
        members.report_unnamed();
        built
    }

    /// Declares members that the record has and this operation does not write, besides those declared before: their
    /// names, with blanks between.
    pub fn not_writable(&mut self, names: &'static str) {
        self.not_writable.extend(names.split_ascii_whitespace());
        shape::not_writable(names);
    }

    /// Whether the object has this member, null or not.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.object.is_some_and(|object| object.contains_key(name))
    }

    /// Reports an error that is not one of a single member's form. `name` is a member of this object, or empty for
    /// the object itself. A member that is already wrong is not refused twice, because its value is only a stand-in.
    pub fn refuse(&mut self, name: &str, code: MemberCode, detail: impl Into<String>) {
        let pointer = if name.is_empty() { self.pointer.clone() } else { self.pointer_to(name) };
        if !self.errors.list.iter().any(|error| error.pointer == pointer) {
            self.errors.push(pointer, code, detail);
        }
    }

    /// A member read by `rule`, which gets the value when there is one that is not null. `stand_in` takes the
    /// place of a value that is missing or wrong, until the body as a whole is refused.
    pub fn field<T>(
        &mut self,
        name: &'static str,
        stand_in: T,
        rule: impl FnOnce(&Value) -> Checked<T>,
    ) -> Field<'_, T> {
        let pointer = self.name(name);
        if shape::is_asked_for() {
            let _ = rule(&Value::Null);
            shape::member(name);
            return Field::missing(None, stand_in, pointer, self.errors);
        }
        let value = self.object.and_then(|object| object.get(name));
        Field::read(value, stand_in, pointer, self.errors, rule)
    }

    fn name(&mut self, name: &'static str) -> String {
        self.named.push(name);
        self.pointer_to(name)
    }

    fn pointer_to(&self, name: &str) -> String {
        child(&self.pointer, name)
    }

    fn report_unnamed(&mut self) {
        for name in self.object.into_iter().flat_map(Map::keys) {
            if self.named.contains(&name.as_str()) {
                continue;
            }
            let (code, detail) = if self.not_writable.contains(&name.as_str()) {
                (MemberCode::FieldNotWritable, "This member cannot be written by this operation.")
            } else {
                (MemberCode::UnknownField, "This operation does not define this member.")
            };
            let pointer = self.pointer_to(name);
            self.errors.push(pointer, code, detail);
        }
    }
}

/// RFC 6901 section 3: `~` and `/` are escaped.
fn child(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests;
