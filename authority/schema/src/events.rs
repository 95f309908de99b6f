//! The schema of an event of each type: the envelope, with what `type`, `data` and the optional members are in it.
//!
//! The merchant whose record an event tells of gets the whole record; a partner gets a copy of some types, which
//! shows what the share shows and names the reader (contract 3.10). Both are checked against here, and described to
//! receivers.

use serde_json::{Map, Value, json};
use verify_core::EventType;

use crate::catalog::{self, Subject};
use crate::schemas::reference;

/// What an event of this type is called where it is a type: `order.share_revoked` is `OrderShareRevokedEvent`.
#[must_use]
pub fn name(event_type: EventType) -> String {
    let mut name = String::new();
    for word in event_type.as_str().split(['.', '_']) {
        let mut letters = word.chars();
        name.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        name.push_str(letters.as_str());
    }
    name + "Event"
}

/// An event of this type, as the merchant gets it whose record it tells of. Its references are to `#/$defs/`.
#[must_use]
pub fn own(event_type: EventType) -> Value {
    let subject = catalog::subject(event_type);
    let object = if subject == Subject::SharedOrder { Subject::Order } else { subject };
    narrowed(event_type, object.definition(), subject == Subject::SharedOrder)
}

/// The same of a partner's copy; `None` where partners get none.
#[must_use]
pub fn copy(event_type: EventType) -> Option<Value> {
    Some(narrowed(event_type, catalog::seen_by_partner(event_type)?, true))
}

fn narrowed(event_type: EventType, object: &str, has_recipient: bool) -> Value {
    let subject = catalog::subject(event_type);
    let shares = subject == Subject::SharedOrder;
    let mut data = Map::from_iter([("object".to_owned(), reference(object))]);
    data.extend(shares.then(|| ("share".to_owned(), reference("OrderShare"))));
    let required: Vec<String> = data.keys().cloned().collect();
    let mut members = Map::from_iter([
        (
            "type".to_owned(),
            json!({ "const": event_type.as_str(), "description": "Name from the event catalog." }),
        ),
        (
            "data".to_owned(),
            json!({ "properties": data, "required": required, "description": "What happened to what." }),
        ),
    ]);
    let optional = [
        ("recipient", has_recipient),
        ("resource_version", subject.has_versions()),
        ("links", subject.has_links()),
    ];
    // What may be absent of an event in general is always there in one of this type, or never.
    let (there, absent): (Vec<_>, Vec<_>) = optional.into_iter().partition(|(_, is_there)| *is_there);
    members.extend(absent.into_iter().map(|(name, _)| (name.to_owned(), json!(false))));
    json!({
        "description": catalog::meaning(event_type),
        "allOf": [reference("Event")],
        "properties": members,
        "required": there.into_iter().map(|(name, _)| name).collect::<Vec<_>>(),
    })
}
