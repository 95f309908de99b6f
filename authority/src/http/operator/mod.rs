//! The operator API: `/v1/operator`, on a listener of its own (contract 6.1, 6.2). One file per resource.
//!
//! The platform reports what happened; the authority decides whether it is allowed and what follows from it. The
//! path names the merchant and mode. Also on this listener, without a key: `/healthz`, `/readyz` and `/metrics`.

mod alerts;
mod api_keys;
mod audit_log;
mod checkouts;
mod deliveries;
mod endpoints;
mod events;
mod merchants;
mod metrics;
mod orders;
mod payments;
mod portal_sessions;
mod process_metrics;
mod refunds;
mod shipments;
mod subscriptions;

use std::time::Duration;

use authority_domain::Refusal;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use tokio::time::timeout;

use super::documents;
use super::entry::AppState;
use super::operation::{Operation, plain};
use super::problem::Problem;
use super::routes;
use crate::app::Operator;

/// Routes of the operator API.
type Routes = routes::Routes<Operator>;

const HEALTHZ: Operation = Operation::get("/healthz", "healthz")
    .summary("Check whether the process runs.")
    .answers(&[plain("text/plain; charset=utf-8", "The process runs.")]);

const READYZ: Operation = Operation::get("/readyz", "readyz")
    .summary("Check whether the service can do its work.")
    .details(
        "Not ready while the database is unavailable, rejects writes or has an unexpected schema, or while due \
         deliveries are not sent.",
    )
    .answers(&[plain("text/plain; charset=utf-8", "The service is ready.")]);

/// The routes of the operator's listener.
pub fn routes() -> Routes {
    Routes::new()
        .merge(alerts::routes())
        .merge(api_keys::routes())
        .merge(audit_log::routes())
        .merge(checkouts::routes())
        .merge(deliveries::routes())
        .merge(endpoints::routes())
        .merge(events::routes())
        .merge(merchants::routes())
        .merge(orders::routes())
        .merge(payments::routes())
        .merge(portal_sessions::routes())
        .merge(refunds::routes())
        .merge(shipments::routes())
        .merge(subscriptions::routes())
        .below("/v1/operator")
        .merge(metrics::routes())
        .merge(documents::of_the_operator())
        .add(&HEALTHZ, async || (StatusCode::OK, "ok\n"))
        .add(&READYZ, readyz)
}

/// How long the check may take, whatever the database does. Whoever asks gives up soon after.
const READY_WITHIN: Duration = Duration::from_secs(10);

/// Ready means that the service can do its work ([`crate::app::App::ready`]).
async fn readyz(State(state): State<AppState>) -> Response {
    let late =
        |_| Err(Refusal { detail: "The database does not answer.".to_owned(), ..Refusal::unavailable(1) });
    match timeout(READY_WITHIN, state.app.ready()).await.unwrap_or_else(late) {
        Ok(()) => (StatusCode::OK, "ready\n").into_response(),
        Err(refusal) => Problem(refusal).into_response(),
    }
}
