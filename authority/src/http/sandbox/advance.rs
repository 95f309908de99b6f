//! Simulated reports of processors and carriers: payments, refunds, shipments and subscriptions advance (contract
//! 6.3).

use authority_domain::ErrorCode;

use super::Routes;
use crate::http::{Operation, created, ok};

const PAYMENT: Operation = Operation::post("/payments/{payment}/advance", "sandbox.payments.advance")
    .summary("Simulate a processor's report about a payment.")
    .sandbox()
    .if_match("payment")
    .body("PaymentAdvance", r#"{"to":"succeeded"}"#)
    .answers(&[ok("PaymentReportResult", "The payment as it is now, and whether it changed.").tagged()])
    .refuses(&[ErrorCode::ProcessorConflict]);

const REFUND: Operation = Operation::post("/refunds/{refund}/advance", "sandbox.refunds.advance")
    .summary("Simulate a processor's report about a refund.")
    .sandbox()
    .if_match("refund")
    .body("RefundAdvance", r#"{"to":"completed"}"#)
    .answers(&[ok("RefundReportResult", "The refund as it is now, and whether it changed.").tagged()])
    .refuses(&[ErrorCode::ProcessorConflict]);

const SHIPMENT: Operation = Operation::post("/shipments/{shipment}/advance", "sandbox.shipments.advance")
    .summary("Simulate a carrier's report about a shipment.")
    .sandbox()
    .if_match("shipment")
    .body("ShipmentAdvance", r#"{"to":"in_transit"}"#)
    .answers(&[ok("ShipmentReportResult", "The shipment as it is now, and whether it changed.").tagged()])
    .refuses(&[ErrorCode::InvalidStateTransition]);

const SUBSCRIPTION_OPEN: Operation =
    Operation::post("/subscriptions", "sandbox.subscriptions.open")
        .summary("Create a subscription.")
        .sandbox()
        .body(
            "SubscriptionRequest",
            r#"{"customer":{"reference":"c-77"},"currency":"USD","items":[{"name":"Coffee","quantity":1,"unit_amount":1900}],"interval":"month"}"#,
        )
        .answers(&[created("Subscription", "The subscription.").tagged()]);

const SUBSCRIPTION: Operation =
    Operation::post("/subscriptions/{subscription}/advance", "sandbox.subscriptions.advance")
        .summary("Advance a subscription to a status, or to its next period.")
        .sandbox()
        .if_match("subscription")
        .body("SubscriptionAdvance", r#"{"renew":true}"#)
        .answers(&[
            ok("SubscriptionReportResult", "The subscription as it is now, and whether it changed.").tagged()
        ])
        .refuses(&[ErrorCode::InvalidStateTransition]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .write(&PAYMENT, async |app, who, mutation, id| {
            app.sandbox_payment_advance((&who).into(), mutation, id).await
        })
        .write(&REFUND, async |app, who, mutation, id| {
            app.sandbox_refund_advance((&who).into(), mutation, id).await
        })
        .write(&SHIPMENT, async |app, who, mutation, id| {
            app.sandbox_shipment_advance((&who).into(), mutation, id).await
        })
        .write(&SUBSCRIPTION_OPEN, async |app, who, mutation, ()| {
            app.sandbox_subscription_open((&who).into(), mutation).await
        })
        .write(&SUBSCRIPTION, async |app, who, mutation, id| {
            app.sandbox_subscription_advance((&who).into(), mutation, id).await
        })
}
