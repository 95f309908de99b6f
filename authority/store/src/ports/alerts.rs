//! Alerts, while they are open and after.

use async_trait::async_trait;
use authority_domain::alert::{Alert, AlertCode, AlertStatus, NewAlert};
use authority_domain::id::{AlertId, EndpointId};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// What narrows the list of the operator's alerts. Empty does not narrow.
#[derive(Clone, Debug, Default)]
pub struct AlertFilter {
    /// With any of these codes.
    pub codes: Vec<AlertCode>,
    /// In any of these states.
    pub status: Vec<AlertStatus>,
}

/// Alerts. `None` for the tenant means the operator.
#[async_trait]
pub trait Alerts {
    /// Opens an alert, or increments its count when it is open already; the newer severity and message replace the
    /// old ones.
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

    /// Closes an open alert of this owner and returns it; `None` when there is none.
    async fn alert_close_by_id(
        &mut self,
        tenant: Option<&Tenant>,
        id: &AlertId,
        now: Timestamp,
    ) -> Result<Option<Alert>, StoreError>;

    /// Up to `limit` of the operator's alerts before the one with the id `before`, newest first.
    async fn alerts_page(
        &mut self,
        filter: &AlertFilter,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<Alert>, StoreError>;

    /// The open alerts, oldest first, at most `limit`.
    async fn alerts_open(&mut self, tenant: Option<&Tenant>, limit: i64) -> Result<Vec<Alert>, StoreError>;

    /// Closes the alerts of these codes about these endpoints, for all owners.
    async fn alerts_close_about(
        &mut self,
        endpoints: &[EndpointId],
        codes: &[AlertCode],
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Closes `deliveries_failed` of an endpoint when every event that was given up there since `since` has been
    /// delivered after all.
    async fn alert_close_delivered(
        &mut self,
        endpoint: &EndpointId,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Closes the alerts of a code that were not raised since `since`, for all owners; returns how many.
    async fn alerts_close_quiet(
        &mut self,
        code: AlertCode,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<u64, StoreError>;
}
