//! Subscriptions (contract 3.8, 6.2).

use authority_domain::id::SubscriptionId;
use authority_domain::scope::OperatorScope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};

use super::{Segment, TenantSegments, parsed, tenant};
use crate::http::entry::{BodyRule, Reply, Roots, operator};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/merchants/{merchant}/{mode}/subscriptions", post(subscription_open))
        .route("/subscriptions/{subscription}", get(subscription_get))
        .route("/subscriptions/{subscription}/reports", post(subscription_report))
}

async fn subscription_open(
    State(roots): State<Roots>,
    segments: TenantSegments,
    request: Request,
) -> Response {
    operator(roots, "subscriptions.open", &[OperatorScope::OperatorWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        app.subscription_open(mutation, tenant(segments), body).await.map(Reply::Answer)
    })
    .await
}

async fn subscription_report(
    State(roots): State<Roots>,
    subscription: Segment,
    request: Request,
) -> Response {
    operator(roots, "subscriptions.report", &[OperatorScope::OperatorWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        let id = parsed(subscription, SubscriptionId::parse);
        app.subscription_report(mutation, id, body).await.map(Reply::Answer)
    })
    .await
}

async fn subscription_get(State(roots): State<Roots>, subscription: Segment, request: Request) -> Response {
    operator(roots, "subscriptions.get", &[OperatorScope::OperatorRead], request, async |app, entered| {
        entered.query.finish()?;
        app.subscription_find(parsed(subscription, SubscriptionId::parse)).await.map(Reply::Answer)
    })
    .await
}
