//! The shipment record (contract 2.5). Its state machine is in [`crate::shipment_report`]; what a parcel does to its
//! order is decided in [`crate::shipping`].

use serde::{Deserialize, Serialize};

use crate::id::{LineItemId, ShipmentId};
use crate::order_number::OrderNumber;
use crate::parts::{Failure, Metadata};
use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// Where a parcel stands.
    ShipmentStatus {
        /// With the carrier.
        Created = "created",
        /// Moving.
        InTransit = "in_transit",
        /// Held up.
        Exception = "exception",
        /// At the customer.
        Delivered = "delivered",
        /// Came back.
        Returned = "returned",
        /// Never left.
        Cancelled = "cancelled",
    }
}

impl ShipmentStatus {
    /// The parcel is with the carrier and has not come to an end.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Created | Self::InTransit | Self::Exception)
    }
}

/// How much of a line a parcel holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShipmentLine {
    /// A line of the order.
    pub line_item_id: LineItemId,
    /// At least 1.
    pub quantity: i64,
}

/// The shipment record, in the member order of contract 2.5.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename = "shipment")]
#[allow(missing_docs)] // the members are those of the contract's table
pub struct Shipment {
    pub id: ShipmentId,
    pub order_number: OrderNumber,
    pub status: ShipmentStatus,
    pub carrier: String,
    pub service_level: Option<String>,
    pub tracking_number: Option<String>,
    pub tracking_url: Option<String>,
    pub line_items: Vec<ShipmentLine>,
    pub shipped_at: Timestamp,
    pub estimated_delivery_at: Option<Timestamp>,
    pub delivered_at: Option<Timestamp>,
    pub exception: Option<Failure>,
    pub metadata: Metadata,
    pub resource_version: i64,
    pub livemode: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// What the merchant gives, already read and checked member by member.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct NewShipment {
    pub carrier: String,
    pub service_level: Option<String>,
    pub tracking_number: Option<String>,
    pub tracking_url: Option<String>,
    /// `None`: everything shippable that is not yet in a shipment.
    pub line_items: Option<Vec<ShipmentLine>>,
    pub shipped_at: Option<Timestamp>,
    pub estimated_delivery_at: Option<Timestamp>,
    pub metadata: Metadata,
}
