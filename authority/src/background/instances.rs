//! Counts the instances that serve the database, so that together they keep to a merchant's rate limits (contract
//! 18.4-9).
//!
//! Every `BEAT`, an instance refreshes a row of its own and counts the rows. The limiter divides every bucket by
//! that number. An instance that stops removes its row; one that dies is forgotten after `FORGET_AFTER_MS`. So for
//! up to a beat after an instance has started, the others still allow what they did before: at most one bucket more.
//!
//! While the database does not answer, the last number holds: without the database no request is answered either.
//! Deliberately absent: anything on SQLite, where one process serves the file and a lock keeps other processes out.

use std::sync::Arc;
use std::time::Duration;

use authority_store::shards::Turns;
use authority_store::tx::Tx;
use authority_store::{Store, StoreError};
use tokio::sync::watch;

use super::goes_on;
use crate::dice::Dice;
use crate::http::rate_limit::RateLimiter;

/// Time between two beats.
const BEAT: Duration = Duration::from_secs(2);

/// Five beats: a slow commit or two do not make an instance disappear.
const FORGET_AFTER_MS: i64 = 10_000;

/// This instance among those that serve the database.
pub struct Presence {
    store: Store,
    id: String,
    limiter: Arc<RateLimiter>,
}

impl Presence {
    /// Announces this instance and divides the limiter's buckets. `None` where there can be no other instance.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub async fn announce(
        store: &Store,
        dice: &dyn Dice,
        limiter: Arc<RateLimiter>,
    ) -> Result<Option<Self>, StoreError> {
        if store.is_only_server() {
            return Ok(None);
        }
        let mut id = [0; 16];
        dice.fill(&mut id);
        let presence =
            Self { store: store.clone(), id: format!("{:032x}", u128::from_be_bytes(id)), limiter };
        presence.beat().await?;
        Ok(Some(presence))
    }

    /// Keeps announcing it until `stop` turns true.
    pub async fn keep(self, mut stop: watch::Receiver<bool>) {
        while goes_on(&mut stop, BEAT).await {
            if let Err(error) = self.beat().await {
                tracing::warn!(%error, "this instance could not be announced to the others");
            }
        }
        let id = self.id;
        let left: Result<(), StoreError> = self
            .store
            .write_with(Turns::NONE, move |tx: &mut Tx| Box::pin(async move { tx.instance_leave(&id).await }))
            .await;
        if let Err(error) = left {
            tracing::warn!(%error, "the other instances learn of this one's end by its silence");
        }
    }

    async fn beat(&self) -> Result<(), StoreError> {
        let id = self.id.clone();
        let instances: i64 = self
            .store
            .write_with(Turns::NONE, move |tx: &mut Tx| {
                Box::pin(async move { tx.instance_beat(&id, FORGET_AFTER_MS).await })
            })
            .await?;
        self.limiter.share_among(u32::try_from(instances).unwrap_or(u32::MAX));
        Ok(())
    }
}
