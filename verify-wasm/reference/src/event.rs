//! The event's rules, one after the other (contract 10.2 to 10.4): regular expressions and `jiff` on a tree.

use crate::tree::Node;

pattern!(EVENT_ID = r"\Aevt_[0-9A-Za-z_-]{1,124}\z");
pattern!(MERCHANT_ID = r"\Amer_[0-9A-Za-z_-]{1,124}\z");
pattern!(EVENT_TYPE = r"\A[a-z][a-z0-9_]*(\.[a-z0-9_]+)+\z");
pattern!(DATE = r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}\z");
pattern!(TIME = r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z\z");
pattern!(SLUG = r"\A[^\p{Cc}]{1,128}\z");

fn is_real_date(value: Option<&Node>) -> bool {
    let Some(Node::String(text)) = value else { return false };
    let date = text.get(..10).and_then(|date| date.parse::<jiff::civil::Date>().ok());
    date.is_some_and(|date| date.year() >= 1)
}

/// The verdict on a text: `"ok"`, or the code of the first rule that does not hold.
#[must_use]
pub fn verdict(text: &[u8]) -> &'static str {
    let Some(root) = Node::parse(text) else { return "invalid_json" };
    let member = |name| root.get(name);
    let nested = |outer, inner| root.get(outer).and_then(|object| object.get(inner));
    let null = |value: Option<&Node>| matches!(value, None | Some(Node::Null));
    let counter = |value| {
        null(value)
            || matches!(value, Some(Node::Number(n)) if n.fract() == 0.0 && (0.0..=9_007_199_254_740_991.0).contains(n))
    };
    let rules: [(&str, bool); 12] = [
        ("invalid_payload", root.is_object()),
        ("invalid_payload", !root.repeats()),
        ("invalid_payload", !member("merchant").is_some_and(Node::repeats)),
        ("invalid_payload", !member("data").is_some_and(Node::repeats)),
        ("invalid_payload", counter(member("sequence")) && counter(member("resource_version"))),
        ("invalid_payload", null(member("livemode")) || matches!(member("livemode"), Some(Node::Bool))),
        (
            "invalid_payload",
            ["recipient", "links"]
                .iter()
                .all(|name| null(member(name)) || member(name).is_some_and(Node::is_object)),
        ),
        ("invalid_event_id", Node::matches(member("id"), &EVENT_ID)),
        (
            "invalid_event_type",
            Node::matches(member("type"), &EVENT_TYPE)
                && matches!(member("type"), Some(Node::String(text)) if text.len() <= 128),
        ),
        (
            "invalid_api_version",
            Node::matches(member("api_version"), &DATE) && is_real_date(member("api_version")),
        ),
        (
            "invalid_created_at",
            Node::matches(member("created_at"), &TIME) && is_real_date(member("created_at")),
        ),
        (
            "invalid_merchant",
            Node::matches(nested("merchant", "id"), &MERCHANT_ID)
                && Node::matches(nested("merchant", "slug"), &SLUG),
        ),
    ];
    match rules.iter().find(|(_, holds)| !holds) {
        Some((code, _)) => code,
        None if !nested("data", "object").is_some_and(Node::is_object) => "invalid_data",
        None => "ok",
    }
}
