//! The cost of housekeeping beside what stays: 50,000 answers and figures that have not expired, closed alerts, and
//! the finished deliveries.

use authority_domain::{AlertCode, EndpointId, FailureReason, Timestamp};

use super::large::{Large, MANY};
use crate::sql::endpoint::health::Overdue;

const FILL: [&str; 4] = [
    "INSERT INTO idempotency (merchant_id, livemode, key, fingerprint, operation, answer, request_id, created_at, expires_at) \
     SELECT 'mer', TRUE, id, zeroblob(32), 'POST /x', '', '', 0, sequence FROM events",
    "INSERT INTO endpoint_figures (endpoint_id, since, attempts, failed_attempts, failed_deliveries) \
     SELECT 'live', sequence, 1, 0, 0 FROM events",
    "INSERT INTO alerts (id, merchant_id, livemode, code, subject, severity, message, count, first_seen_at, last_seen_at, \
         closed_at) \
     SELECT 'alt_' || sequence, 'mer', TRUE, 'deliveries_failed', 'end_' || sequence, 'warning', '', 1, 0, 0, \
         CASE WHEN sequence > 3 THEN 1 END FROM events",
    "UPDATE webhook_endpoints SET first_failure_at = 1, consecutive_failures = 10 WHERE id = 'live'",
];

#[tokio::test]
async fn what_has_expired_is_removed_beside_what_has_not() {
    let mut large = Large::with(&FILL).await;
    let soon = Timestamp::from_ms(101);
    assert_eq!(large.tx.idempotency_purge(soon, 50).await.unwrap(), 50);
    large.within(5_000);
    assert_eq!(large.tx.figures_purge(soon, 50).await.unwrap(), 50);
    large.within(5_000);
    let dead = EndpointId::from_store("dead".to_owned());
    let reason = FailureReason::EndpointDisabled;
    assert_eq!(large.tx.deliveries_cancel(&dead, reason, soon, 50).await.unwrap(), 50);
    large.within(20_000);
    let quiet = large.tx.alerts_close_quiet(AlertCode::DeliveriesFailed, soon, soon).await.unwrap();
    assert_eq!(quiet, 3);
    large.within(1_000);
}

/// However much a disabled endpoint has left, one row of it tells.
#[tokio::test]
async fn where_something_is_due_is_found_by_what_is_due() {
    let mut large = Large::with(&FILL).await;
    large.execute("UPDATE webhook_endpoints SET status = 'disabled' WHERE id = 'dead'").await;
    large.steps();
    let late = Timestamp::from_ms(MANY);
    let overdue =
        Overdue { failing_before: late, disabled_before: late, long_disabled_before: late, limit: 20 };
    let due = large.tx.upkeep_due(late, (AlertCode::DeliveriesFailed, late), overdue).await.unwrap();
    assert!(!due.is_empty());
    large.within(2_000);
}

/// Of merchants of whom nothing is old, nothing is read.
#[tokio::test]
async fn whose_events_are_old_is_found_by_the_oldest_events() {
    let mut large = Large::new().await;
    large.steps();
    for (before, found) in [(0, 0), ((1 << 48) - 1, 100)] {
        let due = large.tx.retention_due(None, Timestamp::from_ms(before), 100).await.unwrap();
        assert_eq!(due.len(), found);
        large.within(2_000);
    }
}
