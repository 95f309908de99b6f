//! Payments and the reports of processors (contract 3.5, 6.2).

use authority_domain::id::PaymentId;
use authority_domain::scope::OperatorScope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::post;

use super::{Segment, TenantSegments, parsed, tenant};
use crate::http::entry::{BodyRule, Reply, Roots, operator};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/merchants/{merchant}/{mode}/payments", post(payment_start))
        .route("/payments/{payment}/reports", post(payment_report))
}

async fn payment_start(State(roots): State<Roots>, segments: TenantSegments, request: Request) -> Response {
    operator(roots, "payments.start", &[OperatorScope::ProcessorWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        app.payment_start(mutation, tenant(segments), body).await.map(Reply::Answer)
    })
    .await
}

async fn payment_report(State(roots): State<Roots>, payment: Segment, request: Request) -> Response {
    operator(roots, "payments.report", &[OperatorScope::ProcessorWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        let payment = parsed(payment, PaymentId::parse);
        app.payment_report(mutation, payment, body).await.map(Reply::Answer)
    })
    .await
}
