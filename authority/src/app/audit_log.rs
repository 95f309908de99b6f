//! Reading the audit log (contract 6.1, 6.2).

use authority_domain::audit_log::AuditEntry;
use authority_domain::list_filter::AuditFilter;
use authority_domain::{AuditId, ListKind, Result};

use super::App;
use super::lists::{List, ListRequest, written};

impl App {
    /// `GET /audit-log`: newest first.
    pub async fn audit_log_list(&self, request: &ListRequest, filter: AuditFilter) -> Result<List> {
        let show = |entry: AuditEntry| Ok((entry.id.to_string(), written(entry)?));
        self.operator_list(ListKind::OperatorAuditLog, AuditId::PREFIX, request, show, async move |tx, of| {
            Ok(tx.audit_page(&filter, of.before.as_deref(), of.rows).await?)
        })
        .await
    }
}
