//! Request bodies as types: each reader names every member once, with its rule, and collects every error
//! (contract 4.2 row 15).
//!
//! Readers look at the body alone. What depends on a stored record is checked by the transition that gets the result.

mod api_keys;
mod basket;
mod checkouts;
mod endpoints;
mod fulfillment;
mod merchants;
mod order_changes;
mod orders;
mod partners;
mod parts;
mod payments;
mod reason;
mod recoveries;
mod refunds;
mod replays;
pub mod sandbox;
#[cfg(feature = "schema")]
mod shapes;
mod shipment_reports;
mod shipments;
mod subscription_reports;
mod subscriptions;
mod sync;

pub use api_keys::{ApiKeyRequest, ApiKeyRotation};
pub use checkouts::CheckoutRequest;
pub use endpoints::{
    EndpointRequest, EndpointTestRequest, RotationRequest, read_endpoint_limits, read_endpoint_patch,
    url_address_blocked,
};
pub use fulfillment::FulfillmentRequest;
pub use merchants::{MerchantRequest, read_merchant_change};
#[cfg(feature = "schema")]
pub(crate) use order_changes::order_edit;
pub use order_changes::{OrderCancelRequest, OrderEditRequest, no_members};
pub use orders::OrderRequest;
pub use partners::{AcceptRequest, ShareRequest, read_label, read_share_terms};
pub use payments::{PaymentReportRequest, PaymentRequest};
pub use reason::{read_optional_reason, read_reason};
pub use recoveries::RecoveryRequest;
pub use refunds::{RefundReportRequest, RefundRequest};
pub use replays::ReplayRequest;
#[cfg(feature = "schema")]
pub use shapes::{Shape, shapes};
pub use shipment_reports::ShipmentReportRequest;
pub use shipments::ShipmentRequest;
pub use subscription_reports::SubscriptionReportRequest;
pub use subscriptions::SubscriptionRequest;
pub use sync::{CheckpointRequest, read_reference};
