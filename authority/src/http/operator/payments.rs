//! Payments and processors' reports (contract 3.5, 6.2).

use authority_domain::list_filter::AllPaymentsFilter;
use authority_domain::{ErrorCode, OperatorScope};

use super::Routes;
use crate::http::{Operation, created, ok, page};

const START: Operation = Operation::post("/merchants/{merchant}/{mode}/payments", "payments.start")
    .summary("Start a payment of a checkout, an order, or a subscription's latest order.")
    .operator(&[OperatorScope::ProcessorWrite])
    .body(
        "PaymentRequest",
        r#"{"order_number":"ORD-100001","amount":5300,"currency":"USD","method":{"type":"card","brand":"visa","last4":"4242"},"processor":{"name":"acquirer","reference":"ch_1"},"processor_event_id":"ch_1"}"#,
    )
    .answers(&[
        created("Payment", "The payment.").tagged(),
        ok("Payment", "The payment that the processor's event started earlier.").tagged(),
    ])
    .refuses(&[ErrorCode::InvalidStateTransition, ErrorCode::CurrencyMismatch, ErrorCode::MerchantEnded]);

const REPORT: Operation = Operation::post("/payments/{payment}/reports", "payments.report")
    .summary("Report a processor's event about a payment.")
    .details(
        "A repeated or outdated report changes nothing: `applied` is false. One that contradicts the record \
     is refused. Money for a payment that was cancelled with its checkout or order is recorded as late.",
    )
    .operator(&[OperatorScope::ProcessorWrite])
    .body("PaymentReportRequest", r#"{"status":"succeeded","processor_event_id":"ch_1-succeeded"}"#)
    .answers(&[ok("PaymentReportResult", "The payment as it is now, and whether it changed.").tagged()])
    .refuses(&[ErrorCode::ProcessorConflict, ErrorCode::CurrencyMismatch]);

/// The scopes that may read payments: the payment adapter finds late money here.
const READERS: [OperatorScope; 2] = [OperatorScope::OperatorRead, OperatorScope::ProcessorWrite];

const LIST: Operation = Operation::get("/payments", "payments.list")
    .summary("List the payments of all merchants, newest first.")
    .details("`late=true` finds the money that arrived after its checkout or order had ended.")
    .operator(&READERS)
    .filter::<AllPaymentsFilter>()
    .answers(&[page("OperatorPayment", "Payments.")]);

const GET: Operation = Operation::get("/payments/{payment}", "payments.get")
    .summary("Read a payment.")
    .operator(&READERS)
    .answers(&[ok("OperatorPayment", "The payment.").tagged()]);

const REFUND: Operation = Operation::post("/payments/{payment}/refunds", "payments.refund")
    .summary("Request a refund of a payment.")
    .details("For any captured payment; the only way to refund money that came too late to create an order.")
    .operator(&[OperatorScope::ProcessorWrite])
    .if_match("payment")
    .body("PaymentRefundRequest", r#"{"amount":1500,"reason":"other"}"#)
    .answers(&[created("Refund", "The requested refund.").tagged().located()])
    .refuses(&[ErrorCode::OrderNotRefundable, ErrorCode::CurrencyMismatch, ErrorCode::RefundAmountExceeded]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .write(&START, async |app, _, mutation, tenant| app.payment_start(mutation, tenant).await)
        .list(&LIST, async |app, _, (), list, filter| app.payments_everywhere(&list, filter).await)
        .read(&GET, async |app, _, id| app.payment_find(id).await)
        .write(&REPORT, async |app, _, mutation, payment| app.payment_report(mutation, payment).await)
        .write(&REFUND, async |app, _, mutation, payment| {
            app.refund_request_of_payment(mutation, payment).await
        })
}
