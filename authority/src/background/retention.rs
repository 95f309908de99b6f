//! Retention: removes events, deliveries and attempts past the configured age (contract 15.13).
//!
//! A round goes through all streams and removes the oldest events of each in small batches. Each batch is a short
//! transaction with a pause after it, so that no other write waits noticeably. The rows to remove are found outside
//! the writer and checked again inside it: several instances may do the same round. Without the setting nothing
//! runs, and everything is kept for ever.

use std::sync::Arc;
use std::time::Duration;

use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use authority_store::shards::Turns;
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
const EVENTS_MAX: i64 = 200;

/// Rows of deliveries and attempts per transaction.
const ROWS_MAX: i64 = 1_000;

/// Streams that are read in one batch.
const STREAMS: i64 = 100;

/// Keeps events for `kept`, until `stop` turns true.
pub async fn retain(store: Store, clock: Arc<dyn Clock>, kept: Duration, mut stop: watch::Receiver<bool>) {
    let kept_ms = i64::try_from(kept.as_millis()).unwrap_or(i64::MAX);
    let mut pause = Duration::ZERO;
    while goes_on(&mut stop, pause).await {
        let before = Timestamp::from_ms(clock.now_ms().saturating_sub(kept_ms));
        match round(&store, before, &stop).await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(events = removed, "removed what is past its retention"),
            Err(error) => tracing::warn!(%error, "what is past its retention could not be removed"),
        }
        pause = ROUND;
    }
}

/// Removes everything that may be removed; returns the number of events.
async fn round(store: &Store, before: Timestamp, stop: &watch::Receiver<bool>) -> Result<u64, StoreError> {
    let mut removed = 0;
    let mut last: Option<Tenant> = None;
    loop {
        let after = last.take();
        let streams = store
            .read(move |tx: &mut Tx| {
                Box::pin(async move { tx.retention_streams(after.as_ref(), STREAMS).await })
            })
            .await
            .map_err(|error: StoreError| error)?;
        last = streams.last().cloned();
        if last.is_none() {
            return Ok(removed);
        }
        for tenant in streams {
            loop {
                if *stop.borrow() {
                    return Ok(removed);
                }
                let Some(gone) = step(store, &tenant, before).await? else { break };
                removed += gone;
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// What a transaction of the retention does.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Removes the events up to this sequence.
    Remove { through: i64 },
    /// Removes some of the first event's replays and recovery deliveries, with their attempts.
    Thin(OldEvent),
}

/// One transaction; `None` when nothing in the stream may be removed now.
async fn step(store: &Store, tenant: &Tenant, before: Timestamp) -> Result<Option<u64>, StoreError> {
    let of = tenant.clone();
    let oldest = store
        .read(move |tx: &mut Tx| Box::pin(async move { tx.retention_oldest(&of, EVENTS_MAX).await }))
        .await
        .map_err(|error: StoreError| error)?;
    let tenant = tenant.clone();
    // The platform's deliveries of an event go with it.
    let operator = Tenant::operator().merchant_id;
    let turns = Turns::each([&tenant.merchant_id, &operator].into_iter().collect());
    match next(&oldest, before) {
        None => Ok(None),
        Some(Step::Remove { through }) => {
            let gone = store
                .write_with(turns, move |tx: &mut Tx| {
                    Box::pin(async move { tx.retention_remove(&tenant, through, before).await })
                })
                .await
                .map_err(|error: StoreError| error)?;
            // Nothing is removed when one of them was replayed meanwhile: the next round tries again.
            Ok((gone > 0).then_some(gone))
        }
        Some(Step::Thin(event)) => {
            let of = tenant.clone();
            let gone = store
                .write_with(turns, move |tx: &mut Tx| {
                    Box::pin(async move { tx.retention_thin(&of, &event.id, ROWS_MAX / 2).await })
                })
                .await
                .map_err(|error: StoreError| error)?;
            if gone > 0 {
                return Ok(Some(0));
            }
            // Thinning left only the deliveries that were made with the event: few endpoints, many attempts.
            let through = oldest.first().map_or(0, |event| event.sequence);
            let gone = store
                .write_with(turns, move |tx: &mut Tx| {
                    Box::pin(async move { tx.retention_remove(&tenant, through, before).await })
                })
                .await
                .map_err(|error: StoreError| error)?;
            Ok((gone > 0).then_some(gone))
        }
    }
}

/// Which of a stream's oldest events may be removed: those that are old enough, up to the first with a pending
/// delivery, and no more than have [`ROWS_MAX`] rows together.
fn next(oldest: &[OldEvent], before: Timestamp) -> Option<Step> {
    let mut through = None;
    let mut rows = 0;
    for event in oldest {
        if event.created_at >= before || event.pending {
            break;
        }
        rows += event.rows;
        if rows > ROWS_MAX {
            return Some(
                through.map_or_else(|| Step::Thin(event.clone()), |through| Step::Remove { through }),
            );
        }
        through = Some(event.sequence);
    }
    through.map(|through| Step::Remove { through })
}

#[cfg(test)]
mod tests {
    use authority_domain::id::EventId;

    use super::*;

    fn event(sequence: i64, at: i64, rows: i64, pending: bool) -> OldEvent {
        let id = EventId::from_store(format!("evt_{sequence}"));
        OldEvent { sequence, id, created_at: Timestamp::from_ms(at), rows, pending }
    }

    #[test]
    fn only_what_is_old_and_ended_goes_a_little_at_a_time() {
        let remove = |through| Some(Step::Remove { through });
        let table = [
            (vec![], None),
            (vec![event(5, 10, 1, false)], None),
            (vec![event(5, 9, 1, false)], remove(5)),
            (vec![event(5, 9, 1, true), event(6, 9, 1, false)], None),
            (vec![event(5, 8, 1, false), event(6, 9, 1, true), event(7, 9, 1, false)], remove(5)),
            (vec![event(5, 8, 1, false), event(6, 9, 3, false), event(7, 10, 1, false)], remove(6)),
            (vec![event(5, 8, 600, false), event(6, 8, 401, false)], remove(5)),
            (vec![event(5, 8, 600, false), event(6, 8, 400, false)], remove(6)),
            (vec![event(5, 8, 1_001, false)], Some(Step::Thin(event(5, 8, 1_001, false)))),
        ];
        for (oldest, expected) in table {
            assert_eq!(next(&oldest, Timestamp::from_ms(10)), expected, "{oldest:?}");
        }
    }
}
