//! The audit log (contract 6.1, 6.2).

use authority_domain::audit_log::Author;
use authority_domain::merchant::scope::OperatorScope;
use axum::extract::{Request, State};
use axum::response::Response;

use crate::app::audit_log::AuditFilter;
use crate::http::entry::{AppState, Reply, operator};
use crate::http::list_query::{ROWS, list_request};
use crate::http::operation::{Operation, page, text, time};
use crate::http::routes::Routes;

const LIST: Operation =
    Operation::get("/audit-log", "audit_log.list", "List the operators' writes, newest first.")
        .operator(&[OperatorScope::OperatorRead])
        .query(&[
            text("key_id", "Written with this operator key, in this portal session, or by `cli`."),
            text("resource_id", "About this record: an order number or an id."),
            time("created_from", "At this time or later."),
            time("created_to", "Before this time."),
        ])
        .answers(&[page("AuditEntry", "Entries.")]);

/// The route.
pub(super) fn routes() -> Routes {
    Routes::new().add(&LIST, audit_log_list)
}

async fn audit_log_list(State(state): State<AppState>, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let mut query = entered.query;
        let filter = AuditFilter {
            author: query.parsed(
                "key_id",
                "the id of an operator key or portal session, or cli",
                Author::parse,
            )?,
            resource_id: query.text("resource_id")?,
            created_from: query.time("created_from")?,
            created_to: query.time("created_to")?,
        };
        let list = list_request(query, ROWS)?;
        app.audit_log_list(&list, filter).await.map(Reply::List)
    })
    .await
}
