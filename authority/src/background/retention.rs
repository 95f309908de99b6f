//! Retention: removes events, deliveries and attempts past the configured age (contract 15.13).
//!
//! A round finds the events that are too old by their ids, which ascend with time, and so reads nothing of merchants of
//! whom nothing is due. Each of their streams loses its oldest events, in small batches; streams of one shard share a
//! transaction. It is a short one with a pause after it, so that no other write waits noticeably. What to remove is
//! found outside the writer and checked again inside it: several instances may do the same round. Without the setting
//! nothing runs, and everything is kept for ever.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use authority_domain::{EventId, Tenant, Timestamp};
use authority_store::shards::{Shard, Turns};
use authority_store::tx::{OldEvent, Tx};
use authority_store::{Store, StoreError};
use tokio::sync::watch;

use super::goes_on;
use crate::clock::Clock;

/// Time between rounds.
const ROUND: Duration = Duration::from_secs(60);

/// The pause between two transactions.
const PAUSE: Duration = Duration::from_millis(20);

/// Events per transaction.
const EVENTS_MAX: usize = 200;

/// Rows of deliveries and attempts per transaction.
const ROWS_MAX: i64 = 1_000;

/// Events that are looked up at a time, to see whose they are.
const LOOKED_UP: i64 = 1_000;

/// Keeps events for `kept`, until `stop` turns true.
pub async fn retain(store: Store, clock: Arc<dyn Clock>, kept: Duration, mut stop: watch::Receiver<bool>) {
    let kept_ms = i64::try_from(kept.as_millis()).unwrap_or(i64::MAX);
    let mut pause = Duration::ZERO;
    while goes_on(&mut stop, pause).await {
        let before = Timestamp::from_ms(clock.now_ms().saturating_sub(kept_ms));
        let mut round = Round { store: &store, before, stop: &stop, batch: Batch::default(), removed: 0 };
        match round.run().await {
            Ok(()) if round.removed == 0 => {}
            Ok(()) => tracing::info!(events = round.removed, "removed what is past its retention"),
            Err(error) => tracing::warn!(%error, "what is past its retention could not be removed"),
        }
        pause = ROUND;
    }
}

/// What a round does to the stream of a tenant next.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Removes so many of its oldest events, with so many rows.
    Remove {
        events: usize,
        rows: i64,
        /// Afterwards nothing more of the stream can go.
        all: bool,
    },
    /// Removes some of the first event's replays and recovery deliveries, with their attempts.
    Thin(OldEvent),
}

/// What is removed in one transaction: the oldest events of streams of one shard.
#[derive(Default)]
struct Batch {
    streams: Vec<(Tenant, Vec<EventId>)>,
    events: usize,
    rows: i64,
}

struct Round<'a> {
    store: &'a Store,
    before: Timestamp,
    stop: &'a watch::Receiver<bool>,
    batch: Batch,
    /// Events.
    removed: u64,
}

impl Round<'_> {
    /// Removes everything that may be removed.
    async fn run(&mut self) -> Result<(), StoreError> {
        let mut after: Option<EventId> = None;
        // An event that cannot go yet keeps its place among the oldest; its tenant's turn comes once in a round.
        let mut seen = BTreeSet::new();
        loop {
            let due = self.due(after).await?;
            after = due.last().map(|(last, _)| last.clone());
            if after.is_none() {
                return Ok(());
            }
            let tenants = due.into_iter().map(|(_, tenant)| tenant);
            let mut tenants: Vec<Tenant> = tenants.filter(|tenant| seen.insert(tenant.clone())).collect();
            tenants.sort_by_key(|tenant| Shard::of(&tenant.merchant_id));
            for tenant in tenants {
                self.remove_of(&tenant).await?;
                if *self.stop.borrow() {
                    return Ok(());
                }
            }
            self.flush().await?;
        }
    }

    /// Removes the oldest events of a stream; the last of them with those of the next stream.
    async fn remove_of(&mut self, tenant: &Tenant) -> Result<(), StoreError> {
        while !*self.stop.borrow() {
            let oldest = self.oldest(tenant).await?;
            match next(&oldest, self.before) {
                None => return Ok(()),
                Some(Step::Remove { events, rows, all }) => {
                    let ids = oldest.into_iter().take(events).map(|event| event.id);
                    self.add(tenant, ids.collect(), rows).await?;
                    if all {
                        return Ok(());
                    }
                    self.flush().await?;
                }
                Some(Step::Thin(event)) => {
                    self.flush().await?;
                    if self.thin(tenant, &event.id).await? > 0 {
                        continue;
                    }
                    // Thinning left only the deliveries that were made with the event: few endpoints, many attempts.
                    self.add(tenant, vec![event.id], event.rows).await?;
                    if self.flush().await? == 0 {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds to the batch what it has room for; what has none begins the next one.
    async fn add(&mut self, tenant: &Tenant, events: Vec<EventId>, rows: i64) -> Result<(), StoreError> {
        let shard = Shard::of(&tenant.merchant_id);
        let elsewhere = |(other, _): &(Tenant, _)| Shard::of(&other.merchant_id) != shard;
        let batch = &self.batch;
        if batch.streams.first().is_some_and(elsewhere)
            || batch.events + events.len() > EVENTS_MAX
            || batch.rows + rows > ROWS_MAX
        {
            self.flush().await?;
        }
        self.batch.events += events.len();
        self.batch.rows += rows;
        self.batch.streams.push((tenant.clone(), events));
        Ok(())
    }

    /// Removes what is in the batch; returns how many events that was. One that was replayed meanwhile stays, with its
    /// stream: the next round tries again.
    async fn flush(&mut self) -> Result<u64, StoreError> {
        let (Batch { streams, .. }, before) = (std::mem::take(&mut self.batch), self.before);
        if streams.is_empty() {
            return Ok(0);
        }
        let turns = turns(streams.iter().map(|(tenant, _)| tenant));
        let removed: Result<u64, StoreError> = self
            .store
            .write_with(turns, move |tx: &mut Tx| {
                Box::pin(async move { tx.retention_remove(&streams, before).await })
            })
            .await;
        let removed = removed?;
        self.removed += removed;
        tokio::time::sleep(PAUSE).await;
        Ok(removed)
    }

    /// Removes deliveries of an event that has too many for one transaction; returns how many.
    async fn thin(&self, tenant: &Tenant, event: &EventId) -> Result<u64, StoreError> {
        let (of, event) = (tenant.clone(), event.clone());
        let thinned: Result<u64, StoreError> = self
            .store
            .write_with(turns([tenant]), move |tx: &mut Tx| {
                Box::pin(async move { tx.retention_thin(&of, &event, ROWS_MAX / 2).await })
            })
            .await;
        tokio::time::sleep(PAUSE).await;
        thinned
    }

    async fn due(&self, after: Option<EventId>) -> Result<Vec<(EventId, Tenant)>, StoreError> {
        let before = self.before;
        self.store
            .read(move |tx: &mut Tx| {
                Box::pin(async move { tx.retention_due(after.as_ref(), before, LOOKED_UP).await })
            })
            .await
    }

    async fn oldest(&self, tenant: &Tenant) -> Result<Vec<OldEvent>, StoreError> {
        let (of, limit) = (tenant.clone(), i64::try_from(EVENTS_MAX).unwrap_or(i64::MAX));
        self.store
            .read(move |tx: &mut Tx| Box::pin(async move { tx.retention_oldest(&of, limit).await }))
            .await
    }
}

/// The turns of these tenants, and of the platform, whose deliveries of an event go with it.
fn turns<'t>(tenants: impl IntoIterator<Item = &'t Tenant>) -> Turns {
    let platform = Tenant::operator().merchant_id;
    Turns::each(tenants.into_iter().map(|tenant| &tenant.merchant_id).chain([&platform]).collect())
}

/// Which of a stream's oldest events may be removed: those that are old enough, up to the first with a pending
/// delivery, and no more than have [`ROWS_MAX`] rows together.
fn next(oldest: &[OldEvent], before: Timestamp) -> Option<Step> {
    let (mut events, mut rows) = (0, 0);
    let mut all = oldest.len() < EVENTS_MAX;
    for event in oldest {
        if event.created_at >= before || event.pending {
            all = true;
            break;
        }
        if rows + event.rows > ROWS_MAX {
            if events == 0 {
                return Some(Step::Thin(event.clone()));
            }
            all = false;
            break;
        }
        events += 1;
        rows += event.rows;
    }
    (events > 0).then_some(Step::Remove { events, rows, all })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(sequence: i64, at: i64, rows: i64, pending: bool) -> OldEvent {
        let id = EventId::from_store(format!("evt_{sequence}"));
        OldEvent { sequence, id, created_at: Timestamp::from_ms(at), rows, pending }
    }

    #[test]
    fn only_what_is_old_and_ended_goes_a_little_at_a_time() {
        let remove = |events, rows, all| Some(Step::Remove { events, rows, all });
        let table = [
            (vec![], None),
            (vec![event(5, 10, 1, false)], None),
            (vec![event(5, 9, 1, false)], remove(1, 1, true)),
            (vec![event(5, 9, 1, true), event(6, 9, 1, false)], None),
            (vec![event(5, 8, 1, false), event(6, 9, 1, true), event(7, 9, 1, false)], remove(1, 1, true)),
            (vec![event(5, 8, 1, false), event(6, 9, 3, false), event(7, 10, 1, false)], remove(2, 4, true)),
            (vec![event(5, 8, 600, false), event(6, 8, 401, false)], remove(1, 600, false)),
            (vec![event(5, 8, 600, false), event(6, 8, 400, false)], remove(2, 1_000, true)),
            (vec![event(5, 8, 0, false); EVENTS_MAX], remove(EVENTS_MAX, 0, false)),
            (vec![event(5, 8, 1_001, false)], Some(Step::Thin(event(5, 8, 1_001, false)))),
        ];
        for (oldest, expected) in table {
            assert_eq!(next(&oldest, Timestamp::from_ms(10)), expected, "{oldest:?}");
        }
    }
}
