//! API keys (contract 6.2).

use authority_domain::id::MerchantId;
use authority_domain::scope::OperatorScope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::post;

use super::{Segment, parsed};
use crate::http::entry::{BodyRule, Reply, Roots, operator};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new().route("/merchants/{merchant}/api-keys", post(api_key_issue))
}

async fn api_key_issue(State(roots): State<Roots>, merchant: Segment, request: Request) -> Response {
    operator(roots, "api_keys.issue", &[OperatorScope::KeysWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        let merchant = parsed(merchant, MerchantId::parse);
        app.api_key_issue(mutation, merchant, body).await.map(Reply::Answer)
    })
    .await
}
