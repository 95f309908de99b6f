//! Orders from the operator's side (contract 3.1, 6.2).

use authority_domain::{ErrorCode, OperatorScope};

use super::Routes;
use crate::app::order::changes::OrderAction;
use crate::http::{Operation, created, ok};

const INGEST: Operation =
    Operation::post("/merchants/{merchant}/{mode}/orders", "orders.ingest")
        .summary("Ingest an order from another system.")
        .details("Includes its payments, in their current state.")
        .operator(&[OperatorScope::OperatorWrite])
        .body(
            "OrderRequest",
            r#"{"currency":"USD","line_items":[{"sku":"TSHIRT-M","name":"T-shirt","quantity":2,"unit_amount":2400}],"shipping":500,"source":"pos","payments":[{"amount":5300,"status":"succeeded","method":{"type":"cash"},"processor":{"name":"till"},"processor_event_id":"till-4711"}]}"#,
        )
        .answers(&[created("Order", "The order.").tagged()])
        .refuses(&[ErrorCode::CurrencyMismatch, ErrorCode::MerchantEnded]);

const READ: Operation = Operation::get("/merchants/{merchant}/{mode}/orders/{order}", "orders.read")
    .summary("Read an order.")
    .operator(&[OperatorScope::OperatorRead])
    .answers(&[ok("Order", "The order.").conditional()]);

const EDIT: Operation = Operation::patch("/merchants/{merchant}/{mode}/orders/{order}", "orders.edit")
    .summary("Edit an order's customer, addresses and metadata.")
    .details("A JSON merge patch (RFC 7396): absent members stay, null clears.")
    .operator(&[OperatorScope::OperatorWrite])
    .if_match("order")
    .body("OrderPatch", r#"{"customer":{"phone":"+44 113 4960000"},"metadata":{"gift":"yes"}}"#)
    .answers(&[ok("Order", "The order as it is now.").tagged()]);

const CONFIRM: Operation =
    Operation::post("/merchants/{merchant}/{mode}/orders/{order}/confirm", "orders.confirm")
        .summary("Confirm an order without waiting for payment.")
        .operator(&[OperatorScope::OperatorWrite])
        .if_match("order")
        .optional_body("OptionalReasonRequest", r#"{"reason":"cash on delivery"}"#)
        .answers(&[ok("Order", "The order as it is now.").tagged()])
        .refuses(&[ErrorCode::InvalidStateTransition]);

const CANCEL: Operation =
    Operation::post("/merchants/{merchant}/{mode}/orders/{order}/cancel", "orders.cancel")
        .summary("Cancel an order.")
        .details("Its open payments are cancelled. Captured money is not refunded.")
        .operator(&[OperatorScope::OperatorWrite])
        .if_match("order")
        .optional_body("OrderCancelRequest", r#"{"reason":"customer_request"}"#)
        .answers(&[ok("Order", "The order as it is now.").tagged()])
        .refuses(&[ErrorCode::InvalidStateTransition]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .write(&INGEST, async |app, _, mutation, tenant| app.order_ingest(mutation, tenant).await)
        .read(&READ, async |app, _, (tenant, number)| app.order_read(tenant, number).await)
        .write(&EDIT, async |app, _, mutation, (tenant, number)| {
            app.order_change(mutation, tenant, number, OrderAction::Edit).await
        })
        .write(&CONFIRM, async |app, _, mutation, (tenant, number)| {
            app.order_change(mutation, tenant, number, OrderAction::Confirm).await
        })
        .write(&CANCEL, async |app, _, mutation, (tenant, number)| {
            app.order_change(mutation, tenant, number, OrderAction::Cancel).await
        })
}
