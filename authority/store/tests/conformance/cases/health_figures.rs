//! The figures of integration health, and the alerts beside them: contract 2.12.

use std::collections::BTreeMap;

use authority_domain::alert::Alert;
use authority_domain::integration_health::EndpointFigures;
use authority_domain::{AlertCode, EndpointId, Timestamp};
use authority_store::tx::SettledAs;

use super::{Database, Shop, alert, at, done, noon, read, settlement};

async fn figures(shop: &Shop, now: Timestamp, since: Timestamp) -> BTreeMap<EndpointId, EndpointFigures> {
    read!(shop, |tx| tx.endpoint_figures(&shop.tenant, now, since, 2))
}

pub(crate) async fn what_waits_and_what_was_tried_is_counted_per_endpoint(shop: Shop, _: &dyn Database) {
    let (id, idle) = (shop.endpoint(&["checkout.*"]).await, shop.endpoint(&["refund.*"]).await);
    // Another tenant's do not count.
    let stranger = Shop::new(&shop.store, "other").await;
    stranger.endpoint(&["*"]).await;
    stranger.open_checkout().await;
    shop.open_checkouts(5).await;
    let waiting = EndpointFigures {
        pending: 5,
        due: 5,
        oldest_pending_at: Some(noon()),
        first_due_at: Some(noon()),
        ..EndpointFigures::default()
    };
    let expected = BTreeMap::from([(id.clone(), waiting), (idle.clone(), EndpointFigures::default())]);
    assert_eq!(figures(&shop, at(0), at(0)).await, expected);

    let taken: Vec<_> = shop.lease("a", noon(), 99, 9).await;
    let taken: Vec<_> = taken.into_iter().filter(|leased| leased.endpoint_id == id).take(4).collect();
    let ended = [
        (SettledAs::Succeeded, 10),
        (SettledAs::Retry { at: at(300), put_off: false }, 20),
        (SettledAs::Failed { reason: "rejected" }, 30),
        (SettledAs::Succeeded, 40),
    ];
    let settlements = taken.iter().zip(ended).map(|(delivery, (settled_as, s))| {
        let mut settlement = settlement(delivery, "a", settled_as);
        settlement.started_at = at(s);
        settlement.finished_at = at(s + 1);
        settlement.duration_ms = s;
        settlement
    });
    assert_eq!(shop.settle(settlements.collect()).await, 4);
    let expected = EndpointFigures {
        pending: 2,
        due: 1,
        oldest_pending_at: Some(noon()),
        first_due_at: Some(noon()),
        attempts: 4,
        failed_attempts: 2,
        failed_deliveries: 1,
        durations_ms: vec![40, 30],
    };
    assert_eq!(figures(&shop, at(100), at(0)).await[&id], expected);
    // A later window: the attempts that began in it, the deliveries that were given up in it.
    let later = figures(&shop, at(300), at(31)).await;
    // The counts are those of the five minutes that the window begins in; the latencies are those of the window.
    let expected = EndpointFigures { due: 2, durations_ms: vec![40], ..expected };
    assert_eq!(later[&id], expected);
    let later = figures(&shop, at(300), at(300)).await;
    let expected = EndpointFigures {
        attempts: 0,
        failed_attempts: 0,
        failed_deliveries: 0,
        durations_ms: Vec::new(),
        ..expected
    };
    assert_eq!(later[&id], expected);
    // They are put away when they are old enough.
    let purge = async |s: i64| -> u64 { done!(shop, |tx| tx.figures_purge(at(s), 99)) };
    let purged = (purge(0).await, purge(1).await, purge(1).await);
    // The endpoint's, that of all endpoints, and the events of the two merchants, which may be in one shard.
    assert!(matches!(purged, (0, 3 | 4, 0)), "{purged:?}");
    // A deleted endpoint has no figures.
    done!(shop, [id], |tx| tx.endpoint_delete(&shop.tenant, &id, 1, at(400)));
    assert_eq!(figures(&shop, at(400), at(0)).await, BTreeMap::from([(idle, EndpointFigures::default())]));
}

async fn raise(shop: &Shop, code: AlertCode, subject: &EndpointId, s: i64) {
    let alert = alert(code, subject.as_str(), s);
    done!(shop, |tx| tx.alert_raise(Some(&shop.tenant), &alert, at(s)));
}

async fn open(shop: &Shop) -> Vec<Alert> {
    read!(shop, |tx| tx.alerts_open(Some(&shop.tenant), 99))
}

async fn open_codes(shop: &Shop) -> Vec<AlertCode> {
    open(shop).await.into_iter().map(|alert| alert.code).collect()
}

pub(crate) async fn alerts_open_count_and_close(shop: Shop, _: &dyn Database) {
    let (id, other) = (shop.endpoint(&["*"]).await, shop.endpoint(&["*"]).await);
    raise(&shop, AlertCode::EndpointFailing, &id, 1).await;
    raise(&shop, AlertCode::BlockedAddress, &other, 2).await;
    raise(&shop, AlertCode::EndpointFailing, &id, 3).await;
    let alerts = open(&shop).await;
    let told: Vec<_> = alerts
        .iter()
        .map(|alert| {
            (alert.code, alert.endpoint_id(), alert.count, alert.first_seen_at, alert.message.as_str())
        })
        .collect();
    assert_eq!(
        told,
        [
            (AlertCode::EndpointFailing, Some(id.clone()), 2, at(1), "seen at 3"),
            (AlertCode::BlockedAddress, Some(other.clone()), 1, at(2), "seen at 2"),
        ]
    );
    for stranger in [Shop::new(&shop.store, "other").await, shop.in_test_mode()] {
        assert_eq!(open(&stranger).await, []);
    }
    let close = async |subjects: &[&EndpointId], codes: &'static [AlertCode]| {
        let subjects: Vec<EndpointId> = subjects.iter().map(|id| (*id).clone()).collect();
        done!(shop, |tx| tx.alerts_close_about(&subjects, codes, at(9)));
    };
    // No endpoint or no code is nothing, not everything.
    close(&[], AlertCode::ALL).await;
    close(&[&id, &other], &[]).await;
    close(&[&other], &[AlertCode::EndpointFailing, AlertCode::TlsCertificateInvalid]).await;
    assert_eq!(open_codes(&shop).await.len(), 2);
    close(&[&id, &other], &[AlertCode::EndpointFailing]).await;
    assert_eq!(open_codes(&shop).await, [AlertCode::BlockedAddress]);
    // Raised again it is another alert, which begins at one.
    raise(&shop, AlertCode::EndpointFailing, &id, 10).await;
    let again = open(&shop).await.into_iter().find(|alert| alert.code == AlertCode::EndpointFailing).unwrap();
    assert_eq!((again.count, again.first_seen_at), (1, at(10)));
    assert_ne!(again.id, alerts[0].id);
    // What was not seen for a while closes, of the code that is asked for.
    let quiet = async |since: i64| -> u64 {
        done!(shop, |tx| tx.alerts_close_quiet(AlertCode::EndpointFailing, at(since), at(99)))
    };
    assert_eq!((quiet(10).await, quiet(11).await, quiet(11).await), (0, 1, 0));
    assert_eq!(open_codes(&shop).await, [AlertCode::BlockedAddress]);
}

pub(crate) async fn failed_deliveries_are_over_when_every_event_has_arrived(shop: Shop, _: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    let (first, second) = (shop.open_checkout().await, shop.open_checkout().await);
    let taken = shop.lease("a", noon(), 9, 9).await;
    let given_up = |n: usize| settlement(&taken[n], "a", SettledAs::Failed { reason: "attempts_exhausted" });
    shop.settle(vec![given_up(0), given_up(1)]).await;
    raise(&shop, AlertCode::DeliveriesFailed, &id, 61).await;
    let close = async |since: i64| {
        done!(shop, [id], |tx| tx.alert_close_delivered(&id, at(since), at(100)));
    };
    let arrive = async |event: &authority_domain::event::NewEvent, token: &'static str| {
        let again = shop.replay_of(&event.id, event.sequence, &id, at(70));
        done!(shop, |tx| tx.deliveries_insert(&shop.tenant, &[again], at(70)));
        let leased = shop.lease(token, at(70), 9, 9).await;
        assert_eq!(shop.settle(vec![settlement(&leased[0], token, SettledAs::Succeeded)]).await, 1);
    };
    arrive(&first.events[0], "b").await;
    close(0).await;
    assert_eq!(open_codes(&shop).await, [AlertCode::DeliveriesFailed], "one is still missing");
    arrive(&second.events[0], "c").await;
    close(0).await;
    assert_eq!(open_codes(&shop).await, []);
    // What was given up before the time in question is nobody's concern any more.
    raise(&shop, AlertCode::DeliveriesFailed, &id, 101).await;
    close(62).await;
    assert_eq!(open_codes(&shop).await, []);
}
