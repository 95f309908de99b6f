//! Tables of bodies with one thing wrong: a good body, an edit, and the error it must give.

use authority_domain::{Refusal, Result};
use serde_json::Value;

/// One edit of a good body.
pub(crate) enum Edit {
    /// Sets the member at a pointer, in an object or array that is there.
    Set(&'static str, Value),
    /// Takes a member away.
    Drop(&'static str),
}

impl Edit {
    fn apply(&self, good: &Value) -> Value {
        let mut body = good.clone();
        let (Self::Set(pointer, _) | Self::Drop(pointer)) = self;
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let parent = body.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer} leads nowhere"));
        match (self, parent) {
            (Self::Set(_, value), Value::Object(object)) => {
                object.insert(name.to_owned(), value.clone());
            }
            (Self::Set(_, value), Value::Array(items)) => {
                items[name.parse::<usize>().unwrap()] = value.clone()
            }
            (Self::Drop(_), Value::Object(object)) => {
                object.remove(name).unwrap_or_else(|| panic!("{pointer} is not there"));
            }
            (_, other) => panic!("{pointer} is in {other}"),
        }
        body
    }
}

/// `pointer code` of every wrong member, in order.
pub(crate) fn errors(refusal: &Refusal) -> Vec<String> {
    refusal.members.iter().map(|member| format!("{} {}", member.pointer, member.code)).collect()
}

/// Reads every edited body and compares what is wrong with it; the good body must be taken.
pub(crate) fn check<T>(
    good: &Value,
    read: impl Fn(&Value) -> Result<T>,
    table: &[(Edit, &'static [&'static str])],
) {
    assert_eq!(read(good).err(), None, "the good body is taken");
    for (edit, expected) in table {
        let body = edit.apply(good);
        let found = read(&body).err().map(|refusal| errors(&refusal)).unwrap_or_default();
        assert_eq!(found, *expected, "{body}");
    }
}
