//! Housekeeping: what has expired is removed, a little at a time (contract 4.3).
//!
//! A slow round by itself; while a round finds as much as it may remove, the next follows at once, each in a
//! transaction of its own, so that no request waits behind a long one. Deliberately absent: anything that merchants
//! read. Events, deliveries and attempts are kept.

use std::sync::Arc;
use std::time::Duration;

use authority_domain::time::Timestamp;
use authority_store::ports::Tx;
use authority_store::{Store, StoreError};
use tokio::sync::watch;

use crate::clock::Clock;

/// Time between rounds.
const ROUND: Duration = Duration::from_secs(60);

/// Rows per transaction.
const ROWS_MAX: i64 = 500;

/// Removes expired idempotency records until `stop` turns true.
pub async fn keep_house(store: Store, clock: Arc<dyn Clock>, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        let now = Timestamp::from_ms(clock.now_ms());
        let removed: Result<u64, StoreError> = store
            .write(move |tx: &mut dyn Tx| Box::pin(async move { tx.idempotency_purge(now, ROWS_MAX).await }))
            .await;
        match removed {
            Ok(removed) if i64::try_from(removed).is_ok_and(|removed| removed == ROWS_MAX) => continue,
            Ok(_) => {}
            Err(error) => tracing::warn!(error = %error, "expired idempotency records could not be removed"),
        }
        tokio::select! {
            () = tokio::time::sleep(ROUND) => {}
            changed = stop.changed() => if changed.is_err() { break },
        }
    }
}
