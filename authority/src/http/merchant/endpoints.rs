//! Webhook endpoints (contract 4.1, 4.10).

use authority_domain::list_filter::EndpointFilter;
use authority_domain::{ErrorCode, Scope};

use super::Routes;
use crate::http::{Operation, accepted, created, ok, page};

const LIST: Operation = Operation::get("/webhook-endpoints", "endpoints.list")
    .summary("List webhook endpoints, newest first.")
    .scopes(&[Scope::WebhooksManage])
    .filter::<EndpointFilter>()
    .answers(&[page("WebhookEndpoint", "Webhook endpoints.")]);

const CREATE: Operation = Operation::post("/webhook-endpoints", "endpoints.create")
    .summary("Create a webhook endpoint, which receives events from then on.")
    .details("The signing secret is shown only in this answer.")
    .scopes(&[Scope::WebhooksManage])
    .body(
        "EndpointRequest",
        r#"{"url":"https://shop.example.com/webhooks","enabled_events":["order.*","refund.completed"],"description":"Warehouse"}"#,
    )
    .answers(&[created("WebhookEndpointWithSecret", "The endpoint and its signing secret.").tagged().located()])
    .refuses(&[ErrorCode::EndpointUrlForbidden, ErrorCode::EndpointLimitReached]);

const GET: Operation = Operation::get("/webhook-endpoints/{endpoint}", "endpoints.get")
    .summary("Read a webhook endpoint.")
    .scopes(&[Scope::WebhooksManage])
    .answers(&[ok("WebhookEndpoint", "The endpoint.").tagged()]);

const CHANGE: Operation = Operation::patch("/webhook-endpoints/{endpoint}", "endpoints.change")
    .summary("Change a webhook endpoint.")
    .details(
        "Absent members stay as they are. Enabling a disabled endpoint clears the reason and its failures.",
    )
    .scopes(&[Scope::WebhooksManage])
    .if_match("endpoint")
    .body("EndpointPatch", r#"{"enabled_events":["*"],"status":"enabled"}"#)
    .answers(&[ok("WebhookEndpoint", "The endpoint as it is now.").tagged()])
    .refuses(&[ErrorCode::EndpointUrlForbidden]);

const DELETE: Operation = Operation::delete("/webhook-endpoints/{endpoint}", "endpoints.delete")
    .summary("Delete a webhook endpoint.")
    .details("Its pending deliveries are cancelled.")
    .scopes(&[Scope::WebhooksManage])
    .if_match("endpoint")
    .answers(&[ok("DeletedWebhookEndpoint", "The endpoint was deleted.")]);

const ROTATE_PATH: &str = "/webhook-endpoints/{endpoint}/rotate-secret";

const ROTATE_SECRET: Operation = Operation::post(ROTATE_PATH, "endpoints.rotate_secret")
    .summary("Rotate the signing secret of a webhook endpoint.")
    .details(
        "Deliveries are signed with the new secret first and, during the overlap, also with the previous one. The new \
         secret is shown only in this answer.",
    )
    .scopes(&[Scope::WebhooksManage])
    .if_match("endpoint")
    .optional_body("RotationRequest", r#"{"overlap_seconds":86400}"#)
    .answers(&[ok("WebhookEndpointWithSecret", "The endpoint and its new signing secret.").tagged()])
    .refuses(&[ErrorCode::RotationInProgress]);

const RETIRE_SECRET: Operation =
    Operation::post("/webhook-endpoints/{endpoint}/retire-secret", "endpoints.retire_secret")
        .summary("End the overlap of two signing secrets now.")
        .details("Without an open overlap nothing changes.")
        .scopes(&[Scope::WebhooksManage])
        .optional_body("NoMembers", "{}")
        .answers(&[ok("WebhookEndpoint", "The endpoint as it is now.").tagged()]);

const TEST: Operation = Operation::post("/webhook-endpoints/{endpoint}/test", "endpoints.test")
    .summary("Send a test event to a webhook endpoint.")
    .details(
        "`webhook.test` goes only to this endpoint, whatever its filter, and is delivered like every event.",
    )
    .scopes(&[Scope::WebhooksManage])
    .delivers()
    .optional_body("EndpointTestRequest", r#"{"message":"hello"}"#)
    .answers(&[accepted("WebhookTestRequest", "The event and its delivery.")])
    .refuses(&[ErrorCode::EndpointDisabled]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&LIST, async |app, who, (), list, status| app.endpoints_list(&who, &list, status).await)
        .write(&CREATE, async |app, who, mutation, ()| app.endpoint_create(&who, mutation).await)
        .read(&GET, async |app, who, id| app.endpoint_get(&who, id).await)
        .write(&CHANGE, async |app, who, mutation, id| app.endpoint_change(&who, mutation, id).await)
        .write(&DELETE, async |app, who, mutation, id| app.endpoint_delete(&who, mutation, id).await)
        .write(&ROTATE_SECRET, async |app, who, mutation, id| {
            app.endpoint_rotate_secret(&who, mutation, id).await
        })
        .write(&RETIRE_SECRET, async |app, who, mutation, id| {
            app.endpoint_retire_secret(&who, mutation, id).await
        })
        .write(&TEST, async |app, who, mutation, id| app.endpoint_test(&who, mutation, &who.key_id, id).await)
}
