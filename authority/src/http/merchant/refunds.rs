//! Refunds (contract 4.1, 4.5, 4.8).

use authority_domain::error_code::ErrorCode;
use authority_domain::id::RefundId;
use authority_domain::list_filter::RefundFilter;
use authority_domain::merchant::scope::Scope;
use authority_domain::order::number::OrderNumber;
use authority_domain::refund::RefundStatus;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{ROWS, Segment, list_request, parsed, words};
use crate::http::entry::{AppState, AuthorizedRequest, Reply, merchant};
use crate::http::operation::{self, Operation, created, ok, page, text, time};
use crate::http::routes::Routes;

const REQUEST: Operation = Operation::post(
    "/orders/{order}/refunds",
    "refunds.request",
    "Request a refund of an order.",
)
.details(
    "The money is reserved at once; it has been returned when `refund.completed` reports it. At least one captured \
     payment must have a refundable amount, whatever the status of the order.",
)
.scopes(&[Scope::RefundsWrite])
.if_match("order")
.body("RefundRequest", r#"{"amount":1500,"reason":"damaged","note":"One of two arrived broken."}"#)
.answers(&[created("Refund", "The requested refund.").tagged().located()])
.refuses(&[
    ErrorCode::OrderNotRefundable,
    ErrorCode::CurrencyMismatch,
    ErrorCode::PaymentRequired,
    ErrorCode::RefundAmountExceeded,
]);

const LIST: Operation = Operation::get("/refunds", "refunds.list", "List refunds, newest first.")
    .scopes(&[Scope::RefundsRead])
    .query(&[
        text("order_number", "Of this order."),
        text("payment_id", "Of this payment."),
        operation::words::<RefundStatus>("status", "With any of these statuses."),
        time("created_from", "Created at this time or later."),
        time("created_to", "Created before this time."),
    ])
    .answers(&[page("Refund", "Refunds.")]);

const GET: Operation = Operation::get("/refunds/{refund}", "refunds.get", "Read a refund.")
    .scopes(&[Scope::RefundsRead])
    .answers(&[ok("Refund", "The refund.").conditional()]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new().add(&REQUEST, refund_request).add(&LIST, refunds_list).add(&GET, refund_get)
}

async fn refund_request(State(state): State<AppState>, order: Segment, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let (who, mutation, body) = entered.write()?;
        let number = parsed(order, OrderNumber::parse);
        app.refund_request(&who, mutation, number, body).await.map(Reply::Answer)
    })
    .await
}

async fn refunds_list(State(state): State<AppState>, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let AuthorizedRequest { who, mut query, .. } = entered;
        let filter = RefundFilter {
            order_number: query.text("order_number")?,
            payment_id: query.text("payment_id")?,
            status: words::<RefundStatus>(&mut query, "status")?,
            created_from: query.time("created_from")?,
            created_to: query.time("created_to")?,
        };
        let list = list_request(query, ROWS)?;
        app.refunds_list(&who, &list, filter).await.map(Reply::List)
    })
    .await
}

async fn refund_get(State(state): State<AppState>, refund: Segment, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        entered.query.finish()?;
        app.refund_get(&entered.who, parsed(refund, RefundId::parse)).await.map(Reply::Answer)
    })
    .await
}
