//! Carriers' reports (contract 3.7, 6.2).

use authority_domain::error_code::ErrorCode;
use authority_domain::id::ShipmentId;
use authority_domain::merchant::scope::OperatorScope;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{Segment, parsed};
use crate::http::entry::{AppState, Reply, operator};
use crate::http::operation::{Operation, ok};
use crate::http::routes::Routes;

const REPORT: Operation = Operation::post(
    "/shipments/{shipment}/reports",
    "shipments.report",
    "Report a carrier's event about a shipment.",
)
.details("A report that says nothing new changes nothing: `applied` is false.")
.operator(&[OperatorScope::CarrierWrite])
.body("ShipmentReportRequest", r#"{"status":"in_transit"}"#)
.answers(&[ok("ShipmentReportResult", "The shipment as it is now, and whether it changed.").tagged()])
.refuses(&[ErrorCode::InvalidStateTransition, ErrorCode::ShipmentExists]);

/// The route.
pub(super) fn routes() -> Routes {
    Routes::new().add(&REPORT, shipment_report)
}

async fn shipment_report(State(state): State<AppState>, shipment: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        let shipment = parsed(shipment, ShipmentId::parse);
        app.shipment_report(mutation, shipment, body).await.map(Reply::Answer)
    })
    .await
}
