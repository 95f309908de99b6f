//! Deliveries of all merchants (contract 6.2, 15.3).

use authority_domain::delivery::DeliveryStatus;
use authority_domain::error_code::ErrorCode;
use authority_domain::id::{DeliveryId, EndpointId, EventId, MerchantId};
use authority_domain::merchant::scope::OperatorScope;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{Segment, mode_filter, parsed};
use crate::app::delivery::operator::AllDeliveriesFilter;
use crate::http::entry::{AppState, Reply, operator};
use crate::http::list_query::{ROWS, list_request, words};
use crate::http::operation::{self, Operation, accepted, id, mode, ok, page};
use crate::http::routes::Routes;

const LIST: Operation =
    Operation::get("/deliveries", "deliveries.list", "List the deliveries of all merchants, newest first.")
        .operator(&[OperatorScope::OperatorRead])
        .query(&[
            id("merchant", "mer", "Of this merchant."),
            mode("mode", "Of this mode."),
            id("endpoint_id", "we", "To this endpoint."),
            operation::words::<DeliveryStatus>("status", "With any of these statuses."),
            id("event_id", "evt", "Of this event."),
        ])
        .answers(&[page("OperatorDelivery", "Deliveries.")]);

const GET: Operation =
    Operation::get("/deliveries/{delivery}", "deliveries.get", "Read a delivery with its attempts.")
        .operator(&[OperatorScope::OperatorRead])
        .answers(&[ok("OperatorDeliveryWithAttempts", "The delivery.")]);

const RETRY: Operation = Operation::post(
    "/deliveries/{delivery}/retry",
    "deliveries.retry",
    "Retry a delivery now.",
)
.details(
    "A pending delivery is tried now. For a failed or cancelled one a new delivery is created; the answer is the \
     delivery that will be sent.",
)
.operator(&[OperatorScope::KeysWrite])
.optional_body("NoMembers", "{}")
.answers(&[accepted("OperatorDelivery", "The delivery that will be sent.")])
.refuses(&[ErrorCode::EndpointDisabled, ErrorCode::InvalidStateTransition]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new().add(&LIST, deliveries_list).add(&GET, delivery_get).add(&RETRY, delivery_retry)
}

async fn deliveries_list(State(state): State<AppState>, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let mut query = entered.query;
        let filter = AllDeliveriesFilter {
            merchant_id: query.parsed("merchant", "a merchant's id", MerchantId::parse)?,
            livemode: mode_filter(&mut query)?,
            endpoint_id: query.parsed("endpoint_id", "an endpoint's id", EndpointId::parse)?,
            status: words::<DeliveryStatus>(&mut query, "status")?,
            event_id: query.parsed("event_id", "an event's id", EventId::parse)?,
        };
        let list = list_request(query, ROWS)?;
        app.all_deliveries_list(&list, filter).await.map(Reply::List)
    })
    .await
}

async fn delivery_get(State(state): State<AppState>, delivery: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        entered.query.finish()?;
        app.delivery_find(parsed(delivery, DeliveryId::parse)).await.map(Reply::Answer)
    })
    .await
}

async fn delivery_retry(State(state): State<AppState>, delivery: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        app.delivery_retry(mutation, parsed(delivery, DeliveryId::parse), body).await.map(Reply::Answer)
    })
    .await
}
