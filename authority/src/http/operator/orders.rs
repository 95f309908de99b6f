//! Orders from the operator's side (contract 3.1, 6.2).

use authority_domain::error_code::ErrorCode;
use authority_domain::merchant::scope::OperatorScope;
use authority_domain::order::number::OrderNumber;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{RecordSegments, TenantSegments, tenant, tenant_and};
use crate::app::order::changes::OrderAction;
use crate::http::entry::{AppState, Reply, operator};
use crate::http::operation::{Operation, created, ok};
use crate::http::routes::Routes;

const INGEST: Operation =
    Operation::post("/merchants/{merchant}/{mode}/orders", "orders.ingest", "Ingest an order from another system.")
        .details("Includes its payments, in their current state.")
        .operator(&[OperatorScope::OperatorWrite])
        .body(
            "OrderRequest",
            r#"{"currency":"USD","line_items":[{"sku":"TSHIRT-M","name":"T-shirt","quantity":2,"unit_amount":2400}],"shipping":500,"source":"pos","payments":[{"amount":5300,"status":"succeeded","method":{"type":"cash"},"processor":{"name":"till"},"processor_event_id":"till-4711"}]}"#,
        )
        .answers(&[created("Order", "The order.").tagged()])
        .refuses(&[ErrorCode::CurrencyMismatch, ErrorCode::MerchantEnded]);

const READ: Operation =
    Operation::get("/merchants/{merchant}/{mode}/orders/{order}", "orders.read", "Read an order.")
        .operator(&[OperatorScope::OperatorRead])
        .answers(&[ok("Order", "The order.").conditional()]);

const EDIT: Operation = Operation::patch(
    "/merchants/{merchant}/{mode}/orders/{order}",
    "orders.edit",
    "Edit an order's customer, addresses and metadata.",
)
.details("A JSON merge patch (RFC 7396): absent members stay, null clears.")
.operator(&[OperatorScope::OperatorWrite])
.if_match("order")
.body("OrderPatch", r#"{"customer":{"phone":"+44 113 4960000"},"metadata":{"gift":"yes"}}"#)
.answers(&[ok("Order", "The order as it is now.").tagged()]);

const CONFIRM: Operation = Operation::post(
    "/merchants/{merchant}/{mode}/orders/{order}/confirm",
    "orders.confirm",
    "Confirm an order without waiting for payment.",
)
.operator(&[OperatorScope::OperatorWrite])
.if_match("order")
.optional_body("OptionalReasonRequest", r#"{"reason":"cash on delivery"}"#)
.answers(&[ok("Order", "The order as it is now.").tagged()])
.refuses(&[ErrorCode::InvalidStateTransition]);

const CANCEL: Operation = Operation::post(
    "/merchants/{merchant}/{mode}/orders/{order}/cancel",
    "orders.cancel",
    "Cancel an order.",
)
.details("Its open payments are cancelled. Captured money is not refunded.")
.operator(&[OperatorScope::OperatorWrite])
.if_match("order")
.optional_body("OrderCancelRequest", r#"{"reason":"customer_request"}"#)
.answers(&[ok("Order", "The order as it is now.").tagged()])
.refuses(&[ErrorCode::InvalidStateTransition]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .add(&INGEST, order_ingest)
        .add(&READ, order_get)
        .add(&EDIT, order_edit)
        .add(&CONFIRM, order_confirm)
        .add(&CANCEL, order_cancel)
}

async fn order_ingest(State(state): State<AppState>, segments: TenantSegments, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        app.order_ingest(mutation, tenant(segments), body).await.map(Reply::Answer)
    })
    .await
}

async fn order_get(State(state): State<AppState>, segments: RecordSegments, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        entered.query.finish()?;
        let (tenant, number) = tenant_and(segments, OrderNumber::parse);
        app.order_read(tenant, number).await.map(Reply::Answer)
    })
    .await
}

async fn order_edit(State(state): State<AppState>, segments: RecordSegments, request: Request) -> Response {
    change(state, OrderAction::Edit, segments, request).await
}

async fn order_confirm(
    State(state): State<AppState>,
    segments: RecordSegments,
    request: Request,
) -> Response {
    change(state, OrderAction::Confirm, segments, request).await
}

async fn order_cancel(State(state): State<AppState>, segments: RecordSegments, request: Request) -> Response {
    change(state, OrderAction::Cancel, segments, request).await
}

async fn change(
    state: AppState,
    action: OrderAction,
    segments: RecordSegments,
    request: Request,
) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        let (tenant, number) = tenant_and(segments, OrderNumber::parse);
        app.order_change(mutation, tenant, number, action, body).await.map(Reply::Answer)
    })
    .await
}
