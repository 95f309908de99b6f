//! The figures of integration health (contract 2.12).

use std::collections::BTreeMap;

use async_trait::async_trait;
use authority_domain::id::EndpointId;
use authority_domain::integration_health::EndpointFigures;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// Figures of a tenant's endpoints.
#[async_trait]
pub trait HealthFigures {
    /// What waits at `now` and what was attempted since `since`, per endpoint that is not deleted. Latencies are those
    /// of the newest `sample` attempts.
    async fn endpoint_figures(
        &mut self,
        tenant: &Tenant,
        now: Timestamp,
        since: Timestamp,
        sample: i64,
    ) -> Result<BTreeMap<EndpointId, EndpointFigures>, StoreError>;
}
