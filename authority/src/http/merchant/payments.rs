//! Payments (contract 4.1).

use authority_domain::id::PaymentId;
use authority_domain::scope::Scope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::get;

use super::{Segment, operation, parsed};
use crate::http::entry::{Reply, Roots, merchant};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new().route("/payments/{payment}", get(payment_get))
}

async fn payment_get(State(roots): State<Roots>, payment: Segment, request: Request) -> Response {
    merchant(roots, operation("payments.get", &[Scope::PaymentsRead]), request, async |app, entered| {
        entered.query.finish()?;
        app.payment_get(&entered.who, parsed(payment, PaymentId::parse)).await.map(Reply::Answer)
    })
    .await
}
