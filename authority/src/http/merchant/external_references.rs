//! External references: the ids that the merchant's systems use for an order (contract 4.1, 4.13).

use authority_domain::{ErrorCode, Scope};

use crate::app::Caller;
use crate::app::order::external_references::ReferenceAction;
use crate::http::{Operation, Routes, ok};

const SCOPES: &[Scope] = &[Scope::SyncWrite, Scope::OrdersWrite];

const SET: Operation = Operation::put(
    "/orders/{order}/external-references/{system}",
    "external_references.set",
    "Set the id that another system uses for an order.",
)
.details("There is one entry per system. Setting the same value again changes nothing.")
.scopes(SCOPES)
.if_match("order")
.body("ExternalReferenceRequest", r#"{"id":"SO-4711","url":"https://erp.example.com/orders/SO-4711"}"#)
.answers(&[ok("Order", "The order as it is now.").tagged()])
.refuses(&[ErrorCode::ExternalReferenceConflict]);

const REMOVE: Operation = Operation::delete(
    "/orders/{order}/external-references/{system}",
    "external_references.remove",
    "Remove the id that another system uses for an order.",
)
.details("Removing an entry that does not exist changes nothing.")
.scopes(SCOPES)
.if_match("order")
.answers(&[ok("Order", "The order as it is now.").tagged()]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .write(&SET, async |app, who: Caller, mutation, (number, system)| {
            app.external_reference_change(&who, mutation, number, system, ReferenceAction::Set).await
        })
        .write(&REMOVE, async |app, who: Caller, mutation, (number, system)| {
            app.external_reference_change(&who, mutation, number, system, ReferenceAction::Remove).await
        })
}
