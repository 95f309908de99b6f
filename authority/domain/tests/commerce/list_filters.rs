//! How lists are filtered, and what cursors are bound to (contract 4.5, 8.5).

use authority_domain::list_filter::ParameterValue as _;
use verify_core::catalog::EventType;

/// A consumer's cursor goes on when a release adds an event type, which may happen at any time (contract 9).
#[test]
fn a_cursor_is_bound_to_the_categories_that_were_named() {
    let read = |text| Vec::<EventType>::read(text).unwrap();
    let (types, canonical) = read("payment.failed,order.*,payment.failed");
    assert_eq!(canonical, "order.*,payment.failed");
    let orders: Vec<EventType> =
        EventType::ALL.into_iter().filter(|event| event.category() == "order").collect();
    assert!(types.len() == orders.len() + 1 && orders.iter().all(|order| types.contains(order)));
    assert_eq!(read("order.created,order.*").0.len(), orders.len());
    assert!(Vec::<EventType>::read("order.gone").is_err() && Vec::<EventType>::read("*").is_err());
}
