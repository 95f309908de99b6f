//! The signing secrets of an endpoint through its rotations (contract 4.10).
//!
//! An endpoint has one secret, or two while an overlap is open: the newest, which has no end, and the one before it.

use async_trait::async_trait;
use authority_domain::id::EndpointId;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use super::SealedSecret;
use crate::StoreError;

/// Signing secrets. The caller has checked that the endpoint belongs to the tenant.
#[async_trait]
pub trait SigningSecrets {
    /// The version of the endpoint's newest secret.
    async fn secret_version(&mut self, tenant: &Tenant, endpoint: &EndpointId) -> Result<i64, StoreError>;

    /// Adds the newest secret; those before it stop signing at `previous_until`. All but the one before it are
    /// removed, and that one too if it has expired.
    async fn secret_rotate(
        &mut self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        newest: &SealedSecret,
        previous_until: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Removes every secret but the newest.
    async fn secret_retire(&mut self, tenant: &Tenant, endpoint: &EndpointId) -> Result<(), StoreError>;

    /// Removes up to `limit` expired secrets, of any merchant, and ends the overlaps; returns the endpoints.
    async fn secrets_expire(&mut self, now: Timestamp, limit: i64) -> Result<Vec<EndpointId>, StoreError>;
}
