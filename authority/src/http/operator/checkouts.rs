//! Checkouts (contract 3.4, 6.2).

use authority_domain::scope::OperatorScope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::post;

use super::{TenantSegments, tenant};
use crate::http::entry::{BodyRule, Reply, Roots, operator};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new().route("/merchants/{merchant}/{mode}/checkouts", post(checkout_open))
}

async fn checkout_open(State(roots): State<Roots>, segments: TenantSegments, request: Request) -> Response {
    operator(roots, "checkouts.open", &[OperatorScope::OperatorWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        app.checkout_open(mutation, tenant(segments), body).await.map(Reply::Answer)
    })
    .await
}
