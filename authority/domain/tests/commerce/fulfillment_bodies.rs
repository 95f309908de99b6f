//! Bodies of fulfilment updates (contract 4.6): what may be written, and what is wrong with the rest.

use authority_domain::ErrorCode;
use authority_domain::order::FulfillmentUpdate;
use serde_json::{Value, json};

use crate::fixtures::paid_order;
use crate::refused_bodies::Edit::{Drop, Each, Set};
use crate::refused_bodies::{check, errors};

#[test]
fn bodies() {
    let good = json!({"fulfillment_status": "fulfilled", "note": "a\nb",
                      "line_items": [{"id": "li_1", "fulfilled_quantity": 0}]});
    let table = [
        (Drop("/fulfillment_status"), ""),
        (Drop("/line_items"), ""),
        (Set("/note", Value::Null), ""),
        (Set("/note", json!("x".repeat(501))), "too_long"),
        (Set("/fulfillment_status", Value::Null), "required"),
        (
            Each("/fulfillment_status", json!(["partially_shipped", "partially_delivered", "lost"])),
            "invalid_value",
        ),
        (Set("/line_items", json!([])), "too_short"),
        (Set("/line_items", Value::Null), "required"),
        (Set("/line_items/0", json!({"id": "li_1"})), "/line_items/0/fulfilled_quantity required"),
        (Set("/line_items/0/fulfilled_quantity", json!(-1)), "out_of_range"),
        (Set("/line_items/0/shipped_quantity", json!(1)), "field_not_writable"),
        (Set("/line_items/0/colour", json!("red")), "unknown_field"),
        (Set("/colour", json!("red")), "unknown_field"),
    ];
    check(&good, FulfillmentUpdate::read, &table);
    let refusal = FulfillmentUpdate::read(&json!({})).unwrap_err();
    assert_eq!(errors(&refusal), [" required"]);
}

#[test]
fn every_member_of_the_record_is_known_and_only_three_things_can_be_written() {
    let record = serde_json::to_value(paid_order()).unwrap();
    let not_writable = |object: &Value, writable: [&str; 2], path: &str| -> Vec<String> {
        let names = object.as_object().unwrap().keys();
        names
            .filter(|name| !writable.contains(&name.as_str()))
            .map(|name| format!("{path}/{name} field_not_writable"))
            .collect()
    };
    let mut body = record.clone();
    body["line_items"] = json!([{"id": "li_1", "fulfilled_quantity": 1}]);
    body["note"] = json!("x");
    body["colour"] = json!("red");
    let refusal = FulfillmentUpdate::read(&body).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::FieldNotWritable);
    let mut expected = not_writable(&record, ["fulfillment_status", "line_items"], "");
    assert_eq!(expected.len(), 29);
    expected.push("/colour unknown_field".into());
    let (mut found, line) = (errors(&refusal), &record["line_items"][0]);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);

    let mut found = errors(&FulfillmentUpdate::read(&json!({"line_items": [line]})).unwrap_err());
    let mut expected = not_writable(line, ["id", "fulfilled_quantity"], "/line_items/0");
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}
