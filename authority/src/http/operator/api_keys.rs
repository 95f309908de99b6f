//! API keys (contract 2.11, 6.2).

use authority_domain::{ErrorCode, OperatorScope};

use super::Routes;
use crate::http::{Operation, created, ok, page};

const LIST: Operation = Operation::get("/merchants/{merchant}/api-keys", "api_keys.list")
    .summary("List a merchant's API keys, newest first.")
    .operator(&[OperatorScope::OperatorRead])
    .answers(&[page("ApiKey", "Keys.")]);

const ISSUE: Operation = Operation::post("/merchants/{merchant}/api-keys", "api_keys.issue")
    .summary("Issue an API key to a merchant.")
    .details("The key is shown only in this answer.")
    .operator(&[OperatorScope::KeysWrite])
    .body(
        "ApiKeyRequest",
        r#"{"name":"Shop backend","mode":"test","scopes":["orders:read","refunds:write"]}"#,
    )
    .answers(&[created("IssuedApiKey", "The key.")])
    .refuses(&[ErrorCode::MerchantEnded]);

const ROTATE: Operation = Operation::post("/api-keys/{key}/rotate", "api_keys.rotate")
    .summary("Rotate an API key.")
    .details("The old key works until the overlap ends. The new key is shown only in this answer.")
    .operator(&[OperatorScope::KeysWrite])
    .optional_body("ApiKeyRotationRequest", r#"{"overlap_seconds":86400}"#)
    .answers(&[created("IssuedApiKey", "The new key.")])
    .refuses(&[ErrorCode::RotationInProgress, ErrorCode::InvalidStateTransition, ErrorCode::MerchantEnded]);

const REVOKE: Operation = Operation::post("/api-keys/{key}/revoke", "api_keys.revoke")
    .summary("Revoke an API key at once.")
    .operator(&[OperatorScope::KeysWrite])
    .body("ReasonRequest", r#"{"reason":"leaked"}"#)
    .answers(&[ok("ApiKey", "The revoked key.")]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&LIST, async |app, _, merchant, list, ()| app.api_keys_list(&list, merchant).await)
        .write(&ISSUE, async |app, _, mutation, merchant| app.api_key_issue(mutation, merchant).await)
        .write(&ROTATE, async |app, _, mutation, id| app.api_key_rotate(mutation, id).await)
        .write(&REVOKE, async |app, _, mutation, id| app.api_key_revoke(mutation, id).await)
}
