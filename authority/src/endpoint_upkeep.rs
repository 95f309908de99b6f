//! What time does to endpoints: a secret whose overlap is over is removed, what nobody will send is cancelled, an
//! alert whose condition has lapsed is closed (contract 2.12, 4.10, 7.5).
//!
//! One bounded round per call, part of housekeeping. What depends on these times never waits for it: whatever is shown
//! or signed goes by the clock.

use authority_domain::alert::AlertCode;
use authority_domain::integration_health::RECENT_MS;
use authority_domain::time::Timestamp;
use authority_store::StoreError;
use authority_store::ports::Tx;

/// Does what is due at `now`, at most `limit` rows of each kind; true when there may be more.
///
/// # Errors
/// Only what the store reports.
pub(crate) async fn upkeep(tx: &mut dyn Tx, now: Timestamp, limit: i64) -> Result<bool, StoreError> {
    let ended = tx.secrets_expire(now, limit).await?;
    tx.alerts_close_about(&ended, &[AlertCode::SecretOverlapOpen], now).await?;
    let cancelled = tx.deliveries_cancel_stranded(now, limit).await?;
    tx.alerts_close_quiet(AlertCode::DeliveriesFailed, now.plus_ms(-RECENT_MS), now).await?;
    let full = |rows: u64| i64::try_from(rows).is_ok_and(|rows| rows >= limit);
    Ok(full(cancelled) || full(u64::try_from(ended.len()).unwrap_or(0)))
}
