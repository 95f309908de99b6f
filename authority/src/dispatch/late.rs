//! Outcomes that had to be left because somebody else was writing for their merchants.
//!
//! They are written beside the batches that follow, in jobs for one shard each. Where several instances write for one
//! merchant all the time, its turn goes from one transaction that waits to the next and is never free. Whoever has
//! waited for it takes along the jobs that do not wait, those that stand in the queue then. One that is about other
//! merchants as well never does, because it goes ahead with their turns.
//!
//! What else ends for a merchant of which something was left comes behind that, so that its order stays.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use authority_domain::MerchantId;
use authority_store::shards::Shard;
use futures_util::future::join_all;
use tokio::sync::mpsc;

use super::settle::{BATCH_MAX, SentAttempt, Settler, log};

/// How long to wait before outcomes are tried again whose merchants somebody else was writing for.
const RETRY_TURNS: Duration = Duration::from_millis(20);

/// How many outcomes of each merchant are left.
#[derive(Default)]
struct Left(Mutex<BTreeMap<MerchantId, usize>>);

impl Left {
    fn has(&self, merchant: &MerchantId) -> bool {
        self.counts().contains_key(merchant)
    }

    fn add(&self, merchant: &MerchantId) {
        *self.counts().entry(merchant.clone()).or_default() += 1;
    }

    fn remove(&self, merchant: &MerchantId) {
        let mut counts = self.counts();
        if let Some(count) = counts.get_mut(merchant) {
            *count -= 1;
            if *count == 0 {
                counts.remove(merchant);
            }
        }
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<MerchantId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Settler {
    /// Settles until every sender of outcomes is gone.
    pub(super) async fn run(self, finished: mpsc::Receiver<SentAttempt>) {
        let left = Left::default();
        let (leave, late) = mpsc::unbounded_channel();
        tokio::join!(self.settle_all(finished, leave, &left), self.settle_late(late, &left));
    }

    async fn settle_all(
        &self,
        mut finished: mpsc::Receiver<SentAttempt>,
        leave: mpsc::UnboundedSender<SentAttempt>,
        left: &Left,
    ) {
        let mut batch = Vec::with_capacity(BATCH_MAX);
        while finished.recv_many(&mut batch, BATCH_MAX).await > 0 {
            batch.iter().for_each(log);
            let is_behind = |finished: &SentAttempt| left.has(&finished.delivery.merchant_id);
            let (behind, now): (Vec<_>, Vec<_>) = batch.drain(..).partition(is_behind);
            let not_now = if now.is_empty() { now } else { self.settle(now).await };
            for finished in behind.into_iter().chain(not_now) {
                left.add(&finished.delivery.merchant_id);
                // Whoever receives them ends after this.
                let _ = leave.send(finished);
            }
        }
    }

    async fn settle_late(&self, mut late: mpsc::UnboundedReceiver<SentAttempt>, left: &Left) {
        let mut batch = Vec::new();
        loop {
            if batch.is_empty() {
                if late.recv_many(&mut batch, BATCH_MAX).await == 0 {
                    return;
                }
            } else {
                tokio::time::sleep(RETRY_TURNS).await;
            }
            while let Ok(finished) = late.try_recv() {
                batch.push(finished);
            }
            let mut shards: BTreeMap<Shard, Vec<SentAttempt>> = BTreeMap::new();
            for finished in batch {
                shards.entry(Shard::of(&finished.delivery.merchant_id)).or_default().push(finished);
            }
            let settled = join_all(shards.into_values().map(|of_shard| self.settle_shard(of_shard, left)));
            batch = settled.await.into_iter().flatten().collect();
        }
    }

    /// Settles a batch of one shard; returns what is still left.
    async fn settle_shard(&self, mut batch: Vec<SentAttempt>, left: &Left) -> Vec<SentAttempt> {
        let rest = batch.split_off(batch.len().min(BATCH_MAX));
        let merchants: Vec<MerchantId> =
            batch.iter().map(|finished| finished.delivery.merchant_id.clone()).collect();
        let mut not_now = self.settle(batch).await;
        for finished in &not_now {
            left.add(&finished.delivery.merchant_id);
        }
        merchants.iter().for_each(|merchant| left.remove(merchant));
        not_now.extend(rest);
        not_now
    }
}
