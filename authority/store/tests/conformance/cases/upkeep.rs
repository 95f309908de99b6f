//! Where time alone has brought something due is known before a turn is taken.

use authority_domain::{AlertCode, MerchantId};
use authority_store::StoreError;
use authority_store::shards::{ShardSet, Turns};
use authority_store::tx::Overdue;

use super::{Database, Shop, alert, ask, at, done, read};

/// When everything below is looked at.
const NOW: i64 = 100;

async fn due(shop: &Shop) -> ShardSet {
    let overdue =
        Overdue { failing_before: at(50), disabled_before: at(0), long_disabled_before: at(0), limit: 1 };
    let quiet = (AlertCode::DeliveriesFailed, at(50));
    read!(shop, |tx| tx.upkeep_due(at(NOW), quiet, overdue))
}

/// Each kind of work is found in the shard of its merchant, and in no other.
pub(crate) async fn what_time_brings_is_found_in_its_shards(first: Shop, database: &dyn Database) {
    is_due_for(&first, &[], "at first").await;
    let mut merchants: Vec<MerchantId> = Vec::new();
    for kind in ["secret", "stranded", "alert", "failing"] {
        let shop = Shop::new(&first.store, kind).await;
        let id = shop.endpoint(&["*"]).await;
        shop.open_checkout().await;
        let sql = match kind {
            "secret" => {
                format!(
                    "UPDATE endpoint_secrets SET expires_at = {} WHERE endpoint_id = '{id}'",
                    at(NOW).as_ms()
                )
            }
            "stranded" => format!("UPDATE webhook_endpoints SET status = 'disabled' WHERE id = '{id}'"),
            "alert" => {
                let alert = alert(AlertCode::DeliveriesFailed, id.as_str(), 0);
                done!(shop, |tx| tx.alert_raise(Some(&shop.tenant), &alert, at(50)));
                format!("UPDATE alerts SET last_seen_at = last_seen_at - 1 WHERE subject = '{id}'")
            }
            _ => format!(
                "UPDATE webhook_endpoints SET first_failure_at = {}, consecutive_failures = 10 WHERE id = '{id}'",
                at(50).as_ms()
            ),
        };
        is_due_for(&first, &merchants, &format!("before {kind}")).await;
        database.execute(&sql).await.unwrap();
        merchants.push(shop.tenant.merchant_id.clone());
        is_due_for(&first, &merchants, kind).await;
    }
}

/// Checks where something is due. A database with one shard has nothing more to say than that there is something.
async fn is_due_for(shop: &Shop, merchants: &[MerchantId], when: &str) {
    let found = due(shop).await;
    match shop.store.has_turns() {
        true => assert_eq!(found, merchants.iter().collect(), "{when}"),
        false => assert_eq!(found.is_empty(), merchants.is_empty(), "{when}"),
    }
}

/// What is due elsewhere is left to who holds the turn there.
pub(crate) async fn what_time_brings_is_seen_to_by_who_holds_its_turn(first: Shop, database: &dyn Database) {
    let shard = |shop: &Shop| ShardSet::of(&shop.tenant.merchant_id);
    let (mut second, mut nth) = (Shop::new(&first.store, "shop-0").await, 0);
    while shard(&second) == shard(&first) {
        nth += 1;
        second = Shop::new(&first.store, &format!("shop-{nth}")).await;
    }
    let mut ids = Vec::new();
    for shop in [&first, &second] {
        let id = shop.endpoint(&["*"]).await;
        shop.open_checkout().await;
        let alert = alert(AlertCode::DeliveriesFailed, id.as_str(), 0);
        done!(shop, |tx| tx.alert_raise(Some(&shop.tenant), &alert, at(0)));
        ids.push(id);
    }
    for sql in [
        format!("UPDATE endpoint_secrets SET expires_at = {}", at(NOW).as_ms()),
        "UPDATE webhook_endpoints SET status = 'disabled'".to_owned(),
    ] {
        assert_eq!(database.execute(&sql).await, Ok(2));
    }
    // A database with one shard has one turn for everything.
    let expected = match first.store.has_turns() {
        true => [vec![ids[0].clone()], vec![ids[1].clone()]],
        false => {
            ids.sort();
            [ids, Vec::new()]
        }
    };
    for (shop, expected) in [&first, &second].into_iter().zip(expected) {
        let turns = Turns::of(&shop.tenant.merchant_id);
        let seen: Result<_, StoreError> = ask!(shop.store.write_with(turns), |tx| async {
            let ended = tx.secrets_expire(at(NOW), 9).await?;
            let cancelled = tx.deliveries_cancel_stranded(at(NOW), 9).await?;
            let quiet = tx.alerts_close_quiet(AlertCode::DeliveriesFailed, at(50), at(NOW)).await?;
            Ok((ended, cancelled, quiet))
        });
        let (mut ended, cancelled, quiet) = seen.unwrap();
        ended.sort();
        let count = u64::try_from(expected.len()).unwrap();
        assert_eq!((ended, cancelled, quiet), (expected, count, count));
    }
}
