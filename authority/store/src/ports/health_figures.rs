//! The figures of integration health (contract 2.12).

use std::collections::BTreeMap;

use async_trait::async_trait;
use authority_domain::delivery::integration_health::EndpointFigures;
use authority_domain::id::EndpointId;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// Figures of a tenant's endpoints.
#[async_trait]
pub trait HealthFigures {
    /// The backlog at `now`, up to 10,000 of each, and the attempts since the five minutes of `since`, per endpoint
    /// that is not deleted. The oldest pending delivery is that of the 10,000 that are due first. Latencies are those
    /// of the newest `sample` attempts.
    async fn endpoint_figures(
        &mut self,
        tenant: &Tenant,
        now: Timestamp,
        since: Timestamp,
        sample: i64,
    ) -> Result<BTreeMap<EndpointId, EndpointFigures>, StoreError>;
}
