//! Simulated reports of processors and carriers: payments, refunds, shipments and subscriptions advance (contract
//! 6.3).

use authority_domain::error_code::ErrorCode;
use authority_domain::id::{PaymentId, RefundId, ShipmentId, SubscriptionId};
use axum::extract::{Request, State};
use axum::response::Response;

use super::{Segment, parsed};
use crate::app::sandbox::Owner;
use crate::http::entry::{AppState, Reply, merchant};
use crate::http::operation::{Operation, created, ok};
use crate::http::routes::Routes;

const PAYMENT: Operation = Operation::post(
    "/payments/{payment}/advance",
    "sandbox.payments.advance",
    "Simulate a processor's report about a payment.",
)
.sandbox()
.if_match("payment")
.body("PaymentAdvance", r#"{"to":"succeeded"}"#)
.answers(&[ok("PaymentReportResult", "The payment as it is now, and whether it changed.").tagged()])
.refuses(&[ErrorCode::ProcessorConflict]);

const REFUND: Operation = Operation::post(
    "/refunds/{refund}/advance",
    "sandbox.refunds.advance",
    "Simulate a processor's report about a refund.",
)
.sandbox()
.if_match("refund")
.body("RefundAdvance", r#"{"to":"completed"}"#)
.answers(&[ok("RefundReportResult", "The refund as it is now, and whether it changed.").tagged()])
.refuses(&[ErrorCode::ProcessorConflict]);

const SHIPMENT: Operation = Operation::post(
    "/shipments/{shipment}/advance",
    "sandbox.shipments.advance",
    "Simulate a carrier's report about a shipment.",
)
.sandbox()
.if_match("shipment")
.body("ShipmentAdvance", r#"{"to":"in_transit"}"#)
.answers(&[ok("ShipmentReportResult", "The shipment as it is now, and whether it changed.").tagged()])
.refuses(&[ErrorCode::InvalidStateTransition]);

const SUBSCRIPTION_OPEN: Operation =
    Operation::post("/subscriptions", "sandbox.subscriptions.open", "Create a subscription.")
        .sandbox()
        .body(
            "SubscriptionRequest",
            r#"{"customer":{"reference":"c-77"},"currency":"USD","items":[{"name":"Coffee","quantity":1,"unit_amount":1900}],"interval":"month"}"#,
        )
        .answers(&[created("Subscription", "The subscription.").tagged()]);

const SUBSCRIPTION: Operation = Operation::post(
    "/subscriptions/{subscription}/advance",
    "sandbox.subscriptions.advance",
    "Advance a subscription to a status, or to its next period.",
)
.sandbox()
.if_match("subscription")
.body("SubscriptionAdvance", r#"{"renew":true}"#)
.answers(&[ok("SubscriptionReportResult", "The subscription as it is now, and whether it changed.").tagged()])
.refuses(&[ErrorCode::InvalidStateTransition]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .add(&PAYMENT, payment_advance)
        .add(&REFUND, refund_advance)
        .add(&SHIPMENT, shipment_advance)
        .add(&SUBSCRIPTION_OPEN, subscription_open)
        .add(&SUBSCRIPTION, subscription_advance)
}

async fn payment_advance(State(state): State<AppState>, payment: Segment, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let (who, mutation, body) = entered.write()?;
        let id = parsed(payment, PaymentId::parse);
        app.sandbox_payment_advance(Owner::of(&who), mutation, id, body).await.map(Reply::Answer)
    })
    .await
}

async fn refund_advance(State(state): State<AppState>, refund: Segment, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let (who, mutation, body) = entered.write()?;
        let id = parsed(refund, RefundId::parse);
        app.sandbox_refund_advance(Owner::of(&who), mutation, id, body).await.map(Reply::Answer)
    })
    .await
}

async fn shipment_advance(State(state): State<AppState>, shipment: Segment, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let (who, mutation, body) = entered.write()?;
        let id = parsed(shipment, ShipmentId::parse);
        app.sandbox_shipment_advance(Owner::of(&who), mutation, id, body).await.map(Reply::Answer)
    })
    .await
}

async fn subscription_open(State(state): State<AppState>, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let (who, mutation, body) = entered.write()?;
        app.sandbox_subscription_open(Owner::of(&who), mutation, body).await.map(Reply::Answer)
    })
    .await
}

async fn subscription_advance(
    State(state): State<AppState>,
    subscription: Segment,
    request: Request,
) -> Response {
    merchant(state, request, async |app, entered| {
        let (who, mutation, body) = entered.write()?;
        let id = parsed(subscription, SubscriptionId::parse);
        app.sandbox_subscription_advance(Owner::of(&who), mutation, id, body).await.map(Reply::Answer)
    })
    .await
}
