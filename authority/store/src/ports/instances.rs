//! The services that run on one database.
//!
//! Each says every few seconds that it is there ([`Instances::instance_beat`]) and learns how many there are. Times are
//! the database's own, so that the clocks of instances need not agree. One that says nothing any more is forgotten by
//! the others. On SQLite there is only ever one, which needs to tell nobody.

use async_trait::async_trait;

use crate::StoreError;

/// Instances.
#[async_trait]
pub trait Instances {
    /// Notes that the instance `id` is there, forgets those that were last seen longer ago than `forget_after_ms`, and
    /// tells how many are left, this one among them.
    async fn instance_beat(&mut self, id: &str, forget_after_ms: i64) -> Result<i64, StoreError>;

    /// Forgets an instance that stops.
    async fn instance_leave(&mut self, id: &str) -> Result<(), StoreError>;
}
