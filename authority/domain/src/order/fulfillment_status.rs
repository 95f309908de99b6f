//! `order.fulfillment_status`, derived from line quantities (contract 3.3).

use crate::parts::OrderLine;
use crate::text_enum::text_enum;

text_enum! {
    /// How far an order's lines have come.
    FulfillmentStatus {
        /// Nothing was prepared.
        Unfulfilled = "unfulfilled",
        /// Some of it is prepared.
        PartiallyFulfilled = "partially_fulfilled",
        /// All of it is prepared.
        Fulfilled = "fulfilled",
        /// Some of it is with the carrier.
        PartiallyShipped = "partially_shipped",
        /// All that ships is with the carrier, all else prepared.
        Shipped = "shipped",
        /// Some of it arrived.
        PartiallyDelivered = "partially_delivered",
        /// All that ships arrived, all else is prepared.
        Delivered = "delivered",
    }
}

/// The first row of contract 3.3 that holds; total.
#[must_use]
pub fn derive(lines: &[OrderLine]) -> FulfillmentStatus {
    let sum = |part: fn(&OrderLine) -> i64| lines.iter().map(part).sum::<i64>();
    let shipping = |part: fn(&OrderLine) -> i64| {
        lines.iter().filter(|line| line.requires_shipping).map(part).sum::<i64>()
    };
    let (quantity, fulfilled) = (sum(|l| l.quantity), sum(|l| l.fulfilled_quantity));
    let to_ship = shipping(|l| l.quantity);
    let (shipped, delivered) = (shipping(|l| l.shipped_quantity), shipping(|l| l.delivered_quantity));
    if to_ship > 0 && delivered == to_ship && fulfilled == quantity {
        FulfillmentStatus::Delivered
    } else if delivered > 0 {
        FulfillmentStatus::PartiallyDelivered
    } else if to_ship > 0 && shipped == to_ship && fulfilled == quantity {
        FulfillmentStatus::Shipped
    } else if shipped > 0 {
        FulfillmentStatus::PartiallyShipped
    } else if fulfilled == quantity {
        FulfillmentStatus::Fulfilled
    } else if fulfilled > 0 {
        FulfillmentStatus::PartiallyFulfilled
    } else {
        FulfillmentStatus::Unfulfilled
    }
}
