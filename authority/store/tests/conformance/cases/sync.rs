//! Checkpoints, and the names that merchants' systems give to orders: contract 4.12, 4.13.

use authority_domain::list_filter::OrderFilter;
use authority_domain::order::external_references::{ExternalName, SystemName};
use authority_domain::sync::checkpoint::{Acknowledged, Checkpoint, CheckpointStream};
use authority_domain::{CheckpointId, OrderNumber};
use authority_store::{Constraint, StoreError};

use super::{Database, Shop, ask, at, dice, noon, read};

fn said(name: &str, stream: CheckpointStream, position: i64) -> Acknowledged {
    Acknowledged { name: name.to_owned(), stream, cursor: format!("at {position}"), position, force: false }
}

fn first(shop: &Shop, name: &str, stream: CheckpointStream) -> Checkpoint {
    let id = CheckpointId::generate(noon(), &mut dice());
    Checkpoint::begin(id, said(name, stream, 1), shop.tenant.livemode, noon())
}

async fn put(shop: &Shop, checkpoint: &Checkpoint) -> Result<(), StoreError> {
    ask!(shop.store.write, [shop, checkpoint], |tx| tx.checkpoint_put(&shop.tenant, &checkpoint))
}

async fn get(shop: &Shop, stream: CheckpointStream, name: &str) -> Option<Checkpoint> {
    read!(shop, [name], |tx| tx.checkpoint_get(&shop.tenant, stream, &name))
}

pub(crate) async fn a_checkpoint_moves_version_by_version(shop: Shop, _: &dyn Database) {
    let one = first(&shop, "a", CheckpointStream::Events);
    put(&shop, &one).await.unwrap();
    assert_eq!(get(&shop, CheckpointStream::Events, "a").await, Some(one.clone()));
    assert_eq!(get(&shop, CheckpointStream::Orders, "a").await, None);
    let two = one.clone().moved(said("a", CheckpointStream::Events, 7), at(1)).unwrap().unwrap();
    put(&shop, &two).await.unwrap();
    assert_eq!(get(&shop, CheckpointStream::Events, "a").await, Some(two.clone()));
    // A version that is not the next one, another merchant, the other mode, a second one of this name: nothing.
    put(&shop, &two).await.unwrap_err();
    let three = two.clone().moved(said("a", CheckpointStream::Events, 8), at(2)).unwrap().unwrap();
    for stranger in [Shop::new(&shop.store, "other").await, shop.in_test_mode()] {
        put(&stranger, &three).await.unwrap_err();
        assert_eq!(get(&stranger, CheckpointStream::Events, "a").await, None);
        put(&stranger, &first(&stranger, "a", CheckpointStream::Events)).await.unwrap();
    }
    let again = put(&shop, &first(&shop, "a", CheckpointStream::Events)).await.unwrap_err();
    assert!(matches!(again, StoreError::Conflict(Constraint::Other)), "{again}");
    assert_eq!(get(&shop, CheckpointStream::Events, "a").await, Some(two));
}

pub(crate) async fn checkpoints_are_listed_newest_first(shop: Shop, _: &dyn Database) {
    let mut made = Vec::new();
    for (name, stream) in [
        ("a", CheckpointStream::Events),
        ("a", CheckpointStream::Orders),
        ("b", CheckpointStream::Orders),
        ("c", CheckpointStream::Events),
    ] {
        let checkpoint = first(&shop, name, stream);
        put(&shop, &checkpoint).await.unwrap();
        made.push(checkpoint);
        // Another tenant's do not count.
        put(&shop.in_test_mode(), &first(&shop.in_test_mode(), name, stream)).await.unwrap();
    }
    // One that moves stays where it is.
    made[1] = made[1].clone().moved(said("a", CheckpointStream::Orders, 9), at(1)).unwrap().unwrap();
    put(&shop, &made[1]).await.unwrap();
    let page = async |streams: &[CheckpointStream], name: Option<&str>, before, limit| {
        let streams = streams.to_vec();
        let name = name.map(str::to_owned);
        read!(shop, |tx| { tx.checkpoints_page(&shop.tenant, &streams, name.as_deref(), before, limit) })
    };
    let place = |n: usize| (i64::try_from(n).unwrap() + 1, made[n].clone());
    assert_eq!(page(&[], None, None, 9).await, [place(3), place(2), place(1), place(0)]);
    assert_eq!(page(&[], None, Some(4), 2).await, [place(2), place(1)]);
    assert_eq!(page(&[CheckpointStream::Orders], None, None, 9).await, [place(2), place(1)]);
    assert_eq!(page(CheckpointStream::ALL, Some("a"), None, 9).await, [place(1), place(0)]);
    assert_eq!(page(&[CheckpointStream::Events], Some("b"), None, 9).await, []);
    assert_eq!(read!(shop, |tx| tx.checkpoint_count(&shop.tenant)), 4);
}

fn name(system: &str, id: &str) -> ExternalName {
    ExternalName { system: SystemName::parse(system).unwrap(), id: id.to_owned() }
}

async fn give(shop: &Shop, order: &OrderNumber, given: ExternalName) -> Result<(), StoreError> {
    ask!(shop.store.write, [shop, order], |tx| tx.reference_put(&shop.tenant, &order, &given))
}

async fn take(shop: &Shop, order: &OrderNumber, system: &str) -> Result<(), StoreError> {
    let system = SystemName::parse(system).unwrap();
    ask!(shop.store.write, [shop, order], |tx| tx.reference_delete(&shop.tenant, &order, &system))
}

/// Whose name it is, as the holder and as the list of orders tell.
async fn holder(shop: &Shop, asked: ExternalName) -> Option<String> {
    let found =
        read!(shop, [asked], |tx| tx.reference_holder(&shop.tenant, &asked)).map(|number| number.to_string());
    let ExternalName { system, id } = asked;
    let filter =
        OrderFilter { external_system: Some(system), external_id: Some(id), ..OrderFilter::default() };
    let page = read!(shop, |tx| tx.orders_page(&shop.tenant, &filter, None, 9));
    let listed: Vec<String> = page
        .rows
        .iter()
        .map(|(_, body)| serde_json::from_str::<serde_json::Value>(body).unwrap())
        .map(|order| order["order_number"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(listed, Vec::from_iter(found.clone()));
    found
}

pub(crate) async fn a_name_is_one_orders(shop: Shop, _: &dyn Database) {
    let (one, two) = (shop.sell().await.order.order_number, shop.sell().await.order.order_number);
    assert_eq!(holder(&shop, name("erp", "1")).await, None);
    give(&shop, &one, name("erp", "1")).await.unwrap();
    assert_eq!(holder(&shop, name("erp", "1")).await.as_deref(), Some(one.as_str()));
    // The same name again is no harm; another order cannot have it, in this system.
    give(&shop, &one, name("erp", "1")).await.unwrap();
    let taken = give(&shop, &two, name("erp", "1")).await.unwrap_err();
    assert!(matches!(taken, StoreError::Conflict(Constraint::Other)), "{taken}");
    give(&shop, &two, name("wms", "1")).await.unwrap();
    // Another name of the same system takes its place and sets it free.
    give(&shop, &one, name("erp", "2")).await.unwrap();
    assert_eq!(holder(&shop, name("erp", "1")).await, None);
    give(&shop, &two, name("erp", "1")).await.unwrap();
    assert_eq!(holder(&shop, name("erp", "1")).await.as_deref(), Some(two.as_str()));
    take(&shop, &two, "erp").await.unwrap();
    assert_eq!(holder(&shop, name("erp", "1")).await, None);
    take(&shop, &two, "erp").await.unwrap_err();
    assert_eq!(holder(&shop, name("wms", "1")).await.as_deref(), Some(two.as_str()));

    // Names are each tenant's own, and there is none of an order that is not there.
    for stranger in [Shop::new(&shop.store, "other").await, shop.in_test_mode()] {
        assert_eq!(holder(&stranger, name("erp", "2")).await, None);
        take(&stranger, &one, "erp").await.unwrap_err();
        let sold = stranger.sell().await.order.order_number;
        give(&stranger, &sold, name("erp", "2")).await.unwrap();
        assert_eq!(holder(&stranger, name("erp", "2")).await.as_deref(), Some(sold.as_str()));
    }
    let nobody = OrderNumber::parse("ORD-9").unwrap();
    give(&shop, &nobody, name("erp", "9")).await.unwrap_err();
    assert_eq!(holder(&shop, name("erp", "2")).await.as_deref(), Some(one.as_str()));
}
