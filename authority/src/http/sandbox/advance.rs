//! What processors and carriers would report: payments, refunds, shipments and subscriptions move on (contract 6.3).

use authority_domain::id::{PaymentId, RefundId, ShipmentId, SubscriptionId};
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::post;

use super::{Segment, parsed};
use crate::app::sandbox::Whose;
use crate::http::entry::{BodyRule, Reply, Roots, sandbox};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/payments/{payment}/advance", post(payment_advance))
        .route("/refunds/{refund}/advance", post(refund_advance))
        .route("/shipments/{shipment}/advance", post(shipment_advance))
        .route("/subscriptions", post(subscription_open))
        .route("/subscriptions/{subscription}/advance", post(subscription_advance))
}

async fn payment_advance(State(roots): State<Roots>, payment: Segment, request: Request) -> Response {
    sandbox(roots, "sandbox.payments.advance", request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        let id = parsed(payment, PaymentId::parse);
        app.sandbox_payment_advance(Whose::of(&who), mutation, id, body).await.map(Reply::Answer)
    })
    .await
}

async fn refund_advance(State(roots): State<Roots>, refund: Segment, request: Request) -> Response {
    sandbox(roots, "sandbox.refunds.advance", request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        let id = parsed(refund, RefundId::parse);
        app.sandbox_refund_advance(Whose::of(&who), mutation, id, body).await.map(Reply::Answer)
    })
    .await
}

async fn shipment_advance(State(roots): State<Roots>, shipment: Segment, request: Request) -> Response {
    sandbox(roots, "sandbox.shipments.advance", request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        let id = parsed(shipment, ShipmentId::parse);
        app.sandbox_shipment_advance(Whose::of(&who), mutation, id, body).await.map(Reply::Answer)
    })
    .await
}

async fn subscription_open(State(roots): State<Roots>, request: Request) -> Response {
    sandbox(roots, "sandbox.subscriptions.open", request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        app.sandbox_subscription_open(Whose::of(&who), mutation, body).await.map(Reply::Answer)
    })
    .await
}

async fn subscription_advance(
    State(roots): State<Roots>,
    subscription: Segment,
    request: Request,
) -> Response {
    sandbox(roots, "sandbox.subscriptions.advance", request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        let id = parsed(subscription, SubscriptionId::parse);
        app.sandbox_subscription_advance(Whose::of(&who), mutation, id, body).await.map(Reply::Answer)
    })
    .await
}
