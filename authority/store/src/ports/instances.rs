//! The services that run on one database.
//!
//! Each instance reports every few seconds that it is alive ([`Instances::instance_beat`]) and reads how many there
//! are. Times are the database's own, so the clocks of instances need not agree. The others forget an instance that
//! stops reporting. On SQLite there is only ever one, which reports to nobody.

use async_trait::async_trait;

use crate::StoreError;

/// Instances.
#[async_trait]
pub trait Instances {
    /// Records that the instance `id` is alive, forgets those last seen longer ago than `forget_after_ms`, and
    /// returns how many are left, including this one.
    async fn instance_beat(&mut self, id: &str, forget_after_ms: i64) -> Result<i64, StoreError>;

    /// Forgets an instance that stops.
    async fn instance_leave(&mut self, id: &str) -> Result<(), StoreError>;
}
