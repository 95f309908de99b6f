//! Outcomes of attempts, and what becomes of what waits for an endpoint that is disabled: contract 2.9, 7.3, 7.5.

use authority_domain::delivery::outcome::FailureReason;
use authority_domain::endpoint::{DisabledReason, Endpoint};
use authority_domain::id::EndpointId;
use authority_store::StoreError;
use authority_store::ports::{ConditionOf, LeasedDelivery, Settled, SettledAs, Tx};

use super::fixtures::{at, noon, settlement};
use super::shop::Shop;
use super::{Database, job};

async fn endpoint_of(shop: &Shop, id: &EndpointId) -> Endpoint {
    let (store, tenant, id) = (&shop.store, shop.tenant.clone(), id.clone());
    let endpoint: Result<Option<Endpoint>, StoreError> =
        job!(store.read, tx => tx.endpoint_get(&tenant, &id));
    endpoint.unwrap().unwrap()
}

async fn gone(shop: &Shop, id: &EndpointId) -> bool {
    gone_at(shop, id, 50).await
}

async fn gone_at(shop: &Shop, id: &EndpointId, s: i64) -> bool {
    let id = id.clone();
    let disabled: Result<bool, StoreError> = shop
        .store
        .write(move |tx: &mut dyn Tx| {
            Box::pin(async move {
                let disabled = tx.endpoint_disable(&id, DisabledReason::Gone, at(s)).await?;
                tx.deliveries_cancel(&id, FailureReason::EndpointDisabled, at(s), 99).await?;
                Ok(disabled)
            })
        })
        .await;
    disabled.unwrap()
}

pub(crate) async fn each_outcome_leaves_its_marks(database: &dyn Database) {
    let shop = Shop::open(database).await;
    shop.endpoint(&["*"]).await;
    for _ in 0..3 {
        shop.open_checkout().await;
    }
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
        let sql =
            format!("SELECT COUNT(*) FROM deliveries WHERE id = '{}' AND {common} AND {marks}", delivery.id);
        assert_eq!(database.number(&sql).await, 1, "{marks}");
    }
    let attempts = format!(
        "SELECT COUNT(*) FROM attempts WHERE number = 1 AND started_at = {} AND signed_timestamp = {} \
         AND duration_ms = 1000 AND response_excerpt = 'hello'",
        at_ms(60),
        at(60).as_unix_seconds()
    );
    assert_eq!(database.number(&attempts).await, 3);
    let retries = format!("SELECT COUNT(*) FROM attempts WHERE retry_at = {}", at_ms(300));
    assert_eq!(database.number(&retries).await, 1);
}

pub(crate) async fn only_what_is_still_ours_is_settled(database: &dyn Database) {
    let shop = Shop::open(database).await;
    shop.endpoint(&["*"]).await;
    for _ in 0..3 {
        shop.open_checkout().await;
    }
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
    assert_eq!(database.number("SELECT COUNT(*) FROM attempts").await, 2);
    assert_eq!(database.number("SELECT COUNT(*) FROM deliveries WHERE status = 'succeeded'").await, 2);
    let held =
        format!("SELECT COUNT(*) FROM deliveries WHERE id = '{}' AND lease_token = 'mine'", taken[1].id);
    assert_eq!(database.number(&held).await, 1);
    // The outcomes of a former and of the present holder of one delivery may meet in one batch.
    let again = shop.lease("later", at(61), 9, 9).await;
    assert_eq!(again.len(), 1, "the lease of 60 s is over");
    let batch = vec![
        settlement(&taken[1], "mine", SettledAs::Retry { at: at(300), put_off: false }),
        settlement(&again[0], "later", SettledAs::Succeeded),
    ];
    assert_eq!(shop.settle(batch).await, 1);
    assert_eq!(database.number("SELECT COUNT(*) FROM attempts").await, 3);
    assert_eq!(database.number("SELECT COUNT(*) FROM deliveries WHERE status = 'succeeded'").await, 3);
}

pub(crate) async fn a_retry_asked_in_flight_follows_a_failure(database: &dyn Database) {
    let shop = Shop::open(database).await;
    shop.endpoint(&["*"]).await;
    for _ in 0..5 {
        shop.open_checkout().await;
    }
    let hasten = async |delivery: &LeasedDelivery, s: i64| {
        let (store, id) = (&shop.store, delivery.id.clone());
        let done: Result<(), StoreError> = job!(store.write, tx => tx.delivery_hasten(&id, at(s)));
        done.unwrap();
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
        let store = &shop.store;
        let settled: Result<Vec<Settled>, StoreError> =
            job!(store.write, tx => tx.delivery_settle(&[&settlement], at(63)));
        assert_eq!(settled.unwrap(), [Settled { attempt_id, retry_asked }]);
        let id = delivery.id.clone();
        let found: Result<_, StoreError> = job!(store.read, tx => tx.delivery_find(&id));
        let found = found.unwrap().unwrap().delivery;
        assert_eq!((found.status.as_str(), found.next_attempt_at), (status, next));
        assert_eq!((found.failed_at.is_some(), found.failure_reason.is_some()), (failed, failed));
        let id = delivery.id.clone();
        let attempts: Result<Vec<_>, StoreError> = job!(store.read, tx => tx.delivery_attempts_find(&id));
        assert_eq!(attempts.unwrap()[0].retry_at, next);
    }
    assert_eq!(database.number("SELECT COUNT(retry_asked_at) FROM deliveries").await, 0);
    let given_up =
        "SELECT CAST(SUM(failed_deliveries) AS BIGINT) FROM endpoint_figures WHERE endpoint_id LIKE 'we_%'";
    assert_eq!(database.number(given_up).await, 1);
}

pub(crate) async fn gone_disables_and_cancels_what_waits(database: &dyn Database) {
    let shop = Shop::open(database).await;
    let id = shop.endpoint(&["*"]).await;
    let other = shop.endpoint(&["*"]).await;
    for _ in 0..4 {
        shop.open_checkout().await;
    }
    let sql = format!("UPDATE webhook_endpoints SET status = 'disabled' WHERE id = '{other}'");
    database.execute(&sql).await.unwrap();
    let taken = shop.lease("a", noon(), 2, 9).await;
    let sql = format!("UPDATE webhook_endpoints SET status = 'enabled' WHERE id = '{other}'");
    database.execute(&sql).await.unwrap();
    assert!(gone(&shop, &id).await);
    let endpoint = endpoint_of(&shop, &id).await;
    assert_eq!(serde_json::to_value(endpoint.disabled_reason).unwrap(), "gone");
    assert_eq!(
        (endpoint.disabled_at, endpoint.updated_at, endpoint.resource_version),
        (Some(at(50)), at(50), 2)
    );
    let count = async |endpoint: &EndpointId, marks: &str| {
        let sql = format!("SELECT COUNT(*) FROM deliveries WHERE endpoint_id = '{endpoint}' AND {marks}");
        database.number(&sql).await
    };
    let cancelled =
        "status = 'cancelled' AND failure_reason = 'endpoint_disabled' AND next_attempt_at IS NULL";
    assert_eq!(count(&id, cancelled).await, 2);
    assert_eq!(count(&id, "status = 'pending'").await, 2, "what is in flight is its holder's to settle");
    assert_eq!(count(&other, "status = 'pending'").await, 4);
    assert_eq!(shop.settle(vec![settlement(&taken[0], "a", SettledAs::Succeeded)]).await, 1);
    assert_eq!(count(&id, "status = 'succeeded'").await, 1);
    // What its holder has not settled in time does not keep waiting.
    let lost = shop.lease("lost", noon(), 9, 9).await;
    assert_eq!(lost.len(), 4, "the other endpoint's");
    assert!(gone_at(&shop, &other, 61).await);
    assert_eq!(count(&other, cancelled).await, 4);
    assert_eq!(shop.settle(vec![settlement(&lost[0], "lost", SettledAs::Succeeded)]).await, 0);
    // Said twice, it counts once; new events make no deliveries for it.
    assert!(!gone(&shop, &id).await);
    assert_eq!(endpoint_of(&shop, &id).await.resource_version, 2);
    shop.open_checkout().await;
    assert_eq!((count(&id, "1 = 1").await, count(&other, "1 = 1").await), (4, 4));
}

/// What was in flight when its endpoint was disabled must not wait for ever for an endpoint that gets nothing.
pub(crate) async fn what_comes_back_to_a_disabled_endpoint_is_cancelled(database: &dyn Database) {
    let shop = Shop::open(database).await;
    let id = shop.endpoint(&["*"]).await;
    for _ in 0..3 {
        shop.open_checkout().await;
    }
    let settled = shop.lease("settled", noon(), 1, 9).await;
    shop.lease("released", noon(), 1, 9).await;
    shop.lease("lost", noon(), 1, 9).await;
    gone(&shop, &id).await;
    let cancelled = "SELECT COUNT(*) FROM deliveries WHERE status = 'cancelled' \
                     AND failure_reason = 'endpoint_disabled' AND next_attempt_at IS NULL";
    assert_eq!(database.number(cancelled).await, 0);
    let retry = settlement(&settled[0], "settled", SettledAs::Retry { at: at(300), put_off: false });
    assert_eq!(shop.settle(vec![retry]).await, 1);
    assert_eq!(database.number(cancelled).await, 1);
    assert_eq!(
        database.number("SELECT COUNT(*) FROM attempts").await,
        1,
        "the attempt was made all the same"
    );
    let store = &shop.store;
    let released: Result<u64, StoreError> = job!(store.write, tx => tx.delivery_lease_release_all());
    assert_eq!(released.unwrap(), 2);
    assert_eq!(database.number(cancelled).await, 3);
}

/// What nobody holds and nobody will send is cancelled in bounded steps, for the reason that fits.
pub(crate) async fn stranded_deliveries_are_cancelled_a_few_at_a_time(database: &dyn Database) {
    let shop = Shop::open(database).await;
    let (disabled, deleted) = (shop.endpoint(&["*"]).await, shop.endpoint(&["*"]).await);
    let live = shop.endpoint(&["*"]).await;
    for _ in 0..3 {
        shop.open_checkout().await;
    }
    // One of each is in flight.
    shop.lease("a", noon(), 3, 1).await;
    let (store, tenant, id) = (&shop.store, shop.tenant.clone(), deleted.clone());
    let gone: Result<(), StoreError> = job!(store.write, tx => tx.endpoint_delete(&tenant, &id, 1, noon()));
    gone.unwrap();
    let sql = format!("UPDATE webhook_endpoints SET status = 'disabled' WHERE id = '{disabled}'");
    database.execute(&sql).await.unwrap();
    let sweep = async |s: i64| -> u64 {
        let done: Result<u64, StoreError> = job!(store.write, tx => tx.deliveries_cancel_stranded(at(s), 3));
        done.unwrap()
    };
    assert_eq!((sweep(0).await, sweep(0).await, sweep(0).await), (3, 1, 0));
    let count = async |endpoint: &EndpointId, marks: &str| {
        let sql = format!("SELECT COUNT(*) FROM deliveries WHERE endpoint_id = '{endpoint}' AND {marks}");
        database.number(&sql).await
    };
    let cancelled = "status = 'cancelled' AND next_attempt_at IS NULL AND failure_reason";
    assert_eq!(count(&disabled, &format!("{cancelled} = 'endpoint_disabled'")).await, 2);
    assert_eq!(count(&deleted, &format!("{cancelled} = 'endpoint_deleted'")).await, 2);
    // A lease that has run out holds nothing.
    assert_eq!(sweep(61).await, 2);
    assert_eq!(
        count(&deleted, &format!("{cancelled} = 'endpoint_deleted' AND lease_token IS NULL")).await,
        3
    );
    assert_eq!(count(&live, "status = 'pending'").await, 3);
}

/// An attempt under way when its endpoint is deleted ends like any other, only that none follows.
pub(crate) async fn attempts_to_a_deleted_endpoint_settle_harmlessly(database: &dyn Database) {
    let shop = Shop::open(database).await;
    let id = shop.endpoint(&["*"]).await;
    for _ in 0..2 {
        shop.open_checkout().await;
    }
    let taken = shop.lease("a", noon(), 9, 9).await;
    let (store, tenant, deleted) = (&shop.store, shop.tenant.clone(), id.clone());
    let gone: Result<(), StoreError> =
        job!(store.write, tx => tx.endpoint_delete(&tenant, &deleted, 1, at(1)));
    gone.unwrap();
    let outcomes = vec![
        settlement(&taken[0], "a", SettledAs::Succeeded),
        settlement(&taken[1], "a", SettledAs::Retry { at: at(300), put_off: false }),
    ];
    assert_eq!(shop.settle(outcomes).await, 2);
    for marks in ["status = 'succeeded'", "status = 'cancelled' AND failure_reason = 'endpoint_deleted'"] {
        assert_eq!(
            database.number(&format!("SELECT COUNT(*) FROM deliveries WHERE {marks}")).await,
            1,
            "{marks}"
        );
    }
    let of: Result<Vec<ConditionOf>, StoreError> = job!(store.write, tx => tx.conditions(&[id]));
    assert!(of.unwrap()[0].deleted);
    assert!(shop.lease("b", at(999), 9, 9).await.is_empty());
}
