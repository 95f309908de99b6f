//! `PATCH` of an order by the operator: a merge patch of what may be edited (contract 6.2, 3.9 row 21).

use authority_domain::order::OrderEdit;
use authority_domain::{ErrorCode, Order, Result, transitions};
use serde_json::{Value, json};

use crate::fixtures::{event_names, last_order, noon, paid_order};
use crate::refused_bodies::errors;

fn edited(order: &Order, body: &Value) -> Result<Option<Order>> {
    let edit = OrderEdit::read(body, order)?;
    let changes = transitions::order::edit(order, edit, noon().plus_ms(1))?;
    assert!(changes.is_empty() || event_names(&changes) == ["order.updated"]);
    Ok(last_order(&changes))
}

fn order() -> Order {
    let mut order = paid_order();
    let body = json!({
        "customer": {"email": "ada@example.com", "name": "Ada"},
        "shipping_address": {"line1": "1 Main St", "country": "GB", "city": "Leeds"},
        "metadata": {"a": "1", "b": "2"},
    });
    order = edited(&order, &body).unwrap().unwrap();
    order
}

#[test]
fn what_is_absent_stays_and_null_clears() {
    let customer = |email: Value, name: Value| json!({"reference": null, "email": email, "name": name, "phone": null, "locale": null});
    let table = [
        (
            json!({"customer": {"name": "A. L."}}),
            "/customer",
            customer(json!("ada@example.com"), json!("A. L.")),
        ),
        (json!({"customer": {"name": null}}), "/customer", customer(json!("ada@example.com"), Value::Null)),
        (json!({"customer": null}), "/customer", Value::Null),
        (json!({"shipping_address": {"line1": "2 Side St"}}), "/shipping_address/city", json!("Leeds")),
        (json!({"shipping_address": {"city": null}}), "/shipping_address/city", Value::Null),
        (json!({"shipping_address": null}), "/shipping_address", Value::Null),
        (
            json!({"billing_address": {"line1": "x", "country": "FR"}}),
            "/billing_address/country",
            json!("FR"),
        ),
        (json!({"metadata": {"b": null, "c": "3"}}), "/metadata", json!({"a": "1", "c": "3"})),
        (json!({"metadata": {"a": null, "b": null}}), "/metadata", json!({})),
    ];
    let before = order();
    for (body, pointer, expected) in table {
        let after = edited(&before, &body).unwrap().unwrap();
        let shown = serde_json::to_value(&after).unwrap();
        assert_eq!(shown.pointer(pointer), Some(&expected), "{body}");
        assert_eq!(after.resource_version, before.resource_version + 1);
        let unedited = Order {
            customer: before.customer.clone(),
            billing_address: before.billing_address.clone(),
            shipping_address: before.shipping_address.clone(),
            metadata: before.metadata.clone(),
            resource_version: before.resource_version,
            updated_at: before.updated_at,
            ..after
        };
        assert_eq!(unedited, before, "{body} changes nothing else");
    }
}

#[test]
fn what_changes_nothing_tells_nobody() {
    let same = [
        json!({}),
        json!({"customer": {"name": "Ada"}}),
        json!({"customer": {"phone": null}}),
        json!({"billing_address": null}),
        json!({"metadata": {"a": "1", "zzz": null}}),
    ];
    for body in same {
        assert_eq!(edited(&order(), &body).unwrap(), None, "{body}");
    }
}

#[test]
fn what_cannot_be_edited_is_refused_by_pointer() {
    let table = [
        (json!([]), " wrong_type"),
        (json!({"amounts": {"total": 1}}), "/amounts field_not_writable"),
        (json!({"amounts": null}), "/amounts field_not_writable"),
        (json!({"currency": "EUR"}), "/currency field_not_writable"),
        (json!({"line_items": []}), "/line_items field_not_writable"),
        (json!({"status": "confirmed"}), "/status field_not_writable"),
        (json!({"payment_status": "paid"}), "/payment_status field_not_writable"),
        (json!({"fulfillment_status": "shipped"}), "/fulfillment_status field_not_writable"),
        (json!({"order_number": "ORD-2"}), "/order_number field_not_writable"),
        (json!({"colour": "red"}), "/colour unknown_field"),
        (json!({"customer": {"age": 7}}), "/customer/age unknown_field"),
        (json!({"customer": {"email": "ada"}}), "/customer/email invalid_value"),
        (json!({"customer": 7}), "/customer wrong_type"),
        (json!({"shipping_address": {"line1": null}}), "/shipping_address/line1 required"),
        (json!({"billing_address": {"line1": "x"}}), "/billing_address/country required"),
        (json!({"metadata": {"a": 1}}), "/metadata/a wrong_type"),
        (json!({"metadata": null}), "/metadata required"),
    ];
    for (body, expected) in table {
        let refusal = edited(&order(), &body).unwrap_err();
        assert_eq!(errors(&refusal), [expected], "{body}");
    }
}

/// An order that edits had filled up could never be told of its payments, and its shares could not be ended.
#[test]
fn edits_leave_room_for_what_will_happen_to_the_order() {
    let mut order = paid_order();
    order.fulfillment_note = Some("x".repeat(210 * 1024));
    let metadata = |length| json!({"metadata": {"a": "y".repeat(length), "b": "y".repeat(length)}});
    let mut full = edited(&order, &metadata(500)).unwrap().unwrap();
    let refused = edited(&order, &json!({"metadata": many(14)})).unwrap_err();
    assert_eq!(refused.code, ErrorCode::PayloadTooLarge);
    // One that is too large already, by whatever way, can be made smaller.
    full.fulfillment_note = Some("x".repeat(230 * 1024));
    assert_eq!(edited(&full, &metadata(499)).unwrap().unwrap().metadata["a"].len(), 499);
    assert_eq!(edited(&full, &metadata(500)).unwrap(), None);
}

/// So many values of the longest that there may be.
fn many(count: usize) -> Value {
    (0..count)
        .map(|number| (format!("k{number}"), json!("y".repeat(500))))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
