//! What tests read out of JSON: members of a record, and those of a whole list.

use authority_domain::Timestamp;
use serde_json::{Value, json};

use crate::merchant::text;

/// The string member of every record of a list.
#[must_use]
pub fn texts<'r>(records: impl IntoIterator<Item = &'r Value>, member: &str) -> Vec<String> {
    records.into_iter().map(|record| text(record, member)).collect()
}

/// The items of a page.
#[must_use]
pub fn rows(page: &Value) -> &[Value] {
    page["data"].as_array().unwrap_or_else(|| panic!("no list: {page}"))
}

/// The sequences of events.
#[must_use]
pub fn sequences(events: &[Value]) -> Vec<u64> {
    events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect()
}

/// A time in a record, Unix milliseconds.
#[must_use]
pub fn ms(record: &Value, member: &str) -> i64 {
    Timestamp::parse(&text(record, member)).unwrap().as_ms()
}

/// Sees that a record has these members, whatever else it has.
#[track_caller]
pub fn has(record: &Value, members: Value) {
    for (name, value) in members.as_object().expect("members") {
        assert_eq!(&record[name], value, "{name} of {record}");
    }
}

/// The pointers and codes of the members that a refusal names, as pairs.
#[must_use]
pub fn wrong_members(problem: &Value) -> Value {
    let errors = problem["errors"].as_array().into_iter().flatten();
    errors.map(|error| json!([error["pointer"], error["code"]])).collect()
}
