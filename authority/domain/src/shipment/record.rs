//! The shipment record (contract 2.5). Its state machine is in [`crate::shipment::report`]; what a parcel does to its
//! order is decided in [`crate::transitions::shipment`].

use serde::{Deserialize, Serialize};

use crate::id::{LineItemId, ShipmentId};
use crate::order_number::OrderNumber;
use crate::parts::{Failure, Metadata};
use crate::text_enum::text_enum;
use crate::time::Timestamp;
use crate::versioned::versioned;

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
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("quantity": Positive))
)]
pub struct ShipmentLine {
    /// A line of the order.
    pub line_item_id: LineItemId,
    /// At least 1.
    pub quantity: i64,
}

/// A shipment, in the member order of contract 2.5.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename = "shipment")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!(
        "carrier": Text(64),
        "tracking_number": Text(100),
        "tracking_url": Text(2048),
    ))
)]
pub struct Shipment {
    /// Identifies the shipment.
    pub id: ShipmentId,
    /// The order it belongs to.
    pub order_number: OrderNumber,
    /// Where the parcel stands.
    pub status: ShipmentStatus,
    /// Who carries it, 1 to 64 characters.
    pub carrier: String,
    /// What was booked with the carrier.
    pub service_level: Option<String>,
    /// At most 100 characters; unique per order and carrier.
    pub tracking_number: Option<String>,
    /// Where the parcel can be followed, `https`, at most 2048 characters.
    pub tracking_url: Option<String>,
    /// What is in the parcel; at least one line.
    pub line_items: Vec<ShipmentLine>,
    /// When it was handed to the carrier.
    pub shipped_at: Timestamp,
    /// When the carrier expects to deliver it.
    pub estimated_delivery_at: Option<Timestamp>,
    /// When it arrived.
    pub delivered_at: Option<Timestamp>,
    /// What holds it up.
    pub exception: Option<Failure>,
    /// Free key-value pairs from the request; at most 50.
    pub metadata: Metadata,
    /// Counts the changes of this record, from 1; for `If-Match` and to see gaps.
    pub resource_version: i64,
    /// `false` for test data, which never mixes with live data.
    pub livemode: bool,
    /// When the record was made.
    pub created_at: Timestamp,
    /// When it last changed.
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

versioned!(Shipment);
