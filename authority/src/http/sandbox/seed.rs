//! Data for a demonstration (contract 6.3).

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::post;

use crate::app::sandbox::Whose;
use crate::http::entry::{BodyRule, Reply, Roots, sandbox};

/// The route.
pub(super) fn routes() -> Router<Roots> {
    Router::new().route("/seed", post(seed))
}

async fn seed(State(roots): State<Roots>, request: Request) -> Response {
    sandbox(roots, "sandbox.seed", request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        app.sandbox_seed(Whose::of(&who), mutation, body).await.map(Reply::Answer)
    })
    .await
}
