//! Refunds: asked for by the platform, worked on and reported by its payment adapter (contract 3.6, 6.2).

use authority_domain::id::RefundId;
use authority_domain::order_number::OrderNumber;
use authority_domain::scope::OperatorScope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};

use super::{RecordSegments, Segment, parsed, tenant_and};
use crate::http::entry::{BodyRule, Entered, Reply, Roots, operator};
use crate::http::list_query::{ROWS, list_request};

/// Who may read refunds: the adapter finds its work here.
const READERS: [OperatorScope; 2] = [OperatorScope::OperatorRead, OperatorScope::ProcessorWrite];

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/merchants/{merchant}/{mode}/orders/{order}/refunds", post(refund_request))
        .route("/refunds", get(refunds_list))
        .route("/refunds/{refund}", get(refund_find))
        .route("/refunds/{refund}/reports", post(refund_report))
}

async fn refund_request(State(roots): State<Roots>, segments: RecordSegments, request: Request) -> Response {
    operator(roots, "refunds.request", &[OperatorScope::ProcessorWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        let (tenant, number) = tenant_and(segments, OrderNumber::parse);
        app.refund_request_for(mutation, tenant, number, body).await.map(Reply::Answer)
    })
    .await
}

async fn refund_report(State(roots): State<Roots>, refund: Segment, request: Request) -> Response {
    operator(roots, "refunds.report", &[OperatorScope::ProcessorWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        app.refund_report(mutation, parsed(refund, RefundId::parse), body).await.map(Reply::Answer)
    })
    .await
}

async fn refunds_list(State(roots): State<Roots>, request: Request) -> Response {
    operator(roots, "refunds.list", &READERS, request, async |app, entered| {
        let Entered { mut query, .. } = entered;
        let status = query.list("status")?;
        let list = list_request(query, ROWS)?;
        app.refunds_everywhere(&list, status).await.map(Reply::List)
    })
    .await
}

async fn refund_find(State(roots): State<Roots>, refund: Segment, request: Request) -> Response {
    operator(roots, "refunds.get", &READERS, request, async |app, entered| {
        entered.query.finish()?;
        app.refund_find(parsed(refund, RefundId::parse)).await.map(Reply::Answer)
    })
    .await
}
