//! External references: the ids that the merchant's systems use for an order (contract 4.1, 4.13).

use authority_domain::error_code::ErrorCode;
use authority_domain::merchant::scope::Scope;
use authority_domain::order::external_references::SystemName;
use authority_domain::order::number::OrderNumber;
use authority_domain::refusal::Refusal;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::Response;

use crate::app::order::external_references::ReferenceAction;
use crate::http::entry::{AppState, Reply, merchant};
use crate::http::operation::{Operation, ok};
use crate::http::routes::Routes;

/// An order and a system; a path that does not decode names neither of them.
type Segments = Result<Path<(String, String)>, PathRejection>;

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
    Routes::new().add(&SET, reference_set).add(&REMOVE, reference_remove)
}

async fn reference_set(State(state): State<AppState>, segments: Segments, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let (number, system) = named(segments)?;
        let (who, mutation, body) = entered.write()?;
        let action = ReferenceAction::Set(body);
        app.external_reference_change(&who, mutation, number, system, action).await.map(Reply::Answer)
    })
    .await
}

async fn reference_remove(State(state): State<AppState>, segments: Segments, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let (number, system) = named(segments)?;
        let (who, mutation, _) = entered.write()?;
        let action = ReferenceAction::Remove;
        app.external_reference_change(&who, mutation, number, system, action).await.map(Reply::Answer)
    })
    .await
}

/// The order and the system in a path. A malformed order number means that the order does not exist. The system is
/// not a record but an argument of the request, so a malformed one is refused like a parameter (contract 4.2 row
/// 10).
fn named(segments: Segments) -> Result<(Option<OrderNumber>, SystemName), Refusal> {
    let (order, system) =
        segments.map_or_else(|_| (None, None), |Path((order, system))| (Some(order), Some(system)));
    let system = system.and_then(|system| SystemName::parse(&system)).ok_or_else(|| {
        let detail =
            "A system is named by a lower-case letter or digit and up to 31 of a-z, 0-9, '_' and '-'.";
        Refusal::new(ErrorCode::InvalidParameter, detail).param("system")
    })?;
    Ok((order.and_then(|order| OrderNumber::parse(&order)), system))
}
