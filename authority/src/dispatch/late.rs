//! Outcomes that had to be left because somebody else was writing for their merchants.
//!
//! They are written beside the batches that follow, in jobs for one shard each, and no shard waits for another: a turn
//! that cannot be had for long delays what is left of its own shard. Where several instances write for one merchant all
//! the time, its turn goes from one transaction that waits to the next and is never free. Whoever has waited for it
//! takes along the jobs that do not wait, those that stand in the queue then. One that is about other merchants as well
//! never does, because it goes ahead with their turns. Where nobody here waits, the job does so itself.
//!
//! What else ends for a shard of which something was left comes behind that, so that its order stays.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use authority_store::shards::{Shard, Turns};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;

use super::settle::{BATCH_MAX, SentAttempt, Settler, log};

/// The outcomes that wait for those of their shard that are being written. A shard is here, maybe with none, until
/// nothing is left of it.
#[derive(Default)]
struct Left(Mutex<BTreeMap<Shard, Vec<SentAttempt>>>);

impl Left {
    fn has(&self, shard: Shard) -> bool {
        self.shards().contains_key(&shard)
    }

    /// Returns the shard if nothing was left of it before: somebody has to begin with it.
    fn add(&self, finished: SentAttempt) -> Option<Shard> {
        let shard = shard_of(&finished);
        match self.shards().entry(shard) {
            Entry::Occupied(mut of_shard) => {
                of_shard.get_mut().push(finished);
                None
            }
            Entry::Vacant(of_shard) => {
                of_shard.insert(vec![finished]);
                Some(shard)
            }
        }
    }

    /// The next batch of a shard; `None` when nothing is left of it.
    fn next(&self, shard: Shard) -> Option<Vec<SentAttempt>> {
        let mut shards = self.shards();
        let of_shard = shards.get_mut(&shard)?;
        if of_shard.is_empty() {
            shards.remove(&shard);
            return None;
        }
        let rest = of_shard.split_off(of_shard.len().min(BATCH_MAX));
        Some(std::mem::replace(of_shard, rest))
    }

    fn shards(&self) -> MutexGuard<'_, BTreeMap<Shard, Vec<SentAttempt>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn shard_of(finished: &SentAttempt) -> Shard {
    Shard::of(&finished.delivery.merchant_id)
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
        leave: mpsc::UnboundedSender<Shard>,
        left: &Left,
    ) {
        let add = |finished: SentAttempt| {
            if let Some(shard) = left.add(finished) {
                // Whoever receives it ends after this.
                let _ = leave.send(shard);
            }
        };
        let mut batch = Vec::with_capacity(BATCH_MAX);
        while finished.recv_many(&mut batch, BATCH_MAX).await > 0 {
            batch.iter().for_each(log);
            let is_behind = |finished: &SentAttempt| left.has(shard_of(finished));
            let (behind, now): (Vec<_>, Vec<_>) = batch.drain(..).partition(is_behind);
            behind.into_iter().for_each(add);
            if !now.is_empty() {
                // The next batch waits for this one.
                self.settle(now, Turns::at_once).await.into_iter().for_each(add);
            }
        }
    }

    async fn settle_late(&self, mut late: mpsc::UnboundedReceiver<Shard>, left: &Left) {
        let mut under_way: FuturesUnordered<BoxFuture<'_, ()>> = FuturesUnordered::new();
        loop {
            tokio::select! {
                Some(shard) = late.recv() => under_way.push(Box::pin(self.settle_shard(shard, left))),
                Some(()) = under_way.next() => {}
                else => return,
            }
        }
    }

    /// Settles what is left of a shard, until nothing is.
    async fn settle_shard(&self, shard: Shard, left: &Left) {
        while let Some(batch) = left.next(shard) {
            let not_now = self.settle(batch, Turns::some_of).await;
            if !not_now.is_empty() {
                // It did not stand in the queue, so nobody here waits for the turn. Nothing comes back from who does.
                self.settle(not_now, Turns::each).await;
            }
        }
    }
}
