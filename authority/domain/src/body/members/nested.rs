//! Members that hold other values: objects, arrays and entries with free names.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::{Members, child};
use crate::body::errors::{Checked, Errors};
use crate::body::{Field, shape};
use crate::refusal::MemberCode;

impl<'a> Members<'a> {
    /// A nested object. Its members are read by `build`, like those of the body.
    pub fn object<T>(
        &mut self,
        name: &'static str,
        build: impl FnOnce(&mut Members<'_>) -> T,
    ) -> Field<'_, T> {
        let pointer = self.name(name);
        let value = self.object.and_then(|object| object.get(name));
        let before = self.errors.list.len();
        let present = value.filter(|value| !value.is_null());
        let object = present.and_then(|value| as_object(value, &pointer, self.errors));
        let built = match object {
            Some(_) => Members::scope(object, pointer.clone(), self.errors, build),
            None => self.errors.muted(|errors| Members::scope(None, String::new(), errors, build)),
        };
        if present.is_none() {
            shape::member(name);
            return Field::missing(value, built, pointer, self.errors);
        }
        let good = self.errors.list.len() == before;
        Field::judged(built, good, pointer, self.errors)
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
            let detail = format!("Must have at most {limit} entries.");
            self.errors.push(pointer.clone(), MemberCode::TooLong, detail);
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
}

/// The item that a reader gets while its schema is built.
static NO_ITEM: LazyLock<Value> = LazyLock::new(|| Value::Object(Map::new()));

fn as_object<'a>(value: &'a Value, pointer: &str, errors: &mut Errors) -> Option<&'a Map<String, Value>> {
    let object = value.as_object();
    if object.is_none() {
        errors.push(pointer.to_owned(), MemberCode::WrongType, "Must be an object.");
    }
    object
}
