//! The claim takes as much as an endpoint has room for: in SQL the rule of [`authority_domain::endpoint::hold::cap`],
//! and what other instances leave of its `max_in_flight` (contract 7.4, 15.4, 15.6, 18.4).

use std::collections::BTreeMap;

use authority_domain::endpoint::HealthState;
use authority_domain::endpoint::hold::{Hold, cap};
use authority_domain::{EndpointId, Timestamp};
use authority_store::hand_off::Lease;
use authority_store::slots::Want;

use super::{Database, Shop, at, done, noon, read};

/// Deliveries that wait for each endpoint before any is taken.
const WAITING: i64 = 6;

struct Case {
    endpoint: EndpointId,
    hold: Hold,
    health: HealthState,
    in_flight: i64,
}

/// One endpoint for every combination of hold, step, successes since, health and requests in flight.
async fn every_case(database: &dyn Database, shop: &Shop) -> Vec<Case> {
    let mut cases = Vec::new();
    for until in [None, Some(at(9)), Some(at(10)), Some(at(10).plus_ms(1))] {
        for (step, regained) in [(0, 0), (0, 1), (0, 3), (1, 0), (9, 2)] {
            for health in HealthState::ALL {
                for in_flight in 0..=4 {
                    let endpoint = shop.endpoint(&["*"]).await;
                    let held = until.map_or("NULL".to_owned(), |until| until.as_ms().to_string());
                    database
                        .set_endpoint(
                            &endpoint,
                            &format!(
                                "held_until = {held}, hold_step = {step}, hold_regained = {regained}, \
                                 health_state = '{health}'"
                            ),
                        )
                        .await;
                    let hold = Hold { until, step, regained, ..Hold::default() };
                    cases.push(Case { endpoint, hold, health: *health, in_flight });
                }
            }
        }
    }
    cases
}

pub(crate) async fn a_claim_takes_what_there_is_room_for(shop: Shop, database: &dyn Database) {
    let cases = every_case(database, &shop).await;
    shop.open_checkouts(WAITING).await;
    for most in [1, 3, 8] {
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
        for delivery in shop.lease(&format!("most-{most}"), at(10), 10_000, most).await {
            *taken.entry(delivery.endpoint_id).or_default() += 1;
        }
        for Case { endpoint, hold, health, in_flight } in &cases {
            let cap = cap(hold, *health, at(10)).map_or(most, |cap| cap.min(most));
            let expected = (cap - in_flight).clamp(0, WAITING - in_flight);
            let found = taken.get(endpoint).copied().unwrap_or(0);
            assert_eq!(found, expected, "at most {most}, {hold:?}, {health}, {in_flight} in flight");
        }
    }
}

/// What is set for the endpoint and its merchant, what this instance wants, and what it holds itself.
pub(crate) async fn a_claim_takes_what_is_wanted_within_what_is_set(shop: Shop, database: &dyn Database) {
    // (of the endpoint, of the merchant, wanted, beyond, leased by others, leased by itself) → taken of 20.
    let table = [
        (None, None, None, 0, 0, 8),
        (None, None, Some(20), 0, 0, 12),
        (None, None, Some(20), 3, 0, 15),
        (Some(5), None, Some(20), 0, 0, 5),
        (None, Some(4), Some(20), 0, 0, 4),
        (Some(5), Some(4), Some(20), 0, 0, 4),
        (Some(3), Some(4), Some(20), 2, 0, 5),
        (None, None, Some(20), 0, 10, 2),
        (None, None, Some(20), 4, 11, 5),
        (None, None, Some(20), 4, 12, 0),
        (None, None, Some(20), 4, 14, 0),
        (None, None, Some(20), -4, 10, 0),
        (Some(5), None, Some(2), 0, 3, 2),
        (Some(5), None, Some(0), 9, 0, 0),
    ];
    for (nth, (own, merchants, most, beyond, others, expected)) in table.into_iter().enumerate() {
        let shop = Shop::new(&shop.store, &format!("shop-{nth}")).await;
        let endpoint = shop.endpoint(&["*"]).await;
        let null = |value: Option<i64>| value.map_or("NULL".to_owned(), |value| value.to_string());
        for sql in [
            format!("UPDATE webhook_endpoints SET max_in_flight = {} WHERE id = '{endpoint}'", null(own)),
            format!(
                "UPDATE merchants SET max_in_flight = {} WHERE id = '{}'",
                null(merchants),
                shop.tenant.merchant_id
            ),
        ] {
            assert_eq!(database.execute(&sql).await.unwrap(), 1);
        }
        shop.open_checkouts(20 + others).await;
        let held = format!(
            "UPDATE deliveries SET lease_token = 'another', lease_until = {} \
             WHERE endpoint_id = '{endpoint}' AND sequence <= {others}",
            at(60).as_ms()
        );
        assert_eq!(database.execute(&held).await.unwrap(), u64::try_from(others).unwrap());
        let want = most.map(|most| (endpoint.clone(), Want { most, beyond }));
        let lease = Lease {
            token: format!("{nth:016}"),
            now: noon(),
            until: at(60),
            limit: 100,
            max_in_flight: 12,
            wants: want.into_iter().collect(),
            each: 100,
            per_merchant: 100,
            merchants: BTreeMap::new(),
            among: Some(vec![endpoint]),
        };
        let leased = done!(shop, |tx| tx.delivery_lease_due(&lease));
        let case = format!("{own:?} {merchants:?} {most:?} {beyond} {others}");
        assert_eq!(i64::try_from(leased.len()).unwrap(), expected, "{case}");
        let set = own.into_iter().chain(merchants).min().unwrap_or(12);
        let bounds = leased.first().map(|first| (first.bounds.max_in_flight, first.bounds.ceiling));
        let told = (expected > 0).then_some((set, (set - others).max(0)));
        assert_eq!(bounds, told, "{case}");
    }
}

/// What waits for an endpoint that is held back has not been forgotten; nobody is to send it yet.
pub(crate) async fn what_is_held_back_is_not_unattended(shop: Shop, database: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    shop.open_checkout().await;
    database.set_endpoint(&id, &format!("held_until = {}", at(100).as_ms())).await;
    let unattended = async |now| -> Option<Timestamp> { read!(shop, |tx| tx.oldest_unattended(now)) };
    assert_eq!(unattended(at(100).plus_ms(-1)).await, None);
    assert_eq!(unattended(at(100)).await, Some(at(100)), "since the end of the hold, not since it was due");
    database.set_endpoint(&id, &format!("held_until = {}", noon().as_ms() - 1)).await;
    assert_eq!(unattended(at(100)).await, Some(noon()), "a hold that was over before counts for nothing");
}
