//! Subscriptions (contract 3.8, 6.2).

use authority_domain::{ErrorCode, OperatorScope};

use super::Routes;
use crate::http::{Operation, created, ok};

const OPEN: Operation =
    Operation::post("/merchants/{merchant}/{mode}/subscriptions", "subscriptions.open")
        .summary("Create a subscription.")
        .operator(&[OperatorScope::OperatorWrite])
        .body(
            "SubscriptionRequest",
            r#"{"customer":{"reference":"c-77"},"currency":"USD","items":[{"name":"Coffee","quantity":1,"unit_amount":1900}],"interval":"month"}"#,
        )
        .answers(&[created("Subscription", "The subscription.").tagged()])
        .refuses(&[ErrorCode::MerchantEnded]);

const GET: Operation = Operation::get("/subscriptions/{subscription}", "subscriptions.get")
    .summary("Read a subscription.")
    .operator(&[OperatorScope::OperatorRead])
    .answers(&[ok("Subscription", "The subscription.").conditional()]);

const REPORT: Operation = Operation::post("/subscriptions/{subscription}/reports", "subscriptions.report")
    .summary("Change a subscription: its status, its items, its next period.")
    .details(
        "A report that says nothing new changes nothing: `applied` is false. A renewal creates an order.",
    )
    .operator(&[OperatorScope::OperatorWrite])
    .if_match("subscription")
    .body("SubscriptionReportRequest", r#"{"renew":true}"#)
    .answers(&[
        ok("SubscriptionReportResult", "The subscription as it is now, and whether it changed.").tagged()
    ])
    .refuses(&[ErrorCode::InvalidStateTransition, ErrorCode::MerchantEnded]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .write(&OPEN, async |app, _, mutation, tenant| app.subscription_open(mutation, tenant).await)
        .read(&GET, async |app, _, id| app.subscription_find(id).await)
        .write(&REPORT, async |app, _, mutation, id| app.subscription_report(mutation, id).await)
}
