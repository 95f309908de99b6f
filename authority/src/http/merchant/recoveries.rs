//! What an endpoint missed, and its recovery (contract 15.1, 15.2).

use authority_domain::id::{EndpointId, RecoveryId};
use authority_domain::scope::Scope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};

use super::{ROWS, Segment, operation, parsed};
use crate::app::undelivered::UndeliveredFilter;
use crate::http::entry::{BodyRule, Entered, Operation, Reply, Roots, merchant};
use crate::http::list_query::{event_types, list_request_within};
use crate::http::rate_limit::Policy;

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/webhook-endpoints/{endpoint}/undelivered", get(undelivered_list))
        .route("/webhook-endpoints/{endpoint}/recover", post(endpoint_recover))
        .route("/endpoint-recoveries/{recovery}", get(recovery_get))
        .route("/endpoint-recoveries/{recovery}/cancel", post(recovery_cancel))
}

async fn undelivered_list(State(roots): State<Roots>, endpoint: Segment, request: Request) -> Response {
    merchant(
        roots,
        operation("endpoints.undelivered", &[Scope::WebhooksManage]),
        request,
        async |app, entered| {
            let Entered { who, mut query, .. } = entered;
            let endpoint = parsed(endpoint, EndpointId::parse);
            let filter = UndeliveredFilter {
                since: query.time("since")?,
                until: query.time("until")?,
                types: event_types(&mut query, "type")?,
            };
            let list = list_request_within(query, ROWS, endpoint.as_ref().map(EndpointId::as_str))?;
            app.undelivered_list(&who.tenant, endpoint, &list, filter).await.map(Reply::List)
        },
    )
    .await
}

async fn endpoint_recover(State(roots): State<Roots>, endpoint: Segment, request: Request) -> Response {
    let operation = Operation {
        name: "endpoints.recover",
        scopes: &[Scope::WebhooksManage],
        policy: Some(Policy::Delivery),
    };
    merchant(roots, operation, request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        let id = parsed(endpoint, EndpointId::parse);
        app.endpoint_recover(&who, mutation, id, body).await.map(Reply::Answer)
    })
    .await
}

async fn recovery_get(State(roots): State<Roots>, recovery: Segment, request: Request) -> Response {
    merchant(roots, operation("recoveries.get", &[Scope::WebhooksManage]), request, async |app, entered| {
        entered.query.finish()?;
        app.recovery_get(&entered.who, parsed(recovery, RecoveryId::parse)).await.map(Reply::Answer)
    })
    .await
}

async fn recovery_cancel(State(roots): State<Roots>, recovery: Segment, request: Request) -> Response {
    merchant(
        roots,
        operation("recoveries.cancel", &[Scope::WebhooksManage]),
        request,
        async |app, entered| {
            let (who, mutation, body) = entered.write(BodyRule::Optional)?;
            let id = parsed(recovery, RecoveryId::parse);
            app.recovery_cancel(&who, mutation, id, body).await.map(Reply::Answer)
        },
    )
    .await
}
