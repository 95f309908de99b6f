//! Orders: taken in, paid, cancelled (contract 6.3, 3.9 rows 7, 7a and 8).

use authority_domain::order_number::OrderNumber;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::post;

use super::{Segment, parsed};
use crate::app::sandbox::Whose;
use crate::http::entry::{BodyRule, Reply, Roots, sandbox};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/orders", post(order_ingest))
        .route("/orders/{order}/pay", post(order_pay))
        .route("/orders/{order}/cancel", post(order_cancel))
}

async fn order_ingest(State(roots): State<Roots>, request: Request) -> Response {
    sandbox(roots, "sandbox.orders.ingest", request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        app.sandbox_order_ingest(Whose::of(&who), mutation, body).await.map(Reply::Answer)
    })
    .await
}

async fn order_pay(State(roots): State<Roots>, order: Segment, request: Request) -> Response {
    sandbox(roots, "sandbox.orders.pay", request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        let number = parsed(order, OrderNumber::parse);
        app.sandbox_order_pay(Whose::of(&who), mutation, number, body).await.map(Reply::Answer)
    })
    .await
}

async fn order_cancel(State(roots): State<Roots>, order: Segment, request: Request) -> Response {
    sandbox(roots, "sandbox.orders.cancel", request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Optional)?;
        let number = parsed(order, OrderNumber::parse);
        app.sandbox_order_cancel(Whose::of(&who), mutation, number, body).await.map(Reply::Answer)
    })
    .await
}
