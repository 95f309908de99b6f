//! The fulfilment of orders (contract 4.1, 4.6).

use authority_domain::{ErrorCode, Scope};

use crate::app::Caller;
use crate::http::{Operation, Routes, ok};

const UPDATE: Operation = Operation::patch(
    "/orders/{order}/fulfillment",
    "orders.fulfillment",
    "Update the fulfilment of an order.",
)
.details(
    "A target for the whole order, quantities of lines, or a note. Nothing else of an order can be written here: \
     the authority decides money and status.",
)
.scopes(&[Scope::OrdersWrite])
.if_match("order")
.body("FulfillmentRequest", r#"{"fulfillment_status":"fulfilled","note":"Shelf 4"}"#)
.answers(&[ok("Order", "The order as it is now.").tagged()])
.refuses(&[ErrorCode::OrderNotFulfillable, ErrorCode::InvalidStateTransition]);

/// The route.
pub(super) fn routes() -> Routes {
    Routes::new().write(&UPDATE, async |app, who: Caller, mutation, number| {
        app.fulfillment_update(&who, mutation, number).await
    })
}
