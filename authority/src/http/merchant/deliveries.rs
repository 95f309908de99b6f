//! Deliveries and their attempts, and trying again now (contract 2.9, 4.1, 15.3).

use authority_domain::delivery::DeliveryStatus;
use authority_domain::id::{DeliveryId, EndpointId};
use authority_domain::list_filter::DeliveryFilter;
use authority_domain::scope::Scope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};

use super::{ROWS, Segment, operation, parsed, words};
use crate::http::entry::{BodyRule, Entered, Operation, Reply, Roots, merchant};
use crate::http::list_query::event_types;
use crate::http::list_query::list_request_within;
use crate::http::rate_limit::Policy;

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/webhook-endpoints/{endpoint}/deliveries", get(deliveries_list))
        .route("/deliveries/{delivery}", get(delivery_get))
        .route("/deliveries/{delivery}/retry", post(delivery_retry))
}

async fn deliveries_list(State(roots): State<Roots>, endpoint: Segment, request: Request) -> Response {
    merchant(roots, operation("deliveries.list", &[Scope::WebhooksManage]), request, async |app, entered| {
        let Entered { who, mut query, .. } = entered;
        let endpoint = parsed(endpoint, EndpointId::parse);
        let filter = DeliveryFilter {
            status: words::<DeliveryStatus>(&mut query, "status")?,
            event_id: query.text("event_id")?,
            event_types: event_types(&mut query, "event_type")?,
            created_from: query.time("created_from")?,
            created_to: query.time("created_to")?,
        };
        let list = list_request_within(query, ROWS, endpoint.as_ref().map(EndpointId::as_str))?;
        app.deliveries_list(&who, endpoint, &list, filter).await.map(Reply::List)
    })
    .await
}

async fn delivery_get(State(roots): State<Roots>, delivery: Segment, request: Request) -> Response {
    merchant(roots, operation("deliveries.get", &[Scope::WebhooksManage]), request, async |app, entered| {
        entered.query.finish()?;
        app.delivery_get(&entered.who, parsed(delivery, DeliveryId::parse)).await.map(Reply::Answer)
    })
    .await
}

async fn delivery_retry(State(roots): State<Roots>, delivery: Segment, request: Request) -> Response {
    let operation = Operation {
        name: "deliveries.retry",
        scopes: &[Scope::WebhooksManage],
        policy: Some(Policy::Delivery),
    };
    merchant(roots, operation, request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Optional)?;
        let id = parsed(delivery, DeliveryId::parse);
        app.delivery_retry_own(&who, mutation, id, body).await.map(Reply::Answer)
    })
    .await
}
