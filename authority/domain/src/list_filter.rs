//! What lists can be narrowed by (contract 4.5). Empty lists and `None` do not narrow.

use crate::order::external_references::ExternalName;
use crate::partner::connection::{ConnectionDirection, ConnectionStatus};
use crate::partner::share::ShareStatus;
use crate::time::Timestamp;

/// Filters of `GET /orders`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderFilter {
    /// Any of these statuses.
    pub status: Vec<String>,
    /// Any of these payment statuses.
    pub payment_status: Vec<String>,
    /// Any of these fulfilment statuses.
    pub fulfillment_status: Vec<String>,
    /// Created then or later.
    pub created_from: Option<Timestamp>,
    /// Created before.
    pub created_to: Option<Timestamp>,
    /// Changed then or later.
    pub updated_from: Option<Timestamp>,
    /// Changed before.
    pub updated_to: Option<Timestamp>,
    /// The platform's id of the customer.
    pub customer_reference: Option<String>,
    /// What one of the merchant's systems calls the order.
    pub external_name: Option<ExternalName>,
}

/// Filters of `GET /subscriptions`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscriptionFilter {
    /// Any of these statuses.
    pub status: Vec<String>,
    /// The platform's id of the customer.
    pub customer_reference: Option<String>,
    /// Created then or later.
    pub created_from: Option<Timestamp>,
    /// Created before.
    pub created_to: Option<Timestamp>,
}

/// Filters of `GET /events`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Any of these catalog names.
    pub types: Vec<String>,
    /// Created then or later.
    pub created_from: Option<Timestamp>,
    /// Created before.
    pub created_to: Option<Timestamp>,
    /// An order number or record id.
    pub resource: Option<String>,
}

/// Filters of `GET /payments`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaymentFilter {
    /// Whether the money came late.
    pub late: Option<bool>,
    /// Of this order.
    pub order_number: Option<String>,
    /// Any of these statuses.
    pub status: Vec<String>,
    /// Created then or later.
    pub created_from: Option<Timestamp>,
    /// Created before.
    pub created_to: Option<Timestamp>,
}

/// Filters of `GET /refunds`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefundFilter {
    /// Of this order.
    pub order_number: Option<String>,
    /// Of this payment.
    pub payment_id: Option<String>,
    /// Any of these statuses.
    pub status: Vec<String>,
    /// Created then or later.
    pub created_from: Option<Timestamp>,
    /// Created before.
    pub created_to: Option<Timestamp>,
}

/// Filters of `GET /webhook-endpoints/:id/deliveries`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// Any of these statuses.
    pub status: Vec<String>,
    /// Of this event.
    pub event_id: Option<String>,
    /// Of events with any of these catalog names.
    pub event_types: Vec<String>,
    /// Created then or later.
    pub created_from: Option<Timestamp>,
    /// Created before.
    pub created_to: Option<Timestamp>,
}

/// Filters of `GET /partner-connections`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionFilter {
    /// Any of these statuses, as they are at the time of reading.
    pub status: Vec<ConnectionStatus>,
    /// Any of these directions.
    pub direction: Vec<ConnectionDirection>,
}

/// Filters of `GET /order-shares` and `GET /partner-orders`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareFilter {
    /// On this connection.
    pub connection_id: Option<String>,
    /// Any of these statuses, as they are at the time of reading.
    pub status: Vec<ShareStatus>,
    /// Of the order with this number; it is the owner's.
    pub order_number: Option<String>,
}
