//! The history of deliveries: contract 2.9, 4.5.

use authority_domain::delivery::{Delivery, Trigger};
use authority_domain::list_filter::DeliveryFilter;
use authority_domain::{DeliveryId, DeliveryStatus, EndpointId, EventId, FailureReason};
use authority_store::tx::{EventHead, SettledAs};
use serde_json::json;
use verify_core::catalog::EventType;

use super::{Database, Shop, ask, at, dice, done, noon, read, settlement};

async fn page(
    shop: &Shop,
    endpoint: &EndpointId,
    filter: DeliveryFilter,
    before: Option<i64>,
) -> Vec<(i64, Delivery)> {
    read!(shop, [endpoint], |tx| { tx.deliveries_page(&shop.tenant, &endpoint, &filter, before, 4) }).rows
}

async fn places(shop: &Shop, endpoint: &EndpointId, filter: DeliveryFilter) -> Vec<i64> {
    page(shop, endpoint, filter, None).await.into_iter().map(|(place, _)| place).collect()
}

/// Sends an event to an endpoint once more.
async fn replay(shop: &Shop, event: &Delivery, sequence: i64) -> DeliveryId {
    let new = shop.replay_of(&event.event_id, sequence, &event.endpoint_id, at(500));
    let id = new.id.clone();
    done!(shop, |tx| tx.deliveries_insert(&shop.tenant, &[new], at(500)));
    id
}

pub(crate) async fn an_endpoints_deliveries_come_newest_first(shop: Shop, _: &dyn Database) {
    let (id, other) = (shop.endpoint(&["*"]).await, shop.endpoint(&["*"]).await);
    // Six events in two commits: the places of one statement go on one by one.
    shop.sell().await;
    let all = page(&shop, &id, DeliveryFilter::default(), None).await;
    assert_eq!(all.iter().map(|(place, _)| *place).collect::<Vec<_>>(), [6, 5, 4, 3]);
    let types: Vec<&str> = all.iter().map(|(_, delivery)| delivery.event_type.as_str()).collect();
    assert_eq!(types, ["order.confirmed", "payment.succeeded", "order.created", "checkout.completed"]);
    let rest = page(&shop, &id, DeliveryFilter::default(), Some(3)).await;
    assert_eq!(rest.iter().map(|(place, _)| *place).collect::<Vec<_>>(), [2, 1]);
    // A replay of the oldest event is the newest delivery; the other endpoint has its own places.
    let replayed = replay(&shop, &rest[1].1, 1).await;
    let newest = page(&shop, &id, DeliveryFilter::default(), None).await.remove(0);
    assert_eq!((newest.0, &newest.1.id, newest.1.trigger), (7, &replayed, Trigger::Replay));
    assert_eq!(places(&shop, &other, DeliveryFilter::default()).await, [6, 5, 4, 3]);

    let first = &rest[1].1;
    let taken = shop.lease("a", noon(), 1, 1).await;
    shop.settle(vec![settlement(&taken[0], "a", SettledAs::Failed { reason: "rejected" })]).await;
    let none = DeliveryFilter::default;
    let failed = EndpointId::clone(&taken[0].endpoint_id);
    let table: [(DeliveryFilter, &[i64]); 6] = [
        (DeliveryFilter { status: vec![DeliveryStatus::Failed], ..none() }, &[1]),
        (
            DeliveryFilter { status: vec![DeliveryStatus::Succeeded, DeliveryStatus::Cancelled], ..none() },
            &[],
        ),
        (
            DeliveryFilter {
                event_types: vec![EventType::OrderCreated, EventType::OrderConfirmed],
                ..none()
            },
            &[6, 4],
        ),
        (DeliveryFilter { event_types: vec![EventType::RefundRequested], ..none() }, &[]),
        (
            DeliveryFilter { created_to: Some(at(1)), status: vec![DeliveryStatus::Pending], ..none() },
            &[6, 5, 4, 3],
        ),
        (
            DeliveryFilter {
                created_from: Some(at(0)),
                event_types: vec![EventType::OrderCreated],
                ..none()
            },
            &[4],
        ),
    ];
    for (filter, expected) in table {
        assert_eq!(places(&shop, &failed, filter.clone()).await, expected, "{filter:?}");
    }
    let of_event = DeliveryFilter { event_id: Some(first.event_id.to_string()), ..none() };
    assert_eq!(places(&shop, &id, of_event.clone()).await, [7, 1]);
    let later = DeliveryFilter { created_from: Some(at(1)), ..of_event };
    assert_eq!(places(&shop, &id, later).await, [7]);
}

pub(crate) async fn a_delivery_tells_what_became_of_it(shop: Shop, _: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    shop.open_checkout().await;
    let made = page(&shop, &id, DeliveryFilter::default(), None).await.remove(0).1;
    let expected = json!({
        "object": "delivery", "id": made.id, "event_id": made.event_id, "event_type": "checkout.created",
        "endpoint_id": id, "trigger": "event", "status": "pending", "attempt_count": 0, "next_attempt_at": noon(),
        "last_outcome": null, "last_response_status": null, "failure_reason": null, "succeeded_at": null,
        "failed_at": null, "livemode": true, "created_at": noon(), "updated_at": noon(),
    });
    assert_eq!(serde_json::to_value(&made).unwrap(), expected);
    let first = shop.lease("a", noon(), 9, 9).await;
    shop.settle(vec![settlement(&first[0], "a", SettledAs::Retry { at: at(300), put_off: false })]).await;
    let second = shop.lease("b", at(300), 9, 9).await;
    shop.settle(vec![settlement(&second[0], "b", SettledAs::Succeeded)]).await;
    let get =
        async || -> Delivery { read!(shop, [made], |tx| tx.delivery_get(&shop.tenant, &made.id)).unwrap() };
    let mut after = expected.clone();
    for (member, value) in [
        ("status", json!("succeeded")),
        ("attempt_count", json!(2)),
        ("next_attempt_at", json!(null)),
        ("last_outcome", json!("success")),
        ("last_response_status", json!(200)),
        ("succeeded_at", json!(at(61))),
        ("updated_at", json!(at(61))),
    ] {
        after[member] = value;
    }
    assert_eq!(serde_json::to_value(get().await).unwrap(), after);
    let attempts = ask!(shop.store.read, [shop, made], |tx| tx.delivery_attempts(&shop.tenant, &made.id));
    let attempts = serde_json::to_value(attempts.unwrap()).unwrap();
    assert_eq!(attempts.as_array().unwrap().len(), 2);
    let expected = json!({
        "object": "delivery_attempt", "id": attempts[0]["id"], "delivery_id": made.id, "number": 1, "started_at": at(60),
        "signed_timestamp": at(60).as_unix_seconds(), "duration_ms": 1000, "outcome": "http_error",
        "response_status": 500, "response_excerpt": "hello", "retry_at": at(300),
    });
    assert_eq!(attempts[0], expected);
    assert_eq!((&attempts[1]["number"], &attempts[1]["retry_at"]), (&json!(2), &json!(null)));
    // What waits is cancelled up to a bound; nothing else is.
    shop.open_checkout().await;
    shop.open_checkout().await;
    let cancel = async |limit: i64| -> u64 {
        let reason = FailureReason::EndpointDeleted;
        done!(shop, [id], |tx| tx.deliveries_cancel(&id, reason, at(400), limit))
    };
    assert_eq!((cancel(1).await, cancel(9).await, cancel(9).await), (1, 1, 0));
    let rows = page(&shop, &id, DeliveryFilter::default(), None).await;
    let told: Vec<_> =
        rows.iter().map(|(_, row)| (row.status.as_str(), row.failure_reason, row.updated_at)).collect();
    let cancelled = ("cancelled", Some(FailureReason::EndpointDeleted), at(400));
    assert_eq!(told, [cancelled, cancelled, ("succeeded", None, at(61))]);
}

pub(crate) async fn an_events_head_is_enough_for_a_replay(shop: Shop, _: &dyn Database) {
    let committed = shop.open_checkout().await;
    let event = &committed.events[0];
    let head =
        async |id: EventId| -> Option<EventHead> { read!(shop, |tx| tx.event_head(&shop.tenant, &id)) };
    let expected = EventHead {
        event_type: "checkout.created".into(),
        sequence: 1,
        resource_id: event.resource_id.clone(),
    };
    assert_eq!(head(event.id.clone()).await, Some(expected));
    assert_eq!(head(EventId::generate(noon(), &mut dice())).await, None);
}
