//! Checkpoints of consumers.

use async_trait::async_trait;
use authority_domain::sync::checkpoint::{Checkpoint, CheckpointStream};
use authority_domain::tenant::Tenant;

use crate::StoreError;

/// Checkpoints.
#[async_trait]
pub trait Checkpoints {
    /// The checkpoint of this consumer in this feed.
    async fn checkpoint_get(
        &mut self,
        tenant: &Tenant,
        stream: CheckpointStream,
        name: &str,
    ) -> Result<Option<Checkpoint>, StoreError>;

    /// How many the tenant has, in both feeds.
    async fn checkpoint_count(&mut self, tenant: &Tenant) -> Result<i64, StoreError>;

    /// Writes a version of a checkpoint: the first one inserts it, a later one replaces the version before it.
    async fn checkpoint_put(&mut self, tenant: &Tenant, checkpoint: &Checkpoint) -> Result<(), StoreError>;

    /// Up to `limit` checkpoints before position `before` (newest first; `None` from the newest), each with its
    /// position. Empty `streams` means all streams.
    async fn checkpoints_page(
        &mut self,
        tenant: &Tenant,
        streams: &[String],
        name: Option<&str>,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, Checkpoint)>, StoreError>;
}
