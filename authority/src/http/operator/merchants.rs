//! Merchants (contract 6.2).

use authority_domain::scope::OperatorScope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::post;

use crate::http::entry::{BodyRule, Reply, Roots, operator};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new().route("/merchants", post(merchant_create))
}

async fn merchant_create(State(roots): State<Roots>, request: Request) -> Response {
    operator(roots, "merchants.create", &[OperatorScope::OperatorWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        app.merchant_create(mutation, body).await.map(Reply::Answer)
    })
    .await
}
