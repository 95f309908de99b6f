//! The fulfilment of orders (contract 4.1, 4.6).

use authority_domain::order_number::OrderNumber;
use authority_domain::scope::Scope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::patch;

use super::{Segment, operation, parsed};
use crate::http::entry::{BodyRule, Reply, Roots, merchant};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new().route("/orders/{order}/fulfillment", patch(fulfillment_update))
}

async fn fulfillment_update(State(roots): State<Roots>, order: Segment, request: Request) -> Response {
    merchant(roots, operation("orders.fulfillment", &[Scope::OrdersWrite]), request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        let number = parsed(order, OrderNumber::parse);
        app.fulfillment_update(&who, mutation, number, body).await.map(Reply::Answer)
    })
    .await
}
