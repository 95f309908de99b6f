//! Records, state machines and policies of the commerce authority, pure.
//!
//! A use case loads records, calls a transition with the time and the dice, and gets back the next versions with
//! their events ([`Change`]), or a [`Refusal`]. Nothing here is async, names SQL or HTTP, or reads a clock: the same
//! functions serve the service, the simulation and the audit.
//!
//! What other crates name in nearly every file is passed on here. Inside this crate each thing is named by its module,
//! so that it shows who needs whom.

pub mod alert;
pub mod audit_log;
pub mod body;
#[cfg(feature = "schema")]
pub mod body_shapes;
pub mod bounds;
pub mod checkout;
pub mod cursor;
pub mod delivery;
pub mod endpoint;
pub mod error_code;
pub mod event;
pub mod id;
pub mod integration_health;
pub mod invariants;
pub mod list_filter;
pub mod merchant;
pub mod order;
pub mod order_number;
pub mod partner;
pub mod parts;
pub mod payment;
pub mod recovery;
pub mod refund;
pub mod refusal;
pub mod sandbox;
#[cfg(feature = "schema")]
pub mod schema;
pub mod shipment;
pub mod subscription;
pub mod sync;
pub mod tenant;
pub mod text_enum;
pub mod time;
pub mod transitions;
mod versioned;

pub use alert::{AlertCode, AlertStatus};
pub use audit_log::Author;
pub use checkout::{Checkout, CheckoutEnd};
pub use cursor::ListKind;
pub use delivery::DeliveryStatus;
pub use delivery::outcome::{AttemptOutcome, FailureReason};
pub use endpoint::{DisabledReason, Endpoint, EndpointStatus};
pub use error_code::ErrorCode;
pub use event::change::Change;
pub use id::{
    AlertId, AttemptId, AuditId, CheckoutId, CheckpointId, ConnectionId, DeliveryId, EndpointId, EventId,
    KeyId, LineItemId, MerchantId, Named, PaymentId, PortalSessionId, RecoveryId, RefundId, RequestId,
    ShareId, ShipmentId, SubscriptionId,
};
pub use merchant::Merchant;
pub use merchant::scope::{OperatorScope, Scope};
pub use order::fulfillment_status::FulfillmentStatus;
pub use order::{ConfirmOn, Order, OrderStatus};
pub use order_number::OrderNumber;
pub use payment::{Payment, PaymentStatus};
pub use refund::{Refund, RefundStatus};
pub use refusal::{MemberCode, Refusal, Result};
pub use shipment::Shipment;
pub use tenant::{Mode, Tenant};
pub use time::Timestamp;
