//! Orders, their fulfilment, and the ids that the merchant's systems use for them (contract 4.1, 4.5, 4.6, 4.13).

use authority_domain::list_filter::OrderFilter;
use authority_domain::{ErrorCode, Scope};

use super::Routes;
use crate::app::order::external_references::ReferenceAction;
use crate::http::{Operation, ok, page};

const LIST: Operation = Operation::get("/orders", "orders.list")
    .summary("List orders, newest first.")
    .scopes(&[Scope::OrdersRead])
    .filter::<OrderFilter>()
    .answers(&[page("Order", "Orders.")]);

const GET: Operation = Operation::get("/orders/{order}", "orders.get")
    .summary("Read an order.")
    .scopes(&[Scope::OrdersRead])
    .answers(&[ok("Order", "The order.").conditional()]);

const FULFILL: Operation = Operation::patch("/orders/{order}/fulfillment", "orders.fulfillment")
    .summary("Update the fulfilment of an order.")
    .details(
        "A target for the whole order, quantities of lines, or a note. Nothing else of an order can be written here: \
         the authority decides money and status.",
    )
    .scopes(&[Scope::OrdersWrite])
    .if_match("order")
    .body("FulfillmentRequest", r#"{"fulfillment_status":"fulfilled","note":"Shelf 4"}"#)
    .answers(&[ok("Order", "The order as it is now.").tagged()])
    .refuses(&[ErrorCode::OrderNotFulfillable, ErrorCode::InvalidStateTransition]);

const REFERENCE_SCOPES: &[Scope] = &[Scope::SyncWrite, Scope::OrdersWrite];

const SET_REFERENCE: Operation =
    Operation::put("/orders/{order}/external-references/{system}", "external_references.set")
        .summary("Set the id that another system uses for an order.")
        .details("There is one entry per system. Setting the same value again changes nothing.")
        .scopes(REFERENCE_SCOPES)
        .if_match("order")
        .body(
            "ExternalReferenceRequest",
            r#"{"id":"SO-4711","url":"https://erp.example.com/orders/SO-4711"}"#,
        )
        .answers(&[ok("Order", "The order as it is now.").tagged()])
        .refuses(&[ErrorCode::ExternalReferenceConflict]);

const REMOVE_REFERENCE: Operation =
    Operation::delete("/orders/{order}/external-references/{system}", "external_references.remove")
        .summary("Remove the id that another system uses for an order.")
        .details("Removing an entry that does not exist changes nothing.")
        .scopes(REFERENCE_SCOPES)
        .if_match("order")
        .answers(&[ok("Order", "The order as it is now.").tagged()]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .write(&SET_REFERENCE, async |app, who, mutation, (number, system)| {
            app.external_reference_change(&who, mutation, number, system, ReferenceAction::Set).await
        })
        .write(&REMOVE_REFERENCE, async |app, who, mutation, (number, system)| {
            app.external_reference_change(&who, mutation, number, system, ReferenceAction::Remove).await
        })
        .write(&FULFILL, async |app, who, mutation, number| {
            app.fulfillment_update(&who, mutation, number).await
        })
        .list(&LIST, async |app, who, (), list, filter| app.orders_list(&who.tenant, &list, filter).await)
        .read(&GET, async |app, who, id| app.order_get(&who, id).await)
}
