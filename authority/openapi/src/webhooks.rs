//! The requests that the authority itself makes: one webhook for each type of the event catalog.
//!
//! Every delivery has the same headers and means the same by the answers, whatever it carries; these are written
//! once, in [`crate::deliveries`], and referred to. What differs is the event: its schema is that of its type, its
//! examples were sent by a running service.

use anyhow::{Context as _, Result};
use authority_domain::delivery::retry::TEST_DELIVERY_ATTEMPTS;
use authority_schema::catalog::{self, Subject};
use authority_schema::events;
use serde_json::{Map, Value, json};
use verify_core::EventType;

use crate::definitions::{Definitions, REFERENCE};
use crate::{deliveries, examples};

/// The group they are listed in.
pub(crate) const TAG: &str = "webhooks";

/// Every webhook, by the type of its event.
pub(crate) fn written(definitions: &Definitions) -> Result<Map<String, Value>> {
    EventType::ALL
        .into_iter()
        .map(|event_type| {
            let webhook = webhook(event_type, definitions)
                .with_context(|| format!("the webhook {event_type} cannot be written"))?;
            Ok((event_type.as_str().to_owned(), json!({ "post": webhook })))
        })
        .collect()
}

fn webhook(event_type: EventType, definitions: &Definitions) -> Result<Value> {
    let schema = events::name(event_type);
    definitions.get(&schema).with_context(|| format!("{schema} is not defined"))?;
    let media = json!({
        "schema": { "$ref": format!("{REFERENCE}{schema}") },
        "examples": examples::of_event(event_type)?,
    });
    Ok(json!({
        "operationId": operation_id(&schema),
        "summary": catalog::meaning(event_type),
        "description": description(event_type),
        "tags": [TAG],
        "security": [{ deliveries::SCHEME: [] }],
        "parameters": deliveries::parameters(),
        "requestBody": {
            "description": "The event, in the bytes that are signed and that `GET /v1/merchant/events/{event}` shows.",
            "required": true,
            "content": { "application/json": media },
        },
        "responses": deliveries::responses(),
    }))
}

/// `OrderConfirmedEvent` is taken by `onOrderConfirmed`.
fn operation_id(schema: &str) -> String {
    format!("on{}", schema.strip_suffix("Event").unwrap_or(schema))
}

/// What is in the event.
fn description(event_type: EventType) -> String {
    let subject = catalog::subject(event_type);
    let mut text = match subject {
        Subject::WebhookTest => format!(
            "`data.object` says who asked for the test, and of which endpoint; `links.resource` is the endpoint. It goes \
             to that endpoint alone, whatever its `enabled_events` are, and has {TEST_DELIVERY_ATTEMPTS} attempts at most."
        ),
        Subject::Checkout => {
            "`data.object` is the checkout as it was after the change. Merchants cannot read \
             checkouts, so there are no `links`."
                .to_owned()
        }
        Subject::SharedOrder => {
            "The owner of the order and the partner each get an event with an id of its own; \
             `recipient` is the partner in both, and `data.share` says what is shared."
                .to_owned()
        }
        _ => format!(
            "`data.object` is the {} as it was after the change, `resource_version` its version, and `links.resource` \
             where it is read.",
            event_type.category()
        ),
    };
    if catalog::seen_by_partner(event_type).is_some() {
        text.push_str(
            "\n\nA partner's copy shows in `data.object` what is shared of it, and has `recipient`, which is the reader; \
             `merchant` is the owner, and `links.resource` where the partner reads the order.",
        );
    }
    text
}
