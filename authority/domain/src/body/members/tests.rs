//! Every kind of member, right and wrong, through [`read`].

use crate::body::Text;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::error_code::ErrorCode;
use crate::order::OrderStatus;

/// Every kind of member once.
fn read_all(body: &Value) -> Result<(), Refusal> {
    read(body, |m| {
        m.not_writable("amounts");
        m.string("text", Text::line(1, 5)).required();
        m.string("note", Text::NOTE).optional();
        m.parsed("even", Text::LINE, "a text of even length", (), |text| {
            text.len().is_multiple_of(2).then_some(())
        })
        .optional();
        m.integer("integer", -3..=3).optional();
        m.money("money").optional();
        m.boolean("flag").optional();
        m.one_of::<OrderStatus>("status").optional();
        m.time("at").optional();
        m.https_url("url").optional();
        m.country("country").optional();
        m.currency("currency").optional();
        m.metadata("metadata").optional();
        m.list("names", 1..=2, |value| Text::ID.check(value)).optional();
        m.object("inner", |inner| inner.integer("n", 0..=9).required()).optional();
        m.array("items", 1..=3, |item| item.integer("n", 0..=9).required()).optional();
    })
    .map(|_| ())
}

/// The errors of a body as `pointer code`, in order.
fn errors(body: &Value) -> Vec<String> {
    read_all(body).err().map(|refusal| refusal.told()).unwrap_or_default()
}

#[test]
fn takes_what_the_contract_allows() {
    let table = [
        json!({"text": "a"}),
        json!({"text": "ééééé", "metadata": {}}),
        json!({"text": "a", "note": "two\n\tlines"}),
        json!({"text": "a", "integer": -3, "money": 0}),
        json!({"text": "a", "integer": 3, "money": 999_999_999_999_i64}),
        json!({"text": "a", "flag": false, "status": "confirmed", "even": "ab"}),
        json!({"text": "a", "at": "2026-09-01T14:00:00+02:00", "url": "https://example.com/a?b#c"}),
        json!({"text": "a", "country": "GB", "currency": "JPY"}),
        json!({"text": "a", "metadata": {"A-z_0.9": "", "b": "x".repeat(500)}}),
        json!({"text": "a", "names": ["x", "y"], "inner": {"n": 9}, "items": [{"n": 0}]}),
    ];
    for body in table {
        assert_eq!(errors(&body), Vec::<String>::new(), "{body}");
    }
}

#[test]
fn names_each_wrong_member_with_its_pointer_and_code() {
    let with = |name: &str, value: Value| json!({"text": "a", name: value});
    let entries: Map<String, Value> = (0..51).map(|n| (n.to_string(), json!(""))).collect();
    let table = [
        (json!([]), " wrong_type"),
        (json!({}), "/text required"),
        (json!({"text": null}), "/text required"),
        (json!({"text": 1}), "/text wrong_type"),
        (json!({"text": ""}), "/text too_short"),
        (json!({"text": "éééééé"}), "/text too_long"),
        (json!({"text": "a\nb"}), "/text control_character"),
        (json!({"text": "a\u{7f}"}), "/text control_character"),
        (with("note", json!("a\rb")), "/note control_character"),
        (with("even", json!("abc")), "/even invalid_value"),
        (with("integer", json!(4)), "/integer out_of_range"),
        (with("integer", json!("1")), "/integer wrong_type"),
        (with("integer", json!(1.0)), "/integer wrong_type"),
        (with("money", json!(-1)), "/money out_of_range"),
        (with("money", json!(1_000_000_000_000_i64)), "/money out_of_range"),
        (with("money", json!(18_446_744_073_709_551_615_u64)), "/money out_of_range"),
        (with("money", json!(1e300)), "/money out_of_range"),
        (with("money", json!("5.00")), "/money wrong_type"),
        (with("flag", json!("true")), "/flag wrong_type"),
        (with("status", json!("Confirmed")), "/status invalid_value"),
        (with("status", json!(1)), "/status wrong_type"),
        (with("at", json!("2026-09-01")), "/at invalid_time"),
        (with("at", json!(1_788_264_000)), "/at wrong_type"),
        (with("url", json!("http://example.com")), "/url invalid_url"),
        (with("url", json!("https://u:p@example.com")), "/url invalid_url"),
        (with("url", json!("https://exa\nmple.com")), "/url invalid_url"),
        (with("url", json!("/relative")), "/url invalid_url"),
        (with("url", json!("javascript:alert(1)")), "/url invalid_url"),
        (with("url", json!(format!("https://example.com/{}", "a".repeat(2048)))), "/url too_long"),
        (with("country", json!("gb")), "/country invalid_country"),
        (with("country", json!("ZZ")), "/country invalid_country"),
        (with("country", json!("GBR")), "/country invalid_country"),
        (with("currency", json!("usd")), "/currency invalid_currency"),
        (with("currency", json!("ABC")), "/currency invalid_currency"),
        (with("currency", json!("XXX")), "/currency invalid_currency"),
        (with("currency", json!("XTS")), "/currency invalid_currency"),
        (with("currency", json!("XAU")), "/currency invalid_currency"),
        (with("currency", json!("XDR")), "/currency invalid_currency"),
        (with("metadata", json!([])), "/metadata wrong_type"),
        (with("metadata", json!({"a": 1})), "/metadata/a wrong_type"),
        (with("metadata", json!({"a": "x".repeat(501)})), "/metadata/a too_long"),
        (with("metadata", json!({"a/b~c": ""})), "/metadata/a~1b~0c invalid_value"),
        (
            with("metadata", json!({"x".repeat(41): ""})),
            &format!("/metadata/{} invalid_value", "x".repeat(41)),
        ),
        (with("metadata", json!(entries)), "/metadata too_long"),
        (with("names", json!([])), "/names too_short"),
        (with("names", json!(["a", "b", "c"])), "/names too_long"),
        (with("names", json!(["a", 2])), "/names/1 wrong_type"),
        (with("names", json!({})), "/names wrong_type"),
        (with("inner", json!({})), "/inner/n required"),
        (with("inner", json!({"n": 10})), "/inner/n out_of_range"),
        (with("inner", json!({"n": 1, "m": 1})), "/inner/m unknown_field"),
        (with("inner", json!([])), "/inner wrong_type"),
        (with("items", json!([{"n": 1}, {"n": true}])), "/items/1/n wrong_type"),
        (with("items", json!([1])), "/items/0 wrong_type"),
        (with("note", json!(null)), "/note required"),
        (with("even", json!(null)), "/even required"),
        (with("integer", json!(null)), "/integer required"),
        (with("money", json!(null)), "/money required"),
        (with("flag", json!(null)), "/flag required"),
        (with("status", json!(null)), "/status required"),
        (with("at", json!(null)), "/at required"),
        (with("url", json!(null)), "/url required"),
        (with("country", json!(null)), "/country required"),
        (with("currency", json!(null)), "/currency required"),
        (with("metadata", json!(null)), "/metadata required"),
        (with("metadata", json!({"a": null})), "/metadata/a wrong_type"),
        (with("names", json!(null)), "/names required"),
        (with("names", json!([null])), "/names/0 wrong_type"),
        (with("inner", json!(null)), "/inner required"),
        (with("inner", json!({"n": null})), "/inner/n required"),
        (with("items", json!(null)), "/items required"),
        (with("items", json!([null])), "/items/0 wrong_type"),
        (with("surplus", json!(null)), "/surplus unknown_field"),
        (with("a/b", json!(null)), "/a~1b unknown_field"),
        (with("amounts", json!({})), "/amounts field_not_writable"),
    ];
    for (body, expected) in table {
        assert_eq!(errors(&body), [expected], "{body}");
    }
}

#[test]
fn all_errors_are_listed_and_the_gravest_names_the_refusal() {
    let body = json!({"integer": 9, "surplus": 1, "amounts": {}, "items": [{"n": -1}, {}]});
    assert_eq!(
        errors(&body),
        [
            "/text required",
            "/integer out_of_range",
            "/items/0/n out_of_range",
            "/items/1/n required",
            "/amounts field_not_writable",
            "/surplus unknown_field",
        ]
    );
    assert_eq!(read_all(&body).unwrap_err().code, ErrorCode::FieldNotWritable);
    assert_eq!(read_all(&json!({"surplus": 1})).unwrap_err().code, ErrorCode::UnknownField);
    assert_eq!(read_all(&json!({})).unwrap_err().code, ErrorCode::ValidationFailed);
}

#[test]
fn at_most_fifty_are_listed() {
    let body: Map<String, Value> = (0..5_000).map(|n| (format!("m{n}"), json!(1))).collect();
    assert_eq!(errors(&json!(body)).len(), 50);
}

#[test]
fn presence_words() {
    let parse = |body: Value| {
        read(&body, |m| {
            let optional = m.integer("a", 0..=9).optional();
            (optional, m.integer("b", 0..=9).or(7), m.integer("c", 0..=9).or_null(), m.has("c"))
        })
    };
    assert_eq!(parse(json!({})).unwrap(), (None, 7, None, false));
    assert_eq!(parse(json!({"a": 1, "b": 2, "c": 3})).unwrap(), (Some(1), 2, Some(Some(3)), true));
    assert_eq!(parse(json!({"c": null})).unwrap(), (None, 7, Some(None), true));
    let refused = parse(json!({"a": null, "b": null})).unwrap_err();
    assert_eq!(refused.told(), ["/a required", "/b required"]);
    assert_eq!(refused.code, ErrorCode::ValidationFailed);
}

#[test]
fn a_rule_between_members_is_reported_by_the_closure() {
    let refusal = read(&json!({"from": 5, "to": 4}), |m| {
        let (from, to) = (m.integer("from", 0..=9).required(), m.integer("to", 0..=9).required());
        if to < from {
            m.refuse("to", MemberCode::Inconsistent, "Must not be below from.");
        }
    });
    assert_eq!(refusal.unwrap_err().members[0].pointer, "/to");
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z/~]{0,3}", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #[test]
    fn a_pointer_leads_to_its_member_or_to_the_object_that_lacks_it(
        values in prop::collection::btree_map(
            prop::sample::select(vec!["text", "integer", "metadata", "names", "inner", "items", "x~y", "z/"]),
            any_value(), 0..8),
    ) {
        let body = json!(values);
        for member in read_all(&body).err().map(|refusal| refusal.members).unwrap_or_default() {
            let found = body.pointer(&member.pointer);
            prop_assert!(
                found.is_some() || member.code == MemberCode::Required,
                "{} {}", member.pointer, member.code
            );
        }
    }

    #[test]
    fn integers_are_taken_exactly_within_their_range(value: i64, low in -100_i64..0, high in 0_i64..100) {
        let read = read(&json!({"n": value}), |m| m.integer("n", low..=high).required());
        prop_assert_eq!(read.ok(), (low..=high).contains(&value).then_some(value));
    }

    #[test]
    fn lengths_are_counted_in_characters(text in "\\PC{0,12}", max in 1_usize..12) {
        let read = read(&json!({"t": text}), |m| m.string("t", Text::line(1, max)).required());
        prop_assert_eq!(read.ok(), (1..=max).contains(&text.chars().count()).then_some(text));
    }
}
