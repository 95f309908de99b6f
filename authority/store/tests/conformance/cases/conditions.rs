//! What is known of an endpoint from its attempts: contract 7.5, 15.6, 15.8.

use authority_domain::delivery::retry::RetrySchedule;
use authority_domain::endpoint::condition::Condition;
use authority_domain::endpoint::hold::{Hold, HoldReason};
use authority_domain::endpoint::{Health, HealthState};
use authority_domain::{EndpointId, EndpointStatus, EventId};
use authority_store::tx::{ConditionOf, Overdue};

use super::endpoints::endpoint_of;
use super::{Database, Shop, at, done, noon};

async fn condition_of(shop: &Shop, id: &EndpointId) -> ConditionOf {
    let ids = [id.clone()];
    done!(shop, |tx| tx.conditions(&ids)).remove(0)
}

async fn put(shop: &Shop, conditions: Vec<ConditionOf>) {
    done!(shop, |tx| tx.conditions_put(&conditions));
}

fn events(ids: &[&str]) -> Vec<EventId> {
    ids.iter().map(|id| EventId::from_store((*id).to_owned())).collect()
}

/// Every member different from what a new endpoint has.
fn ill() -> Condition {
    Condition {
        health: Health {
            state: HealthState::Failing,
            consecutive_failures: 11,
            last_success_at: Some(at(1)),
            last_failure_at: Some(at(2)),
            last_response_status: Some(503),
            last_error: Some("http_error".to_owned()),
        },
        first_failure_at: Some(at(3)),
        failed_events: events(&["evt_a", "evt_b", "evt_c"]),
        hold: Hold {
            until: Some(at(4)),
            step: 5,
            since: Some(at(6)),
            reason: Some(HoldReason::Unavailable),
            asked: true,
            regained: 3,
        },
    }
}

pub(crate) async fn a_condition_comes_back_as_it_was_put(shop: Shop, _: &dyn Database) {
    let theirs = shop.in_test_mode();
    let (one, other, untouched) =
        (shop.endpoint(&["*"]).await, theirs.endpoint(&["*"]).await, shop.endpoint(&["*"]).await);
    let new = condition_of(&shop, &one).await;
    assert_eq!(
        (new.tenant.clone(), new.status, new.deleted),
        (shop.tenant.clone(), EndpointStatus::Enabled, false)
    );
    let health = Health {
        state: HealthState::Unknown,
        consecutive_failures: 0,
        last_success_at: None,
        last_failure_at: None,
        last_response_status: None,
        last_error: None,
    };
    let untried =
        Condition { health, first_failure_at: None, failed_events: Vec::new(), hold: Hold::default() };
    assert_eq!(new.condition, untried);
    // Several at once, each its own.
    let mut second = condition_of(&shop, &other).await;
    second.condition.health.consecutive_failures = 1;
    second.condition.failed_events = events(&["evt_z"]);
    put(&shop, vec![ConditionOf { condition: ill(), ..new.clone() }, second.clone()]).await;
    assert_eq!(condition_of(&shop, &one).await, ConditionOf { condition: ill(), ..new.clone() });
    assert_eq!(condition_of(&shop, &other).await, second);
    assert_eq!(second.tenant, theirs.tenant);
    assert_eq!(condition_of(&shop, &untouched).await.condition, untried);
    // What merchants see is the same, and no version of the endpoint.
    let shown = endpoint_of(&shop, &one).await;
    assert_eq!((shown.health, shown.resource_version), (ill().health, 1));
    put(&shop, vec![new.clone()]).await;
    assert_eq!(condition_of(&shop, &one).await, new);
    put(&shop, Vec::new()).await;
    assert_eq!(done!(shop, |tx| tx.conditions(&[])), []);
}

/// An endpoint that is enabled again has no past; one with another address may have another receiver, which is tried at
/// once, while its failures still count.
pub(crate) async fn a_changed_endpoint_begins_anew(shop: Shop, _: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    let change = async |url: Option<&str>, failures: i64, now: i64| {
        let mut endpoint = endpoint_of(&shop, &id).await;
        endpoint.url = url.map_or(endpoint.url, str::to_owned);
        endpoint.health.consecutive_failures = failures;
        endpoint.resource_version += 1;
        endpoint.updated_at = at(now);
        done!(shop, |tx| tx.endpoint_update(&shop.tenant, &endpoint));
    };
    let of = condition_of(&shop, &id).await;
    put(&shop, vec![ConditionOf { condition: ill(), ..of }]).await;
    change(None, 11, 10).await;
    assert_eq!(condition_of(&shop, &id).await.condition, ill(), "something else has changed");
    change(Some("https://other.example.com/"), 11, 20).await;
    let lifted = Hold { since: Some(at(20)), ..Hold::default() };
    assert_eq!(condition_of(&shop, &id).await.condition, Condition { hold: lifted, ..ill() });
    change(None, 0, 30).await;
    let after = condition_of(&shop, &id).await.condition;
    assert_eq!((after.first_failure_at, after.failed_events), (None, Vec::new()));
    assert_eq!(after.hold, Hold { since: Some(at(30)), ..Hold::default() });
    change(None, 0, 40).await;
    let rotated = condition_of(&shop, &id).await.condition;
    assert_eq!(rotated.hold, after.hold, "what is in flight still counts when something else changes");
}

pub(crate) async fn endpoints_that_time_has_changed_are_found(shop: Shop, database: &dyn Database) {
    // (first failure, failures, state, events, enabled) → failing since 100, disabled since 50: found.
    let three = ["evt_a", "evt_b", "evt_c"];
    let (degraded, failing) = (HealthState::Degraded, HealthState::Failing);
    let table = [
        (Some(100), 10, degraded, &three[..1], true, true),
        (Some(101), 10, degraded, &three[..1], true, false),
        (Some(100), 9, degraded, &three[..1], true, false),
        (Some(100), 10, failing, &three[..], true, false),
        (Some(50), 10, failing, &three[..], true, true),
        (Some(51), 10, failing, &three[..], true, false),
        (Some(49), 10, failing, &three[..2], true, false),
        (Some(48), 10, failing, &three[..], false, false),
        (Some(99), 10, degraded, &three[..], false, false),
        (None, 10, degraded, &three[..], true, false),
        (Some(47), 10, degraded, &three[..], true, true),
    ];
    let mut expected = Vec::new();
    for (first, failures, state, failed, enabled, found) in table {
        let id = shop.endpoint(&["*"]).await;
        let mut of = condition_of(&shop, &id).await;
        of.condition.first_failure_at = first.map(at);
        of.condition.health.consecutive_failures = failures;
        of.condition.health.state = state;
        of.condition.failed_events = events(failed);
        put(&shop, vec![of]).await;
        if !enabled {
            database.set_endpoint(&id, "status = 'disabled'").await;
        }
        if found {
            expected.push((first.unwrap(), id));
        }
    }
    expected.sort();
    let expected: Vec<EndpointId> = expected.into_iter().map(|(_, id)| id).collect();
    let find = async |limit: i64| -> Vec<EndpointId> {
        let overdue =
            Overdue { failing_before: at(100), disabled_before: at(50), long_disabled_before: at(50), limit };
        let found = done!(shop, |tx| tx.conditions_overdue(overdue));
        found.into_iter().map(|of| of.endpoint_id).collect()
    };
    assert_eq!(find(99).await, expected);
    assert_eq!(find(2).await, expected[..2]);
    // Where an endpoint is disabled sooner than it is failing, it is found by that.
    let sooner = Overdue {
        failing_before: noon(),
        disabled_before: at(100),
        long_disabled_before: at(100),
        limit: 99,
    };
    let found = done!(shop, |tx| tx.conditions_overdue(sooner));
    assert_eq!(found.len(), 4, "those with three events, enabled, whose failures began by then");
    // Those with the schedule `long` are given more time.
    let id = &found[1].endpoint_id;
    database.set_endpoint(id, "retry_schedule = 'long'").await;
    assert_eq!(condition_of(&shop, id).await.retry_schedule, RetrySchedule::Long);
    let first = found[1].condition.first_failure_at.unwrap();
    for (long_disabled_before, expected) in [(first.plus_ms(-1), 3), (first, 4)] {
        let overdue = Overdue { long_disabled_before, ..sooner };
        assert_eq!(done!(shop, |tx| tx.conditions_overdue(overdue)).len(), expected);
    }
}
