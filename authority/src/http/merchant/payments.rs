//! Payments (contract 4.1, 4.5).

use authority_domain::id::PaymentId;
use authority_domain::list_filter::PaymentFilter;
use authority_domain::payment::PaymentStatus;
use authority_domain::scope::Scope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::get;

use super::{ROWS, Segment, list_request, operation, parsed, words};
use crate::http::entry::{Entered, Reply, Roots, merchant};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new().route("/payments", get(payments_list)).route("/payments/{payment}", get(payment_get))
}

async fn payments_list(State(roots): State<Roots>, request: Request) -> Response {
    merchant(roots, operation("payments.list", &[Scope::PaymentsRead]), request, async |app, entered| {
        let Entered { who, mut query, .. } = entered;
        let filter = PaymentFilter {
            order_number: query.text("order_number")?,
            status: words::<PaymentStatus>(&mut query, "status")?,
            created_from: query.time("created_from")?,
            created_to: query.time("created_to")?,
        };
        let list = list_request(query, ROWS)?;
        app.payments_list(&who, &list, filter).await.map(Reply::List)
    })
    .await
}

async fn payment_get(State(roots): State<Roots>, payment: Segment, request: Request) -> Response {
    merchant(roots, operation("payments.get", &[Scope::PaymentsRead]), request, async |app, entered| {
        entered.query.finish()?;
        app.payment_get(&entered.who, parsed(payment, PaymentId::parse)).await.map(Reply::Answer)
    })
    .await
}
