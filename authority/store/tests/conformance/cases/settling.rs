//! Outcomes of attempts, and what they leave of their deliveries: contract 2.9, 7.3.

use authority_store::hand_off::LeasedDelivery;
use authority_store::tx::{Settled, SettledAs};

use super::{Database, Shop, at, done, noon, read, settlement};

pub(crate) async fn each_outcome_leaves_its_marks(shop: Shop, database: &dyn Database) {
    shop.endpoint(&["*"]).await;
    shop.open_checkouts(3).await;
    let taken = shop.lease("a", noon(), 9, 9).await;
    let settlements = vec![
        settlement(&taken[0], "a", SettledAs::Succeeded),
        settlement(&taken[1], "a", SettledAs::Retry { at: at(300), put_off: false }),
        settlement(&taken[2], "a", SettledAs::Failed { reason: "gone" }),
    ];
    assert_eq!(shop.settle(settlements).await, 3);
    let at_ms = |s: i64| at(s).as_ms();
    let common = "attempt_count = 1 AND lease_token IS NULL AND lease_until IS NULL";
    let expected = [
        format!(
            "status = 'succeeded' AND next_attempt_at IS NULL AND succeeded_at = {} AND failed_at IS NULL \
             AND failure_reason IS NULL AND last_outcome = 'success' AND last_response_status = 200",
            at_ms(61)
        ),
        format!(
            "status = 'pending' AND next_attempt_at = {} AND succeeded_at IS NULL AND failed_at IS NULL \
             AND failure_reason IS NULL AND last_outcome = 'http_error' AND last_response_status = 500",
            at_ms(300)
        ),
        format!(
            "status = 'failed' AND next_attempt_at IS NULL AND succeeded_at IS NULL AND failed_at = {} \
             AND failure_reason = 'gone' AND last_outcome = 'http_error'",
            at_ms(61)
        ),
    ];
    for (delivery, marks) in taken.iter().zip(expected) {
        let sql = format!("deliveries WHERE id = '{}' AND {common} AND {marks}", delivery.id);
        assert_eq!(database.count(&sql).await, 1, "{marks}");
    }
    let attempts = format!(
        "SELECT COUNT(*) FROM attempts WHERE number = 1 AND started_at = {} AND signed_timestamp = {} \
         AND duration_ms = 1000 AND response_excerpt = 'hello'",
        at_ms(60),
        at(60).as_unix_seconds()
    );
    assert_eq!(database.number(&attempts).await, 3);
    let retries = format!("attempts WHERE retry_at = {}", at_ms(300));
    assert_eq!(database.count(&retries).await, 1);
}

pub(crate) async fn only_what_is_still_ours_is_settled(shop: Shop, database: &dyn Database) {
    shop.endpoint(&["*"]).await;
    shop.open_checkouts(3).await;
    assert_eq!(shop.settle(Vec::new()).await, 0);
    let taken = shop.lease("mine", noon(), 9, 9).await;
    let settled = settlement(&taken[0], "mine", SettledAs::Succeeded);
    assert_eq!(shop.settle(vec![settled.clone()]).await, 1);
    // Of a batch, what was settled before and what another token holds is left alone, the rest is written.
    let batch = vec![
        settled,
        settlement(&taken[1], "another", SettledAs::Succeeded),
        settlement(&taken[2], "mine", SettledAs::Succeeded),
    ];
    assert_eq!(shop.settle(batch).await, 1);
    assert_eq!(database.count("attempts").await, 2);
    assert_eq!(database.count("deliveries WHERE status = 'succeeded'").await, 2);
    let held = format!("deliveries WHERE id = '{}' AND lease_token = 'mine'", taken[1].id);
    assert_eq!(database.count(&held).await, 1);
    // The outcomes of a former and of the present holder of one delivery may meet in one batch.
    let again = shop.lease("later", at(61), 9, 9).await;
    assert_eq!(again.len(), 1, "the lease of 60 s is over");
    let batch = vec![
        settlement(&taken[1], "mine", SettledAs::Retry { at: at(300), put_off: false }),
        settlement(&again[0], "later", SettledAs::Succeeded),
    ];
    assert_eq!(shop.settle(batch).await, 1);
    assert_eq!(database.count("attempts").await, 3);
    assert_eq!(database.count("deliveries WHERE status = 'succeeded'").await, 3);
}

pub(crate) async fn a_retry_asked_in_flight_follows_a_failure(shop: Shop, database: &dyn Database) {
    shop.endpoint(&["*"]).await;
    shop.open_checkouts(5).await;
    let hasten = async |delivery: &LeasedDelivery, s: i64| {
        done!(shop, [delivery], |tx| tx.delivery_hasten(&delivery.id, at(s)));
    };
    let taken = shop.lease("a", noon(), 9, 9).await;
    for delivery in &taken {
        hasten(delivery, 30).await;
    }
    // The last one gets a new holder: whatever it sends is what was asked for.
    assert_eq!(shop.lease("b", at(61), 9, 9).await.len(), 5, "the lease of 60 s is over");
    for delivery in &taken[..4] {
        hasten(delivery, 62).await;
    }
    let retry = || SettledAs::Retry { at: at(300), put_off: false };
    let ends = [
        (retry(), "pending", Some(at(62)), true),
        (SettledAs::Failed { reason: "attempts_exhausted" }, "pending", Some(at(62)), true),
        (SettledAs::Succeeded, "succeeded", None, false),
        (SettledAs::Failed { reason: "gone" }, "failed", None, false),
        (retry(), "pending", Some(at(300)), false),
    ];
    for (delivery, (settled_as, status, next, retry_asked)) in taken.iter().zip(ends) {
        let failed = status == "failed";
        let settlement = settlement(delivery, "b", settled_as);
        let attempt_id = settlement.attempt_id.clone();
        let settled = done!(shop, |tx| tx.delivery_settle(&[&settlement], at(63)));
        assert_eq!(settled, [Settled { attempt_id, retry_asked }]);
        let found = read!(shop, [delivery], |tx| tx.delivery_find(&delivery.id)).unwrap().delivery;
        assert_eq!((found.status.as_str(), found.next_attempt_at), (status, next));
        assert_eq!((found.failed_at.is_some(), found.failure_reason.is_some()), (failed, failed));
        assert_eq!(read!(shop, [delivery], |tx| tx.delivery_attempts_find(&delivery.id))[0].retry_at, next);
    }
    assert_eq!(database.number("SELECT COUNT(retry_asked_at) FROM deliveries").await, 0);
    let given_up =
        "SELECT CAST(SUM(failed_deliveries) AS BIGINT) FROM endpoint_figures WHERE endpoint_id LIKE 'we_%'";
    assert_eq!(database.number(given_up).await, 1);
}
