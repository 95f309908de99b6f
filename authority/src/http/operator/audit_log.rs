//! The audit log (contract 6.1, 6.2).

use authority_domain::audit::Author;
use authority_domain::scope::OperatorScope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::get;

use crate::app::audit_log::AuditFilter;
use crate::http::entry::{Reply, Roots, operator};
use crate::http::list_query::{ROWS, list_request};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new().route("/audit-log", get(audit_log_list))
}

async fn audit_log_list(State(roots): State<Roots>, request: Request) -> Response {
    operator(roots, "audit_log.list", &[OperatorScope::OperatorRead], request, async |app, entered| {
        let mut query = entered.query;
        let filter = AuditFilter {
            author: query.parsed("key_id", "an operator key's id or cli", Author::parse)?,
            resource_id: query.text("resource_id")?,
            created_from: query.time("created_from")?,
            created_to: query.time("created_to")?,
        };
        let list = list_request(query, ROWS)?;
        app.audit_log_list(&list, filter).await.map(Reply::List)
    })
    .await
}
