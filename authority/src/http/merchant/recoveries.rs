//! The events that an endpoint missed, and their recovery (contract 15.1, 15.2).

use authority_domain::error_code::ErrorCode;
use authority_domain::id::{EndpointId, RecoveryId};
use authority_domain::merchant::scope::Scope;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{ROWS, Segment, parsed};
use crate::app::delivery::undelivered::{Reach, UndeliveredFilter};
use crate::http::entry::{AppState, AuthorizedRequest, Reply, merchant};
use crate::http::list_query::{event_types, list_request_within};
use crate::http::operation::{self, Operation, accepted, ok, page, time};
use crate::http::routes::Routes;

const UNDELIVERED: Operation = Operation::get(
    "/webhook-endpoints/{endpoint}/undelivered",
    "endpoints.undelivered",
    "List the events that a webhook endpoint wanted and has not received, newest first.",
)
.scopes(&[Scope::WebhooksManage])
.query(&[
    time("since", "Created at this time or later."),
    time("until", "Created before this time."),
    operation::event_types("type", "Of any of these types."),
])
.answers(&[page("UndeliveredEvent", "Events, and why they have not been received.")]);

const RECOVER: Operation = Operation::post(
    "/webhook-endpoints/{endpoint}/recover",
    "endpoints.recover",
    "Send a webhook endpoint the events it missed.",
)
.details("Starts a durable job, which continues after a restart of the service. `dry_run` only counts.")
.scopes(&[Scope::WebhooksManage])
.delivers()
.body("RecoveryRequest", r#"{"since":"2026-09-01T00:00:00.000Z","types":["order.*"]}"#)
.answers(&[
    accepted("EndpointRecovery", "The recovery that was started.").located(),
    ok("RecoveryDryRun", "What a recovery would send; nothing was started."),
])
.refuses(&[ErrorCode::EndpointDisabled]);

const GET: Operation =
    Operation::get("/endpoint-recoveries/{recovery}", "recoveries.get", "Read a recovery and its progress.")
        .scopes(&[Scope::WebhooksManage])
        .answers(&[ok("EndpointRecovery", "The recovery.")]);

const CANCEL: Operation =
    Operation::post("/endpoint-recoveries/{recovery}/cancel", "recoveries.cancel", "Cancel a recovery.")
        .details("Deliveries that it has already created are still sent.")
        .scopes(&[Scope::WebhooksManage])
        .optional_body("NoMembers", "{}")
        .answers(&[ok("EndpointRecovery", "The recovery as it ended.")])
        .refuses(&[ErrorCode::RecoveryFinished]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .add(&UNDELIVERED, undelivered_list)
        .add(&RECOVER, endpoint_recover)
        .add(&GET, recovery_get)
        .add(&CANCEL, recovery_cancel)
}

async fn undelivered_list(State(state): State<AppState>, endpoint: Segment, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let AuthorizedRequest { who, mut query, .. } = entered;
        let endpoint = parsed(endpoint, EndpointId::parse);
        let filter = UndeliveredFilter {
            since: query.time("since")?,
            until: query.time("until")?,
            types: event_types(&mut query, "type")?,
        };
        let list = list_request_within(query, ROWS, endpoint.as_ref().map(EndpointId::as_str))?;
        app.undelivered_list(&who.tenant, endpoint, &list, filter, Reach::Request).await.map(Reply::List)
    })
    .await
}

async fn endpoint_recover(State(state): State<AppState>, endpoint: Segment, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let (who, mutation, body) = entered.write()?;
        let id = parsed(endpoint, EndpointId::parse);
        app.endpoint_recover(&who, mutation, id, body).await.map(Reply::Answer)
    })
    .await
}

async fn recovery_get(State(state): State<AppState>, recovery: Segment, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        entered.query.finish()?;
        app.recovery_get(&entered.who, parsed(recovery, RecoveryId::parse)).await.map(Reply::Answer)
    })
    .await
}

async fn recovery_cancel(State(state): State<AppState>, recovery: Segment, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let (who, mutation, body) = entered.write()?;
        let id = parsed(recovery, RecoveryId::parse);
        app.recovery_cancel(&who, mutation, id, body).await.map(Reply::Answer)
    })
    .await
}
