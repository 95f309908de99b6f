//! Deliveries and their attempts, and retrying one now (contract 2.9, 4.1, 15.3).

use authority_domain::list_filter::DeliveryFilter;
use authority_domain::{ErrorCode, Scope};

use super::Routes;
use crate::http::{Operation, accepted, ok, page};

const LIST: Operation = Operation::get("/webhook-endpoints/{endpoint}/deliveries", "deliveries.list")
    .summary("List the deliveries of a webhook endpoint, sent and pending, newest first.")
    .scopes(&[Scope::WebhooksManage])
    .filter::<DeliveryFilter>()
    .answers(&[page("Delivery", "Deliveries.")]);

const GET: Operation = Operation::get("/deliveries/{delivery}", "deliveries.get")
    .summary("Read a delivery with its attempts.")
    .scopes(&[Scope::WebhooksManage])
    .answers(&[ok("DeliveryWithAttempts", "The delivery.")]);

const RETRY: Operation = Operation::post("/deliveries/{delivery}/retry", "deliveries.retry")
    .summary("Retry a delivery now.")
    .details(
        "A pending delivery is tried now. For a failed or cancelled one a new delivery is created; the answer is the \
         delivery that will be sent.",
    )
    .scopes(&[Scope::WebhooksManage])
    .delivers()
    .optional_body("NoMembers", "{}")
    .answers(&[accepted("Delivery", "The delivery that will be sent.")])
    .refuses(&[ErrorCode::EndpointDisabled, ErrorCode::InvalidStateTransition]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&LIST, async |app, who, endpoint, list, filter| {
            app.deliveries_list(&who, endpoint, &list, filter).await
        })
        .read(&GET, async |app, who, id| app.delivery_get(&who, id).await)
        .write(&RETRY, async |app, who, mutation, id| app.delivery_retry_own(&who, mutation, id).await)
}
