//! Integration health (contract 2.12).

use authority_domain::merchant::scope::Scope;
use axum::extract::{Request, State};
use axum::response::Response;

use crate::http::entry::{AppState, Reply, merchant};
use crate::http::operation::{Operation, ok};
use crate::http::routes::Routes;

const GET: Operation = Operation::get(
    "/integration-health",
    "integration_health.get",
    "Show the health of the integration: endpoints, alerts, pending deliveries.",
)
.scopes(&[Scope::WebhooksManage, Scope::EventsRead])
.answers(&[ok("IntegrationHealth", "The current health.")]);

/// The route.
pub(super) fn routes() -> Routes {
    Routes::new().add(&GET, health_get)
}

async fn health_get(State(state): State<AppState>, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        entered.query.finish()?;
        app.integration_health(&entered.who).await.map(Reply::Answer)
    })
    .await
}
