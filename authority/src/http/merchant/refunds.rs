//! Refunds (contract 4.1, 4.5, 4.8).

use authority_domain::id::RefundId;
use authority_domain::list_filter::RefundFilter;
use authority_domain::order_number::OrderNumber;
use authority_domain::refund::RefundStatus;
use authority_domain::scope::Scope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};

use super::{ROWS, Segment, list_request, operation, parsed, words};
use crate::http::entry::{BodyRule, Entered, Reply, Roots, merchant};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/orders/{order}/refunds", post(refund_request))
        .route("/refunds", get(refunds_list))
        .route("/refunds/{refund}", get(refund_get))
}

async fn refund_request(State(roots): State<Roots>, order: Segment, request: Request) -> Response {
    merchant(roots, operation("refunds.request", &[Scope::RefundsWrite]), request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        let number = parsed(order, OrderNumber::parse);
        app.refund_request(&who, mutation, number, body).await.map(Reply::Answer)
    })
    .await
}

async fn refunds_list(State(roots): State<Roots>, request: Request) -> Response {
    merchant(roots, operation("refunds.list", &[Scope::RefundsRead]), request, async |app, entered| {
        let Entered { who, mut query, .. } = entered;
        let filter = RefundFilter {
            order_number: query.text("order_number")?,
            payment_id: query.text("payment_id")?,
            status: words::<RefundStatus>(&mut query, "status")?,
            created_from: query.time("created_from")?,
            created_to: query.time("created_to")?,
        };
        let list = list_request(query, ROWS)?;
        app.refunds_list(&who, &list, filter).await.map(Reply::List)
    })
    .await
}

async fn refund_get(State(roots): State<Roots>, refund: Segment, request: Request) -> Response {
    merchant(roots, operation("refunds.get", &[Scope::RefundsRead]), request, async |app, entered| {
        entered.query.finish()?;
        app.refund_get(&entered.who, parsed(refund, RefundId::parse)).await.map(Reply::Answer)
    })
    .await
}
