//! What the merchant's systems call an order (contract 2.2, 4.13).

use authority_domain::order::ExternalReference;
use authority_domain::order::external_references::{NewReference, SystemName, conflict};
use authority_domain::transitions::external_references::{remove, set};
use authority_domain::{ErrorCode, Order, OrderNumber, Result};
use proptest::prelude::*;

use crate::fixtures::{event_names, last_order, noon, paid_order};
use crate::refused_bodies::errors;

fn system(name: &str) -> SystemName {
    SystemName::parse(name).unwrap()
}

fn new(id: &str, url: Option<&str>) -> NewReference {
    NewReference { id: id.to_owned(), url: url.map(str::to_owned) }
}

/// The order after a set at `s` seconds after noon; `None` when nothing changed.
fn after_set(order: &Order, name: &str, entry: NewReference, s: i64) -> Result<Option<Order>> {
    let changes = set(order, &system(name), entry, noon().plus_ms(s * 1000))?;
    assert!(changes.is_empty() || event_names(&changes) == ["order.updated"]);
    Ok(last_order(&changes))
}

fn after_remove(order: &Order, name: &str, s: i64) -> Option<Order> {
    let changes = remove(order, &system(name), noon().plus_ms(s * 1000));
    assert!(changes.is_empty() || event_names(&changes) == ["order.updated"]);
    last_order(&changes)
}

fn entry(name: &str, id: &str, url: Option<&str>, s: i64) -> ExternalReference {
    let updated_at = noon().plus_ms(s * 1000);
    ExternalReference { system: name.to_owned(), id: id.to_owned(), url: url.map(str::to_owned), updated_at }
}

#[test]
fn entries_are_set_replaced_and_removed_version_by_version() {
    let order = paid_order();
    let first = after_set(&order, "wms", new("W-1", None), 1).unwrap().unwrap();
    let second =
        after_set(&first, "erp", new("SO-1", Some("https://erp.example.com/1")), 2).unwrap().unwrap();
    let erp = entry("erp", "SO-1", Some("https://erp.example.com/1"), 2);
    assert_eq!(second.external_references, [erp.clone(), entry("wms", "W-1", None, 1)]);
    // The same again is no change; another id or another url is, and the url that is left out is none.
    assert_eq!(after_set(&second, "erp", new("SO-1", erp.url.as_deref()), 3), Ok(None));
    let third = after_set(&second, "erp", new("SO-1", None), 3).unwrap().unwrap();
    let fourth = after_set(&third, "erp", new("SO-2", None), 4).unwrap().unwrap();
    assert_eq!(fourth.external_references, [entry("erp", "SO-2", None, 4), entry("wms", "W-1", None, 1)]);
    let fifth = after_remove(&fourth, "wms", 5).unwrap();
    assert_eq!(fifth.external_references, [entry("erp", "SO-2", None, 4)]);
    assert_eq!(after_remove(&fifth, "wms", 6), None);
    let versions = [&order, &first, &second, &third, &fourth, &fifth].map(|order| order.resource_version);
    assert_eq!(versions, [2, 3, 4, 5, 6, 7]);
    // Nothing else has changed.
    let restored = Order {
        external_references: order.external_references.clone(),
        resource_version: order.resource_version,
        updated_at: order.updated_at,
        ..fifth
    };
    assert_eq!(restored, order);
}

#[test]
fn a_twenty_first_system_is_refused_and_the_twenty_go_on() {
    let mut order = paid_order();
    for n in 0..20 {
        order = after_set(&order, &format!("s{n}"), new("1", None), 1).unwrap().unwrap();
    }
    let refusal = after_set(&order, "another", new("1", None), 1).unwrap_err();
    assert_eq!((refusal.code, errors(&refusal)), (ErrorCode::ValidationFailed, vec![" too_long".to_owned()]));
    order = after_set(&order, "s7", new("2", None), 1).unwrap().unwrap();
    order = after_remove(&order, "s8", 1).unwrap();
    assert_eq!(
        after_set(&order, "another", new("1", None), 1).unwrap().unwrap().external_references.len(),
        20
    );
}

/// An order that entries had filled up could never be told of its refunds.
#[test]
fn entries_leave_room_for_what_will_happen_to_the_order() {
    let mut order = paid_order();
    let long = format!("https://erp.example.com/{}", "x".repeat(2000));
    order.fulfillment_note = Some("x".repeat(200 * 1024));
    let mut set = 0;
    let refusal = loop {
        match after_set(&order, &format!("s{set}"), new("1", Some(&long)), 1) {
            Ok(next) => order = next.unwrap(),
            Err(refusal) => break refusal,
        }
        set += 1;
    };
    assert_eq!(refusal.code, ErrorCode::PayloadTooLarge);
    assert_eq!(set, 6, "216 KiB hold the note, the order and six entries");
    // Entries may still go, and shorter ones take their place.
    let order = after_remove(&order, "s0", 1).unwrap();
    assert!(after_set(&order, "s0", new("1", None), 1).unwrap().is_some());
}

#[test]
fn a_conflict_names_the_holder() {
    let refusal = conflict(&OrderNumber::parse("ORD-7").unwrap());
    assert_eq!(refusal.code, ErrorCode::ExternalReferenceConflict);
    assert_eq!(refusal.extra, [("order_number", "ORD-7".into())]);
}

#[test]
fn systems_are_named_as_the_contract_says() {
    let long = "a".repeat(32);
    for name in ["a", "0", "erp", "sap-r3_eu", &long] {
        assert_eq!(SystemName::parse(name).unwrap().as_str(), name);
    }
    let longer = "a".repeat(33);
    for name in ["", "-a", "_a", "ERP", "a.b", "a b", "a/b", "é", "a\n", &longer] {
        assert_eq!(SystemName::parse(name), None, "{name:?}");
    }
}

proptest! {
    /// Whatever is set and removed: entries are sorted, one per system, at most twenty, as a map would have them, and
    /// every change is one version.
    #[test]
    fn entries_behave_like_a_map(steps in prop::collection::vec((0_usize..25, prop::option::of(0_u8..3)), 1..80)) {
        let mut order = paid_order();
        let mut model = std::collections::BTreeMap::new();
        for (n, id) in steps {
            let name = format!("s{n:02}");
            let before = order.clone();
            let changed = match id {
                Some(id) => match after_set(&order, &name, new(&id.to_string(), None), 1) {
                    Ok(changed) => {
                        model.insert(name, id.to_string());
                        changed
                    }
                    Err(refusal) => {
                        prop_assert_eq!(refusal.code, ErrorCode::ValidationFailed);
                        prop_assert!(model.len() == 20 && !model.contains_key(&name));
                        None
                    }
                },
                None => {
                    model.remove(&name);
                    after_remove(&order, &name, 1)
                }
            };
            if let Some(next) = changed {
                prop_assert_eq!(next.resource_version, before.resource_version + 1);
                order = next;
            }
            let entries: Vec<_> =
                order.external_references.iter().map(|entry| (entry.system.clone(), entry.id.clone())).collect();
            prop_assert_eq!(entries, model.clone().into_iter().collect::<Vec<_>>());
        }
    }
}
