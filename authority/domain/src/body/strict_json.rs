//! Request bodies as JSON that can be read in one way only (contract 5.2 `invalid_json`), and their canonical form.
//!
//! The HTTP layer parses the bytes of a body once into a [`serde_json::Value`], which readers of members then walk.
//! A mutation with an idempotency key also needs the canonical text that its fingerprint covers (contract 4.3). Both
//! refuse or ignore what two readers could interpret differently: duplicate member names, nesting deeper than 64,
//! invalid UTF-8, a byte order mark, numbers beyond a double.
//!
//! The canonical form keeps numbers as they were written. It is therefore made from the text
//! (`canonical_json`) and not from the parsed value.

use serde_json::Value;
use verify_core::json::{self, Duplicates, Malformed};

use crate::body::canonical_json;

/// Most nested containers in a request body (contract 5.6).
pub const DEPTH_LIMIT: u8 = 64;

/// The body is not JSON that this service reads. The text says why and quotes nothing of the body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("The body is not valid JSON: {0}.")]
pub struct InvalidJson(String);

impl From<Malformed> for InvalidJson {
    fn from(malformed: Malformed) -> Self {
        Self(malformed.to_string())
    }
}

impl From<serde_json::Error> for InvalidJson {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

/// Parses a body.
///
/// # Errors
/// [`InvalidJson`]: not UTF-8, not one JSON text, duplicate member names at any depth, more than [`DEPTH_LIMIT`]
/// nested containers, a lone surrogate, or a number beyond the double range.
pub fn parse(bytes: &[u8]) -> Result<Value, InvalidJson> {
    Ok(serde_json::from_str(check(bytes)?)?)
}

/// The scanner that receivers verify events with, here with no repeated name anywhere.
fn check(bytes: &[u8]) -> Result<&str, InvalidJson> {
    Ok(json::check(bytes, DEPTH_LIMIT, Duplicates::Refused)?)
}

/// The canonical form of a body that [`parse`] has taken: members sorted by name, insignificant blanks removed,
/// escapes in strings resolved, numbers as written.
///
/// # Errors
/// [`InvalidJson`] when [`parse`] would not have taken it.
pub fn canonical(bytes: &[u8]) -> Result<String, InvalidJson> {
    canonical_json::canonical(check(bytes)?, DEPTH_LIMIT).ok_or_else(|| Malformed::Syntax.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn nested(depth: usize) -> String {
        format!("{}1{}", "[".repeat(depth), "]".repeat(depth))
    }

    #[test]
    fn refuses_what_two_readers_could_take_differently() {
        let deep_objects = format!("{}1{}", r#"{"a":"#.repeat(65), "}".repeat(65));
        let table: &[&[u8]] = &[
            b"",
            b"  ",
            b"\xef\xbb\xbf{}",
            b"{} {}",
            b"{}\0",
            b"{}\x0c",
            b"{\"a\":1,}",
            b"[1,]",
            b"{'a':1}",
            b"// c\n{}",
            b"NaN",
            b"01",
            b"+1",
            b"1e999",
            b"-1e999",
            b"\"a\nb\"",
            b"\"\\ud800\"",
            b"\"\xff\"",
            b"\"\xc0\xaf\"",
            b"\"\xed\xa0\x80\"",
            br#"{"a":1,"a":1}"#,
            br#"{"a":1,"\u0061":2}"#,
            br#"{"x":[{"y":{"a":1,"b":2,"a":3}}]}"#,
            b"\xff\xfe{\0}\0",
            deep_objects.as_bytes(),
        ];
        for bytes in table {
            assert!(parse(bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
            assert!(canonical(bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn depth_is_64_and_a_bomb_is_refused_without_a_stack() {
        assert!(parse(nested(64).as_bytes()).is_ok());
        assert!(canonical(nested(64).as_bytes()).is_ok());
        assert!(parse(nested(65).as_bytes()).is_err());
        assert!(parse("[".repeat(250_000).as_bytes()).is_err());
        assert!(canonical(nested(100_000).as_bytes()).is_err());
    }

    #[test]
    fn keeps_integers_and_takes_blanks() {
        assert_eq!(
            parse(b" \t\r\n{ \"a\" : 9007199254740993 } \n").unwrap(),
            json!({"a": 9_007_199_254_740_993_u64})
        );
        assert_eq!(parse(b"[-0.5,1e-400,null,true]").unwrap(), json!([-0.5, 0.0, null, true]));
    }

    #[test]
    fn the_canonical_form_sorts_members_drops_blanks_and_keeps_numbers_as_written() {
        let table: &[(&str, &str)] = &[
            ("{}", "{}"),
            (" [ ] ", "[]"),
            (
                r#"{ "b" : 1.0 , "a" : [ 1e2 , -0 , { "d" : null , "c" : true } ] }"#,
                r#"{"a":[1e2,-0,{"c":true,"d":null}],"b":1.0}"#,
            ),
            (r#"{"k":9007199254740993123456789}"#, r#"{"k":9007199254740993123456789}"#),
            (r#""\u0041\/é\n""#, r#""A/é\n""#),
            (r#"{"\u0062":1,"a":2}"#, r#"{"a":2,"b":1}"#),
            ("\n 7 \t", "7"),
        ];
        for (written, expected) in table {
            assert_eq!(canonical(written.as_bytes()).unwrap(), *expected, "{written}");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            "\\PC{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("\\PC{0,4}", inner, 0..5).prop_map(|map| json!(map)),
            ]
        })
    }

    proptest! {
        #[test]
        fn reads_what_serde_json_writes_and_canonical_text_means_the_same(value in any_json()) {
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(&parse(pretty.as_bytes()).unwrap(), &value);
            let text = canonical(pretty.as_bytes()).unwrap();
            prop_assert_eq!(&parse(text.as_bytes()).unwrap(), &value);
            prop_assert_eq!(&canonical(text.as_bytes()).unwrap(), &text);
            prop_assert_eq!(&canonical(serde_json::to_string(&value).unwrap().as_bytes()).unwrap(), &text);
        }

        #[test]
        fn no_bytes_break_the_parser(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(value) = parse(&bytes) {
                prop_assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), value);
            }
        }
    }
}
