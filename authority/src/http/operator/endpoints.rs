//! Webhook endpoints in the operator's hand, the platform's own among them (contract 6.2, 7.5).

use authority_domain::endpoint::EndpointStatus;
use authority_domain::id::EndpointId;
use authority_domain::scope::OperatorScope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};

use super::{Segment, parsed};
use crate::http::entry::{BodyRule, Reply, Roots, operator};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/webhook-endpoints/{endpoint}", get(endpoint_get))
        .route("/webhook-endpoints/{endpoint}/disable", post(endpoint_disable))
        .route("/webhook-endpoints/{endpoint}/enable", post(endpoint_enable))
        .route("/sink", get(sink_get).post(sink_create).patch(sink_change).delete(sink_delete))
        .route("/sink/rotate-secret", post(sink_rotate_secret))
        .route("/outbox", get(outbox))
}

async fn endpoint_get(State(roots): State<Roots>, endpoint: Segment, request: Request) -> Response {
    operator(roots, "endpoints.get", &[OperatorScope::OperatorRead], request, async |app, entered| {
        entered.query.finish()?;
        app.endpoint_find(parsed(endpoint, EndpointId::parse)).await.map(Reply::Answer)
    })
    .await
}

async fn endpoint_disable(State(roots): State<Roots>, endpoint: Segment, request: Request) -> Response {
    operator(roots, "endpoints.disable", &[OperatorScope::KeysWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        let id = parsed(endpoint, EndpointId::parse);
        app.endpoint_switch(mutation, id, EndpointStatus::Disabled, body).await.map(Reply::Answer)
    })
    .await
}

async fn endpoint_enable(State(roots): State<Roots>, endpoint: Segment, request: Request) -> Response {
    operator(roots, "endpoints.enable", &[OperatorScope::KeysWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        let id = parsed(endpoint, EndpointId::parse);
        app.endpoint_switch(mutation, id, EndpointStatus::Enabled, body).await.map(Reply::Answer)
    })
    .await
}

async fn sink_get(State(roots): State<Roots>, request: Request) -> Response {
    operator(roots, "sink.get", &[OperatorScope::OperatorRead], request, async |app, entered| {
        entered.query.finish()?;
        app.sink_get().await.map(Reply::Answer)
    })
    .await
}

async fn sink_create(State(roots): State<Roots>, request: Request) -> Response {
    operator(roots, "sink.create", &[OperatorScope::KeysWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        app.sink_create(mutation, body).await.map(Reply::Answer)
    })
    .await
}

async fn sink_change(State(roots): State<Roots>, request: Request) -> Response {
    operator(roots, "sink.update", &[OperatorScope::KeysWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        app.sink_change(mutation, body).await.map(Reply::Answer)
    })
    .await
}

async fn sink_delete(State(roots): State<Roots>, request: Request) -> Response {
    operator(roots, "sink.delete", &[OperatorScope::KeysWrite], request, async |app, entered| {
        let (_, mutation, _) = entered.write(BodyRule::Optional)?;
        app.sink_delete(mutation).await.map(Reply::Answer)
    })
    .await
}

async fn sink_rotate_secret(State(roots): State<Roots>, request: Request) -> Response {
    operator(roots, "sink.rotate_secret", &[OperatorScope::KeysWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Optional)?;
        app.sink_rotate_secret(mutation, body).await.map(Reply::Answer)
    })
    .await
}

async fn outbox(State(roots): State<Roots>, request: Request) -> Response {
    operator(roots, "outbox.get", &[OperatorScope::OperatorRead], request, async |app, entered| {
        entered.query.finish()?;
        app.outbox().await.map(Reply::Answer)
    })
    .await
}
