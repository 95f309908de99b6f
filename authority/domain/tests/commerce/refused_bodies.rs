//! Tables of bodies with one thing wrong: a good body, an edit, and the errors it must give.

use authority_domain::{Refusal, Result};
use serde_json::Value;

/// One edit of a good body.
pub(crate) enum Edit {
    /// Sets the member at a pointer, in an object or array that is there.
    Set(&'static str, Value),
    /// The same with each value of a list.
    Each(&'static str, Value),
    /// Takes a member away.
    Drop(&'static str),
}

impl Edit {
    /// Where the edit is made, and the bodies that it makes.
    fn apply(&self, good: &Value) -> (&'static str, Vec<Value>) {
        match self {
            Self::Set(pointer, value) => (*pointer, vec![edited(good, pointer, Some(value))]),
            Self::Each(pointer, values) => {
                let values = values.as_array().unwrap();
                assert!(!values.is_empty(), "{pointer}");
                (*pointer, values.iter().map(|value| edited(good, pointer, Some(value))).collect())
            }
            Self::Drop(pointer) => (*pointer, vec![edited(good, pointer, None)]),
        }
    }
}

fn edited(good: &Value, pointer: &str, value: Option<&Value>) -> Value {
    let mut body = good.clone();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = body.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer} leads nowhere"));
    match (value.cloned(), parent) {
        (Some(value), Value::Object(object)) => {
            object.insert(name.to_owned(), value);
        }
        (Some(value), Value::Array(items)) => items[name.parse::<usize>().unwrap()] = value,
        (None, Value::Object(object)) => {
            object.remove(name).unwrap_or_else(|| panic!("{pointer} is not there"));
        }
        (_, other) => panic!("{pointer} is in {other}"),
    }
    body
}

/// `pointer code` of every wrong member, in order.
pub(crate) fn errors(refusal: &Refusal) -> Vec<String> {
    refusal.members.iter().map(|member| format!("{} {}", member.pointer, member.code)).collect()
}

/// Reads every edited body and compares what is wrong with it; the good body must be taken. Errors are separated by
/// commas: `code` is about the member that was edited, `pointer code` about another one; none is an edit that is taken.
pub(crate) fn check<T>(good: &Value, read: impl Fn(&Value) -> Result<T>, table: &[(Edit, &str)]) {
    assert_eq!(read(good).err(), None, "the good body is taken");
    for (edit, expected) in table {
        let (pointer, bodies) = edit.apply(good);
        let error = |error: &str| match error.contains(' ') {
            true => error.to_owned(),
            false => format!("{pointer} {error}"),
        };
        let expected: Vec<String> =
            expected.split(", ").filter(|error| !error.is_empty()).map(error).collect();
        for body in bodies {
            let found = read(&body).err().map(|refusal| errors(&refusal)).unwrap_or_default();
            assert_eq!(found, expected, "{body}");
        }
    }
}
