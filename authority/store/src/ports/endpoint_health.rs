//! How attempts change an endpoint's condition, and how the pending deliveries of a disabled or deleted endpoint are
//! cancelled (contract 7.5, 15.6, 15.8).
//!
//! Used by the dispatcher, which acts for all tenants and reads here which tenant an endpoint belongs to.

use async_trait::async_trait;
use authority_domain::delivery::outcome::FailureReason;
use authority_domain::delivery::retry::RetrySchedule;
use authority_domain::endpoint::condition::Condition;
use authority_domain::endpoint::{DisabledReason, EndpointStatus};
use authority_domain::id::EndpointId;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// An endpoint as its attempts see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionOf {
    /// Its id.
    pub endpoint_id: EndpointId,
    /// Its tenant.
    pub tenant: Tenant,
    /// Whether it is enabled and receives deliveries.
    pub status: EndpointStatus,
    /// It was deleted while attempts were under way.
    pub deleted: bool,
    /// How long its deliveries are tried again.
    pub retry_schedule: RetrySchedule,
    /// An alert about it is open.
    pub alerted: bool,
    /// Its condition.
    pub condition: Condition,
}

/// The limits that select endpoints whose state may have changed with time alone.
#[derive(Clone, Copy, Debug)]
pub struct Overdue {
    /// Endpoints whose failures began by then are `failing`.
    pub failing_before: Timestamp,
    /// Endpoints whose failures began by then are to be disabled.
    pub disabled_before: Timestamp,
    /// The same for those with the retry schedule `long`.
    pub long_disabled_before: Timestamp,
    /// The most endpoints to return, those that have failed longest first.
    pub limit: i64,
}

/// Endpoints as their deliveries see them.
#[async_trait]
pub trait EndpointHealth {
    /// The conditions of these endpoints, to be read, changed and put back in one transaction. One that does not exist
    /// is left out.
    async fn conditions(&mut self, ids: &[EndpointId]) -> Result<Vec<ConditionOf>, StoreError>;

    /// Enabled endpoints that have failed long enough to be `failing` or disabled, and are not yet.
    async fn conditions_overdue(&mut self, overdue: Overdue) -> Result<Vec<ConditionOf>, StoreError>;

    /// Writes back the changed results of [`EndpointHealth::conditions`].
    async fn conditions_put(&mut self, conditions: &[ConditionOf]) -> Result<(), StoreError>;

    /// Ends the wait of an endpoint that is held back: its next request, a single one, may begin now.
    async fn endpoint_probe_now(&mut self, id: &EndpointId) -> Result<(), StoreError>;

    /// Cancels up to `limit` pending deliveries of an endpoint; returns how many. A delivery in flight keeps its
    /// lease and is settled by its holder.
    async fn deliveries_cancel(
        &mut self,
        endpoint: &EndpointId,
        reason: FailureReason,
        now: Timestamp,
        limit: i64,
    ) -> Result<u64, StoreError>;

    /// Cancels up to `limit` pending deliveries of endpoints that are disabled or deleted, unless somebody still
    /// holds them; returns how many.
    async fn deliveries_cancel_stranded(&mut self, now: Timestamp, limit: i64) -> Result<u64, StoreError>;

    /// Disables an endpoint because of its attempts; false when it is disabled already.
    async fn endpoint_disable(
        &mut self,
        id: &EndpointId,
        reason: DisabledReason,
        now: Timestamp,
    ) -> Result<bool, StoreError>;
}
