//! Events of all merchants, for support (contract 6.2).

use authority_domain::error_code::ErrorCode;
use authority_domain::id::{EventId, MerchantId};
use authority_domain::list_filter::EventFilter;
use authority_domain::merchant::scope::OperatorScope;
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{Segment, mode_filter, parsed};
use crate::http::entry::{AppState, Reply, operator};
use crate::http::list_query::{ROWS, event_types, list_request};
use crate::http::operation::{self, Operation, id, mode, ok, page, text, time};
use crate::http::routes::Routes;

const LIST: Operation = Operation::get(
    "/events",
    "events.list",
    "List events of all merchants, or of one merchant and mode.",
)
.details(
    "Over all merchants, newest first. With `merchant` and `mode`, which are given together, the events of \
         that stream in order; the other filters require both.",
)
.operator(&[OperatorScope::OperatorRead])
.query(&[
    id("merchant", "mer", "Of this merchant; requires `mode`."),
    mode("mode", "Of this mode; requires `merchant`."),
    operation::event_types("type", "Of any of these types."),
    time("created_from", "Created at this time or later."),
    time("created_to", "Created before this time."),
    text("resource", "About this record: an order number or an id."),
])
.answers(&[page("Event", "Events.")]);

const GET: Operation = Operation::get("/events/{event}", "events.get", "Read an event.")
    .operator(&[OperatorScope::OperatorRead])
    .answers(&[ok("Event", "The event.")]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new().add(&LIST, events_list).add(&GET, event_get)
}

async fn events_list(State(state): State<AppState>, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let mut query = entered.query;
        let merchant = query.parsed("merchant", "a merchant's id", MerchantId::parse)?;
        let livemode = mode_filter(&mut query)?;
        let filter = EventFilter {
            types: event_types(&mut query, "type")?,
            created_from: query.time("created_from")?,
            created_to: query.time("created_to")?,
            resource: query.text("resource")?,
        };
        let list = list_request(query, ROWS)?;
        let found = match (merchant, livemode) {
            (Some(merchant_id), Some(livemode)) => {
                app.stream_list(&list, Tenant { merchant_id, livemode }, filter).await
            }
            (None, None) if filter == EventFilter::default() => app.all_events_list(&list).await,
            (merchant, _) => Err(of_one_stream(if merchant.is_none() { "merchant" } else { "mode" })),
        };
        found.map(Reply::List)
    })
    .await
}

/// The list over all merchants cannot be filtered: no index would help.
fn of_one_stream(missing: &'static str) -> Refusal {
    let detail = "merchant and mode are given together, and the other filters with both of them.";
    Refusal::new(ErrorCode::InvalidParameter, detail).param(missing)
}

async fn event_get(State(state): State<AppState>, event: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        entered.query.finish()?;
        app.event_find(parsed(event, EventId::parse)).await.map(Reply::Answer)
    })
    .await
}
