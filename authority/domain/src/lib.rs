//! Records, state machines and policies of the commerce authority, pure.
//!
//! A use case loads records, calls a transition with the time and the dice, and gets back the next versions with the
//! events that tell of them ([`change::Change`]), or a [`refusal::Refusal`]. Nothing here is async, names SQL or HTTP,
//! or reads a clock: the same functions serve the service, the simulation and the audit.

pub mod address_policy;
pub mod alert;
pub mod api_key;
pub mod audit;
pub mod change;
pub mod checkout;
pub mod checkout_flow;
pub mod checkpoint;
pub mod cursor;
pub mod delivery;
pub mod demo_story;
pub mod endpoint;
pub mod endpoint_alerts;
pub mod endpoint_changes;
pub mod endpoint_condition;
pub mod endpoint_hold;
pub mod endpoint_url;
pub mod error_code;
pub mod event;
pub mod external_references;
pub mod field;
pub mod fulfillment;
pub mod fulfillment_status;
pub mod id;
pub mod integration_health;
pub mod invariants;
pub mod invite_code;
pub mod key_record;
pub mod line_quantities;
pub mod list_filter;
pub mod member_rules;
pub mod members;
pub mod merchant;
pub mod new_order;
pub mod order;
pub mod order_change;
pub mod order_flow;
pub mod order_number;
pub mod order_payments;
pub mod order_share;
pub mod outcome;
pub mod partner_connection;
pub mod partner_copy;
pub mod partner_order;
pub mod parts;
pub mod payment;
pub mod payment_flow;
pub mod payment_method;
pub mod payment_status;
pub mod period;
pub mod recovery;
pub mod refund;
pub mod refund_flow;
pub mod refusal;
pub mod requests;
pub mod retry;
#[cfg(feature = "schema")]
pub mod schema;
pub mod scope;
pub mod shipment;
pub mod shipment_report;
pub mod shipping;
pub mod strict_json;
pub mod subscription;
pub mod subscription_flow;
pub mod subscription_founding;
mod subscription_periods;
pub mod subscription_renewal;
pub mod tenant;
pub mod text_enum;
pub mod time;
pub mod undelivered;
