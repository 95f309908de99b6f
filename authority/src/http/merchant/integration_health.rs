//! Integration health (contract 2.12).

use authority_domain::scope::Scope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::get;

use super::operation;
use crate::http::entry::{Reply, Roots, merchant};

/// The route.
pub(super) fn routes() -> Router<Roots> {
    Router::new().route("/integration-health", get(health_get))
}

async fn health_get(State(roots): State<Roots>, request: Request) -> Response {
    let operation = operation("integration_health.get", &[Scope::WebhooksManage, Scope::EventsRead]);
    merchant(roots, operation, request, async |app, entered| {
        entered.query.finish()?;
        app.integration_health(&entered.who).await.map(Reply::Answer)
    })
    .await
}
