//! Payments (contract 4.1, 4.5).

use authority_domain::id::PaymentId;
use authority_domain::list_filter::PaymentFilter;
use authority_domain::merchant::scope::Scope;
use authority_domain::payment::PaymentStatus;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{ROWS, Segment, list_request, parsed, words};
use crate::http::entry::{AppState, AuthorizedRequest, Reply, merchant};
use crate::http::list_query::flag;
use crate::http::operation::{self, Operation, ok, page, text, time};
use crate::http::routes::Routes;

const LIST: Operation = Operation::get("/payments", "payments.list", "List payments, newest first.")
    .scopes(&[Scope::PaymentsRead])
    .query(&[
        text("order_number", "Of this order."),
        operation::words::<PaymentStatus>("status", "With any of these statuses."),
        operation::flag("late", "Whether the money arrived after its checkout or order had ended."),
        time("created_from", "Created at this time or later."),
        time("created_to", "Created before this time."),
    ])
    .answers(&[page("Payment", "Payments.")]);

const GET: Operation = Operation::get("/payments/{payment}", "payments.get", "Read a payment.")
    .scopes(&[Scope::PaymentsRead])
    .answers(&[ok("Payment", "The payment.").tagged()]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new().add(&LIST, payments_list).add(&GET, payment_get)
}

async fn payments_list(State(state): State<AppState>, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let AuthorizedRequest { who, mut query, .. } = entered;
        let filter = PaymentFilter {
            order_number: query.text("order_number")?,
            status: words::<PaymentStatus>(&mut query, "status")?,
            late: flag(&mut query, "late")?,
            created_from: query.time("created_from")?,
            created_to: query.time("created_to")?,
        };
        let list = list_request(query, ROWS)?;
        app.payments_list(&who, &list, filter).await.map(Reply::List)
    })
    .await
}

async fn payment_get(State(state): State<AppState>, payment: Segment, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        entered.query.finish()?;
        app.payment_get(&entered.who, parsed(payment, PaymentId::parse)).await.map(Reply::Answer)
    })
    .await
}
