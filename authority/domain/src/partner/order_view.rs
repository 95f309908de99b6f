//! What a partner sees of an order that is shared with it (contract 2.14).
//!
//! The view is built member by member from the order and its parcels, so that a member added to the order later is
//! not shown by accident. Always shown: the order's number, its three states, what is to be done of each line, where
//! the goods go, the parcels, version and times. With `include_customer` also e-mail, telephone and billing address;
//! with `include_amounts` the money of the order and its lines. Never: payments, the payment summary, checkout,
//! subscription, external references, notes, reasons, metadata.

use serde::{Deserialize, Serialize};

use crate::id::{LineItemId, ShipmentId};
use crate::order::fulfillment_status::FulfillmentStatus;
use crate::order::payment_status::PaymentStatus;
use crate::order::{Order, OrderStatus};
use crate::order_number::OrderNumber;
use crate::partner::share::OrderShare;
use crate::parts::{Address, Amounts, Customer, Failure, Money, OrderLine};
use crate::shipment::{Shipment, ShipmentLine, ShipmentStatus};
use crate::time::Timestamp;

/// What a partner reads of a shared order (contract 2.14).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "object", rename = "partner_order")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartnerOrder {
    /// How the order is shared.
    pub share: OrderShare,
    /// What is shown of it.
    pub order: SharedOrder,
}

/// An order as a partner sees it, in the member order of the order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename = "order")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "SharedOrder", transform = crate::schema::members!("line_items": Items(1, 100)))
)]
pub struct SharedOrder {
    /// The owner's number of the order.
    pub order_number: OrderNumber,
    /// Where the order stands.
    pub status: OrderStatus,
    /// Derived from the payments.
    pub payment_status: PaymentStatus,
    /// Derived from the quantities of the lines.
    pub fulfillment_status: FulfillmentStatus,
    /// ISO 4217, uppercase; never changes.
    pub currency: String,
    /// The sums of the order, in minor units of its currency; left out unless the share includes amounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Amounts"))]
    pub amounts: Option<Amounts>,
    /// What was bought.
    pub line_items: Vec<SharedLine>,
    /// The buyer.
    pub customer: Option<SharedCustomer>,
    /// Where the bill goes; `null` unless the share includes the customer.
    pub billing_address: Option<Address>,
    /// Where the goods go; its `phone` is `null` unless the share includes the customer.
    pub shipping_address: Option<Address>,
    /// The order's parcels, oldest first. An event has as many of the newest as fit into it.
    pub shipments: Vec<SharedShipment>,
    /// When the customer bought.
    pub placed_at: Timestamp,
    /// When it was first to be fulfilled.
    pub confirmed_at: Option<Timestamp>,
    /// When all of it was first prepared; cleared when that no longer holds.
    pub fulfilled_at: Option<Timestamp>,
    /// When all that ships was first with the carrier; cleared when that no longer holds.
    pub shipped_at: Option<Timestamp>,
    /// When all that ships had first arrived; cleared when that no longer holds.
    pub delivered_at: Option<Timestamp>,
    /// When it was delivered and paid.
    pub completed_at: Option<Timestamp>,
    /// When it was cancelled.
    pub cancelled_at: Option<Timestamp>,
    /// The order's own version; sharing does not change it.
    pub resource_version: i64,
    /// `false` for test data, which never mixes with live data.
    pub livemode: bool,
    /// When the order was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A line of an order as a partner sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("quantity": Between(1, 100_000)))
)]
pub struct SharedLine {
    /// Stable for the life of the order.
    pub id: LineItemId,
    /// Stock keeping unit.
    pub sku: Option<String>,
    /// What is sold.
    pub name: String,
    /// 1 – 100,000.
    pub quantity: i64,
    /// Price of one, in minor units; like the other amounts left out unless the share includes amounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Money"))]
    pub unit_amount: Option<Money>,
    /// `unit_amount × quantity`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Money"))]
    pub subtotal_amount: Option<Money>,
    /// At most the subtotal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Money"))]
    pub discount_amount: Option<Money>,
    /// Tax on this line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Money"))]
    pub tax_amount: Option<Money>,
    /// `subtotal − discount + tax`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Money"))]
    pub total_amount: Option<Money>,
    /// Prepared, or handed to logistics.
    pub fulfilled_quantity: i64,
    /// With the carrier; 0 when nothing is to be shipped.
    pub shipped_quantity: i64,
    /// At the customer.
    pub delivered_quantity: i64,
}

/// The buyer of a shared order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("email": Text(254)))
)]
pub struct SharedCustomer {
    /// For people.
    pub name: Option<String>,
    /// `null` unless the share includes the customer.
    pub email: Option<String>,
    /// `null` unless the share includes the customer.
    pub phone: Option<String>,
}

/// A parcel of a shared order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename = "shipment")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "SharedShipment", transform = crate::schema::members!(
        "carrier": Text(64),
        "tracking_number": Text(100),
        "tracking_url": Text(2048),
    ))
)]
pub struct SharedShipment {
    /// Identifies the shipment.
    pub id: ShipmentId,
    /// The owner's number of the order.
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
    /// The parcel's own version.
    pub resource_version: i64,
    /// `false` for test data, which never mixes with live data.
    pub livemode: bool,
    /// When the parcel was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl SharedOrder {
    /// What the partner of `share` sees of `order`, whose parcels these are, oldest first.
    #[must_use]
    pub fn of(order: &Order, shipments: &[Shipment], share: &OrderShare) -> Self {
        let with_customer = share.include_customer;
        Self {
            order_number: order.order_number.clone(),
            status: order.status,
            payment_status: order.payment_status,
            fulfillment_status: order.fulfillment_status,
            currency: order.currency.clone(),
            amounts: share.include_amounts.then_some(order.amounts),
            line_items: order.line_items.iter().map(|line| SharedLine::of(line, share)).collect(),
            customer: order.customer.as_ref().map(|customer| SharedCustomer::of(customer, share)),
            billing_address: order.billing_address.clone().filter(|_| with_customer),
            shipping_address: order
                .shipping_address
                .clone()
                .map(|address| Address { phone: address.phone.filter(|_| with_customer), ..address }),
            shipments: shipments.iter().map(SharedShipment::of).collect(),
            placed_at: order.placed_at,
            confirmed_at: order.confirmed_at,
            fulfilled_at: order.fulfilled_at,
            shipped_at: order.shipped_at,
            delivered_at: order.delivered_at,
            completed_at: order.completed_at,
            cancelled_at: order.cancelled_at,
            resource_version: order.resource_version,
            livemode: order.livemode,
            created_at: order.created_at,
            updated_at: order.updated_at,
        }
    }
}

impl SharedLine {
    fn of(line: &OrderLine, share: &OrderShare) -> Self {
        let amount = |amount: Money| share.include_amounts.then_some(amount);
        Self {
            id: line.id.clone(),
            sku: line.sku.clone(),
            name: line.name.clone(),
            quantity: line.quantity,
            unit_amount: amount(line.unit_amount),
            subtotal_amount: amount(line.subtotal_amount),
            discount_amount: amount(line.discount_amount),
            tax_amount: amount(line.tax_amount),
            total_amount: amount(line.total_amount),
            fulfilled_quantity: line.fulfilled_quantity,
            shipped_quantity: line.shipped_quantity,
            delivered_quantity: line.delivered_quantity,
        }
    }
}

impl SharedCustomer {
    fn of(customer: &Customer, share: &OrderShare) -> Self {
        let with_customer = share.include_customer;
        Self {
            name: customer.name.clone(),
            email: customer.email.clone().filter(|_| with_customer),
            phone: customer.phone.clone().filter(|_| with_customer),
        }
    }
}

impl SharedShipment {
    /// What a partner sees of a parcel: all but the owner's metadata.
    #[must_use]
    pub fn of(shipment: &Shipment) -> Self {
        Self {
            id: shipment.id.clone(),
            order_number: shipment.order_number.clone(),
            status: shipment.status,
            carrier: shipment.carrier.clone(),
            service_level: shipment.service_level.clone(),
            tracking_number: shipment.tracking_number.clone(),
            tracking_url: shipment.tracking_url.clone(),
            line_items: shipment.line_items.clone(),
            shipped_at: shipment.shipped_at,
            estimated_delivery_at: shipment.estimated_delivery_at,
            delivered_at: shipment.delivered_at,
            exception: shipment.exception.clone(),
            resource_version: shipment.resource_version,
            livemode: shipment.livemode,
            created_at: shipment.created_at,
            updated_at: shipment.updated_at,
        }
    }
}
