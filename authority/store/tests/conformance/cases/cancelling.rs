//! What becomes of deliveries whose endpoint is disabled or deleted: contract 7.5.

use authority_domain::{DisabledReason, EndpointId, FailureReason};
use authority_store::StoreError;
use authority_store::tx::SettledAs;

use super::endpoints::endpoint_of;
use super::{Database, Shop, ask, at, done, noon, settlement};

async fn gone(shop: &Shop, id: &EndpointId) -> bool {
    gone_at(shop, id, 50).await
}

async fn gone_at(shop: &Shop, id: &EndpointId, s: i64) -> bool {
    let disabled: Result<bool, StoreError> = ask!(shop.store.write, [id], |tx| async {
        let disabled = tx.endpoint_disable(&id, DisabledReason::Gone, at(s)).await?;
        tx.deliveries_cancel(&id, FailureReason::EndpointDisabled, at(s), 99).await?;
        Ok(disabled)
    });
    disabled.unwrap()
}

pub(crate) async fn gone_disables_and_cancels_what_waits(shop: Shop, database: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    let other = shop.endpoint(&["*"]).await;
    shop.open_checkouts(4).await;
    database.set_endpoint(&other, "status = 'disabled'").await;
    let taken = shop.lease("a", noon(), 2, 9).await;
    database.set_endpoint(&other, "status = 'enabled'").await;
    assert!(gone(&shop, &id).await);
    let endpoint = endpoint_of(&shop, &id).await;
    assert_eq!(serde_json::to_value(endpoint.disabled_reason).unwrap(), "gone");
    assert_eq!(
        (endpoint.disabled_at, endpoint.updated_at, endpoint.resource_version),
        (Some(at(50)), at(50), 2)
    );
    let count = async |endpoint: &EndpointId, marks: &str| {
        let sql = format!("deliveries WHERE endpoint_id = '{endpoint}' AND {marks}");
        database.count(&sql).await
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
pub(crate) async fn what_comes_back_to_a_disabled_endpoint_is_cancelled(shop: Shop, database: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    shop.open_checkouts(3).await;
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
    assert_eq!(database.count("attempts").await, 1, "the attempt was made all the same");
    assert_eq!(done!(shop, |tx| tx.delivery_lease_release_all()), 2);
    assert_eq!(database.number(cancelled).await, 3);
}

/// What was in flight when its endpoint was disabled is not tried again when that has been enabled meanwhile, unless
/// somebody asks for it then.
pub(crate) async fn what_was_in_flight_at_a_disabling_stays_cancelled(shop: Shop, database: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    shop.open_checkouts(5).await;
    let mut taken = Vec::new();
    for token in ["settled", "retried", "released", "asked", "lost"] {
        taken.extend(shop.lease(token, noon(), 1, 9).await);
    }
    assert!(gone(&shop, &id).await);
    database.set_endpoint(&id, "status = 'enabled'").await;
    let retry = |nth: usize, token: &str| {
        settlement(&taken[nth], token, SettledAs::Retry { at: at(300), put_off: false })
    };
    let (released, asked) = (vec![taken[2].id.clone()], taken[3].id.clone());
    done!(shop, [asked], |tx| tx.delivery_hasten(&asked, at(55)));
    let settled = settlement(&taken[0], "settled", SettledAs::Succeeded);
    assert_eq!(shop.settle(vec![settled, retry(1, "retried"), retry(3, "asked")]).await, 3);
    assert_eq!(done!(shop, |tx| tx.delivery_lease_release("released", &released)), 1);
    let state = async |nth: usize, marks: &str| {
        let sql = format!("deliveries WHERE id = '{}' AND {marks}", taken[nth].id);
        assert_eq!(database.count(&sql).await, 1, "{nth}: {marks}");
    };
    let cancelled = "status = 'cancelled' AND failure_reason = 'endpoint_disabled' \
                     AND next_attempt_at IS NULL AND lease_token IS NULL";
    state(0, "status = 'succeeded'").await;
    state(1, cancelled).await;
    state(2, cancelled).await;
    state(3, &format!("status = 'pending' AND next_attempt_at = {}", at(55).as_ms())).await;
    // Whoever finds what was lost does not send it; what came later is sent and tried again.
    state(4, "status = 'pending' AND lease_token = 'lost'").await;
    shop.open_checkout().await;
    let again = shop.lease("again", at(61), 9, 9).await;
    assert_eq!(again.len(), 2);
    assert!(again.iter().all(|delivery| delivery.id != taken[4].id));
    state(4, cancelled).await;
    let retries = again
        .iter()
        .map(|delivery| settlement(delivery, "again", SettledAs::Retry { at: at(300), put_off: false }));
    assert_eq!(shop.settle(retries.collect()).await, 2);
    assert_eq!(database.count("deliveries WHERE status = 'pending'").await, 2);
}

/// What nobody holds and nobody will send is cancelled in bounded steps, for the reason that fits.
pub(crate) async fn stranded_deliveries_are_cancelled_a_few_at_a_time(shop: Shop, database: &dyn Database) {
    let (disabled, deleted) = (shop.endpoint(&["*"]).await, shop.endpoint(&["*"]).await);
    let live = shop.endpoint(&["*"]).await;
    shop.open_checkouts(3).await;
    // One of each is in flight.
    shop.lease("a", noon(), 3, 1).await;
    done!(shop, [deleted], |tx| tx.endpoint_delete(&shop.tenant, &deleted, 1, noon()));
    database.set_endpoint(&disabled, "status = 'disabled'").await;
    let sweep = async |s: i64| -> u64 { done!(shop, |tx| tx.deliveries_cancel_stranded(at(s), 3)) };
    assert_eq!((sweep(0).await, sweep(0).await, sweep(0).await), (3, 1, 0));
    let count = async |endpoint: &EndpointId, marks: &str| {
        let sql = format!("deliveries WHERE endpoint_id = '{endpoint}' AND {marks}");
        database.count(&sql).await
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
pub(crate) async fn attempts_to_a_deleted_endpoint_settle_harmlessly(shop: Shop, database: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    shop.open_checkouts(2).await;
    let taken = shop.lease("a", noon(), 9, 9).await;
    done!(shop, [id], |tx| tx.endpoint_delete(&shop.tenant, &id, 1, at(1)));
    let outcomes = vec![
        settlement(&taken[0], "a", SettledAs::Succeeded),
        settlement(&taken[1], "a", SettledAs::Retry { at: at(300), put_off: false }),
    ];
    assert_eq!(shop.settle(outcomes).await, 2);
    for marks in ["status = 'succeeded'", "status = 'cancelled' AND failure_reason = 'endpoint_deleted'"] {
        assert_eq!(database.count(&format!("deliveries WHERE {marks}")).await, 1, "{marks}");
    }
    assert!(done!(shop, |tx| tx.conditions(&[id]))[0].deleted);
    assert!(shop.lease("b", at(999), 9, 9).await.is_empty());
}
