//! What the operator looks up over all merchants: contract 6.2, 15.3.

use authority_domain::list_filter::{AllDeliveriesFilter, EventFilter};
use authority_domain::{DeliveryId, DeliveryStatus, MerchantId, Mode, Tenant};
use authority_store::tx::{FoundDelivery, Outbox, OutboxFigures, SettledAs};

use super::{Database, Shop, at, done, noon, read, settlement};

pub(crate) async fn deliveries_of_everybody_are_found(shop: Shop, _: &dyn Database) {
    let other = Shop::new(&shop.store, "other").await.in_test_mode();
    let platform = shop.platform();
    let (ours, theirs) = (shop.endpoint(&["*"]).await, other.endpoint(&["*"]).await);
    let sink = platform.endpoint(&["*"]).await;
    let event = shop.open_checkout().await.events[0].id.clone();
    other.open_checkout().await;
    let page =
        async |filter: AllDeliveriesFilter, before: Option<&DeliveryId>, limit| -> Vec<FoundDelivery> {
            let before = before.map(DeliveryId::to_string);
            read!(shop, |tx| tx.all_deliveries_page(&filter, before.as_deref(), limit)).rows
        };
    let all = AllDeliveriesFilter::default;
    let everything = page(all(), None, 9).await;
    assert_eq!(everything.len(), 4);
    assert!(everything.is_sorted_by(|a, b| a.delivery.id > b.delivery.id), "newest first");
    assert_eq!(page(all(), None, 2).await, everything[..2]);
    assert_eq!(page(all(), Some(&everything[1].delivery.id), 9).await, everything[2..]);
    let merchant = |shop: &Shop| Some(shop.tenant.merchant_id.clone());
    let count = async |filter: AllDeliveriesFilter| page(filter, None, 9).await.len();
    assert_eq!(count(AllDeliveriesFilter { merchant_id: merchant(&shop), ..all() }).await, 1);
    assert_eq!(count(AllDeliveriesFilter { mode: Some(Mode::Live), ..all() }).await, 1);
    assert_eq!(count(AllDeliveriesFilter { endpoint_id: Some(sink.clone()), ..all() }).await, 2);
    assert_eq!(count(AllDeliveriesFilter { event_id: Some(event), ..all() }).await, 2);
    let failed = AllDeliveriesFilter { status: vec![DeliveryStatus::Failed], ..all() };
    assert_eq!(count(failed).await, 0);
    // Those of the platform's endpoint tell whose event they carry.
    let of_sink = page(AllDeliveriesFilter { endpoint_id: Some(sink.clone()), ..all() }, None, 9).await;
    let mut told: Vec<(MerchantId, bool)> =
        of_sink.iter().map(|found| (found.merchant_id.clone(), found.delivery.livemode)).collect();
    told.sort();
    let mut expected = [(shop.tenant.merchant_id.clone(), true), (other.tenant.merchant_id.clone(), false)];
    expected.sort();
    assert_eq!(told, expected);
    assert!(of_sink.iter().all(|found| found.owner == Tenant::operator()));
    let id = of_sink[0].delivery.id.clone();
    assert_eq!(read!(shop, |tx| tx.delivery_find(&id)).as_ref(), Some(&of_sink[0]));
    for (id, owner) in
        [(ours, shop.tenant.clone()), (theirs, other.tenant.clone()), (sink, Tenant::operator())]
    {
        let found = read!(shop, |tx| tx.endpoint_find(&id)).unwrap();
        assert_eq!((found.owner, found.deleted_at), (owner, None));
    }
}

pub(crate) async fn what_waits_is_counted_and_brought_forward(shop: Shop, _: &dyn Database) {
    let (busy, idle) = (shop.endpoint(&["*"]).await, shop.endpoint(&["order.cancelled"]).await);
    let quiet = shop.endpoint(&["checkout.created"]).await;
    let outbox = async |now, limit| -> Outbox { read!(shop, |tx| tx.outbox(now, limit)) };
    let nothing = OutboxFigures { pending: 0, due: 0, oldest_pending_at: None };
    assert_eq!(outbox(noon(), 9).await, Outbox { figures: nothing, endpoints: Vec::new() });
    shop.open_checkout().await;
    let waiting = OutboxFigures { pending: 2, due: 2, oldest_pending_at: Some(noon()) };
    assert_eq!(outbox(noon(), 9).await.figures, waiting);
    shop.sell().await;
    let Outbox { figures, endpoints: backlogs } = outbox(noon(), 9).await;
    assert_eq!([&backlogs[0].endpoint_id, &backlogs[1].endpoint_id], [&busy, &quiet]);
    assert!(backlogs.len() == 2 && backlogs[0].pending > backlogs[1].pending, "{idle} waits for nothing");
    // The sums are those of all endpoints, whoever is named.
    assert_eq!(outbox(noon(), 1).await, Outbox { figures, endpoints: backlogs[..1].to_vec() });
    assert_eq!(figures.pending, backlogs.iter().map(|backlog| backlog.pending).sum::<i64>());

    let leased = shop.lease("a", noon(), 2, 9).await;
    shop.settle(vec![settlement(&leased[0], "a", SettledAs::Retry { at: at(3600), put_off: false })]).await;
    shop.settle(vec![settlement(&leased[1], "a", SettledAs::Failed { reason: "rejected" })]).await;
    assert_eq!(read!(shop, |tx| tx.failed_since(at(61))), 1);
    let find = async |id: &DeliveryId| read!(shop, [id], |tx| tx.delivery_find(&id)).unwrap().delivery;
    for (delivery, status, next) in
        [(&leased[0], DeliveryStatus::Pending, Some(at(70))), (&leased[1], DeliveryStatus::Failed, None)]
    {
        done!(shop, [delivery], |tx| tx.delivery_hasten(&delivery.id, at(70)));
        let found = find(&delivery.id).await;
        assert_eq!((found.status, found.next_attempt_at), (status, next));
    }
    // One that is due already stays where it is in the queue.
    done!(shop, [leased], |tx| tx.delivery_hasten(&leased[0].id, at(80)));
    assert_eq!(find(&leased[0].id).await.next_attempt_at, Some(at(70)));
    let attempts = read!(shop, [leased], |tx| tx.delivery_attempts_find(&leased[0].id));
    assert_eq!(attempts.len(), 1);
}

pub(crate) async fn events_of_everybody_come_newest_first(shop: Shop, _: &dyn Database) {
    let other = Shop::new(&shop.store, "other").await;
    let mut ids = Vec::new();
    for seller in [&shop, &other, &shop] {
        ids.push(seller.open_checkout().await.events[0].id.to_string());
    }
    ids.sort_by(|a, b| b.cmp(a));
    let page = async |before: Option<&str>, limit| -> Vec<String> {
        let before = before.map(str::to_owned);
        let page = read!(shop, |tx| tx.all_events_page(before.as_deref(), limit));
        page.into_iter().map(|(id, _)| id).collect()
    };
    assert_eq!(page(None, 9).await, ids);
    assert_eq!(page(Some(&ids[0]), 1).await, ids[1..2]);
    let stream = async |before, limit| -> Vec<i64> {
        let filter = EventFilter::default();
        let page = read!(shop, |tx| tx.stream_page_newest(&shop.tenant, &filter, before, limit));
        page.into_iter().map(|(sequence, _)| sequence).collect()
    };
    assert_eq!(stream(None, 9).await, [2, 1]);
    assert_eq!(stream(Some(2), 9).await, [1]);
    let events = shop.events().await;
    let id = authority_domain::id::EventId::from_store(
        serde_json::from_str::<serde_json::Value>(&events[1].1).unwrap()["id"].as_str().unwrap().to_owned(),
    );
    let body = read!(shop, |tx| tx.event_find(&id));
    assert_eq!(body, Some((shop.tenant.clone(), events[1].1.clone())));
}
