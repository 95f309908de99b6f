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
//!     m.not_writable(&["status", "order_number"]);
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

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::body::errors::{Checked, Errors};
use crate::body::{Field, shape};
use crate::refusal::{MemberCode, Refusal};

/// Reads a body.
///
/// # Errors
/// A [`Refusal`] with every wrong member: `field_not_writable`, `unknown_field` or `validation_failed`.
pub fn read<T>(body: &Value, build: impl FnOnce(&mut Members<'_>) -> T) -> Result<T, Refusal> {
    if shape::is_asked_for() {
        Errors::default().muted(|errors| Members::scope(None, String::new(), errors, build));
        return Err(Refusal::internal());
    }
    let Value::Object(object) = body else {
        return Err(Refusal::member("", MemberCode::WrongType, "The body must be an object."));
    };
    let mut errors = Errors::default();
    let built = Members::scope(Some(object), String::new(), &mut errors, build);
    if errors.list.is_empty() { Ok(built) } else { Err(Refusal::of_members(errors.list)) }
}

/// The members of one object.
pub struct Members<'a> {
    object: Option<&'a Map<String, Value>>,
    pointer: String,
    named: Vec<&'static str>,
    not_writable: &'a [&'static str],
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
        let mut members = Members { object, pointer, named: Vec::new(), not_writable: &[], errors };
        shape::begin();
        let built = build(&mut members);
        shape::end();
        members.report_unnamed();
        built
    }

    /// Declares members that the record has and this operation does not write.
    pub fn not_writable(&mut self, names: &'static [&'static str]) {
        self.not_writable = names;
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

    /// A nested object. Its members are read by `build`, like those of the body.
    pub fn object<T>(
        &mut self,
        name: &'static str,
        build: impl FnOnce(&mut Members<'_>) -> T,
    ) -> Field<'_, T> {
        let pointer = self.name(name);
        let value = self.object.and_then(|object| object.get(name));
        match value {
            None | Some(Value::Null) => {
                let stand_in = self.errors.muted(|errors| Members::scope(None, String::new(), errors, build));
                shape::member(name);
                Field::missing(value, stand_in, pointer, self.errors)
            }
            Some(value) => {
                let before = self.errors.list.len();
                let object = as_object(value, &pointer, self.errors);
                let built = if object.is_some() {
                    Members::scope(object, pointer.clone(), self.errors, build)
                } else {
                    self.errors.muted(|errors| Members::scope(None, String::new(), errors, build))
                };
                let good = self.errors.list.len() == before;
                Field::judged(built, good, pointer, self.errors)
            }
        }
    }

    /// A nested array of objects with a bounded number of items. Items of an array that is too long are not read.
    pub fn array<T>(
        &mut self,
        name: &'static str,
        length: RangeInclusive<usize>,
        mut build: impl FnMut(&mut Members<'_>) -> T,
    ) -> Field<'_, Vec<T>> {
        self.items(name, length, |item, pointer, errors| {
            let object = as_object(item, &pointer, errors);
            object.map(|object| Members::scope(Some(object), pointer, errors, &mut build))
        })
    }

    /// A nested array of values that one rule reads.
    pub fn list<T>(
        &mut self,
        name: &'static str,
        length: RangeInclusive<usize>,
        mut rule: impl FnMut(&Value) -> Checked<T>,
    ) -> Field<'_, Vec<T>> {
        self.items(name, length, |item, pointer, errors| match rule(item) {
            Ok(value) => Some(value),
            Err((code, detail)) => {
                errors.push(pointer, code, detail);
                None
            }
        })
    }

    fn items<T>(
        &mut self,
        name: &'static str,
        length: RangeInclusive<usize>,
        mut read: impl FnMut(&'a Value, String, &mut Errors) -> Option<T>,
    ) -> Field<'_, Vec<T>> {
        let pointer = self.name(name);
        if shape::is_asked_for() {
            read(&NO_ITEM, String::new(), self.errors);
            shape::list(*length.start(), *length.end());
            shape::member(name);
            return Field::missing(None, Vec::new(), pointer, self.errors);
        }
        let value = self.object.and_then(|object| object.get(name));
        let items = match value {
            None | Some(Value::Null) => return Field::missing(value, Vec::new(), pointer, self.errors),
            Some(Value::Array(items)) => items,
            Some(_) => {
                self.errors.push(pointer.clone(), MemberCode::WrongType, "Must be an array.");
                return Field::judged(Vec::new(), false, pointer, self.errors);
            }
        };
        if !length.contains(&items.len()) {
            let code = if items.len() < *length.start() { MemberCode::TooShort } else { MemberCode::TooLong };
            let detail = format!("Must have {} to {} items.", length.start(), length.end());
            self.errors.push(pointer.clone(), code, detail);
            return Field::judged(Vec::new(), false, pointer, self.errors);
        }
        let mut read_items = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            read_items.extend(read(item, format!("{pointer}/{index}"), self.errors));
        }
        let good = read_items.len() == items.len();
        Field::judged(read_items, good, pointer, self.errors)
    }

    /// A nested object with free member names, at most `limit` of them. `rule` gets each name and value; a wrong
    /// entry is reported by its own pointer. `names` is the form of a name for the schema, a regular expression; `rule`
    /// checks it.
    pub fn entries<T>(
        &mut self,
        name: &'static str,
        limit: usize,
        names: &'static str,
        rule: impl Fn(&str, &Value) -> Checked<T>,
    ) -> Field<'_, BTreeMap<String, T>> {
        let pointer = self.name(name);
        if shape::is_asked_for() {
            let nullable = rule("a", &Value::Null).is_ok();
            let _ = rule("a", &Value::String(String::new()));
            shape::entries(limit, names, nullable);
            shape::member(name);
            return Field::missing(None, BTreeMap::new(), pointer, self.errors);
        }
        let value = self.object.and_then(|object| object.get(name));
        if value.is_none_or(Value::is_null) {
            return Field::missing(value, BTreeMap::new(), pointer, self.errors);
        }
        let object = value.and_then(|value| as_object(value, &pointer, self.errors));
        let size = object.map_or(0, Map::len);
        if size > limit {
            self.errors.push(
                pointer.clone(),
                MemberCode::TooLong,
                format!("Must have at most {limit} entries."),
            );
            return Field::judged(BTreeMap::new(), false, pointer, self.errors);
        }
        let mut read = BTreeMap::new();
        for (key, value) in object.into_iter().flatten() {
            match rule(key, value) {
                Ok(value) => {
                    read.insert(key.clone(), value);
                }
                Err((code, detail)) => self.errors.push(child(&pointer, key), code, detail),
            }
        }
        let good = object.is_some() && read.len() == size;
        Field::judged(read, good, pointer, self.errors)
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

/// The item that a reader gets while its schema is built.
static NO_ITEM: LazyLock<Value> = LazyLock::new(|| Value::Object(Map::new()));

/// RFC 6901 section 3: `~` and `/` are escaped.
fn child(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn as_object<'a>(value: &'a Value, pointer: &str, errors: &mut Errors) -> Option<&'a Map<String, Value>> {
    let object = value.as_object();
    if object.is_none() {
        errors.push(pointer.to_owned(), MemberCode::WrongType, "Must be an object.");
    }
    object
}

#[cfg(test)]
mod tests;
