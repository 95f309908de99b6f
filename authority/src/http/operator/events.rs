//! Events of all merchants, for support (contract 6.2).

use authority_domain::error_code::ErrorCode;
use authority_domain::id::MerchantId;
use authority_domain::list_filter::EventFilter;
use authority_domain::merchant::scope::OperatorScope;
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;

use super::mode_filter;
use crate::app::access::Operator;
use crate::http::list_query::event_types;
use crate::http::operation::{self, Operation, id, mode, ok, page, text, time};
use crate::http::query::Query;
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
    Routes::new()
        .list(&LIST, filter, async |app, _: Operator, (), list, (merchant, livemode, filter)| {
            match (merchant, livemode) {
                (Some(merchant_id), Some(livemode)) => {
                    app.stream_list(&list, Tenant { merchant_id, livemode }, filter).await
                }
                (None, None) if filter == EventFilter::default() => app.all_events_list(&list).await,
                (merchant, _) => Err(of_one_stream(if merchant.is_none() { "merchant" } else { "mode" })),
            }
        })
        .read(&GET, async |app, _: Operator, id| app.event_find(id).await)
}

fn filter(query: &mut Query) -> Result<(Option<MerchantId>, Option<bool>, EventFilter), Refusal> {
    let merchant = query.parsed("merchant", "a merchant's id", MerchantId::parse)?;
    let livemode = mode_filter(query)?;
    let filter = EventFilter {
        types: event_types(query, "type")?,
        created_from: query.time("created_from")?,
        created_to: query.time("created_to")?,
        resource: query.text("resource")?,
    };
    Ok((merchant, livemode, filter))
}

/// The list over all merchants cannot be filtered: no index would help.
fn of_one_stream(missing: &'static str) -> Refusal {
    let detail = "merchant and mode are given together, and the other filters with both of them.";
    Refusal::new(ErrorCode::InvalidParameter, detail).param(missing)
}
