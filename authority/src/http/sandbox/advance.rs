//! What processors and carriers would report: payments, refunds, shipments and subscriptions move on (contract 6.3).

use authority_domain::id::{PaymentId, ShipmentId};
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::post;

use super::{Segment, parsed};
use crate::http::entry::{BodyRule, Reply, Roots, sandbox};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/payments/{payment}/advance", post(payment_advance))
        .route("/shipments/{shipment}/advance", post(shipment_advance))
}

async fn payment_advance(State(roots): State<Roots>, payment: Segment, request: Request) -> Response {
    sandbox(roots, "sandbox.payments.advance", request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        let id = parsed(payment, PaymentId::parse);
        app.sandbox_payment_advance(&who, mutation, id, body).await.map(Reply::Answer)
    })
    .await
}

async fn shipment_advance(State(roots): State<Roots>, shipment: Segment, request: Request) -> Response {
    sandbox(roots, "sandbox.shipments.advance", request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        let id = parsed(shipment, ShipmentId::parse);
        app.sandbox_shipment_advance(&who, mutation, id, body).await.map(Reply::Answer)
    })
    .await
}
