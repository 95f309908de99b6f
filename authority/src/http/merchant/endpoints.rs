//! Webhook endpoints (contract 4.1, 4.10).

use authority_domain::endpoint::EndpointStatus;
use authority_domain::id::EndpointId;
use authority_domain::scope::Scope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};

use super::{ROWS, Segment, list_request, operation, parsed};
use crate::http::entry::{BodyRule, Entered, Operation, Reply, Roots, merchant};
use crate::http::rate_limit::Policy;

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/webhook-endpoints", get(endpoints_list).post(endpoint_create))
        .route(
            "/webhook-endpoints/{endpoint}",
            get(endpoint_get).patch(endpoint_change).delete(endpoint_delete),
        )
        .route("/webhook-endpoints/{endpoint}/rotate-secret", post(endpoint_rotate_secret))
        .route("/webhook-endpoints/{endpoint}/retire-secret", post(endpoint_retire_secret))
        .route("/webhook-endpoints/{endpoint}/test", post(endpoint_test))
}

async fn endpoints_list(State(roots): State<Roots>, request: Request) -> Response {
    merchant(roots, operation("endpoints.list", &[Scope::WebhooksManage]), request, async |app, entered| {
        let Entered { who, mut query, .. } = entered;
        let status = query.list::<EndpointStatus>("status")?;
        let list = list_request(query, ROWS)?;
        app.endpoints_list(&who, &list, status).await.map(Reply::List)
    })
    .await
}

async fn endpoint_create(State(roots): State<Roots>, request: Request) -> Response {
    merchant(roots, operation("endpoints.create", &[Scope::WebhooksManage]), request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        app.endpoint_create(&who, mutation, body).await.map(Reply::Answer)
    })
    .await
}

async fn endpoint_get(State(roots): State<Roots>, endpoint: Segment, request: Request) -> Response {
    merchant(roots, operation("endpoints.get", &[Scope::WebhooksManage]), request, async |app, entered| {
        entered.query.finish()?;
        app.endpoint_get(&entered.who, parsed(endpoint, EndpointId::parse)).await.map(Reply::Answer)
    })
    .await
}

async fn endpoint_test(State(roots): State<Roots>, endpoint: Segment, request: Request) -> Response {
    let operation = Operation {
        name: "endpoints.test",
        scopes: &[Scope::WebhooksManage],
        policy: Some(Policy::Delivery),
    };
    merchant(roots, operation, request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Optional)?;
        let id = parsed(endpoint, EndpointId::parse);
        app.endpoint_test(&who, mutation, id, Some(body)).await.map(Reply::Answer)
    })
    .await
}

async fn endpoint_change(State(roots): State<Roots>, endpoint: Segment, request: Request) -> Response {
    merchant(roots, operation("endpoints.change", &[Scope::WebhooksManage]), request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        let id = parsed(endpoint, EndpointId::parse);
        app.endpoint_change(&who, mutation, id, body).await.map(Reply::Answer)
    })
    .await
}

async fn endpoint_delete(State(roots): State<Roots>, endpoint: Segment, request: Request) -> Response {
    merchant(roots, operation("endpoints.delete", &[Scope::WebhooksManage]), request, async |app, entered| {
        let (who, mutation, _) = entered.write(BodyRule::Optional)?;
        app.endpoint_delete(&who, mutation, parsed(endpoint, EndpointId::parse)).await.map(Reply::Answer)
    })
    .await
}

async fn endpoint_rotate_secret(State(roots): State<Roots>, endpoint: Segment, request: Request) -> Response {
    let operation = operation("endpoints.rotate_secret", &[Scope::WebhooksManage]);
    merchant(roots, operation, request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Optional)?;
        let id = parsed(endpoint, EndpointId::parse);
        app.endpoint_rotate_secret(&who, mutation, id, body).await.map(Reply::Answer)
    })
    .await
}

async fn endpoint_retire_secret(State(roots): State<Roots>, endpoint: Segment, request: Request) -> Response {
    let operation = operation("endpoints.retire_secret", &[Scope::WebhooksManage]);
    merchant(roots, operation, request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Optional)?;
        let id = parsed(endpoint, EndpointId::parse);
        app.endpoint_retire_secret(&who, mutation, id, body).await.map(Reply::Answer)
    })
    .await
}
