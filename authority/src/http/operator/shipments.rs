//! The reports of carriers (contract 3.7, 6.2).

use authority_domain::id::ShipmentId;
use authority_domain::scope::OperatorScope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::post;

use super::{Segment, parsed};
use crate::http::entry::{BodyRule, Reply, Roots, operator};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new().route("/shipments/{shipment}/reports", post(shipment_report))
}

async fn shipment_report(State(roots): State<Roots>, shipment: Segment, request: Request) -> Response {
    operator(roots, "shipments.report", &[OperatorScope::CarrierWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        let shipment = parsed(shipment, ShipmentId::parse);
        app.shipment_report(mutation, shipment, body).await.map(Reply::Answer)
    })
    .await
}
