//! Deliveries of all merchants (contract 6.2, 15.3).

use authority_domain::list_filter::AllDeliveriesFilter;
use authority_domain::{ErrorCode, OperatorScope};

use super::Routes;
use crate::http::{Operation, accepted, ok, page};

const LIST: Operation = Operation::get("/deliveries", "deliveries.list")
    .summary("List the deliveries of all merchants, newest first.")
    .operator(&[OperatorScope::OperatorRead])
    .filter::<AllDeliveriesFilter>()
    .answers(&[page("OperatorDelivery", "Deliveries.")]);

const GET: Operation = Operation::get("/deliveries/{delivery}", "deliveries.get")
    .summary("Read a delivery with its attempts.")
    .operator(&[OperatorScope::OperatorRead])
    .answers(&[ok("OperatorDeliveryWithAttempts", "The delivery.")]);

const RETRY: Operation = Operation::post("/deliveries/{delivery}/retry", "deliveries.retry")
    .summary("Retry a delivery now.")
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
        .list(&LIST, async |app, _, (), list, filter| app.all_deliveries_list(&list, filter).await)
        .read(&GET, async |app, _, id| app.delivery_find(id).await)
        .write(&RETRY, async |app, _, mutation, id| app.delivery_retry(mutation, id).await)
}
