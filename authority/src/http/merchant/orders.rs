//! Orders (contract 4.1, 4.5).

use authority_domain::fulfillment_status::FulfillmentStatus;
use authority_domain::list_filter::OrderFilter;
use authority_domain::order::OrderStatus;
use authority_domain::order_number::OrderNumber;
use authority_domain::payment_status::PaymentStatus;
use authority_domain::scope::Scope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::get;

use super::{ROWS, Segment, list_request, operation, parsed, words};
use crate::http::entry::{Entered, Reply, Roots, merchant};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new().route("/orders", get(orders_list)).route("/orders/{order}", get(order_get))
}

async fn orders_list(State(roots): State<Roots>, request: Request) -> Response {
    merchant(roots, operation("orders.list", &[Scope::OrdersRead]), request, async |app, entered| {
        let Entered { who, mut query, .. } = entered;
        let filter = OrderFilter {
            status: words::<OrderStatus>(&mut query, "status")?,
            payment_status: words::<PaymentStatus>(&mut query, "payment_status")?,
            fulfillment_status: words::<FulfillmentStatus>(&mut query, "fulfillment_status")?,
            created_from: query.time("created_from")?,
            created_to: query.time("created_to")?,
            updated_from: query.time("updated_from")?,
            updated_to: query.time("updated_to")?,
            customer_reference: query.text("customer_reference")?,
        };
        let list = list_request(query, ROWS)?;
        app.orders_list(&who, &list, filter).await.map(Reply::List)
    })
    .await
}

async fn order_get(State(roots): State<Roots>, order: Segment, request: Request) -> Response {
    merchant(roots, operation("orders.get", &[Scope::OrdersRead]), request, async |app, entered| {
        entered.query.finish()?;
        app.order_get(&entered.who, parsed(order, OrderNumber::parse)).await.map(Reply::Answer)
    })
    .await
}
