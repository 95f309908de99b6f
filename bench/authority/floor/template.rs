//! The rows of one real order, taken apart: what the floor writes again and again.

use serde_json::Value;

/// The events of a paid order, in their order (contract 3.9 rows 1 to 3), and the records they tell of.
pub(super) struct Template {
    /// Type and body.
    pub(super) events: Vec<(String, String)>,
}

/// Where each event stands.
pub(super) const PAYMENT_CREATED: usize = 1;
pub(super) const CHECKOUT_COMPLETED: usize = 2;
pub(super) const PAYMENT_SUCCEEDED: usize = 4;
pub(super) const ORDER_CONFIRMED: usize = 5;

impl Template {
    pub(super) fn new(events: Vec<(String, String)>) -> Self {
        let types: Vec<&str> = events.iter().map(|(event_type, _)| event_type.as_str()).collect();
        assert_eq!(
            types,
            [
                "checkout.created",
                "payment.created",
                "checkout.completed",
                "order.created",
                "payment.succeeded",
                "order.confirmed"
            ]
        );
        Self { events }
    }

    /// The text of the record that an event tells of.
    pub(super) fn record(&self, event: usize) -> String {
        let body: Value = serde_json::from_str(&self.events[event].1).unwrap();
        body["data"]["object"].to_string()
    }
}
