//! Refunds: requested by the platform, processed and reported by its payment adapter (contract 3.6, 6.2).

use authority_domain::list_filter::AllRefundsFilter;
use authority_domain::{ErrorCode, OperatorScope};

use super::Routes;
use crate::http::{Operation, created, ok, page};

/// The scopes that may read refunds: the payment adapter finds its work here.
const READERS: [OperatorScope; 2] = [OperatorScope::OperatorRead, OperatorScope::ProcessorWrite];

const REQUEST: Operation =
    Operation::post("/merchants/{merchant}/{mode}/orders/{order}/refunds", "refunds.request")
        .summary("Request a refund of an order.")
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

const LIST: Operation = Operation::get("/refunds", "refunds.list")
    .summary("List the refunds of all merchants, newest first. A payment adapter finds its work here.")
    .operator(&READERS)
    .filter::<AllRefundsFilter>()
    .answers(&[page("OperatorRefund", "Refunds.")]);

const GET: Operation = Operation::get("/refunds/{refund}", "refunds.get")
    .summary("Read a refund.")
    .operator(&READERS)
    .answers(&[ok("OperatorRefund", "The refund.").conditional()]);

const REPORT: Operation = Operation::post("/refunds/{refund}/reports", "refunds.report")
    .summary("Report a processor's event about a refund.")
    .details("A repeated or outdated report changes nothing: `applied` is false.")
    .operator(&[OperatorScope::ProcessorWrite])
    .body("RefundReportRequest", r#"{"status":"completed","processor_event_id":"re_1-completed"}"#)
    .answers(&[ok("RefundReportResult", "The refund as it is now, and whether it changed.").tagged()])
    .refuses(&[ErrorCode::ProcessorConflict]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .write(&REQUEST, async |app, _, mutation, (tenant, number)| {
            app.refund_request_for(mutation, tenant, number).await
        })
        .list(&LIST, async |app, _, (), list, status| app.refunds_everywhere(&list, status).await)
        .read(&GET, async |app, _, id| app.refund_find(id).await)
        .write(&REPORT, async |app, _, mutation, id| app.refund_report(mutation, id).await)
}
