//! The answer for given observations.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::endpoint::EndpointRequest;
use crate::endpoint::url::{UrlPolicy, UrlRules};
use crate::id::{EndpointId, MerchantId};

const NOW: i64 = 1_788_264_000_000;

fn now() -> Timestamp {
    Timestamp::from_ms(NOW)
}

fn endpoint(n: u8) -> Endpoint {
    let body = json!({"url": "https://shop.example.com/"});
    let request = EndpointRequest::read(&body, &UrlRules::new(UrlPolicy::Public), true).unwrap();
    let id = EndpointId::from_store(format!("we_01k3zqa70000000000000000{n:02}"));
    let mut endpoint = request.into_endpoint(id, "…q3M".into(), true, now());
    endpoint.health.state = HealthState::Healthy;
    endpoint
}

fn alert(code: AlertCode, severity: Severity, subject: &str) -> Alert {
    Alert {
        id: AlertId::from_store("alt_01k3zqa7000000000000000000".into()),
        code,
        severity,
        subject: subject.into(),
        message: "look".into(),
        count: 3,
        first_seen_at: now(),
        last_seen_at: now(),
        closed_at: None,
    }
}

fn observed(endpoints: Vec<(Endpoint, EndpointFigures)>, alerts: Vec<Alert>) -> Observed {
    let tenant = Tenant { merchant_id: MerchantId::from_store("mer_a".into()), livemode: true };
    Observed { tenant, endpoints, alerts, latest_sequence: 9, oldest_retained_sequence: 4, checkpoints: None }
}

fn status(endpoints: Vec<Endpoint>, alerts: Vec<Alert>) -> HealthStatus {
    let endpoints = endpoints.into_iter().map(|endpoint| (endpoint, EndpointFigures::default())).collect();
    IntegrationHealth::of(observed(endpoints, alerts), now()).status
}

#[test]
fn without_endpoints_all_is_well() {
    let health = IntegrationHealth::of(observed(vec![], vec![]), now());
    let expected = json!({
        "object": "integration_health", "status": "healthy", "generated_at": now(), "livemode": true, "endpoints": [],
        "alerts": [],
        "outbox": {"pending": 0, "due_now": 0, "scheduled_retries": 0, "failed_24h": 0, "oldest_pending_at": null,
                   "oldest_pending_age_seconds": null, "latest_sequence": 9, "oldest_retained_sequence": 4},
    });
    assert_eq!(serde_json::to_value(health).unwrap(), expected);
}

#[test]
fn the_worst_of_endpoints_and_alerts_counts() {
    let of_state = |state: HealthState| {
        let mut endpoint = endpoint(1);
        endpoint.health.state = state;
        endpoint
    };
    let table = [
        (HealthState::Unknown, HealthStatus::Healthy),
        (HealthState::Healthy, HealthStatus::Healthy),
        (HealthState::Degraded, HealthStatus::Degraded),
        (HealthState::Failing, HealthStatus::Failing),
    ];
    for (state, expected) in table {
        assert_eq!(status(vec![of_state(state)], vec![]), expected, "{state}");
        assert_eq!(status(vec![of_state(state), endpoint(2)], vec![]), expected, "{state}");
    }
    let raised = |severity| vec![alert(AlertCode::DeliveriesFailed, severity, "")];
    for (severity, expected) in [
        (Severity::Info, HealthStatus::Healthy),
        (Severity::Warning, HealthStatus::Degraded),
        (Severity::Critical, HealthStatus::Failing),
    ] {
        assert_eq!(status(vec![endpoint(1)], raised(severity)), expected, "{severity}");
    }
    let both = status(vec![of_state(HealthState::Degraded)], raised(Severity::Critical));
    assert_eq!(both, HealthStatus::Failing);
    // Nothing is sent to a disabled endpoint, so its earlier state does not count.
    let mut disabled = of_state(HealthState::Failing);
    disabled.status = EndpointStatus::Disabled;
    assert_eq!(status(vec![disabled], vec![]), HealthStatus::Healthy);
}

#[test]
fn an_overlap_is_told_until_it_is_over() {
    let told = |until_ms: i64| {
        let mut endpoint = endpoint(1);
        endpoint.previous_secret_expires_at = Some(now().plus_ms(until_ms));
        let alert = alert(AlertCode::SecretOverlapOpen, Severity::Info, endpoint.id.as_str());
        let health =
            IntegrationHealth::of(observed(vec![(endpoint, EndpointFigures::default())], vec![alert]), now());
        (health.alerts.len(), health.endpoints[0].previous_secret_expires_at, health.status)
    };
    assert_eq!(told(1), (1, Some(now().plus_ms(1)), HealthStatus::Healthy));
    assert_eq!(told(0), (0, None, HealthStatus::Healthy));
}

#[test]
fn the_outbox_adds_up_and_is_late_after_five_minutes() {
    let waiting = |pending, due, oldest_ms: i64, first_due_ms: i64| EndpointFigures {
        pending,
        due,
        oldest_pending_at: Some(now().plus_ms(-oldest_ms)),
        first_due_at: Some(now().plus_ms(-first_due_ms)),
        failed_deliveries: 2,
        ..EndpointFigures::default()
    };
    let of = |first_due_ms| {
        let endpoints =
            vec![(endpoint(1), waiting(3, 1, 5_999, 1)), (endpoint(2), waiting(4, 2, 90_000, first_due_ms))];
        IntegrationHealth::of(observed(endpoints, vec![]), now())
    };
    let health = of(OUTBOX_DELAY_MS);
    assert_eq!((health.alerts.len(), health.status), (0, HealthStatus::Healthy));
    let outbox = &health.outbox;
    assert_eq!((outbox.pending, outbox.due_now, outbox.scheduled_retries, outbox.failed_24h), (7, 3, 4, 4));
    assert_eq!(outbox.oldest_pending_age_seconds, Some(90));
    let late = of(OUTBOX_DELAY_MS + 1);
    let [alert] = &late.alerts[..] else { panic!("{:?}", late.alerts) };
    assert_eq!(
        (alert.code, alert.severity, &alert.endpoint_id),
        (AlertCode::OutboxDelayed, Severity::Warning, &None)
    );
    assert_eq!((alert.first_seen_at, alert.last_seen_at), (now().plus_ms(-1), now()));
    assert!(verify_core::id::is_issued("alt", alert.id.as_str()));
    assert_eq!(of(OUTBOX_DELAY_MS + 2).alerts[0].id, alert.id);
    assert_eq!(late.status, HealthStatus::Degraded);
    // A disabled endpoint's deliveries do not count as waiting too long.
    let mut disabled = endpoint(1);
    disabled.status = EndpointStatus::Disabled;
    let health =
        IntegrationHealth::of(observed(vec![(disabled, waiting(1, 1, 0, i64::MAX / 2))], vec![]), now());
    assert_eq!(health.alerts, []);
}

#[test]
fn the_latency_is_the_nearest_rank() {
    let table: [(Vec<i64>, Option<i64>); 5] = [
        (vec![], None),
        (vec![7], Some(7)),
        (vec![2, 1], Some(2)),
        ((1..=20).rev().collect(), Some(19)),
        ((1..=100).collect(), Some(95)),
    ];
    for (mut durations, expected) in table {
        assert_eq!(p95(&mut durations), expected, "{durations:?}");
    }
}

proptest! {
    #[test]
    fn at_least_95_of_100_attempts_did_not_take_longer(mut durations in prop::collection::vec(0_i64..50_000, 1..600)) {
        let p95 = p95(&mut durations).unwrap();
        let within = durations.iter().filter(|duration| **duration <= p95).count();
        let below = durations.iter().filter(|duration| **duration < p95).count();
        prop_assert!(within * 100 >= durations.len() * 95);
        prop_assert!(below * 100 < durations.len() * 95);
    }
}
