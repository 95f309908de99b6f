//! API keys (contract 2.11, 6.2).

use authority_domain::error_code::ErrorCode;
use authority_domain::id::{KeyId, MerchantId};
use authority_domain::merchant::scope::OperatorScope;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{Segment, parsed};
use crate::http::entry::{AppState, Reply, operator};
use crate::http::list_query::{ROWS, list_request_within};
use crate::http::operation::{Operation, created, ok, page};
use crate::http::routes::Routes;

const LIST: Operation = Operation::get(
    "/merchants/{merchant}/api-keys",
    "api_keys.list",
    "List a merchant's API keys, newest first.",
)
.operator(&[OperatorScope::OperatorRead])
.answers(&[page("ApiKey", "Keys.")]);

const ISSUE: Operation =
    Operation::post("/merchants/{merchant}/api-keys", "api_keys.issue", "Issue an API key to a merchant.")
        .details("The key is shown only in this answer.")
        .operator(&[OperatorScope::KeysWrite])
        .body(
            "ApiKeyRequest",
            r#"{"name":"Shop backend","mode":"test","scopes":["orders:read","refunds:write"]}"#,
        )
        .answers(&[created("IssuedApiKey", "The key.")])
        .refuses(&[ErrorCode::MerchantEnded]);

const ROTATE: Operation = Operation::post("/api-keys/{key}/rotate", "api_keys.rotate", "Rotate an API key.")
    .details("The old key works until the overlap ends. The new key is shown only in this answer.")
    .operator(&[OperatorScope::KeysWrite])
    .optional_body("ApiKeyRotationRequest", r#"{"overlap_seconds":86400}"#)
    .answers(&[created("IssuedApiKey", "The new key.")])
    .refuses(&[ErrorCode::RotationInProgress, ErrorCode::InvalidStateTransition, ErrorCode::MerchantEnded]);

const REVOKE: Operation =
    Operation::post("/api-keys/{key}/revoke", "api_keys.revoke", "Revoke an API key at once.")
        .operator(&[OperatorScope::KeysWrite])
        .body("ReasonRequest", r#"{"reason":"leaked"}"#)
        .answers(&[ok("ApiKey", "The revoked key.")]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .add(&LIST, api_keys_list)
        .add(&ISSUE, api_key_issue)
        .add(&ROTATE, api_key_rotate)
        .add(&REVOKE, api_key_revoke)
}

async fn api_keys_list(State(state): State<AppState>, merchant: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let merchant = parsed(merchant, MerchantId::parse);
        let list = list_request_within(entered.query, ROWS, merchant.as_ref().map(MerchantId::as_str))?;
        app.api_keys_list(&list, merchant).await.map(Reply::List)
    })
    .await
}

async fn api_key_issue(State(state): State<AppState>, merchant: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        let merchant = parsed(merchant, MerchantId::parse);
        app.api_key_issue(mutation, merchant, body).await.map(Reply::Answer)
    })
    .await
}

async fn api_key_rotate(State(state): State<AppState>, key: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        app.api_key_rotate(mutation, parsed(key, KeyId::parse), body).await.map(Reply::Answer)
    })
    .await
}

async fn api_key_revoke(State(state): State<AppState>, key: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        app.api_key_revoke(mutation, parsed(key, KeyId::parse), body).await.map(Reply::Answer)
    })
    .await
}
