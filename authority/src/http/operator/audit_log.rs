//! The audit log (contract 6.1, 6.2).

use authority_domain::audit_log::Author;
use authority_domain::merchant::scope::OperatorScope;
use authority_domain::refusal::Refusal;

use crate::app::access::Operator;
use crate::app::audit_log::AuditFilter;
use crate::http::operation::{Operation, page, text, time};
use crate::http::query::Query;
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
    Routes::new().list(&LIST, filter, async |app, _: Operator, (), list, filter| {
        app.audit_log_list(&list, filter).await
    })
}

fn filter(query: &mut Query) -> Result<AuditFilter, Refusal> {
    Ok(AuditFilter {
        author: query.parsed(
            "key_id",
            "the id of an operator key or portal session, or cli",
            Author::parse,
        )?,
        resource_id: query.text("resource_id")?,
        created_from: query.time("created_from")?,
        created_to: query.time("created_to")?,
    })
}
