//! The event history (contract 4.1, 4.5, 4.9).

use authority_domain::list_filter::EventFilter;
use authority_domain::{ErrorCode, Scope};

use super::Routes;
use crate::http::operation::feed;
use crate::http::{Operation, accepted, ok};

const LIST: Operation = Operation::get("/events", "events.list")
    .summary("List events in order, oldest first.")
    .details(
        "To catch up: page with `cursor`, process each event once, then save the page's cursor. \
         `resume_cursor` is on every page; `next_cursor` is absent on the last one.",
    )
    .scopes(&[Scope::EventsRead])
    .filter::<EventFilter>()
    .answers(&[feed("Event", "Events.")])
    .refuses(&[ErrorCode::CursorExpired]);

const GET: Operation = Operation::get("/events/{event}", "events.get")
    .summary("Read an event, byte for byte as it was sent.")
    .scopes(&[Scope::EventsRead])
    .answers(&[ok("Event", "The event.")]);

const REPLAY: Operation = Operation::post("/events/{event}/replay", "events.replay")
    .summary("Send an event again.")
    .details(
        "The event goes to the named endpoints, or to every enabled one that wants it, with the same id and bytes, a \
         new timestamp and signature, and its own attempt budget.",
    )
    .scopes(&[Scope::WebhooksManage])
    .delivers()
    .optional_body("ReplayRequest", r#"{"endpoint_ids":["we_01k3zqf3m2c8d4s6t9v1x7y0za"]}"#)
    .answers(&[accepted("EventReplay", "The deliveries that were created.")])
    .refuses(&[ErrorCode::EndpointDisabled, ErrorCode::NoEligibleEndpoint]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&LIST, async |app, who, (), list, filter| app.events_list(&who, &list, filter).await)
        .read(&GET, async |app, who, id| app.event_get(&who, id).await)
        .write(&REPLAY, async |app, who, mutation, id| app.event_replay(&who, mutation, id).await)
}
