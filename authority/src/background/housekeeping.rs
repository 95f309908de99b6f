//! Housekeeping removes expired rows in small batches (contract 4.3): old idempotency records, old figures and the
//! ended sessions of console and portal. It also makes the changes to endpoints that are due by time
//! (`endpoint_upkeep`).
//!
//! A round runs once a minute. When a round reaches its limit, the next follows at once. On PostgreSQL it keeps
//! nobody else from writing: what is purged needs no turn, and the changes to endpoints need those of the shards that
//! have some, which are found without a turn. Each shard's are a transaction of its own, so that no shard waits for
//! another one's turn. On SQLite a round is one transaction of its own, so that no request
//! waits behind a long one. Deliberately absent: removing anything that merchants read; that is the job of
//! [`super::retention`], where a retention is set.

use std::sync::Arc;
use std::time::Duration;

use authority_domain::Timestamp;
use authority_domain::endpoint::condition::DisablePolicy;
use authority_domain::integration_health::RECENT_MS;
use authority_store::shards::Turns;
use authority_store::tx::Tx;
use authority_store::{Store, StoreError};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::sync::watch;

use super::endpoint_upkeep::{due, judge_overdue, upkeep};
use super::goes_on;
use crate::app::console::sessions::IDLE_MS;
use crate::clock::Clock;
use crate::dice::Dice;

/// Time between rounds.
const ROUND: Duration = Duration::from_secs(60);

/// How long the figures of the last day are kept: the day and an hour more.
const FIGURES_KEPT_MS: i64 = RECENT_MS + 60 * 60 * 1000;

/// Shards that fail one after the other before a round gives up: then it is the database, and not a shard.
const FAILURES_MAX: usize = 3;

/// Rows per transaction.
const ROWS_MAX: i64 = 500;

/// Runs housekeeping until `stop` turns true.
pub async fn keep_house(
    store: Store,
    clock: Arc<dyn Clock>,
    dice: Arc<dyn Dice>,
    disable: DisablePolicy,
    mut stop: watch::Receiver<bool>,
) {
    let mut pause = Duration::ZERO;
    while goes_on(&mut stop, pause).await {
        let now = Timestamp::from_ms(clock.now_ms());
        let mut seed = [0; 32];
        dice.fill(&mut seed);
        pause = match round(&store, disable, now, seed, &stop).await {
            Ok(true) => Duration::ZERO,
            Ok(false) => ROUND,
            Err(error) => {
                tracing::warn!(error = %error, "housekeeping round failed");
                ROUND
            }
        };
    }
}

/// True when there may be more to do. Where others may write at the same time, turns are taken one by one, and only
/// those that are necessary: until `stop` is true, or the database is not to be had.
async fn round(
    store: &Store,
    disable: DisablePolicy,
    now: Timestamp,
    seed: [u8; 32],
    stop: &watch::Receiver<bool>,
) -> Result<bool, StoreError> {
    if !store.has_turns() {
        return store
            .write(move |tx: &mut Tx| {
                Box::pin(async move {
                    let purged = purge(tx, now).await?;
                    Ok(change(tx, disable, now, seed).await? || purged)
                })
            })
            .await;
    }
    let purged = store
        .write_with(Turns::NONE, move |tx: &mut Tx| Box::pin(async move { purge(tx, now).await }))
        .await?;
    let due =
        store.read_list(move |tx: &mut Tx| Box::pin(async move { due(tx, disable, now).await })).await?;
    let (mut more, mut failures, mut seeds) = (purged, 0, StdRng::from_seed(seed));
    for shard in due.apart() {
        if *stop.borrow() || failures == FAILURES_MAX {
            break;
        }
        let mut seed = [0; 32];
        seeds.fill_bytes(&mut seed);
        let changed = store
            .write_with(Turns::each(shard), move |tx: &mut Tx| {
                Box::pin(async move { change(tx, disable, now, seed).await })
            })
            .await;
        match changed {
            Ok(changed) => (more, failures) = (more || changed, 0),
            // A shard whose turn is not to be had keeps the others from nothing.
            Err(error) => {
                tracing::warn!(%error, "housekeeping of a shard failed");
                failures += 1;
            }
        }
    }
    Ok(more)
}

/// Makes the changes to endpoints that are due. True when there may be more.
async fn change(
    tx: &mut Tx,
    disable: DisablePolicy,
    now: Timestamp,
    seed: [u8; 32],
) -> Result<bool, StoreError> {
    let more = upkeep(tx, now, ROWS_MAX).await?;
    Ok(judge_overdue(tx, disable, now, &mut StdRng::from_seed(seed), ROWS_MAX).await? || more)
}

/// Removes what has expired, at most [`ROWS_MAX`] rows of each kind. True when there may be more.
async fn purge(tx: &mut Tx, now: Timestamp) -> Result<bool, StoreError> {
    let answers = tx.idempotency_purge(now, ROWS_MAX).await?;
    let figures = tx.figures_purge(now.plus_ms(-FIGURES_KEPT_MS), ROWS_MAX).await?;
    let sessions = tx.console_sessions_purge(now.plus_ms(-IDLE_MS), ROWS_MAX).await?;
    let visits = tx.portal_sessions_purge(now, ROWS_MAX).await?;
    let most = answers.max(figures).max(sessions).max(visits);
    Ok(i64::try_from(most).is_ok_and(|removed| removed >= ROWS_MAX))
}
