//! The claim takes as much as an endpoint has room for: the rule of [`authority_domain::endpoint_hold::room`] in SQL
//! (contract 7.4, 15.4, 15.6).

use std::collections::BTreeMap;

use authority_domain::endpoint::HealthState;
use authority_domain::endpoint_hold::{Hold, room};
use authority_domain::id::EndpointId;
use authority_domain::time::Timestamp;
use authority_store::StoreError;

use super::fixtures::{at, noon};
use super::shop::Shop;
use super::{Database, job};

/// Deliveries that wait for each endpoint before any is taken.
const WAITING: i64 = 6;

struct Case {
    endpoint: EndpointId,
    hold: Hold,
    health: HealthState,
    in_flight: i64,
}

/// One endpoint for every combination of hold, step, health and requests in flight.
async fn every_case<D: Database>(database: &D, shop: &Shop) -> Vec<Case> {
    let mut cases = Vec::new();
    for until in [None, Some(at(9)), Some(at(10)), Some(at(10).plus_ms(1))] {
        for step in [0, 1, 9] {
            for health in HealthState::ALL {
                for in_flight in 0..=4 {
                    let endpoint = shop.endpoint(&["*"]).await;
                    let held = until.map_or("NULL".to_owned(), |until| until.as_ms().to_string());
                    let sql = format!(
                        "UPDATE webhook_endpoints SET held_until = {held}, hold_step = {step}, health_state = '{health}' \
                         WHERE id = '{endpoint}'"
                    );
                    assert_eq!(database.execute(&sql).await.unwrap(), 1);
                    let hold = Hold { until, step, since: None };
                    cases.push(Case { endpoint, hold, health: *health, in_flight });
                }
            }
        }
    }
    cases
}

pub(crate) async fn a_claim_takes_what_there_is_room_for<D: Database>() {
    let database = D::start().await;
    let shop = Shop::open(&database).await;
    let cases = every_case(&database, &shop).await;
    for _ in 0..WAITING {
        shop.open_checkout().await;
    }
    for cap in [1, 3, 8] {
        for case in &cases {
            let sql = format!(
                "UPDATE deliveries SET lease_token = CASE WHEN sequence <= {n} THEN 'before' END, \
                     lease_until = CASE WHEN sequence <= {n} THEN {until} END WHERE endpoint_id = '{id}'",
                n = case.in_flight,
                until = at(10).as_ms(),
                id = case.endpoint
            );
            assert_eq!(database.execute(&sql).await.unwrap(), u64::try_from(WAITING).unwrap());
        }
        let mut taken: BTreeMap<EndpointId, i64> = BTreeMap::new();
        for delivery in shop.lease(&format!("cap-{cap}"), at(10), 10_000, cap).await {
            *taken.entry(delivery.endpoint_id).or_default() += 1;
        }
        for Case { endpoint, hold, health, in_flight } in &cases {
            let expected = room(hold, *health, cap, *in_flight, at(10)).min(WAITING - in_flight);
            let found = taken.get(endpoint).copied().unwrap_or(0);
            assert_eq!(found, expected, "cap {cap}, {hold:?}, {health}, {in_flight} in flight");
        }
    }
}

/// What waits for an endpoint that is held back has not been forgotten; nobody is to send it yet.
pub(crate) async fn what_is_held_back_is_not_unattended<D: Database>() {
    let database = D::start().await;
    let shop = Shop::open(&database).await;
    let id = shop.endpoint(&["*"]).await;
    shop.open_checkout().await;
    let hold = format!("UPDATE webhook_endpoints SET held_until = {} WHERE id = '{id}'", at(100).as_ms());
    database.execute(&hold).await.unwrap();
    let unattended = async |now| -> Option<Timestamp> {
        let store = &shop.store;
        let oldest: Result<_, StoreError> = job!(store.read, tx => tx.oldest_unattended(now));
        oldest.unwrap()
    };
    assert_eq!(unattended(at(100).plus_ms(-1)).await, None);
    assert_eq!(unattended(at(100)).await, Some(at(100)), "since the end of the hold, not since it was due");
    let hold = format!("UPDATE webhook_endpoints SET held_until = {} WHERE id = '{id}'", noon().as_ms() - 1);
    database.execute(&hold).await.unwrap();
    assert_eq!(unattended(at(100)).await, Some(noon()), "a hold that was over before counts for nothing");
}
