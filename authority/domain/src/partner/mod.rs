//! Partners: connections, shared orders and what a partner sees of them (contract 2.14, 4.14).

pub mod connection;
pub mod invite_code;
pub mod order_view;
mod requests;
pub mod share;

pub use requests::{AcceptRequest, ShareRequest, read_label, read_share_terms};
