//! Shipments: parcels of an order and what carriers report of them (contract 2.5, 3.7).

mod record;
pub mod report;
mod report_request;
mod requests;

pub use record::{NewShipment, Shipment, ShipmentLine, ShipmentStatus};
pub use report::ShipmentReport;
