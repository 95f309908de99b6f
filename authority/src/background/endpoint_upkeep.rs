//! Changes to endpoints that are due by time alone: a secret whose overlap is over is removed; deliveries that will
//! never be sent are cancelled; an alert whose condition has lapsed is closed; an endpoint that has failed for a day
//! becomes `failing`, and one that has failed for five days (nine with the retry schedule `long`) is disabled (contract
//! 2.12, 4.10, 7.5).
//!
//! One bounded round per call, part of housekeeping, for a shard that has something due ([`due`]). Nothing that
//! depends on a secret's expiry waits for such a round: what is shown or signed goes by the clock. Usually the next
//! attempt to an endpoint shows that it has failed for too long; but the attempts of a delivery end after their
//! schedule, and without a new event there is no next attempt.

use authority_domain::alert::NewAlert;
use authority_domain::delivery::retry::RetrySchedule;
use authority_domain::endpoint::FAILING_AFTER_MS;
use authority_domain::endpoint::alerts::{OVER_WITH_ITS_ENDPOINT, disabled, failing};
use authority_domain::endpoint::condition::DisablePolicy;
use authority_domain::integration_health::RECENT_MS;
use authority_domain::{AlertCode, AlertId, DisabledReason, FailureReason, Timestamp};
use authority_store::StoreError;
use authority_store::shards::ShardSet;
use authority_store::tx::{Overdue, Tx};
use rand::rngs::StdRng;

/// The most endpoints per transaction: each may have deliveries to cancel.
const JUDGED_AT_ONCE: i64 = 20;

/// The shards in which something is due at `now`.
///
/// # Errors
/// Only what the store reports.
pub(crate) async fn due(tx: &mut Tx, policy: DisablePolicy, now: Timestamp) -> Result<ShardSet, StoreError> {
    let quiet = (AlertCode::DeliveriesFailed, now.plus_ms(-RECENT_MS));
    tx.upkeep_due(now, quiet, overdue(policy, now)).await
}

/// What is due of endpoints that keep failing.
fn overdue(policy: DisablePolicy, now: Timestamp) -> Overdue {
    Overdue {
        failing_before: now.plus_ms(-FAILING_AFTER_MS),
        disabled_before: now.plus_ms(-policy.after_ms),
        long_disabled_before: now.plus_ms(-policy.for_schedule(RetrySchedule::Long).after_ms),
        limit: JUDGED_AT_ONCE,
    }
}

/// Does everything that is due at `now` in the shards whose turns the transaction holds, at most `limit` rows of each
/// kind; true when there may be more.
///
/// # Errors
/// Only what the store reports.
pub(crate) async fn upkeep(tx: &mut Tx, now: Timestamp, limit: i64) -> Result<bool, StoreError> {
    let ended = tx.secrets_expire(now, limit).await?;
    tx.alerts_close_about(&ended, &[AlertCode::SecretOverlapOpen], now).await?;
    let cancelled = tx.deliveries_cancel_stranded(now, limit).await?;
    tx.alerts_close_quiet(AlertCode::DeliveriesFailed, now.plus_ms(-RECENT_MS), now).await?;
    let full = |rows: u64| i64::try_from(rows).is_ok_and(|rows| rows >= limit);
    Ok(full(cancelled) || full(u64::try_from(ended.len()).unwrap_or(0)))
}

/// Marks endpoints `failing`, or disables them, when that is due at `now`. A disabled endpoint has at most `limit`
/// of its waiting deliveries cancelled here; [`upkeep`] cancels the rest. True when there may be more.
///
/// # Errors
/// Only what the store reports.
pub(crate) async fn judge_overdue(
    tx: &mut Tx,
    policy: DisablePolicy,
    now: Timestamp,
    dice: &mut StdRng,
    limit: i64,
) -> Result<bool, StoreError> {
    let mut found = tx.conditions_overdue(overdue(policy, now)).await?;
    found.iter_mut().for_each(|one| one.condition.passes(now));
    tx.conditions_put(&found).await?;
    for one in &found {
        let mut said = failing(&one.condition.health);
        let policy = policy.for_schedule(one.retry_schedule);
        if one.condition.has_failed_for_good(policy, now)
            && tx.endpoint_disable(&one.endpoint_id, DisabledReason::Failing, now).await?
        {
            let reason = FailureReason::EndpointDisabled;
            tx.deliveries_cancel(&one.endpoint_id, reason, now, limit).await?;
            let ids = std::slice::from_ref(&one.endpoint_id);
            tx.alerts_close_about(ids, &OVER_WITH_ITS_ENDPOINT, now).await?;
            said = Some(disabled(DisabledReason::Failing, policy));
        }
        if let Some((code, severity, message)) = said {
            let id = AlertId::generate(now, dice);
            let alert = NewAlert { id, code, severity, subject: one.endpoint_id.to_string(), message };
            tx.alert_raise(Some(&one.tenant), &alert, now).await?;
        }
    }
    Ok(i64::try_from(found.len()).is_ok_and(|found| found >= JUDGED_AT_ONCE))
}
