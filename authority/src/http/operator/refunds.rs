//! Refunds: requested by the platform, processed and reported by its payment adapter (contract 3.6, 6.2).

use authority_domain::error_code::ErrorCode;
use authority_domain::id::RefundId;
use authority_domain::merchant::scope::OperatorScope;
use authority_domain::order::number::OrderNumber;
use authority_domain::refund::RefundStatus;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{RecordSegments, Segment, parsed, tenant_and};
use crate::http::entry::{AppState, AuthorizedRequest, Reply, operator};
use crate::http::list_query::{ROWS, list_request};
use crate::http::operation::{self, Operation, created, ok, page};
use crate::http::routes::Routes;

/// The scopes that may read refunds: the payment adapter finds its work here.
const READERS: [OperatorScope; 2] = [OperatorScope::OperatorRead, OperatorScope::ProcessorWrite];

const REQUEST: Operation = Operation::post(
    "/merchants/{merchant}/{mode}/orders/{order}/refunds",
    "refunds.request",
    "Request a refund of an order.",
)
.operator(&[OperatorScope::ProcessorWrite])
.if_match("order")
.body("RefundRequest", r#"{"amount":1500,"reason":"damaged"}"#)
.answers(&[created("Refund", "The requested refund.").tagged().located()])
.refuses(&[
    ErrorCode::OrderNotRefundable,
    ErrorCode::CurrencyMismatch,
    ErrorCode::PaymentRequired,
    ErrorCode::RefundAmountExceeded,
]);

const LIST: Operation = Operation::get(
    "/refunds",
    "refunds.list",
    "List the refunds of all merchants, newest first. A payment adapter finds its work here.",
)
.operator(&READERS)
.query(&[operation::words::<RefundStatus>("status", "With any of these statuses.")])
.answers(&[page("OperatorRefund", "Refunds.")]);

const GET: Operation = Operation::get("/refunds/{refund}", "refunds.get", "Read a refund.")
    .operator(&READERS)
    .answers(&[ok("OperatorRefund", "The refund.").conditional()]);

const REPORT: Operation = Operation::post(
    "/refunds/{refund}/reports",
    "refunds.report",
    "Report a processor's event about a refund.",
)
.details("A repeated or outdated report changes nothing: `applied` is false.")
.operator(&[OperatorScope::ProcessorWrite])
.body("RefundReportRequest", r#"{"status":"completed","processor_event_id":"re_1-completed"}"#)
.answers(&[ok("RefundReportResult", "The refund as it is now, and whether it changed.").tagged()])
.refuses(&[ErrorCode::ProcessorConflict]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .add(&REQUEST, refund_request)
        .add(&LIST, refunds_list)
        .add(&GET, refund_find)
        .add(&REPORT, refund_report)
}

async fn refund_request(
    State(state): State<AppState>,
    segments: RecordSegments,
    request: Request,
) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        let (tenant, number) = tenant_and(segments, OrderNumber::parse);
        app.refund_request_for(mutation, tenant, number, body).await.map(Reply::Answer)
    })
    .await
}

async fn refund_report(State(state): State<AppState>, refund: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        app.refund_report(mutation, parsed(refund, RefundId::parse), body).await.map(Reply::Answer)
    })
    .await
}

async fn refunds_list(State(state): State<AppState>, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let AuthorizedRequest { mut query, .. } = entered;
        let status = query.list("status")?;
        let list = list_request(query, ROWS)?;
        app.refunds_everywhere(&list, status).await.map(Reply::List)
    })
    .await
}

async fn refund_find(State(state): State<AppState>, refund: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        entered.query.finish()?;
        app.refund_find(parsed(refund, RefundId::parse)).await.map(Reply::Answer)
    })
    .await
}
