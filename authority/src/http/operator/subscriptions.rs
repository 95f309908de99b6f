//! Subscriptions (contract 3.8, 6.2).

use authority_domain::error_code::ErrorCode;
use authority_domain::id::SubscriptionId;
use authority_domain::merchant::scope::OperatorScope;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{Segment, TenantSegments, parsed, tenant};
use crate::http::entry::{AppState, Reply, operator};
use crate::http::operation::{Operation, created, ok};
use crate::http::routes::Routes;

const OPEN: Operation =
    Operation::post("/merchants/{merchant}/{mode}/subscriptions", "subscriptions.open", "Create a subscription.")
        .operator(&[OperatorScope::OperatorWrite])
        .body(
            "SubscriptionRequest",
            r#"{"customer":{"reference":"c-77"},"currency":"USD","items":[{"name":"Coffee","quantity":1,"unit_amount":1900}],"interval":"month"}"#,
        )
        .answers(&[created("Subscription", "The subscription.").tagged()])
        .refuses(&[ErrorCode::MerchantEnded]);

const GET: Operation =
    Operation::get("/subscriptions/{subscription}", "subscriptions.get", "Read a subscription.")
        .operator(&[OperatorScope::OperatorRead])
        .answers(&[ok("Subscription", "The subscription.").conditional()]);

const REPORT: Operation = Operation::post(
    "/subscriptions/{subscription}/reports",
    "subscriptions.report",
    "Change a subscription: its status, its items, its next period.",
)
.details("A report that says nothing new changes nothing: `applied` is false. A renewal creates an order.")
.operator(&[OperatorScope::OperatorWrite])
.if_match("subscription")
.body("SubscriptionReportRequest", r#"{"renew":true}"#)
.answers(&[ok("SubscriptionReportResult", "The subscription as it is now, and whether it changed.").tagged()])
.refuses(&[ErrorCode::InvalidStateTransition, ErrorCode::MerchantEnded]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new().add(&OPEN, subscription_open).add(&GET, subscription_get).add(&REPORT, subscription_report)
}

async fn subscription_open(
    State(state): State<AppState>,
    segments: TenantSegments,
    request: Request,
) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        app.subscription_open(mutation, tenant(segments), body).await.map(Reply::Answer)
    })
    .await
}

async fn subscription_report(
    State(state): State<AppState>,
    subscription: Segment,
    request: Request,
) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        let id = parsed(subscription, SubscriptionId::parse);
        app.subscription_report(mutation, id, body).await.map(Reply::Answer)
    })
    .await
}

async fn subscription_get(
    State(state): State<AppState>,
    subscription: Segment,
    request: Request,
) -> Response {
    operator(state, request, async |app, entered| {
        entered.query.finish()?;
        app.subscription_find(parsed(subscription, SubscriptionId::parse)).await.map(Reply::Answer)
    })
    .await
}
