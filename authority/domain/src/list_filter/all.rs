//! The filter of each list.

use verify_core::catalog::EventType;

use super::filter::{TakeParameter, filters};
use super::parameter::{Parameter, ParameterValue};
use crate::alert::{AlertCode, AlertStatus};
use crate::audit_log::Author;
use crate::delivery::DeliveryStatus;
use crate::endpoint::EndpointStatus;
use crate::error_code::ErrorCode;
use crate::id::{ConnectionId, EndpointId, EventId, MerchantId};
use crate::merchant::MerchantStatus;
use crate::order::OrderStatus;
use crate::order::external_references::SystemName;
use crate::order::fulfillment_status::FulfillmentStatus;
use crate::order::payment_status::PaymentStatus as OrderPaymentStatus;
use crate::partner::connection::{ConnectionDirection, ConnectionStatus};
use crate::partner::share::ShareStatus;
use crate::payment::PaymentStatus;
use crate::refund::RefundStatus;
use crate::refusal::{Refusal, Result};
use crate::subscription::SubscriptionStatus;
use crate::sync::checkpoint::CheckpointStream;
use crate::tenant::Mode;
use crate::time::Timestamp;

filters! {
    /// Filters of `GET /orders`.
    OrderFilter check both_names {
        /// With any of these statuses.
        status: Vec<OrderStatus>,
        /// With any of these payment statuses.
        payment_status: Vec<OrderPaymentStatus>,
        /// With any of these fulfilment statuses.
        fulfillment_status: Vec<FulfillmentStatus>,
        /// Created at this time or later.
        created_from: Option<Timestamp>,
        /// Created before this time.
        created_to: Option<Timestamp>,
        /// Changed at this time or later.
        updated_from: Option<Timestamp>,
        /// Changed before this time.
        updated_to: Option<Timestamp>,
        /// External system; requires `external_id`.
        external_system: Option<SystemName>,
        /// Id in the external system; requires `external_system`.
        external_id: Option<String>,
        /// Of this customer, by the platform's id.
        customer_reference: Option<String>,
    }

    /// Filters of `GET /subscriptions`.
    SubscriptionFilter {
        /// With any of these statuses.
        status: Vec<SubscriptionStatus>,
        /// Of this customer, by the platform's id.
        customer_reference: Option<String>,
        /// Created at this time or later.
        created_from: Option<Timestamp>,
        /// Created before this time.
        created_to: Option<Timestamp>,
    }

    /// Filters of `GET /events`.
    EventFilter {
        /// Of any of these types.
        types as "type": Vec<EventType>,
        /// Created at this time or later.
        created_from: Option<Timestamp>,
        /// Created before this time.
        created_to: Option<Timestamp>,
        /// About this record: an order number or an id.
        resource: Option<String>,
    }

    /// Filters of the operator's `GET /events`.
    AllEventsFilter {
        /// Of this merchant; requires `mode`.
        merchant: Option<MerchantId>,
        /// Of this mode; requires `merchant`.
        mode: Option<Mode>,
        /// Of any of these types.
        types as "type": Vec<EventType>,
        /// Created at this time or later.
        created_from: Option<Timestamp>,
        /// Created before this time.
        created_to: Option<Timestamp>,
        /// About this record: an order number or an id.
        resource: Option<String>,
    }

    /// Filters of `GET /payments`.
    PaymentFilter {
        /// Of this order.
        order_number: Option<String>,
        /// With any of these statuses.
        status: Vec<PaymentStatus>,
        /// Whether the money arrived after its checkout or order had ended.
        late: Option<bool>,
        /// Created at this time or later.
        created_from: Option<Timestamp>,
        /// Created before this time.
        created_to: Option<Timestamp>,
    }

    /// Filters of the operator's `GET /payments`.
    AllPaymentsFilter {
        /// With any of these statuses.
        status: Vec<PaymentStatus>,
        /// Whether the money arrived after its checkout or order had ended.
        late: Option<bool>,
    }

    /// Filters of `GET /refunds`.
    RefundFilter {
        /// Of this order.
        order_number: Option<String>,
        /// Of this payment.
        payment_id: Option<String>,
        /// With any of these statuses.
        status: Vec<RefundStatus>,
        /// Created at this time or later.
        created_from: Option<Timestamp>,
        /// Created before this time.
        created_to: Option<Timestamp>,
    }

    /// Filters of the operator's `GET /refunds`.
    AllRefundsFilter {
        /// With any of these statuses.
        status: Vec<RefundStatus>,
    }

    /// Filters of `GET /webhook-endpoints`.
    EndpointFilter {
        /// With any of these statuses.
        status: Vec<EndpointStatus>,
    }

    /// Filters of `GET /webhook-endpoints/:id/deliveries`.
    DeliveryFilter {
        /// With any of these statuses.
        status: Vec<DeliveryStatus>,
        /// Of this event.
        event_id: Option<String>,
        /// Of events with any of these types.
        event_types as "event_type": Vec<EventType>,
        /// Created at this time or later.
        created_from: Option<Timestamp>,
        /// Created before this time.
        created_to: Option<Timestamp>,
    }

    /// Filters of the operator's `GET /deliveries`.
    AllDeliveriesFilter {
        /// Of this merchant.
        merchant_id as "merchant": Option<MerchantId>,
        /// Of this mode.
        mode: Option<Mode>,
        /// To this endpoint.
        endpoint_id: Option<EndpointId>,
        /// With any of these statuses.
        status: Vec<DeliveryStatus>,
        /// Of this event.
        event_id: Option<EventId>,
    }

    /// Filters of `GET /webhook-endpoints/:id/undelivered`.
    UndeliveredFilter {
        /// Created at this time or later.
        since: Option<Timestamp>,
        /// Created before this time.
        until: Option<Timestamp>,
        /// Of any of these types.
        types as "type": Vec<EventType>,
    }

    /// Filters of `GET /partner-connections`; statuses are those at the time of reading.
    ConnectionFilter {
        /// With any of these statuses.
        status: Vec<ConnectionStatus>,
        /// Created by the reader, or by the partner.
        direction: Vec<ConnectionDirection>,
    }

    /// Filters of `GET /order-shares`; statuses are those at the time of reading.
    ShareFilter {
        /// On this connection.
        connection_id: Option<ConnectionId>,
        /// With any of these statuses.
        status: Vec<ShareStatus>,
        /// Of this order.
        order_number: Option<String>,
    }

    /// Filters of `GET /partner-orders`, of whose shares they are.
    PartnerOrderFilter {
        /// On this connection.
        connection_id: Option<ConnectionId>,
        /// With any of these statuses. Shares that have ended show nothing.
        status: Vec<ShareStatus>,
        /// The order number that the owner uses.
        order_number: Option<String>,
    }

    /// Filters of `GET /sync/checkpoints`.
    CheckpointFilter {
        /// Of any of these feeds.
        streams as "stream": Vec<CheckpointStream>,
        /// With this name.
        name: Option<String>,
    }

    /// Filters of the operator's `GET /merchants`.
    MerchantFilter {
        /// With any of these statuses.
        status: Vec<MerchantStatus>,
        /// With this slug.
        slug: Option<String>,
    }

    /// Filters of the operator's `GET /alerts`.
    AlertFilter {
        /// With any of these codes.
        codes as "code": Vec<AlertCode>,
        /// With any of these statuses; default: open alerts.
        status: Vec<AlertStatus>,
    }

    /// Filters of the operator's `GET /audit-log`.
    AuditFilter {
        /// Written with this operator key, in this portal session, or by `cli`.
        author as "key_id": Option<Author>,
        /// About this record: an order number or an id.
        resource_id: Option<String>,
        /// At this time or later.
        created_from: Option<Timestamp>,
        /// Before this time.
        created_to: Option<Timestamp>,
    }
}

impl From<PartnerOrderFilter> for ShareFilter {
    fn from(filter: PartnerOrderFilter) -> Self {
        let PartnerOrderFilter { connection_id, status, order_number } = filter;
        Self { connection_id, status, order_number }
    }
}

/// `external_system` and `external_id` are only valid together.
fn both_names(filter: &OrderFilter) -> Result<()> {
    let missing = match (&filter.external_system, &filter.external_id) {
        (Some(_), Some(_)) | (None, None) => return Ok(()),
        (Some(_), None) => "external_id",
        (None, Some(_)) => "external_system",
    };
    let detail = "external_system and external_id are given together.";
    Err(Refusal::new(ErrorCode::InvalidParameter, detail).param(missing))
}
