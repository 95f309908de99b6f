//! The event history (contract 4.1, 4.5, 4.9).

use authority_domain::id::EventId;
use authority_domain::list_filter::EventFilter;
use authority_domain::refusal::Refusal;
use authority_domain::scope::Scope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use verify_core::catalog::EventType;

use super::{FEED_ROWS, Segment, list_request, operation, parsed};
use crate::http::entry::{BodyRule, Entered, Operation, Reply, Roots, merchant};
use crate::http::query::Query;
use crate::http::rate_limit::Policy;

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/events", get(events_list))
        .route("/events/{event}", get(event_get))
        .route("/events/{event}/replay", post(event_replay))
}

/// A comma list of catalog names, or `<category>.*` for all of a category.
pub(super) fn event_types(query: &mut Query, name: &'static str) -> Result<Vec<String>, Refusal> {
    let expand = |text: &str| -> Option<Vec<EventType>> {
        let named: Vec<EventType> = EventType::ALL
            .into_iter()
            .filter(|event| {
                event.as_str() == text
                    || text.strip_suffix(".*").is_some_and(|category| category == event.category())
            })
            .collect();
        (!named.is_empty()).then_some(named)
    };
    let write =
        |types: &Vec<EventType>| types.iter().map(|event| event.as_str()).collect::<Vec<_>>().join(" ");
    let lists = query.list_of(name, expand, write)?;
    let mut names: Vec<String> = lists.into_iter().flatten().map(|event| event.as_str().to_owned()).collect();
    names.sort();
    names.dedup();
    Ok(names)
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
