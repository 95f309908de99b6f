//! Shipments: parcels of an order and what carriers report of them (contract 2.5, 3.7).

mod record;
pub mod report;
mod report_request;
mod requests;

pub use record::{NewShipment, Shipment, ShipmentLine, ShipmentStatus};
pub use report::ShipmentReport;

/// The most parcels of one order, cancelled ones included. Everything that is decided about an order is decided on all
/// of them, and what a partner sees of it shows them all.
pub const SHIPMENTS_MAX: usize = 200;
