//! API keys (contract 2.11, 6.2).

use authority_domain::id::{KeyId, MerchantId};
use authority_domain::scope::OperatorScope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};

use super::{Segment, parsed};
use crate::http::entry::{BodyRule, Reply, Roots, operator};
use crate::http::list_query::{ROWS, list_request_within};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/merchants/{merchant}/api-keys", get(api_keys_list).post(api_key_issue))
        .route("/api-keys/{key}/rotate", post(api_key_rotate))
        .route("/api-keys/{key}/revoke", post(api_key_revoke))
}

async fn api_keys_list(State(roots): State<Roots>, merchant: Segment, request: Request) -> Response {
    operator(roots, "api_keys.list", &[OperatorScope::OperatorRead], request, async |app, entered| {
        let merchant = parsed(merchant, MerchantId::parse);
        let list = list_request_within(entered.query, ROWS, merchant.as_ref().map(MerchantId::as_str))?;
        app.api_keys_list(&list, merchant).await.map(Reply::List)
    })
    .await
}

async fn api_key_issue(State(roots): State<Roots>, merchant: Segment, request: Request) -> Response {
    operator(roots, "api_keys.issue", &[OperatorScope::KeysWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        let merchant = parsed(merchant, MerchantId::parse);
        app.api_key_issue(mutation, merchant, body).await.map(Reply::Answer)
    })
    .await
}

async fn api_key_rotate(State(roots): State<Roots>, key: Segment, request: Request) -> Response {
    operator(roots, "api_keys.rotate", &[OperatorScope::KeysWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Optional)?;
        app.api_key_rotate(mutation, parsed(key, KeyId::parse), body).await.map(Reply::Answer)
    })
    .await
}

async fn api_key_revoke(State(roots): State<Roots>, key: Segment, request: Request) -> Response {
    operator(roots, "api_keys.revoke", &[OperatorScope::KeysWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        app.api_key_revoke(mutation, parsed(key, KeyId::parse), body).await.map(Reply::Answer)
    })
    .await
}
