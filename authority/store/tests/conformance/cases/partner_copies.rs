//! Partners' copies in the commit that makes the events: contract 3.10, 8.3.

use authority_domain::event::change::{SharedOrderView, Sharing};
use authority_domain::{Change, ErrorCode, Order, Refusal};
use authority_store::commit::Audience;
use serde_json::Value;
use verify_core::catalog::EventType;

use super::partners::{connect, share};
use super::{Database, Shop, ask, at, noon};

/// Sequence, type and version of every event of a stream that is another merchant's.
async fn heard(shop: &Shop) -> Vec<(i64, String, i64)> {
    let of = |(sequence, body): (i64, String)| {
        let event: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(event["sequence"], sequence);
        let copy = event["merchant"]["id"] != shop.tenant.merchant_id.as_str();
        copy.then(|| {
            assert_eq!(event["recipient"]["merchant"]["id"], shop.tenant.merchant_id.as_str());
            let version = event["resource_version"].as_i64().unwrap();
            (sequence, event["type"].as_str().unwrap().to_owned(), version)
        })
    };
    shop.events().await.into_iter().filter_map(of).collect()
}

fn line(sequence: i64, name: &str, version: i64) -> (i64, String, i64) {
    (sequence, name.to_owned(), version)
}

/// The next version of an order, told as an update.
fn updated(order: &Order, version: i64) -> Change {
    let order = Order { resource_version: version, updated_at: at(version), ..order.clone() };
    Change::order(EventType::OrderUpdated, &order)
}

pub(crate) async fn each_partner_hears_in_its_own_stream(acme: Shop, database: &dyn Database) {
    let (one, two) = (Shop::new(&acme.store, "one").await, Shop::new(&acme.store, "two").await);
    let endpoint = one.endpoint(&["order.updated"]).await;
    let (with_one, with_two) = (connect(&acme, &one, 1).await, connect(&two, &acme, 2).await);
    let (order, unshared) = (acme.sell().await.order, acme.sell().await.order);
    one.open_checkout().await;
    share(&acme, &one, &with_one, &order).await.unwrap();
    share(&acme, &two, &with_two, &order).await.unwrap();
    acme.commit(vec![updated(&unshared, 3)]).await.unwrap();
    acme.commit(vec![updated(&order, 3)]).await.unwrap();
    let (_, parcel) = acme.parcel(&Order { resource_version: 3, ..order.clone() }, &[], None);
    acme.commit(parcel).await.unwrap();
    let rest = |first: i64| {
        [
            line(first, "order.shared", 2),
            line(first + 1, "order.updated", 3),
            line(first + 2, "shipment.created", 1),
            line(first + 3, "order.updated", 4),
        ]
    };
    assert_eq!(heard(&one).await, rest(2));
    assert_eq!(heard(&two).await, rest(1));
    assert_eq!(heard(&acme).await, []);
    let delivered = format!("deliveries WHERE endpoint_id = '{endpoint}'");
    assert_eq!(database.count(&delivered).await, 2);
    // The parcels are part of what is seen.
    let (_, last) = one.events().await.pop().unwrap();
    let event: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(event["data"]["object"]["shipments"].as_array().unwrap().len(), 1);
}

pub(crate) async fn a_share_is_told_to_both_and_changes_nothing(acme: Shop, database: &dyn Database) {
    let other = Shop::new(&acme.store, "other").await;
    let connection = connect(&acme, &other, 1).await;
    let order = acme.sell().await.order;
    let column = "SELECT last_sequence FROM orders";
    let (before, events) = (database.number(column).await, acme.events().await.len());
    let made = share(&acme, &other, &connection, &order).await.unwrap();
    let revoked =
        Sharing { share: made.revoked(at(1)), order: order.clone(), shown: SharedOrderView::Present };
    acme.commit(vec![Change::share(EventType::OrderShareRevoked, revoked)]).await.unwrap();
    assert_eq!(database.number(column).await, before);
    let told: Vec<Value> =
        acme.events().await[events..].iter().map(|(_, body)| serde_json::from_str(body).unwrap()).collect();
    let types: Vec<&Value> = told.iter().map(|event| &event["type"]).collect();
    assert_eq!(types, ["order.shared", "order.share_revoked"]);
    assert!(
        told.iter()
            .all(|event| event["resource_version"] == 2 && event["data"]["object"]["amounts"].is_object())
    );
    assert_eq!(heard(&other).await, [line(1, "order.shared", 2), line(2, "order.share_revoked", 2)]);
    acme.commit(vec![updated(&order, 3)]).await.unwrap();
    assert_eq!(heard(&other).await.len(), 2);
}

pub(crate) async fn an_undone_job_leaves_no_copy(acme: Shop, _: &dyn Database) {
    let other = Shop::new(&acme.store, "other").await;
    let connection = connect(&acme, &other, 1).await;
    let order = acme.sell().await.order;
    share(&acme, &other, &connection, &order).await.unwrap();
    let change = updated(&order, 3);
    let undone: Result<(), Refusal> = ask!(acme.store.write, [acme], |tx| async {
        acme.commit_in(tx, &[change], &Audience::Subscribers, noon()).await?;
        Err(Refusal::new(ErrorCode::OrderNotFulfillable, "after all"))
    });
    undone.unwrap_err();
    // A version that is not the next one is refused by the database, behind the partner's counter.
    acme.commit(vec![updated(&order, 2)]).await.unwrap_err();
    other.open_checkout().await;
    acme.commit(vec![updated(&order, 3)]).await.unwrap();
    assert_eq!(heard(&other).await, [line(1, "order.shared", 2), line(3, "order.updated", 3)]);
}

pub(crate) async fn many_partners_hear_in_one_transaction(acme: Shop, _: &dyn Database) {
    let order = acme.sell().await.order;
    let mut partners = Vec::new();
    for n in 0..9 {
        let partner = Shop::new(&acme.store, &format!("partner-{n}")).await;
        let connection = connect(&acme, &partner, n).await;
        share(&acme, &partner, &connection, &order).await.unwrap();
        partners.push(partner);
    }
    // Jobs of the owner and of its partners, in one queue and so in few transactions.
    let changes = (3..8).map(|version| acme.commit(vec![updated(&order, version)]));
    let own = partners.iter().map(|partner| partner.open_checkout());
    let (changed, _) =
        tokio::join!(futures_util::future::join_all(changes), futures_util::future::join_all(own));
    for changed in changed {
        changed.unwrap();
    }
    for partner in &partners {
        let versions: Vec<i64> = heard(partner).await.into_iter().map(|(_, _, version)| version).collect();
        assert_eq!(versions, [2, 3, 4, 5, 6, 7]);
        let all: Vec<i64> = partner.sequences().await;
        assert_eq!(all, (1..=7).collect::<Vec<_>>());
    }
}
