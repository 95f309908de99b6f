//! Integration health (contract 2.12).

use authority_domain::Scope;

use super::Routes;
use crate::http::{Operation, ok};

const GET: Operation = Operation::get("/integration-health", "integration_health.get")
    .summary("Show the health of the integration: endpoints, alerts, pending deliveries.")
    .scopes(&[Scope::WebhooksManage, Scope::EventsRead])
    .reads_much()
    .answers(&[ok("IntegrationHealth", "The current health.")]);

/// The route.
pub(super) fn routes() -> Routes {
    Routes::new().read(&GET, async |app, who, ()| app.integration_health(&who).await)
}
