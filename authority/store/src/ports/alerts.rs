//! Alerts, while they are open and after.

use async_trait::async_trait;
use authority_domain::alert::{Alert, AlertCode, NewAlert};
use authority_domain::id::AlertId;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// Alerts. `None` for the tenant means the operator.
#[async_trait]
pub trait Alerts {
    /// Opens an alert, or counts it when it is open already; the newer severity and message stand.
    async fn alert_raise(
        &mut self,
        tenant: Option<&Tenant>,
        alert: &NewAlert,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Closes the alert of this code and subject, when it is open.
    async fn alert_close(
        &mut self,
        tenant: Option<&Tenant>,
        code: AlertCode,
        subject: &str,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Closes an open alert of this owner and gives it; `None` when there is none.
    async fn alert_close_by_id(
        &mut self,
        tenant: Option<&Tenant>,
        id: &AlertId,
        now: Timestamp,
    ) -> Result<Option<Alert>, StoreError>;

    /// The open alerts, oldest first, at most `limit`.
    async fn alerts_open(&mut self, tenant: Option<&Tenant>, limit: i64) -> Result<Vec<Alert>, StoreError>;
}
