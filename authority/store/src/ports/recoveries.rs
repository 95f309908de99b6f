//! Recoveries, and the steps of the worker that carries them out (contract 15.2).
//!
//! A step looks for missing deliveries outside the writer, then writes in one short transaction, on condition that
//! the recovery still runs and is where the step began. So any number of instances may work on one recovery: if
//! another instance has done a step meanwhile, the step writes nothing.

use async_trait::async_trait;
use authority_domain::delivery::recovery::Recovery;
use authority_domain::id::{DeliveryId, EndpointId, RecoveryId};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use super::{Missed, Stretch};
use crate::StoreError;

/// A recovery with everything its worker needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveryJob {
    /// The record.
    pub recovery: Recovery,
    /// Its tenant.
    pub tenant: Tenant,
    /// The part of the stream that it covers.
    pub stretch: Stretch,
    /// It has counted up to this sequence.
    pub counted_to: i64,
    /// It has made deliveries up to this sequence.
    pub walked_to: i64,
}

/// Deliveries by recoveries that have not ended, of one endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryBacklog {
    /// All of them, at most the limit that was asked for.
    pub waiting: i64,
    /// Of these, the due ones, including those in flight.
    pub due: i64,
}

/// What one step of making deliveries writes.
#[derive(Clone, Debug)]
pub struct RecoveryStep {
    /// The recovery as it was read.
    pub job: RecoveryJob,
    /// The missing events, each with the id of its new delivery.
    pub missed: Vec<(DeliveryId, Missed)>,
    /// The sequence up to which the step is complete.
    pub walked_to: i64,
}

/// Recoveries.
#[async_trait]
pub trait Recoveries {
    /// Adds a recovery.
    async fn recovery_insert(&mut self, job: &RecoveryJob) -> Result<(), StoreError>;

    /// One recovery of the tenant, including recoveries of a deleted endpoint.
    async fn recovery_get(
        &mut self,
        tenant: &Tenant,
        id: &RecoveryId,
    ) -> Result<Option<Recovery>, StoreError>;

    /// Stops a recovery; false when it had ended already.
    async fn recovery_cancel(
        &mut self,
        tenant: &Tenant,
        id: &RecoveryId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Up to `limit` running recoveries of all tenants, by (endpoint, id) after that position.
    async fn recoveries_running(
        &mut self,
        after: Option<(&EndpointId, &RecoveryId)>,
        limit: i64,
    ) -> Result<Vec<RecoveryJob>, StoreError>;

    /// The recovery backlog of an endpoint, counted up to `limit`.
    async fn recovery_backlog(
        &mut self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        now: Timestamp,
        limit: i64,
    ) -> Result<RecoveryBacklog, StoreError>;

    /// Records that `found` more were counted up to `counted_to`; false when the recovery has changed since it was
    /// read.
    async fn recovery_counted(
        &mut self,
        job: &RecoveryJob,
        counted_to: i64,
        found: i64,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Makes deliveries, due at `now`, of what is still missing, and completes a recovery that has reached its end. A
    /// pending delivery of the same event is cancelled, so that the event is not sent twice. Returns how many were
    /// made; `None`, and nothing written, when the recovery has changed since it was read.
    async fn recovery_step(&mut self, step: &RecoveryStep, now: Timestamp)
    -> Result<Option<i64>, StoreError>;
}
