//! The operator's control of webhook endpoints, including the platform's own (contract 6.2, 7.5).

use authority_domain::endpoint::EndpointStatus;
use authority_domain::error_code::ErrorCode;
use authority_domain::id::EndpointId;
use authority_domain::merchant::scope::OperatorScope;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{Segment, parsed};
use crate::http::entry::{AppState, Reply, operator};
use crate::http::operation::{Operation, created, ok};
use crate::http::routes::Routes;

const GET: Operation = Operation::get(
    "/webhook-endpoints/{endpoint}",
    "endpoints.get",
    "Read any merchant's webhook endpoint, deleted ones included.",
)
.operator(&[OperatorScope::OperatorRead])
.answers(&[ok("OperatorEndpoint", "The endpoint.").tagged()]);

const UPDATE: Operation = Operation::patch(
    "/webhook-endpoints/{endpoint}",
    "endpoints.update",
    "Change the in-flight limit of a webhook endpoint.",
)
.details("At most its merchant's limit `max_in_flight`; null restores the default.")
.operator(&[OperatorScope::KeysWrite])
.if_match("endpoint")
.body("EndpointLimits", r#"{"max_in_flight":200}"#)
.answers(&[ok("OperatorEndpoint", "The endpoint as it is now.").tagged()]);

const DISABLE: Operation = Operation::post(
    "/webhook-endpoints/{endpoint}/disable",
    "endpoints.disable",
    "Disable a webhook endpoint.",
)
.details("Its pending deliveries are cancelled. The reason goes to the audit log.")
.operator(&[OperatorScope::KeysWrite])
.if_match("endpoint")
.body("ReasonRequest", r#"{"reason":"answers with somebody else's data"}"#)
.answers(&[ok("OperatorEndpoint", "The endpoint as it is now.").tagged()]);

const ENABLE: Operation =
    Operation::post("/webhook-endpoints/{endpoint}/enable", "endpoints.enable", "Enable a webhook endpoint.")
        .operator(&[OperatorScope::KeysWrite])
        .if_match("endpoint")
        .body("ReasonRequest", r#"{"reason":"mended"}"#)
        .answers(&[ok("OperatorEndpoint", "The endpoint as it is now.").tagged()]);

const SINK_GET: Operation = Operation::get("/sink", "sink.get", "Read the platform's own webhook endpoint.")
    .operator(&[OperatorScope::OperatorRead])
    .answers(&[ok("Sink", "The endpoint.").tagged()])
    .refuses(&[ErrorCode::NotFound]);

const SINK_CREATE: Operation = Operation::post(
    "/sink",
    "sink.create",
    "Create the platform's own webhook endpoint, which receives the events of all merchants.",
)
.details("There is at most one. The signing secret is shown only in this answer.")
.operator(&[OperatorScope::KeysWrite])
.body(
    "EndpointRequest",
    r#"{"url":"https://payments.platform.example.com/events","enabled_events":["refund.requested"]}"#,
)
.answers(&[created("SinkWithSecret", "The endpoint and its signing secret.").tagged()])
.refuses(&[ErrorCode::EndpointUrlForbidden, ErrorCode::EndpointLimitReached]);

const SINK_CHANGE: Operation =
    Operation::patch("/sink", "sink.update", "Change the platform's own webhook endpoint.")
        .operator(&[OperatorScope::KeysWrite])
        .if_match("endpoint")
        .body("EndpointPatch", r#"{"enabled_events":["refund.*"]}"#)
        .answers(&[ok("Sink", "The endpoint as it is now.").tagged()])
        .refuses(&[ErrorCode::NotFound, ErrorCode::EndpointUrlForbidden]);

const SINK_DELETE: Operation =
    Operation::delete("/sink", "sink.delete", "Delete the platform's own webhook endpoint.")
        .operator(&[OperatorScope::KeysWrite])
        .if_match("endpoint")
        .answers(&[ok("DeletedWebhookEndpoint", "The endpoint was deleted.")])
        .refuses(&[ErrorCode::NotFound]);

const SINK_ROTATE_SECRET: Operation = Operation::post(
    "/sink/rotate-secret",
    "sink.rotate_secret",
    "Rotate the signing secret of the platform's own webhook endpoint.",
)
.details("The new secret is shown only in this answer.")
.operator(&[OperatorScope::KeysWrite])
.if_match("endpoint")
.optional_body("RotationRequest", r#"{"overlap_seconds":86400}"#)
.answers(&[ok("SinkWithSecret", "The endpoint and its new signing secret.").tagged()])
.refuses(&[ErrorCode::NotFound, ErrorCode::RotationInProgress]);

const OUTBOX: Operation = Operation::get("/outbox", "outbox.get", "Show the delivery backlog.")
    .operator(&[OperatorScope::OperatorRead])
    .answers(&[ok("PlatformOutbox", "The current backlog.")]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .add(&GET, endpoint_get)
        .add(&UPDATE, endpoint_update)
        .add(&DISABLE, endpoint_disable)
        .add(&ENABLE, endpoint_enable)
        .add(&SINK_GET, sink_get)
        .add(&SINK_CREATE, sink_create)
        .add(&SINK_CHANGE, sink_change)
        .add(&SINK_DELETE, sink_delete)
        .add(&SINK_ROTATE_SECRET, sink_rotate_secret)
        .add(&OUTBOX, outbox)
}

async fn endpoint_get(State(state): State<AppState>, endpoint: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        entered.query.finish()?;
        app.endpoint_find(parsed(endpoint, EndpointId::parse)).await.map(Reply::Answer)
    })
    .await
}

async fn endpoint_update(State(state): State<AppState>, endpoint: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        app.endpoint_limit(mutation, parsed(endpoint, EndpointId::parse), body).await.map(Reply::Answer)
    })
    .await
}

async fn endpoint_disable(State(state): State<AppState>, endpoint: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        let id = parsed(endpoint, EndpointId::parse);
        app.endpoint_switch(mutation, id, EndpointStatus::Disabled, body).await.map(Reply::Answer)
    })
    .await
}

async fn endpoint_enable(State(state): State<AppState>, endpoint: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        let id = parsed(endpoint, EndpointId::parse);
        app.endpoint_switch(mutation, id, EndpointStatus::Enabled, body).await.map(Reply::Answer)
    })
    .await
}

async fn sink_get(State(state): State<AppState>, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        entered.query.finish()?;
        app.sink_get().await.map(Reply::Answer)
    })
    .await
}

async fn sink_create(State(state): State<AppState>, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        app.sink_create(mutation, body).await.map(Reply::Answer)
    })
    .await
}

async fn sink_change(State(state): State<AppState>, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        app.sink_change(mutation, body).await.map(Reply::Answer)
    })
    .await
}

async fn sink_delete(State(state): State<AppState>, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, _) = entered.write()?;
        app.sink_delete(mutation).await.map(Reply::Answer)
    })
    .await
}

async fn sink_rotate_secret(State(state): State<AppState>, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        app.sink_rotate_secret(mutation, body).await.map(Reply::Answer)
    })
    .await
}

async fn outbox(State(state): State<AppState>, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        entered.query.finish()?;
        app.outbox().await.map(Reply::Answer)
    })
    .await
}
