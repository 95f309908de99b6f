//! Carriers' reports (contract 3.7, 6.2).

use authority_domain::{ErrorCode, OperatorScope};

use super::Routes;
use crate::http::{Operation, ok};

const REPORT: Operation = Operation::post("/shipments/{shipment}/reports", "shipments.report")
    .summary("Report a carrier's event about a shipment.")
    .details("A report that says nothing new changes nothing: `applied` is false.")
    .operator(&[OperatorScope::CarrierWrite])
    .body("ShipmentReportRequest", r#"{"status":"in_transit"}"#)
    .answers(&[ok("ShipmentReportResult", "The shipment as it is now, and whether it changed.").tagged()])
    .refuses(&[ErrorCode::InvalidStateTransition, ErrorCode::ShipmentExists]);

/// The route.
pub(super) fn routes() -> Routes {
    Routes::new()
        .write(&REPORT, async |app, _, mutation, shipment| app.shipment_report(mutation, shipment).await)
}
