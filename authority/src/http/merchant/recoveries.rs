//! The events that an endpoint missed, and their recovery (contract 15.1, 15.2).

use authority_domain::list_filter::UndeliveredFilter;
use authority_domain::{ErrorCode, Scope};

use super::Routes;
use crate::app::delivery::undelivered::Reach;
use crate::http::{Operation, accepted, ok, page};

const UNDELIVERED: Operation =
    Operation::get("/webhook-endpoints/{endpoint}/undelivered", "endpoints.undelivered")
        .summary("List the events that a webhook endpoint wanted and has not received, newest first.")
        .scopes(&[Scope::WebhooksManage])
        .filter::<UndeliveredFilter>()
        .answers(&[page("UndeliveredEvent", "Events, and why they have not been received.")]);

const RECOVER: Operation = Operation::post("/webhook-endpoints/{endpoint}/recover", "endpoints.recover")
    .summary("Send a webhook endpoint the events it missed.")
    .details("Starts a durable job, which continues after a restart of the service. `dry_run` only counts.")
    .scopes(&[Scope::WebhooksManage])
    .delivers()
    .reads_much()
    .body("RecoveryRequest", r#"{"since":"2026-09-01T00:00:00.000Z","types":["order.*"]}"#)
    .answers(&[
        accepted("EndpointRecovery", "The recovery that was started.").located(),
        ok("RecoveryDryRun", "What a recovery would send; nothing was started."),
    ])
    .refuses(&[ErrorCode::EndpointDisabled]);

const GET: Operation = Operation::get("/endpoint-recoveries/{recovery}", "recoveries.get")
    .summary("Read a recovery and its progress.")
    .scopes(&[Scope::WebhooksManage])
    .answers(&[ok("EndpointRecovery", "The recovery.")]);

const CANCEL: Operation = Operation::post("/endpoint-recoveries/{recovery}/cancel", "recoveries.cancel")
    .summary("Cancel a recovery.")
    .details("Deliveries that it has already created are still sent.")
    .scopes(&[Scope::WebhooksManage])
    .optional_body("NoMembers", "{}")
    .answers(&[ok("EndpointRecovery", "The recovery as it ended.")])
    .refuses(&[ErrorCode::RecoveryFinished]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&UNDELIVERED, async |app, who, endpoint, list, filter| {
            app.undelivered_list(&who.tenant, endpoint, &list, filter, Reach::Request).await
        })
        .write(&RECOVER, async |app, who, mutation, id| app.endpoint_recover(&who, mutation, id).await)
        .read(&GET, async |app, who, id| app.recovery_get(&who, id).await)
        .write(&CANCEL, async |app, who, mutation, id| app.recovery_cancel(&who, mutation, id).await)
}
