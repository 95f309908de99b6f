//! The rules of single members (contract 10.3), each value set into an otherwise right event.

use serde_json::{Value, json};
use verify_core::event;

use crate::delivery::BODY;

/// The verdict on body B with the member at `path` (`"merchant.slug"`) set to this JSON text, or removed.
pub(crate) fn with(path: &str, value: Option<&str>) -> &'static str {
    let mut body: Value = serde_json::from_str(BODY).unwrap();
    let (parent, name) = match path.split_once('.') {
        Some((parent, name)) => (&mut body[parent], name),
        None => (&mut body, path),
    };
    let object = parent.as_object_mut().unwrap();
    object.remove(name);
    if value.is_some() {
        object.insert(name.to_owned(), json!("@value@"));
    }
    let text = body.to_string().replace("\"@value@\"", value.unwrap_or_default());
    event::read(text.as_bytes()).map_or_else(|code| code.as_str(), |_| "ok")
}

/// Every text of `good` passes as the member at `path`; every text of `bad`, its absence, `null` and all other
/// types give `code`.
fn table(path: &str, code: &str, good: &[&str], bad: &[&str]) {
    for text in good {
        assert_eq!(with(path, Some(&json!(text).to_string())), "ok", "{path} {text:?}");
    }
    for text in bad {
        assert_eq!(with(path, Some(&json!(text).to_string())), code, "{path} {text:?}");
    }
    assert_eq!(with(path, None), code, "{path} absent");
    for other in ["null", "true", "false", "0", "1.5", "[]", "[\"x\"]", "{}", "{\"id\":\"evt_1\"}"] {
        assert_eq!(with(path, Some(other)), code, "{path} {other}");
    }
}

#[test]
fn ids() {
    for (path, code, prefix) in
        [("id", "invalid_event_id", "evt_"), ("merchant.id", "invalid_merchant", "mer_")]
    {
        let longest = format!("{prefix}{}", "a".repeat(124));
        let alphabet = format!("{prefix}09AZaz_-");
        let [short, underscore] = ["1", "_"].map(|rest| format!("{prefix}{rest}"));
        let good = [&longest, &alphabet, &short, &underscore].map(String::as_str);
        let bad = "1 evt mer evt_ mer_ EVT_1 evt_a/b mer_a/b evt_a.b evt_a:b evt_é mer_é evt_１ evt_%31";
        let with_blanks = ["", " evt_1", "evt_1 ", "mer_1 ", "evt_1\n", "evt_a b", "evt_\u{0}"];
        let bad = [&words(bad)[..], &with_blanks].concat();
        table(path, code, &good, &bad);
        let too_long = format!("{prefix}{}", "a".repeat(125));
        table(path, code, &[], &[&too_long]);
    }
    table("id", "invalid_event_id", &[], &["mer_1"]);
    table("merchant.id", "invalid_merchant", &[], &["evt_1"]);
}

#[test]
fn types() {
    let longest = format!("a.{}", "b".repeat(126));
    let too_long = format!("a.{}", "b".repeat(127));
    let good = words("order.created a.b a1_.2_b.c order.share_revoked a._ not.in.the.catalog");
    let bad = words(
        "order . order. .order order..created order.created. Order.created order.Created 1order.created \
         _order.created order.* order-created.x ordér.created",
    );
    let with_blanks = ["", "order.created ", " order.created", "order.created\n", "order.cr\u{0}", &too_long];
    table(
        "type",
        "invalid_event_type",
        &[&good[..], &[&longest]].concat(),
        &[&bad[..], &with_blanks].concat(),
    );
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn api_versions_are_real_dates() {
    let good = "2026-09-01 0001-01-01 9999-12-31 2024-02-29 2000-02-29 2026-01-31 2026-04-30 2026-12-31";
    let bad =
        "2026-9-1 2026-09-1 20260901 2026/09/01 02026-09-01 2026-09-01T +026-09-01 -026-09-01 2026-0a-01 \
        ２026-09-01 v1
        2026-00-01 2026-13-01 2026-09-00 2026-09-31 2026-04-31 2026-06-31 2026-11-31 2026-01-32 2026-02-29 \
        2100-02-29 1900-02-29 2024-02-30 0000-01-01";
    let with_blanks = ["", "2026-09-01 ", " 2026-09-01", "2026-09-01\n"];
    table("api_version", "invalid_api_version", &words(good), &[&words(bad)[..], &with_blanks].concat());
}

#[test]
fn created_at_has_one_form() {
    let good = "2026-09-01T12:00:00.000Z 0001-01-01T00:00:00.000Z 9999-12-31T23:59:59.999Z \
        2024-02-29T00:00:00.001Z 1970-01-01T00:00:00.000Z";
    let bad = "2026-09-01 2026-09-01T12:00:00Z 2026-09-01T12:00:00.0Z 2026-09-01T12:00:00.00Z \
        2026-09-01T12:00:00.0000Z 2026-09-01T12:00:00.000 2026-09-01T12:00:00.000z 2026-09-01t12:00:00.000Z \
        2026-09-01T12:00:00,000Z 2026-09-01T12:00:00.000+00:00 1788264000 ２026-09-01T12:00:00.0Z
        2026-09-01T24:00:00.000Z 2026-09-01T23:60:00.000Z 2026-09-01T23:59:60.000Z 2026-09-01T23:59:61.000Z
        2026-02-30T12:00:00.000Z 2027-02-29T12:00:00.000Z 2026-13-01T12:00:00.000Z 2026-00-01T12:00:00.000Z
        2026-09-00T12:00:00.000Z 0000-09-01T12:00:00.000Z 10000-09-01T12:00:00.000Z
        2026-09-01T1a:00:00.000Z 2026-09-01T12:a0:00.000Z 2026-09-01T12:00:0a.000Z 2026-09-01T12:00:00.00aZ
        2026-09-01T12-00-00.000Z 2026-09-01T+2:00:00.000Z";
    let with_blanks =
        ["", "2026-09-01 12:00:00.000Z", "2026-09-01T12:00:00.000Z ", " 2026-09-01T12:00:00.000Z"];
    table("created_at", "invalid_created_at", &words(good), &[&words(bad)[..], &with_blanks].concat());
}

#[test]
fn slugs() {
    let longest = "🛒".repeat(128);
    let too_long = "a".repeat(129);
    let far_too_long = "🛒".repeat(129);
    table(
        "merchant.slug",
        "invalid_merchant",
        &["a", "A B", "café 🛒", "-", " ", "\u{a0}", "\"\\/", "\u{10ffff}", &longest],
        &["", "a\u{0}", "\n", "a\tb", "\u{1f}", "\u{7f}", "\u{85}", &too_long, &far_too_long],
    );
}

#[test]
fn merchant_and_data_are_objects() {
    for other in ["null", "true", "0", "\"mer_1\"", "[]", "[{\"id\":\"mer_1\",\"slug\":\"a\"}]", "{}"] {
        assert_eq!(with("merchant", Some(other)), "invalid_merchant", "{other}");
        assert_eq!(with("data", Some(other)), "invalid_data", "{other}");
    }
    assert_eq!(with("merchant", None), "invalid_merchant");
    assert_eq!(with("data", None), "invalid_data");
    for other in ["null", "true", "0", "\"x\"", "[]", "[{}]"] {
        assert_eq!(with("data.object", Some(other)), "invalid_data", "{other}");
    }
    assert_eq!(with("data.object", None), "invalid_data");
    assert_eq!(with("data.object", Some(r#"{"object":[null]}"#)), "ok");
    assert_eq!(with("data.previous_attributes", Some("[1,{\"a\":null}]")), "ok");
    assert_eq!(with("merchant.name", Some("null")), "ok");
    assert_eq!(with("anything", Some("[[],{}]")), "ok");
}

#[test]
fn the_envelope_holds_what_was_read() {
    let text = r#" {"sequence":42.0,"resource_version":7,"livemode":false,"id":"evt_1","type":"order.\u0063reated",
        "api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z","merchant":{"slug":"caf\u00e9 \ud83d\uded2",
        "id":"mer_1"},"data":{"object":{}}} "#;
    let envelope = event::read(text.as_bytes()).unwrap();
    assert_eq!(envelope.id, "evt_1");
    assert_eq!(envelope.event_type, "order.created");
    assert_eq!(envelope.api_version, "2026-09-01");
    assert_eq!(envelope.created_at, "2026-09-01T12:00:00.000Z");
    assert_eq!(
        (envelope.sequence, envelope.resource_version, envelope.livemode),
        (Some(42), Some(7), Some(false))
    );
    assert_eq!((envelope.merchant_id.as_ref(), envelope.merchant_slug.as_ref()), ("mer_1", "café 🛒"));
    assert_eq!(envelope.text, text);

    let without = event::read(BODY.as_bytes()).unwrap();
    assert_eq!((without.sequence, without.resource_version, without.livemode), (None, None, None));
}
