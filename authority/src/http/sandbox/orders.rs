//! Orders: ingested, paid, cancelled, shared (contract 6.3, 3.9 rows 7, 7a and 8).

use authority_domain::ErrorCode;

use super::Routes;
use crate::http::{Operation, created, ok};

const INGEST: Operation = Operation::post("/orders", "sandbox.orders.ingest")
    .summary("Ingest an order, paid or unpaid.")
    .sandbox()
    .body(
        "SandboxOrderRequest",
        r#"{"currency":"USD","line_items":[{"sku":"TSHIRT-M","name":"T-shirt","quantity":2,"unit_amount":2400}],"shipping":500,"pay":"paid"}"#,
    )
    .answers(&[created("Order", "The order.").tagged()])
    .refuses(&[ErrorCode::CurrencyMismatch]);

const PAY: Operation = Operation::post("/orders/{order}/pay", "sandbox.orders.pay")
    .summary("Attempt to pay the amount due of an order.")
    .sandbox()
    .if_match("order")
    .body("PayRequest", r#"{"outcome":"succeeded"}"#)
    .answers(&[created("Payment", "The payment after the attempt.").tagged()])
    .refuses(&[ErrorCode::InvalidStateTransition]);

const CANCEL: Operation = Operation::post("/orders/{order}/cancel", "sandbox.orders.cancel")
    .summary("Cancel an order.")
    .sandbox()
    .if_match("order")
    .optional_body("OrderCancelRequest", r#"{"reason":"customer_request"}"#)
    .answers(&[ok("Order", "The order as it is now.").tagged()])
    .refuses(&[ErrorCode::InvalidStateTransition]);

const SHARE: Operation = Operation::post("/orders/{order}/share", "sandbox.orders.share")
    .summary("Share an order with a counterpart that the sandbox creates.")
    .details("The counterpart is a separate merchant without keys. It is connected with yours when it is first needed.")
    .sandbox()
    .optional_body("ShareTerms", r#"{"include_amounts":true}"#)
    .answers(&[created("OrderShare", "The share.")])
    .refuses(&[ErrorCode::ShareExists]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .write(&INGEST, async |app, who, mutation, ()| {
            app.sandbox_order_ingest((&who).into(), mutation).await
        })
        .write(&PAY, async |app, who, mutation, number| {
            app.sandbox_order_pay((&who).into(), mutation, number).await
        })
        .write(&CANCEL, async |app, who, mutation, number| {
            app.sandbox_order_cancel((&who).into(), mutation, number).await
        })
        .write(&SHARE, async |app, who, mutation, number| {
            app.sandbox_order_share((&who).into(), mutation, number).await
        })
}
