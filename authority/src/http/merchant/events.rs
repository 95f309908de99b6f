//! The event history (contract 4.1, 4.5, 4.9).

use authority_domain::id::EventId;
use authority_domain::list_filter::EventFilter;
use authority_domain::scope::Scope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};

use super::{FEED_ROWS, Segment, list_request, operation, parsed};
use crate::http::entry::{BodyRule, Entered, Operation, Reply, Roots, merchant};
use crate::http::list_query::event_types;
use crate::http::rate_limit::Policy;

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/events", get(events_list))
        .route("/events/{event}", get(event_get))
        .route("/events/{event}/replay", post(event_replay))
}

async fn events_list(State(roots): State<Roots>, request: Request) -> Response {
    merchant(roots, operation("events.list", &[Scope::EventsRead]), request, async |app, entered| {
        let Entered { who, mut query, .. } = entered;
        let filter = EventFilter {
            types: event_types(&mut query, "type")?,
            created_from: query.time("created_from")?,
            created_to: query.time("created_to")?,
            resource: query.text("resource")?,
        };
        let list = list_request(query, FEED_ROWS)?;
        app.events_list(&who, &list, filter).await.map(Reply::List)
    })
    .await
}

async fn event_get(State(roots): State<Roots>, event: Segment, request: Request) -> Response {
    merchant(roots, operation("events.get", &[Scope::EventsRead]), request, async |app, entered| {
        entered.query.finish()?;
        app.event_get(&entered.who, parsed(event, EventId::parse)).await.map(Reply::Answer)
    })
    .await
}

async fn event_replay(State(roots): State<Roots>, event: Segment, request: Request) -> Response {
    let operation =
        Operation { name: "events.replay", scopes: &[Scope::WebhooksManage], policy: Some(Policy::Delivery) };
    merchant(roots, operation, request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Optional)?;
        app.event_replay(&who, mutation, parsed(event, EventId::parse), body).await.map(Reply::Answer)
    })
    .await
}
