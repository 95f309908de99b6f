//! Records, state machines and policies of the commerce authority, pure.
//!
//! A use case loads records, calls a transition with the time and the dice, and gets back the next versions with
//! their events ([`event::change::Change`]), or a [`refusal::Refusal`]. Nothing here is async, names SQL or HTTP, or
//! reads a clock: the same functions serve the service, the simulation and the audit.

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
pub mod invariants;
pub mod list_filter;
pub mod merchant;
pub mod order;
pub mod partner;
pub mod parts;
pub mod payment;
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
