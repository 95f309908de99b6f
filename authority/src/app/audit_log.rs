//! Reading the audit log (contract 6.1, 6.2).

use authority_domain::cursor::ListKind;
use authority_domain::id::AuditId;
use authority_domain::refusal::Refusal;
use authority_store::StoreError;
use authority_store::ports::Tx;

pub use authority_store::ports::AuditFilter;

use super::App;
use super::lists::{List, ListRequest, rows_wanted};

impl App {
    /// `GET /audit-log`: newest first.
    ///
    /// # Errors
    /// `invalid_cursor`.
    pub async fn audit_log_list(&self, request: &ListRequest, filter: AuditFilter) -> Result<List, Refusal> {
        let before = self.operator_position(ListKind::OperatorAuditLog, AuditId::PREFIX, request)?;
        let wanted = rows_wanted(request);
        let entries = self
            .store
            .read_list(move |tx: &mut dyn Tx| {
                Box::pin(async move { tx.audit_page(&filter, before.as_deref(), wanted).await })
            })
            .await
            .map_err(|error: StoreError| Refusal::from(error))?;
        self.operator_records(ListKind::OperatorAuditLog, request, &entries, |entry| entry.id.as_str())
    }
}
