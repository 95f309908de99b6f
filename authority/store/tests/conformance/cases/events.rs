//! Events once they are stored: contract 4.5, 8.6, T3 and I9.

use authority_domain::EventId;
use authority_domain::event::NewEvent;
use authority_domain::event::cause::Cause;
use authority_domain::list_filter::EventFilter;
use authority_store::tx::{LOOK_AHEAD, PAGE_BYTES, Page};
use serde_json::Value;
use verify_core::EventType;

use super::{Database, Shop, ask, at, done, read};

pub(crate) async fn events_refuse_update_and_delete(shop: Shop, database: &dyn Database) {
    shop.open_checkout().await;
    let before = shop.events().await;
    for sql in [
        "UPDATE events SET body = '{}'",
        "UPDATE events SET sequence = 2",
        "UPDATE events SET created_at = created_at + 1 WHERE sequence = 1",
        "DELETE FROM events",
        "DELETE FROM events WHERE sequence = 1",
    ] {
        let refused = database.execute(sql).await.unwrap_err();
        assert!(refused.contains("events are immutable"), "{sql}: {refused}");
    }
    assert_eq!(shop.events().await, before);
}

pub(crate) async fn pages_narrow_by_type_record_and_time(shop: Shop, _: &dyn Database) {
    // 1 checkout.created, 2 payment.created, 3 checkout.completed, 4 order.created, 5 payment.succeeded,
    // 6 order.confirmed; a minute later 7 checkout.created.
    let sale = shop.sell().await;
    shop.open_checkout_at(at(60)).await;
    let none = EventFilter::default;
    let types = |names: &[&str]| names.iter().map(|name| EventType::parse(name).unwrap()).collect();
    let number = sale.order.order_number.to_string();
    let table: [(EventFilter, &[i64]); 9] = [
        (none(), &[1, 2, 3, 4, 5, 6, 7]),
        (EventFilter { types: types(&["order.created"]), ..none() }, &[4]),
        (EventFilter { types: types(&["payment.created", "checkout.created"]), ..none() }, &[1, 2, 7]),
        (EventFilter { types: types(&["order.shipped"]), ..none() }, &[]),
        (EventFilter { resource: Some(number.clone()), ..none() }, &[4, 6]),
        (EventFilter { resource: Some(sale.payment.id.to_string()), ..none() }, &[2, 5]),
        (EventFilter { created_from: Some(at(1)), ..none() }, &[7]),
        (EventFilter { created_to: Some(at(60)), ..none() }, &[1, 2, 3, 4, 5, 6]),
        (
            EventFilter {
                types: types(&["order.confirmed"]),
                resource: Some(number),
                created_from: Some(at(0)),
                created_to: Some(at(1)),
            },
            &[6],
        ),
    ];
    for (filter, expected) in table {
        let sequences: Vec<i64> = read!(shop, [filter], |tx| tx.events_page(&shop.tenant, &filter, 0, 100))
            .rows
            .iter()
            .map(|(sequence, _)| *sequence)
            .collect();
        assert_eq!(sequences, expected, "{filter:?}");
    }
}

pub(crate) async fn pages_begin_where_they_are_told(shop: Shop, _: &dyn Database) {
    let mut committed = Vec::new();
    for _ in 0..5 {
        committed.extend(shop.open_checkout().await.events);
    }
    let table: [(i64, i64, &[i64]); 5] =
        [(0, 2, &[1, 2]), (2, 2, &[3, 4]), (4, 2, &[5]), (5, 2, &[]), (9_000_000_000, 2, &[])];
    for (after, limit, expected) in table {
        let none = EventFilter::default();
        let page = ask!(shop.store.read, [shop], |tx| tx.events_page(&shop.tenant, &none, after, limit));
        let page = page.unwrap().rows;
        assert_eq!(page.iter().map(|(sequence, _)| *sequence).collect::<Vec<_>>(), expected);
        for (sequence, body) in page {
            let event = &committed[usize::try_from(sequence - 1).unwrap()];
            assert_eq!(body, event.body, "the very bytes");
            let id = event.id.clone();
            assert_eq!(read!(shop, |tx| tx.event_body(&shop.tenant, &id)).as_deref(), Some(body.as_str()));
            let parsed: Value = serde_json::from_str(&body).unwrap();
            assert_eq!(parsed["id"], event.id.as_str());
        }
    }
}

/// The position of what is kept: for readers whose cursor is older (contract 8.6). Whoever removes events one day has
/// the right to; here the guard is taken away, which each database writes in its own way.
pub(crate) async fn what_is_removed_is_known_to_be_gone(shop: Shop, database: &dyn Database) {
    let range = async || {
        let range = read!(shop, |tx| tx.stream_range(&shop.tenant));
        (range.oldest, range.latest)
    };
    assert_eq!(range().await, (1, 0));
    shop.open_checkouts(3).await;
    assert_eq!(range().await, (1, 3));
    let mut unguarded = false;
    for sql in ["DROP TRIGGER events_no_delete", "DROP TRIGGER events_no_delete ON events"] {
        unguarded |= database.execute(sql).await.is_ok();
    }
    assert!(unguarded);
    database.execute("DELETE FROM events WHERE sequence <= 2").await.unwrap();
    assert_eq!(range().await, (3, 3));
    assert_eq!(shop.sequences().await, [3]);
    database.execute("DELETE FROM events").await.unwrap();
    assert_eq!(range().await, (4, 3));
    shop.open_checkout().await;
    assert_eq!(range().await, (4, 4));
}

/// A page is read up to the first row that it has no room for, however many rows were asked for.
pub(crate) async fn pages_end_at_their_bytes(shop: Shop, _: &dyn Database) {
    const BODY: usize = 200 * 1024;
    let store = &shop.store;
    done!(shop, |tx| async move {
        let end = tx.stream_advance(&shop.tenant, 40, at(1)).await?.last_sequence;
        let event = |n: i64| NewEvent {
            id: EventId::from_store(format!("evt_large_{n:02}")),
            event_type: EventType::WebhookTest,
            sequence: end - 40 + n,
            created_at: at(1),
            resource_id: "x".to_owned(),
            body: "x".repeat(BODY),
            cause: Cause::default(),
        };
        let events: Vec<NewEvent> = (1..=40).map(event).collect();
        tx.events_insert(&shop.tenant, &events).await
    });
    let on_a_page = PAGE_BYTES / BODY;
    for (limit, read) in [(101, on_a_page + 1), (5, 5)] {
        let none = EventFilter::default();
        let page = ask!(store.read_list, [shop, none], |tx| tx.events_page(&shop.tenant, &none, 0, limit));
        assert_eq!(page.unwrap().rows.len(), read);
        let rows =
            ask!(store.read_list, [shop], |tx| tx.stream_page_newest(&shop.tenant, &none, None, limit));
        assert_eq!(rows.unwrap().len(), read);
        assert_eq!(ask!(store.read_list, |tx| tx.all_events_page(None, limit)).unwrap().len(), read);
    }
}

/// A page that finds little looks no further than its look-ahead, and the next one goes on there.
pub(crate) async fn a_filtered_page_ends_where_its_look_ahead_ends(shop: Shop, _: &dyn Database) {
    let last = LOOK_AHEAD + 2;
    done!(shop, |tx| async move {
        tx.stream_advance(&shop.tenant, last, at(1)).await?;
        let event = |sequence: i64| NewEvent {
            sequence,
            id: EventId::from_store(format!("evt_{sequence}")),
            event_type: if sequence % 2 == 0 { EventType::OrderCreated } else { EventType::OrderUpdated },
            resource_id: "ORD-1".to_owned(),
            created_at: at(sequence),
            body: sequence.to_string(),
            cause: Cause::default(),
        };
        tx.events_insert(&shop.tenant, &(1..=last).map(event).collect::<Vec<_>>()).await
    });
    let page = async |filter: &EventFilter, after: i64, limit: i64| {
        let Page { rows, looked_to } = ask!(shop.store.read_list, [shop, filter], |tx| {
            tx.events_page(&shop.tenant, &filter, after, limit)
        })
        .unwrap();
        (rows.into_iter().map(|(sequence, _)| sequence).collect::<Vec<_>>(), looked_to)
    };
    let none = EventFilter::default();
    let late = EventFilter { created_from: Some(at(last)), ..none.clone() };
    assert_eq!(page(&late, 0, 9).await, (vec![], Some(LOOK_AHEAD)));
    assert_eq!(page(&late, LOOK_AHEAD, 9).await, (vec![last], None));
    // Exactly as many as a page may look at are left, and there is nothing behind them.
    assert_eq!(page(&late, 2, 9).await, (vec![last], Some(last)));
    // The conditions with an index come before: half of the events are of this type.
    let of_type = EventFilter { types: vec![EventType::OrderCreated], ..late };
    assert_eq!(page(&of_type, 0, 9).await, (vec![last], None));
    // Who asks for everything, or for what an index finds, is not bounded.
    assert_eq!(page(&none, 0, 2).await, (vec![1, 2], None));
    let of_record = EventFilter { resource: Some("ORD-2".to_owned()), ..none };
    assert_eq!(page(&of_record, 0, 9).await, (vec![], None));
}
