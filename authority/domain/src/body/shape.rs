//! Builds the JSON Schema of request bodies from the readers themselves.
//!
//! While [`of`] runs a reader, [`super::read`] gives it no body. The reader names its members as always, and each
//! member and each rule records here what it would have required; the reader's result is not used. So the schema of
//! a request follows its reader, without a second description of it. Without the feature `schema`, as in the service,
//! nothing is ever recorded and the functions do nothing. Deliberately absent: rules between members, which a reader
//! checks in its own code.

use std::cell::RefCell;

use serde_json::{Map, Value, json};

thread_local! {
    static NOTES: RefCell<Option<Notes>> = const { RefCell::new(None) };
}

/// What was recorded so far.
#[derive(Default)]
struct Notes {
    /// The objects that are being read, the outermost first.
    open: Vec<Object>,
    /// What was read last: the value of a member or an item, or a whole object.
    last: Option<Value>,
}

#[derive(Default)]
struct Object {
    properties: Map<String, Value>,
    required: Vec<Value>,
    not_writable: Vec<Value>,
}

/// The schema of what `read` reads.
#[cfg(feature = "schema")]
pub(crate) fn of(read: impl FnOnce()) -> Value {
    NOTES.with_borrow_mut(|notes| *notes = Some(Notes::default()));
    read();
    NOTES.take().and_then(|notes| notes.last).unwrap_or(Value::Null)
}

/// Whether the reader is running to produce a schema, not to read a body.
pub(crate) fn is_asked_for() -> bool {
    cfg!(feature = "schema") && NOTES.with_borrow(Option::is_some)
}

/// An object begins.
pub(crate) fn begin() {
    noting(|notes| notes.open.push(Object::default()));
}

/// The object that began last has ended.
pub(crate) fn end() {
    noting(|notes| {
        let Some(object) = notes.open.pop() else { return };
        let Object { properties, required, not_writable } = object;
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        schema.insert("additionalProperties".to_owned(), json!(false));
        for (keyword, names) in [("required", required), ("x-not-writable", not_writable)] {
            if !names.is_empty() {
                schema.insert(keyword.to_owned(), Value::Array(names));
            }
        }
        notes.last = Some(Value::Object(schema));
    });
}

/// A rule would have been applied.
pub(crate) fn rule(schema: impl FnOnce() -> Value) {
    noting(|notes| notes.last = Some(schema()));
}

/// What was read last is an item of a list with `least` to `most` items.
pub(crate) fn list(least: usize, most: usize) {
    noting(|notes| {
        let items = notes.last.take();
        notes.last = Some(json!({ "type": "array", "items": items, "minItems": least, "maxItems": most }));
    });
}

/// What was read last is a value of an object with free member names of the form `names`, at most `most` of them.
pub(crate) fn entries(most: usize, names: &str, nullable: bool) {
    noting(|notes| {
        let mut value = notes.last.take().unwrap_or(Value::Null);
        if nullable {
            allow_null(&mut value);
        }
        notes.last = Some(json!({
            "type": "object",
            "maxProperties": most,
            "propertyNames": { "pattern": names },
            "additionalProperties": value,
        }));
    });
}

/// What was read last is the value of the member `name`.
pub(crate) fn member(name: &str) {
    noting(|notes| {
        let Some(schema) = notes.last.take() else { return };
        if let Some(object) = notes.open.last_mut() {
            object.properties.insert(name.to_owned(), schema);
        }
    });
}

/// Members of the record that the reader refuses by their own code.
pub(crate) fn not_writable(names: &str) {
    in_object(|object| object.not_writable.extend(names.split_ascii_whitespace().map(Value::from)));
}

/// The member that `pointer` ends with has to be there.
pub(crate) fn required(pointer: &str) {
    in_object(|object| object.required.push(json!(name(pointer))));
}

/// The member that `pointer` ends with may be null.
pub(crate) fn nullable(pointer: &str) {
    in_object(|object| {
        if let Some(schema) = object.properties.get_mut(name(pointer)) {
            allow_null(schema);
        }
    });
}

fn name(pointer: &str) -> &str {
    pointer.rsplit('/').next().unwrap_or_default()
}

fn allow_null(schema: &mut Value) {
    let Some(keywords) = schema.as_object_mut() else { return };
    if let Some(kind) = keywords.get("type").cloned().filter(Value::is_string) {
        keywords.insert("type".to_owned(), json!([kind, "null"]));
    }
    if let Some(values) = keywords.get_mut("enum").and_then(Value::as_array_mut) {
        values.push(Value::Null);
    }
}

/// Notes something of the object that is being read.
fn in_object(note: impl FnOnce(&mut Object)) {
    noting(|notes| {
        notes.open.last_mut().map(note);
    });
}

fn noting(note: impl FnOnce(&mut Notes)) {
    if cfg!(feature = "schema") {
        NOTES.with_borrow_mut(|notes| notes.as_mut().map(note));
    }
}
