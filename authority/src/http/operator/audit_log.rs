//! The audit log (contract 6.1, 6.2).

use authority_domain::OperatorScope;
use authority_domain::list_filter::AuditFilter;

use super::Routes;
use crate::http::{Operation, page};

const LIST: Operation = Operation::get("/audit-log", "audit_log.list")
    .summary("List the operators' writes, newest first.")
    .operator(&[OperatorScope::OperatorRead])
    .filter::<AuditFilter>()
    .answers(&[page("AuditEntry", "Entries.")]);

/// The route.
pub(super) fn routes() -> Routes {
    Routes::new().list(&LIST, async |app, _, (), list, filter| app.audit_log_list(&list, filter).await)
}
