//! Shipments (contract 4.1, 4.7).

use authority_domain::id::ShipmentId;
use authority_domain::order_number::OrderNumber;
use authority_domain::scope::Scope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::get;

use super::{ROWS, Segment, list_request_within, operation, parsed};
use crate::http::entry::{BodyRule, Entered, Reply, Roots, merchant};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/orders/{order}/shipments", get(shipments_list).post(shipment_create))
        .route("/shipments/{shipment}", get(shipment_get))
}

async fn shipments_list(State(roots): State<Roots>, order: Segment, request: Request) -> Response {
    merchant(roots, operation("shipments.list", &[Scope::OrdersRead]), request, async |app, entered| {
        let Entered { who, query, .. } = entered;
        let number = parsed(order, OrderNumber::parse);
        let list = list_request_within(query, ROWS, number.as_ref().map(OrderNumber::as_str))?;
        app.shipments_list(&who, &list, number).await.map(Reply::List)
    })
    .await
}

async fn shipment_create(State(roots): State<Roots>, order: Segment, request: Request) -> Response {
    merchant(roots, operation("shipments.create", &[Scope::ShipmentsWrite]), request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        let number = parsed(order, OrderNumber::parse);
        app.shipment_create(&who, mutation, number, body).await.map(Reply::Answer)
    })
    .await
}

async fn shipment_get(State(roots): State<Roots>, shipment: Segment, request: Request) -> Response {
    merchant(roots, operation("shipments.get", &[Scope::OrdersRead]), request, async |app, entered| {
        entered.query.finish()?;
        app.shipment_get(&entered.who, parsed(shipment, ShipmentId::parse)).await.map(Reply::Answer)
    })
    .await
}
