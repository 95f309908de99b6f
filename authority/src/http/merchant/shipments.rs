//! Shipments (contract 4.1, 4.7).

use authority_domain::error_code::ErrorCode;
use authority_domain::id::ShipmentId;
use authority_domain::merchant::scope::Scope;
use authority_domain::order::number::OrderNumber;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{ROWS, Segment, list_request_within, parsed};
use crate::http::entry::{AppState, AuthorizedRequest, Reply, merchant};
use crate::http::operation::{Operation, created, ok, page};
use crate::http::routes::Routes;

const LIST: Operation = Operation::get(
    "/orders/{order}/shipments",
    "shipments.list",
    "List the shipments of an order, newest first.",
)
.scopes(&[Scope::OrdersRead])
.answers(&[page("Shipment", "Shipments.")]);

const CREATE: Operation = Operation::post(
    "/orders/{order}/shipments",
    "shipments.create",
    "Create a shipment of an order.",
)
.details("The contents of a parcel count as shipped. Without lines it holds everything that is left to ship.")
.scopes(&[Scope::ShipmentsWrite])
.if_match("order")
.body(
    "ShipmentRequest",
    r#"{"carrier":"dhl","tracking_number":"JD0146000","tracking_url":"https://track.example.com/JD0146000"}"#,
)
.answers(&[created("Shipment", "The parcel.").tagged().located()])
.refuses(&[
    ErrorCode::OrderNotFulfillable,
    ErrorCode::NothingToShip,
    ErrorCode::ShipmentExists,
    ErrorCode::QuantityExceeded,
]);

const GET: Operation = Operation::get("/shipments/{shipment}", "shipments.get", "Read a shipment.")
    .scopes(&[Scope::OrdersRead])
    .answers(&[ok("Shipment", "The shipment.").conditional()]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new().add(&LIST, shipments_list).add(&CREATE, shipment_create).add(&GET, shipment_get)
}

async fn shipments_list(State(state): State<AppState>, order: Segment, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let AuthorizedRequest { who, query, .. } = entered;
        let number = parsed(order, OrderNumber::parse);
        let list = list_request_within(query, ROWS, number.as_ref().map(OrderNumber::as_str))?;
        app.shipments_list(&who, &list, number).await.map(Reply::List)
    })
    .await
}

async fn shipment_create(State(state): State<AppState>, order: Segment, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let (who, mutation, body) = entered.write()?;
        let number = parsed(order, OrderNumber::parse);
        app.shipment_create(&who, mutation, number, body).await.map(Reply::Answer)
    })
    .await
}

async fn shipment_get(State(state): State<AppState>, shipment: Segment, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        entered.query.finish()?;
        app.shipment_get(&entered.who, parsed(shipment, ShipmentId::parse)).await.map(Reply::Answer)
    })
    .await
}
