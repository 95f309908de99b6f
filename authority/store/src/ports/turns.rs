//! The turns of the job's transaction (contract 21; see [`crate::shards`]).

use authority_domain::id::MerchantId;

use crate::StoreError;
use crate::shards::ShardSet;

/// What the job's transaction may write.
pub trait TurnHolder {
    /// Whether the transaction holds the turn of this merchant. A job that only reads needs no turns and holds all.
    fn holds(&self, merchant: &MerchantId) -> bool;

    /// Demands the turns of these shards.
    ///
    /// # Errors
    /// [`StoreError::TurnMissing`] when the transaction does not hold them all. The job then ends, whatever it returns,
    /// and runs again with them.
    fn need_turns(&mut self, shards: ShardSet) -> Result<(), StoreError>;

    /// The turns that were demanded in vain.
    fn missing_turns(&self) -> Option<ShardSet>;
}
