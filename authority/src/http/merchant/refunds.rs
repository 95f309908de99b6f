//! Refunds (contract 4.1, 4.5, 4.8).

use authority_domain::list_filter::RefundFilter;
use authority_domain::{ErrorCode, Scope};

use super::Routes;
use crate::http::{Operation, created, ok, page};

const REQUEST: Operation = Operation::post("/orders/{order}/refunds", "refunds.request")
    .summary("Request a refund of an order.")
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

const LIST: Operation = Operation::get("/refunds", "refunds.list")
    .summary("List refunds, newest first.")
    .scopes(&[Scope::RefundsRead])
    .filter::<RefundFilter>()
    .answers(&[page("Refund", "Refunds.")]);

const GET: Operation = Operation::get("/refunds/{refund}", "refunds.get")
    .summary("Read a refund.")
    .scopes(&[Scope::RefundsRead])
    .answers(&[ok("Refund", "The refund.").conditional()]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .write(&REQUEST, async |app, who, mutation, number| app.refund_request(&who, mutation, number).await)
        .list(&LIST, async |app, who, (), list, filter| app.refunds_list(&who, &list, filter).await)
        .read(&GET, async |app, who, id| app.refund_get(&who, id).await)
}
