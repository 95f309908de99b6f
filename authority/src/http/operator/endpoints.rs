//! The operator's control of webhook endpoints, including the platform's own (contract 6.2, 7.5).

use authority_domain::{EndpointStatus, ErrorCode, OperatorScope};

use super::Routes;
use crate::http::{Operation, created, ok};

const GET: Operation = Operation::get("/webhook-endpoints/{endpoint}", "endpoints.get")
    .summary("Read any merchant's webhook endpoint, deleted ones included.")
    .operator(&[OperatorScope::OperatorRead])
    .answers(&[ok("OperatorEndpoint", "The endpoint.").tagged()]);

const UPDATE: Operation = Operation::patch("/webhook-endpoints/{endpoint}", "endpoints.update")
    .summary("Change the in-flight limit of a webhook endpoint.")
    .details("At most its merchant's limit `max_in_flight`; null restores the default.")
    .operator(&[OperatorScope::KeysWrite])
    .if_match("endpoint")
    .body("EndpointLimits", r#"{"max_in_flight":200}"#)
    .answers(&[ok("OperatorEndpoint", "The endpoint as it is now.").tagged()]);

const DISABLE: Operation = Operation::post("/webhook-endpoints/{endpoint}/disable", "endpoints.disable")
    .summary("Disable a webhook endpoint.")
    .details("Its pending deliveries are cancelled. The reason goes to the audit log.")
    .operator(&[OperatorScope::KeysWrite])
    .if_match("endpoint")
    .body("ReasonRequest", r#"{"reason":"answers with somebody else's data"}"#)
    .answers(&[ok("OperatorEndpoint", "The endpoint as it is now.").tagged()]);

const ENABLE: Operation = Operation::post("/webhook-endpoints/{endpoint}/enable", "endpoints.enable")
    .summary("Enable a webhook endpoint.")
    .operator(&[OperatorScope::KeysWrite])
    .if_match("endpoint")
    .body("ReasonRequest", r#"{"reason":"mended"}"#)
    .answers(&[ok("OperatorEndpoint", "The endpoint as it is now.").tagged()]);

const SINK_GET: Operation = Operation::get("/sink", "sink.get")
    .summary("Read the platform's own webhook endpoint.")
    .operator(&[OperatorScope::OperatorRead])
    .answers(&[ok("Sink", "The endpoint.").tagged()])
    .refuses(&[ErrorCode::NotFound]);

const SINK_CREATE: Operation = Operation::post("/sink", "sink.create")
    .summary("Create the platform's own webhook endpoint, which receives the events of all merchants.")
    .details("There is at most one. The signing secret is shown only in this answer.")
    .operator(&[OperatorScope::KeysWrite])
    .body(
        "EndpointRequest",
        r#"{"url":"https://payments.platform.example.com/events","enabled_events":["refund.requested"]}"#,
    )
    .answers(&[created("SinkWithSecret", "The endpoint and its signing secret.").tagged()])
    .refuses(&[ErrorCode::EndpointUrlForbidden, ErrorCode::EndpointLimitReached]);

const SINK_CHANGE: Operation = Operation::patch("/sink", "sink.update")
    .summary("Change the platform's own webhook endpoint.")
    .operator(&[OperatorScope::KeysWrite])
    .if_match("endpoint")
    .body("EndpointPatch", r#"{"enabled_events":["refund.*"]}"#)
    .answers(&[ok("Sink", "The endpoint as it is now.").tagged()])
    .refuses(&[ErrorCode::NotFound, ErrorCode::EndpointUrlForbidden]);

const SINK_DELETE: Operation = Operation::delete("/sink", "sink.delete")
    .summary("Delete the platform's own webhook endpoint.")
    .operator(&[OperatorScope::KeysWrite])
    .if_match("endpoint")
    .answers(&[ok("DeletedWebhookEndpoint", "The endpoint was deleted.")])
    .refuses(&[ErrorCode::NotFound]);

const SINK_ROTATE_SECRET: Operation = Operation::post("/sink/rotate-secret", "sink.rotate_secret")
    .summary("Rotate the signing secret of the platform's own webhook endpoint.")
    .details("The new secret is shown only in this answer.")
    .operator(&[OperatorScope::KeysWrite])
    .if_match("endpoint")
    .optional_body("RotationRequest", r#"{"overlap_seconds":86400}"#)
    .answers(&[ok("SinkWithSecret", "The endpoint and its new signing secret.").tagged()])
    .refuses(&[ErrorCode::NotFound, ErrorCode::RotationInProgress]);

const OUTBOX: Operation = Operation::get("/outbox", "outbox.get")
    .summary("Show the delivery backlog.")
    .operator(&[OperatorScope::OperatorRead])
    .answers(&[ok("PlatformOutbox", "The current backlog.")]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .read(&GET, async |app, _, id| app.endpoint_find(id).await)
        .write(&UPDATE, async |app, _, mutation, id| app.endpoint_limit(mutation, id).await)
        .write(&DISABLE, async |app, _, mutation, id| {
            app.endpoint_switch(mutation, id, EndpointStatus::Disabled).await
        })
        .write(&ENABLE, async |app, _, mutation, id| {
            app.endpoint_switch(mutation, id, EndpointStatus::Enabled).await
        })
        .read(&SINK_GET, async |app, _, ()| app.sink_get().await)
        .write(&SINK_CREATE, async |app, _, mutation, ()| app.sink_create(mutation).await)
        .write(&SINK_CHANGE, async |app, _, mutation, ()| app.sink_change(mutation).await)
        .write(&SINK_DELETE, async |app, _, mutation, ()| app.sink_delete(mutation).await)
        .write(&SINK_ROTATE_SECRET, async |app, _, mutation, ()| app.sink_rotate_secret(mutation).await)
        .read(&OUTBOX, async |app, _, ()| app.outbox().await)
}
