//! Deliveries of all merchants (contract 6.2, 15.3).

use authority_domain::delivery::DeliveryStatus;
use authority_domain::error_code::ErrorCode;
use authority_domain::id::{EndpointId, EventId, MerchantId};
use authority_domain::merchant::scope::OperatorScope;
use authority_domain::refusal::Refusal;

use super::mode_filter;
use crate::app::access::Operator;
use crate::app::delivery::operator::AllDeliveriesFilter;
use crate::http::list_query::words;
use crate::http::operation::{self, Operation, accepted, id, mode, ok, page};
use crate::http::query::Query;
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
    Routes::new()
        .list(&LIST, filter, async |app, _: Operator, (), list, filter| {
            app.all_deliveries_list(&list, filter).await
        })
        .read(&GET, async |app, _: Operator, id| app.delivery_find(id).await)
        .write(&RETRY, async |app, _: Operator, mutation, id, body| {
            app.delivery_retry(mutation, id, body).await
        })
}

fn filter(query: &mut Query) -> Result<AllDeliveriesFilter, Refusal> {
    Ok(AllDeliveriesFilter {
        merchant_id: query.parsed("merchant", "a merchant's id", MerchantId::parse)?,
        livemode: mode_filter(query)?,
        endpoint_id: query.parsed("endpoint_id", "an endpoint's id", EndpointId::parse)?,
        status: words::<DeliveryStatus>(query, "status")?,
        event_id: query.parsed("event_id", "an event's id", EventId::parse)?,
    })
}
