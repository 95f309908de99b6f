//! One row of the feed of changed orders (contract 4.11): an order as it is now, and the position of its last change
//! in the stream.
//!
//! The order is the stored text, copied through.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::order_number::OrderNumber;
use crate::time::Timestamp;

/// A row as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredChange {
    /// The order.
    pub order_number: OrderNumber,
    /// The sequence of the event of its last version.
    pub sequence: i64,
    /// The order's version.
    pub resource_version: i64,
    /// When it last changed.
    pub changed_at: Timestamp,
    /// The order's record as JSON text.
    pub body: String,
}

/// An order at its latest state, and where in the stream it came to be so.
#[derive(Serialize)]
#[serde(tag = "object", rename = "order_change")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Row<'r> {
    /// The order.
    order_number: &'r OrderNumber,
    /// The sequence of the event that told of its last change.
    sequence: i64,
    /// The version of the order.
    resource_version: i64,
    /// When it last changed.
    changed_at: Timestamp,
    /// The order as it is now.
    #[cfg_attr(feature = "schema", schemars(with = "crate::order::Order"))]
    order: &'r RawValue,
}

impl StoredChange {
    /// The row as JSON text.
    ///
    /// # Errors
    /// When the stored order is not JSON.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&Row {
            order_number: &self.order_number,
            sequence: self.sequence,
            resource_version: self.resource_version,
            changed_at: self.changed_at,
            order: serde_json::from_str(&self.body)?,
        })
    }
}

#[cfg(feature = "schema")]
crate::schema::written_as!(StoredChange, Row<'static>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_copied_through() {
        let row = StoredChange {
            order_number: OrderNumber::from_store("ORD-1".to_owned()),
            sequence: 57,
            resource_version: 4,
            changed_at: Timestamp::from_ms(5),
            body: r#"{"object":"order","amount":1.0}"#.to_owned(),
        };
        let expected = r#"{"object":"order_change","order_number":"ORD-1","sequence":57,"resource_version":4,"changed_at":"1970-01-01T00:00:00.005Z","order":{"object":"order","amount":1.0}}"#;
        assert_eq!(row.to_json().unwrap(), expected);
        assert!(StoredChange { body: "{".to_owned(), ..row }.to_json().is_err());
    }
}
