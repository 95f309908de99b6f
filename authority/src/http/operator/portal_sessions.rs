//! Links to the merchant portal (contract 20).

use authority_domain::{ErrorCode, OperatorScope};

use super::Routes;
use crate::http::{Operation, created};

const PATH: &str = "/merchants/{merchant}/{mode}/portal-sessions";

const CREATE: Operation = Operation::post(PATH, "portal_sessions.create")
    .summary("Create a link to the merchant portal.")
    .details(
        "Whoever opens the link, which works once, sees and does in the portal what the scopes allow. Link and \
         session end after `expires_in_seconds`, with the key that made the link, and while the merchant is not \
         active. The link is shown only in this answer.",
    )
    .operator(&[OperatorScope::KeysWrite])
    .body(
        "PortalSessionRequest",
        concat!(
            r#"{"scopes":["webhooks:manage","events:read"],"expires_in_seconds":3600,"#,
            r#""return_url":"https://shop.example.com/settings"}"#
        ),
    )
    .answers(&[created("PortalSession", "The link.")])
    .refuses(&[ErrorCode::MerchantEnded]);

/// The route.
pub(super) fn routes() -> Routes {
    Routes::new().write(&CREATE, async |app, operator, mutation, tenant| {
        app.portal_session_create(mutation, operator.key_id, tenant).await
    })
}
