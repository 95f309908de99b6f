//! What attempts make of an endpoint, and what becomes of the deliveries that wait for one that gets no more
//! (contract 7.5).
//!
//! The dispatcher's side: it acts for all tenants, and learns here whose endpoint it has to do with.

use async_trait::async_trait;
use authority_domain::endpoint::HealthState;
use authority_domain::id::EndpointId;
use authority_domain::outcome::FailureReason;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// What a batch of attempts says of one endpoint.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct HealthUpdate {
    pub endpoint_id: EndpointId,
    /// A success in the batch resets the count before the failures after it are added.
    pub succeeded: bool,
    /// Failures since the last success of the batch.
    pub failures: i64,
    pub last_success_at: Option<Timestamp>,
    /// The first failure since the last success of the batch.
    pub first_failure_at: Option<Timestamp>,
    pub last_failure_at: Option<Timestamp>,
    pub last_response_status: Option<i64>,
    pub last_error: Option<String>,
}

/// What an endpoint is after a batch of attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointCondition {
    /// Whose it is.
    pub tenant: Tenant,
    /// What recent attempts say.
    pub state: HealthState,
    /// Failures since the last success.
    pub consecutive_failures: i64,
    /// It was deleted while the attempts were under way.
    pub deleted: bool,
}

/// Endpoints as their deliveries see them.
#[async_trait]
pub trait EndpointHealth {
    /// Adds a batch's verdict to an endpoint's health.
    async fn endpoint_health_add(&mut self, update: &HealthUpdate) -> Result<EndpointCondition, StoreError>;

    /// Cancels up to `limit` of the deliveries that wait for an endpoint; returns how many. What is being sent right
    /// now keeps its lease and is settled by its holder.
    async fn deliveries_cancel(
        &mut self,
        endpoint: &EndpointId,
        reason: FailureReason,
        now: Timestamp,
        limit: i64,
    ) -> Result<u64, StoreError>;

    /// Cancels up to `limit` deliveries that still wait for endpoints which are disabled or deleted, and that nobody
    /// holds any more; returns how many.
    async fn deliveries_cancel_stranded(&mut self, now: Timestamp, limit: i64) -> Result<u64, StoreError>;

    /// Disables an endpoint because it answered 410; false when it is disabled already.
    async fn endpoint_disable_gone(&mut self, id: &EndpointId, now: Timestamp) -> Result<bool, StoreError>;
}
