//! Limits of merchants, holds of endpoints and the instances that share a database: contract 18.4-6, 18.4-9.

use authority_domain::EndpointId;
use authority_domain::endpoint::hold::{Hold, HoldReason};
use authority_domain::merchant::MerchantChange;
use authority_domain::merchant::limits::{ENDPOINTS_MAX, Limits, MaxInFlight};

use super::endpoints::endpoint_of;
use super::{Database, Shop, ask, at, done, noon, read};

/// What may be in flight to each endpoint, as SQL says it.
const IN_FLIGHT: &str = "SELECT COALESCE(CASE WHEN e.max_in_flight < m.max_in_flight THEN e.max_in_flight \
    ELSE m.max_in_flight END, e.max_in_flight, 128) FROM webhook_endpoints e \
    LEFT JOIN merchants m ON m.id = e.merchant_id WHERE e.id =";

/// Sets the limits of the shop's merchant.
async fn allow(shop: &Shop, limits: Limits) {
    let found = read!(shop, |tx| tx.merchant_get(&shop.tenant.merchant_id));
    let change = MerchantChange { limits: Some(limits), ..MerchantChange::default() };
    let merchant = found.unwrap().change(change, at(1)).unwrap();
    done!(shop, |tx| tx.merchant_update(&merchant));
    let found = read!(shop, |tx| tx.merchant_get(&shop.tenant.merchant_id));
    assert_eq!(found.unwrap().limits, limits);
}

async fn set(shop: &Shop, id: &EndpointId, own: Option<i64>) {
    let mut endpoint = endpoint_of(shop, id).await;
    endpoint.max_in_flight.own = own;
    endpoint.resource_version += 1;
    done!(shop, |tx| tx.endpoint_update(&shop.tenant, &endpoint));
}

pub(crate) async fn in_flight_follows_the_endpoint_then_its_merchant(shop: Shop, database: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    let numbers = [None, Some(1), Some(100), Some(128), Some(256)];
    for of_merchant in numbers {
        let share = Some(of_merchant.map_or(1, |of_merchant| of_merchant.min(100)));
        let limits =
            Limits { max_in_flight: of_merchant, dispatch_share_percent: share, ..Limits::default() };
        allow(&shop, limits).await;
        for own in numbers {
            set(&shop, &id, own).await;
            let expected = MaxInFlight { own, of_merchant };
            assert_eq!(endpoint_of(&shop, &id).await.max_in_flight, expected);
            let in_sql = database.number(&format!("{IN_FLIGHT} '{id}'")).await;
            assert_eq!(in_sql, expected.get(), "{expected:?}");
        }
        let stored = "SELECT dispatch_share_percent FROM merchants WHERE slug = 'acme'";
        assert_eq!(Some(database.number(stored).await), share);
    }
    // The platform's endpoint has no merchant.
    let platform = shop.platform();
    let sink = platform.endpoint(&["*"]).await;
    assert_eq!(database.number(&format!("{IN_FLIGHT} '{sink}'")).await, 128);
    set(&platform, &sink, Some(200)).await;
    assert_eq!(endpoint_of(&platform, &sink).await.max_in_flight.get(), 200);
    assert_eq!(database.number(&format!("{IN_FLIGHT} '{sink}'")).await, 200);
}

pub(crate) async fn a_hold_says_until_when_and_why(shop: Shop, _: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    let hold = async |hold: Hold| {
        let (store, ids) = (&shop.store, [id.clone()]);
        let mut condition = ask!(store.write, |tx| tx.conditions(&ids)).unwrap().remove(0);
        condition.condition.hold = hold;
        ask!(store.write, |tx| tx.conditions_put(&[condition])).unwrap();
        let seen = endpoint_of(&shop, &id).await;
        (seen.held_until, seen.held_reason)
    };
    for reason in HoldReason::ALL {
        let since = Some(at(1));
        let held = Hold { until: Some(at(9)), step: 1, since, reason: Some(*reason), ..Hold::default() };
        assert_eq!(hold(held).await, (Some(at(9)), Some(*reason)));
    }
    assert_eq!(hold(Hold::default()).await, (None, None));
}

pub(crate) async fn limits_outside_their_range_are_refused(shop: Shop, database: &dyn Database) {
    shop.endpoint(&["*"]).await;
    for (table, column, first, last) in [
        ("webhook_endpoints", "max_in_flight", 1, 256),
        ("merchants", "max_in_flight", 1, 256),
        ("merchants", "dispatch_share_percent", 1, 100),
    ] {
        for wrong in [first - 1, last + 1] {
            database.execute(&format!("UPDATE {table} SET {column} = {wrong}")).await.unwrap_err();
        }
        for right in [first, last] {
            assert_eq!(database.execute(&format!("UPDATE {table} SET {column} = {right}")).await, Ok(1));
        }
    }
    database.execute("UPDATE webhook_endpoints SET held_reason = 'mood'").await.unwrap_err();
}

pub(crate) async fn instances_are_counted_until_they_leave_or_fall_silent(
    shop: Shop,
    database: &dyn Database,
) {
    const HOUR_MS: i64 = 3_600_000;
    let store = shop.store;
    let beat = async |id: &'static str| ask!(store.write, |tx| tx.instance_beat(id, HOUR_MS)).unwrap();
    assert_eq!([beat("a").await, beat("b").await, beat("b").await, beat("c").await], [1, 2, 2, 3]);
    ask!(store.write, |tx| tx.instance_leave("b")).unwrap();
    assert_eq!(beat("a").await, 2);
    // `c` was last seen two hours ago, by the clock of the database.
    database.execute("UPDATE instances SET seen_at = seen_at - 7200000 WHERE id = 'c'").await.unwrap();
    assert_eq!(beat("a").await, 1);
    assert_eq!(beat("c").await, 2);
}

pub(crate) async fn a_thousand_endpoints_are_told_at_once(shop: Shop, _: &dyn Database) {
    for _ in 0..ENDPOINTS_MAX {
        shop.endpoint(&["*"]).await;
    }
    let told = shop.open_checkout().await.deliveries.len();
    assert_eq!(i64::try_from(told), Ok(ENDPOINTS_MAX));
    let leased = shop.lease("a", noon(), ENDPOINTS_MAX, 8).await.len();
    assert_eq!(i64::try_from(leased), Ok(ENDPOINTS_MAX));
}
