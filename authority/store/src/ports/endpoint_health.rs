//! What attempts make of an endpoint, and what becomes of the deliveries that wait for one that gets no more
//! (contract 7.5, 15.6, 15.8).
//!
//! The dispatcher's side: it acts for all tenants, and learns here whose endpoint it has to do with.

use async_trait::async_trait;
use authority_domain::delivery::outcome::FailureReason;
use authority_domain::endpoint::condition::Condition;
use authority_domain::endpoint::{DisabledReason, EndpointStatus};
use authority_domain::id::EndpointId;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// An endpoint as its attempts see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionOf {
    /// Which one.
    pub endpoint_id: EndpointId,
    /// Whose it is.
    pub tenant: Tenant,
    /// Whether it gets anything.
    pub status: EndpointStatus,
    /// It was deleted while attempts were under way.
    pub deleted: bool,
    /// An alert about it is open.
    pub alerted: bool,
    /// What is known of it.
    pub condition: Condition,
}

/// Which endpoints time may have changed.
#[derive(Clone, Copy, Debug)]
pub struct Overdue {
    /// Those whose failures began by then are `failing`.
    pub failing_before: Timestamp,
    /// Those whose failures began by then are to be disabled.
    pub disabled_before: Timestamp,
    /// At most so many, those that have failed longest first.
    pub limit: i64,
}

/// Endpoints as their deliveries see them.
#[async_trait]
pub trait EndpointHealth {
    /// The conditions of these endpoints, to be read, changed and put back in one transaction. One that does not exist
    /// is left out.
    async fn conditions(&mut self, ids: &[EndpointId]) -> Result<Vec<ConditionOf>, StoreError>;

    /// Enabled endpoints that have failed for so long that they are `failing` or to be disabled, and are not yet.
    async fn conditions_overdue(&mut self, overdue: Overdue) -> Result<Vec<ConditionOf>, StoreError>;

    /// Puts back what [`EndpointHealth::conditions`] gave, as it has become.
    async fn conditions_put(&mut self, conditions: &[ConditionOf]) -> Result<(), StoreError>;

    /// Ends the wait of an endpoint that is held back: its next request, a single one, may begin now.
    async fn endpoint_probe_now(&mut self, id: &EndpointId) -> Result<(), StoreError>;

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

    /// Disables an endpoint for what its attempts showed; false when it is disabled already.
    async fn endpoint_disable(
        &mut self,
        id: &EndpointId,
        reason: DisabledReason,
        now: Timestamp,
    ) -> Result<bool, StoreError>;
}
