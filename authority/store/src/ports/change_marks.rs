//! Marks of change: short texts that differ when a page about the data would, read by whoever waits for news of it.
//!
//! A mark says that something is different and never what. It is made of counters that are written with the data, so
//! that it is read in one or a few look-ups however much there is, and is the same on every instance. What changes
//! nothing that is counted, such as a delivery that is cancelled by hand, shows with the next change.

use async_trait::async_trait;
use authority_domain::tenant::Tenant;

use crate::StoreError;

/// Marks of change.
#[async_trait]
pub trait ChangeMarks {
    /// Of a tenant: its events, and of its endpoints the settings, the condition, the attempts and the recoveries.
    async fn tenant_mark(&mut self, tenant: &Tenant) -> Result<String, StoreError>;

    /// Of everybody: the newest events, the attempts, the operator's open alerts and the audit log.
    async fn platform_mark(&mut self) -> Result<String, StoreError>;
}
