//! Payments and the reports of processors (contract 3.5, 6.2).

use authority_domain::error_code::ErrorCode;
use authority_domain::id::PaymentId;
use authority_domain::scope::OperatorScope;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{Segment, TenantSegments, parsed, tenant};
use crate::http::entry::{Reply, Roots, operator};
use crate::http::operation::{Operation, created, ok};
use crate::http::routes::Routes;

const START: Operation = Operation::post(
    "/merchants/{merchant}/{mode}/payments",
    "payments.start",
    "Begin a payment of a checkout, an order, or a subscription's latest order.",
)
.operator(&[OperatorScope::ProcessorWrite])
.body(
    "PaymentRequest",
    r#"{"order_number":"ORD-100001","amount":5300,"currency":"USD","method":{"type":"card","brand":"visa","last4":"4242"},"processor":{"name":"acquirer","reference":"ch_1"},"processor_event_id":"ch_1"}"#,
)
.answers(&[
    created("Payment", "The payment.").tagged(),
    ok("Payment", "The payment that the processor's event began before.").tagged(),
])
.refuses(&[ErrorCode::InvalidStateTransition, ErrorCode::CurrencyMismatch]);

const REPORT: Operation = Operation::post(
    "/payments/{payment}/reports",
    "payments.report",
    "Tell what the processor says of a payment.",
)
.details("A report that was told before, or is overtaken, changes nothing: `applied` is false.")
.operator(&[OperatorScope::ProcessorWrite])
.body("PaymentReportRequest", r#"{"status":"succeeded","processor_event_id":"ch_1-succeeded"}"#)
.answers(&[ok("PaymentReportResult", "The payment as it is now, and whether it changed.").tagged()])
.refuses(&[ErrorCode::ProcessorConflict, ErrorCode::CurrencyMismatch]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new().add(&START, payment_start).add(&REPORT, payment_report)
}

async fn payment_start(State(roots): State<Roots>, segments: TenantSegments, request: Request) -> Response {
    operator(roots, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        app.payment_start(mutation, tenant(segments), body).await.map(Reply::Answer)
    })
    .await
}

async fn payment_report(State(roots): State<Roots>, payment: Segment, request: Request) -> Response {
    operator(roots, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        let payment = parsed(payment, PaymentId::parse);
        app.payment_report(mutation, payment, body).await.map(Reply::Answer)
    })
    .await
}
