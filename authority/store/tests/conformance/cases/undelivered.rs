//! What has not arrived: contract 15.1.

use authority_domain::event::change::{Record, WebhookTest};
use authority_domain::recovery::undelivered::Wanted;
use authority_domain::{Change, EndpointId, Timestamp};
use authority_store::StoreError;
use authority_store::commit::Audience;
use authority_store::tx::{SettledAs, Stretch};

use verify_core::catalog::EventType;

use super::{Database, Shop, at, noon, read, settlement};

const ALL: Stretch = Stretch { above: 0, below: i64::MAX };

fn everything() -> Wanted {
    Wanted::of(&["*".to_owned()], &[])
}

/// The newest `limit` of a stretch as (sequence, reason).
async fn missing(
    shop: &Shop,
    endpoint: &EndpointId,
    wanted: Wanted,
    stretch: Stretch,
    limit: i64,
) -> Vec<(i64, &'static str)> {
    read!(shop, [endpoint], |tx| { tx.undelivered_page(&shop.tenant, &endpoint, &wanted, stretch, limit) })
        .iter()
        .map(|event| (event.sequence, event.reason.as_str()))
        .collect()
}

pub(crate) async fn every_event_has_a_fate(shop: Shop, database: &dyn Database) {
    shop.open_checkout().await;
    let id = shop.endpoint(&["*"]).await;
    // Somebody else's deliveries are no news of ours.
    let other = shop.endpoint(&["*"]).await;
    shop.open_checkouts(7).await;
    let taken = shop.lease("a", noon(), 99, 9).await;
    let ours: Vec<_> = taken.iter().filter(|delivery| delivery.endpoint_id == id).collect();
    let theirs = taken.iter().filter(|delivery| delivery.endpoint_id == other);
    let failed = |reason| SettledAs::Failed { reason };
    let ended = [
        SettledAs::Succeeded,
        failed("attempts_exhausted"),
        failed("rejected"),
        failed("gone"),
        SettledAs::Retry { at: at(300), put_off: false },
    ];
    let mut settlements: Vec<_> =
        ours.iter().zip(ended).map(|(delivery, ended)| settlement(delivery, "a", ended)).collect();
    settlements.extend(theirs.map(|delivery| settlement(delivery, "a", SettledAs::Succeeded)));
    assert_eq!(shop.settle(settlements).await, 12);
    for sql in [
        format!(
            "UPDATE deliveries SET status = 'cancelled', next_attempt_at = NULL, lease_token = NULL \
                 WHERE sequence = 7 AND endpoint_id = '{id}'"
        ),
        format!("DELETE FROM deliveries WHERE sequence = 8 AND endpoint_id = '{id}'"),
    ] {
        assert_eq!(database.execute(&sql).await, Ok(1));
    }
    let expected = [
        (8, "endpoint_disabled"),
        (7, "cancelled"),
        (6, "pending"),
        (5, "gone"),
        (4, "rejected"),
        (3, "attempts_exhausted"),
    ];
    // The first event is older than the endpoint: its caller leaves it out.
    assert_eq!(read!(shop, [id], |tx| tx.endpoint_begins_after(&shop.tenant, &id)), 1);
    let ours = Stretch { above: 1, below: i64::MAX };
    assert_eq!(missing(&shop, &id, everything(), ours, 99).await, expected);
    assert_eq!(missing(&shop, &id, everything(), ours, 2).await, expected[..2]);
    let middle = Stretch { above: 3, below: 6 };
    assert_eq!(missing(&shop, &id, everything(), middle, 99).await, expected[3..5]);
    assert_eq!(missing(&shop, &other, everything(), ours, 99).await, []);
    // Nobody finds another's.
    for stranger in [Shop::new(&shop.store, "other").await, shop.in_test_mode()] {
        assert_eq!(missing(&stranger, &id, everything(), ALL, 99).await, []);
    }
    let (count, oldest) = read!(shop, [id], |tx| async {
        let wanted = everything();
        let count = tx.undelivered_count(&shop.tenant, &id, &wanted, ours).await?;
        Ok::<_, StoreError>((count, tx.undelivered_oldest(&shop.tenant, &id, &wanted, ours, 2).await?))
    });
    assert_eq!(count, 6);
    assert_eq!(oldest.iter().map(|missed| missed.sequence).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(oldest[0].event_type, "checkout.created");
}

pub(crate) async fn a_filter_and_tests_narrow_what_is_missing(shop: Shop, _: &dyn Database) {
    let (id, other) = (shop.endpoint(&["refund.*"]).await, shop.endpoint(&["refund.*"]).await);
    // 1 to 6: a checkout and its payment, the payment's success and the order.
    shop.sell().await;
    let wanted = |filters: &[&str], asked: &[&str]| {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        Wanted::of(&list(filters), &list(asked))
    };
    let sequences = async |wanted| -> Vec<i64> {
        missing(&shop, &id, wanted, ALL, 99).await.into_iter().map(|(sequence, _)| sequence).collect()
    };
    assert_eq!(sequences(wanted(&["refund.*"], &[])).await, Vec::<i64>::new());
    assert_eq!(sequences(wanted(&["*"], &[])).await, [6, 5, 4, 3, 2, 1]);
    assert_eq!(sequences(wanted(&["payment.*", "order.created"], &[])).await, [5, 4, 2]);
    assert_eq!(sequences(wanted(&["payment.*"], &["payment.succeeded", "order.*"])).await, [5]);
    // A test concerns the endpoint that it was made for, whatever that wants.
    let record = WebhookTest { endpoint_id: other.clone(), message: None, requested_by: "key_1".into() };
    let test = Change { event_type: EventType::WebhookTest, record: Record::WebhookTest(record) };
    shop.commit_at(vec![test], Audience::Tested(other.clone()), noon()).await.unwrap();
    assert_eq!(sequences(wanted(&["*"], &[])).await, [6, 5, 4, 3, 2, 1]);
    assert_eq!(missing(&shop, &other, wanted(&["refund.*"], &[]), ALL, 9).await, [(7, "pending")]);
    assert_eq!(missing(&shop, &other, wanted(&["refund.*"], &["order.*"]), ALL, 9).await, []);
    assert_eq!(
        missing(&shop, &other, wanted(&["refund.*"], &["webhook.test"]), ALL, 9).await,
        [(7, "pending")]
    );
}

pub(crate) async fn a_time_is_a_place_in_the_stream(shop: Shop, _: &dyn Database) {
    let place = async |time: Timestamp| -> i64 { read!(shop, |tx| tx.sequence_at(&shop.tenant, time)) };
    assert_eq!(place(noon()).await, 1, "a stream without events");
    for s in [0, 10, 10, 20, 20, 20, 30] {
        shop.open_checkout_at(at(s)).await;
    }
    for (s, expected) in [(-5, 1), (0, 1), (1, 2), (10, 2), (11, 4), (20, 4), (21, 7), (30, 7), (31, 8)] {
        assert_eq!(place(at(s)).await, expected, "{s}");
    }
    let stranger = Shop::new(&shop.store, "other").await;
    assert_eq!(read!(shop, [stranger], |tx| tx.sequence_at(&stranger.tenant, at(5))), 1);
}
