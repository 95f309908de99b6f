//! Parcels: their pages, whose they are, and what is marked as shipped beside them (contract 3.7, 4.5).

use authority_domain::event::change::Record;
use authority_domain::order::ConfirmedBy;
use authority_domain::order::line_quantities::{LineMarks, Marks};
use authority_domain::{Change, Order, Shipment};
use authority_store::StoreError;
use verify_core::catalog::EventType;

use super::{Database, Shop, ask, at, read};

/// Three parcels of one sticker each; the order as it is then.
async fn three_parcels(shop: &Shop) -> (Order, Vec<Shipment>) {
    let mut order = shop.sell().await.order;
    let mut parcels = Vec::new();
    for n in 1..=3 {
        let (parcel, changes) = shop.parcel_at(&order, &parcels, None, at(n));
        if let Some(Record::Order(next)) = changes.last().map(|change| change.record.clone()) {
            order = *next;
        }
        shop.commit(changes).await.unwrap();
        parcels.push(parcel);
    }
    (order, parcels)
}

pub(crate) async fn parcels_of_an_order_are_paged_newest_first(shop: Shop, _: &dyn Database) {
    let (order, parcels) = three_parcels(&shop).await;
    let (_, elsewhere) = three_parcels(&shop).await;
    let page = async |before: Option<i64>, limit: i64| -> Vec<(i64, String)> {
        ask!(shop.store.read_list, [shop, order], |tx| {
            tx.shipments_page(&shop.tenant, &order.order_number, before, limit)
        })
        .unwrap()
    };
    let texts: Vec<String> =
        parcels.iter().rev().map(|parcel| serde_json::to_string(parcel).unwrap()).collect();
    let all = page(None, 9).await;
    assert_eq!(all.iter().map(|(_, body)| body.clone()).collect::<Vec<_>>(), texts);
    let first = page(None, 2).await;
    assert_eq!(first, all[..2]);
    assert_eq!(page(Some(first[1].0), 2).await, all[2..]);
    assert_eq!(elsewhere.len(), 3);
}

pub(crate) async fn a_parcel_is_found_with_its_tenant(shop: Shop, _: &dyn Database) {
    for shop in [shop.clone(), shop.in_test_mode()] {
        let (_, parcels) = three_parcels(&shop).await;
        let found = read!(shop, [parcels], |tx| tx.shipment_find(&parcels[0].id));
        assert_eq!(found, Some((shop.tenant.clone(), parcels[0].clone())));
    }
}

pub(crate) async fn marks_are_kept_beside_the_record(shop: Shop, _: &dyn Database) {
    let (order, _) = three_parcels(&shop).await;
    let (_, untouched) = (three_parcels(&shop).await, shop.in_test_mode());
    let marks = async |shop: &Shop| -> LineMarks {
        read!(shop, [order], |tx| tx.fulfillment_marks(&shop.tenant, &order.order_number))
    };
    let put = async |shop: &Shop, marked: LineMarks| -> Result<(), StoreError> {
        ask!(shop.store.write, [shop, order], |tx| {
            tx.fulfillment_marks_put(&shop.tenant, &order.order_number, &marked)
        })
    };
    assert_eq!(marks(&shop).await, LineMarks::new());
    let (shirt, sticker) = (order.line_items[0].id.clone(), order.line_items[1].id.clone());
    let of = |fulfilled, shipped| Marks { fulfilled, shipped };
    put(&shop, LineMarks::from([(shirt.clone(), of(0, 0)), (sticker.clone(), of(0, 2))])).await.unwrap();
    assert_eq!(marks(&shop).await, LineMarks::from([(sticker.clone(), of(0, 2))]));
    put(&shop, LineMarks::from([(shirt.clone(), of(1, 0)), (sticker.clone(), of(3, 2))])).await.unwrap();
    let set = LineMarks::from([(shirt.clone(), of(1, 0)), (sticker.clone(), of(3, 2))]);
    assert_eq!(marks(&shop).await, set);
    // More than is shipped or ordered cannot be marked, and nobody else's lines can.
    for wrong in [of(0, 4), of(9, 0)] {
        assert!(put(&shop, LineMarks::from([(sticker.clone(), wrong)])).await.is_err());
    }
    assert!(put(&untouched, LineMarks::from([(sticker.clone(), of(0, 1))])).await.is_err());
    assert_eq!(marks(&untouched).await, LineMarks::new());
    // A later version of the order leaves the marks as they are.
    let mut next = order.clone();
    next.resource_version += 1;
    let change = Change::order(EventType::OrderUpdated, &next);
    shop.commit(vec![change]).await.unwrap();
    assert_eq!(marks(&shop).await, set);
}

pub(crate) async fn the_operators_word_is_kept_beside_the_record(shop: Shop, _: &dyn Database) {
    let (order, other) = (shop.sell().await.order, shop.sell().await.order);
    let confirmed_by = async |order: &Order| -> ConfirmedBy {
        read!(shop, [order], |tx| tx.order_confirmed_by(&shop.tenant, &order.order_number))
    };
    assert_eq!(confirmed_by(&order).await, ConfirmedBy::Payments);
    let confirm = async |shop: &Shop| -> Result<(), StoreError> {
        ask!(shop.store.write, [shop, order], |tx| {
            tx.order_confirmed_by_operator(&shop.tenant, &order.order_number)
        })
    };
    confirm(&shop.in_test_mode()).await.unwrap_err();
    confirm(&shop).await.unwrap();
    assert_eq!(confirmed_by(&order).await, ConfirmedBy::Operator);
    assert_eq!(confirmed_by(&other).await, ConfirmedBy::Payments);
}
