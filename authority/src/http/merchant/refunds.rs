//! Refunds (contract 4.1, 4.5, 4.8).

use authority_domain::error_code::ErrorCode;
use authority_domain::list_filter::RefundFilter;
use authority_domain::merchant::scope::Scope;
use authority_domain::refund::RefundStatus;
use authority_domain::refusal::Refusal;

use crate::app::access::Caller;
use crate::http::list_query::words;
use crate::http::operation::{self, Operation, created, ok, page, text, time};
use crate::http::query::Query;
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
    Routes::new()
        .write(&REQUEST, async |app, who: Caller, mutation, number, body| {
            app.refund_request(&who, mutation, number, body).await
        })
        .list(&LIST, filter, async |app, who: Caller, (), list, filter| {
            app.refunds_list(&who, &list, filter).await
        })
        .read(&GET, async |app, who: Caller, id| app.refund_get(&who, id).await)
}

fn filter(query: &mut Query) -> Result<RefundFilter, Refusal> {
    Ok(RefundFilter {
        order_number: query.text("order_number")?,
        payment_id: query.text("payment_id")?,
        status: words::<RefundStatus>(query, "status")?,
        created_from: query.time("created_from")?,
        created_to: query.time("created_to")?,
    })
}
