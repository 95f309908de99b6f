//! The merchant API: `/v1/merchant` (contract 4.1).
//!
//! Each handler is its row of the table: the scopes it needs, the parameters it takes, the use case it calls.

use authority_domain::endpoint::EndpointStatus;
use authority_domain::fulfillment_status::FulfillmentStatus;
use authority_domain::id::{EndpointId, EventId, PaymentId, ShipmentId};
use authority_domain::list_filter::{EventFilter, OrderFilter};
use authority_domain::order::OrderStatus;
use authority_domain::order_number::OrderNumber;
use authority_domain::payment_status::PaymentStatus;
use authority_domain::refusal::Refusal;
use authority_domain::scope::Scope;
use authority_domain::text_enum::TextEnum;
use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use verify_core::catalog::EventType;

use super::entry::{BodyRule, Entered, Operation, Reply, Roots, merchant};
use super::query::Query;
use super::rate_limit::Policy;
use crate::app::lists::ListRequest;

/// Rows per page where the client does not say (contract 4.5).
const ROWS: u16 = 25;
/// The same for feeds.
const FEED_ROWS: u16 = 100;

/// A path segment; one that does not decode is a record that does not exist.
type Segment = Result<Path<String>, PathRejection>;

/// The routes of the merchant API.
pub fn routes() -> Router<Roots> {
    let api = Router::new()
        .route("/orders", get(orders_list))
        .route("/orders/{order}", get(order_get))
        .route("/orders/{order}/shipments", post(shipment_create))
        .route("/shipments/{shipment}", get(shipment_get))
        .route("/payments/{payment}", get(payment_get))
        .route("/events", get(events_list))
        .route("/events/{event}", get(event_get))
        .route("/webhook-endpoints", get(endpoints_list).post(endpoint_create))
        .route("/webhook-endpoints/{endpoint}", get(endpoint_get))
        .route("/webhook-endpoints/{endpoint}/test", post(endpoint_test));
    Router::new().nest("/v1/merchant", api)
}

fn operation(name: &'static str, scopes: &'static [Scope]) -> Operation {
    Operation { name, scopes, policy: None }
}

fn parsed<T>(segment: Segment, parse: fn(&str) -> Option<T>) -> Option<T> {
    segment.ok().and_then(|Path(text)| parse(&text))
}

/// The parameters that all lists share; to be called after the list's own filters were read.
fn list_request(mut query: Query, rows: u16) -> Result<ListRequest, Refusal> {
    let limit = query.limit(rows)?;
    let cursor = query.cursor();
    Ok(ListRequest { limit, cursor, filter: query.finish()?.as_str().to_owned() })
}

fn words<E: TextEnum>(query: &mut Query, name: &'static str) -> Result<Vec<String>, Refusal> {
    Ok(query.list::<E>(name)?.iter().map(|value| value.as_str().to_owned()).collect())
}

async fn orders_list(State(roots): State<Roots>, request: Request) -> Response {
    merchant(roots, operation("orders.list", &[Scope::OrdersRead]), request, async |app, entered| {
        let Entered { who, mut query, .. } = entered;
        let filter = OrderFilter {
            status: words::<OrderStatus>(&mut query, "status")?,
            payment_status: words::<PaymentStatus>(&mut query, "payment_status")?,
            fulfillment_status: words::<FulfillmentStatus>(&mut query, "fulfillment_status")?,
            created_from: query.time("created_from")?,
            created_to: query.time("created_to")?,
            updated_from: query.time("updated_from")?,
            updated_to: query.time("updated_to")?,
            customer_reference: query.text("customer_reference")?,
        };
        let list = list_request(query, ROWS)?;
        app.orders_list(&who, &list, filter).await.map(Reply::List)
    })
    .await
}

async fn order_get(State(roots): State<Roots>, order: Segment, request: Request) -> Response {
    merchant(roots, operation("orders.get", &[Scope::OrdersRead]), request, async |app, entered| {
        entered.query.finish()?;
        app.order_get(&entered.who, parsed(order, OrderNumber::parse)).await.map(Reply::Answer)
    })
    .await
}

async fn shipment_create(State(roots): State<Roots>, order: Segment, request: Request) -> Response {
    merchant(roots, operation("shipments.create", &[Scope::ShipmentsWrite]), request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        let number = parsed(order, OrderNumber::parse);
        app.shipment_create(&who, mutation, number, body).await.map(Reply::Answer)
    })
    .await
}

async fn shipment_get(State(roots): State<Roots>, shipment: Segment, request: Request) -> Response {
    merchant(roots, operation("shipments.get", &[Scope::OrdersRead]), request, async |app, entered| {
        entered.query.finish()?;
        app.shipment_get(&entered.who, parsed(shipment, ShipmentId::parse)).await.map(Reply::Answer)
    })
    .await
}

async fn payment_get(State(roots): State<Roots>, payment: Segment, request: Request) -> Response {
    merchant(roots, operation("payments.get", &[Scope::PaymentsRead]), request, async |app, entered| {
        entered.query.finish()?;
        app.payment_get(&entered.who, parsed(payment, PaymentId::parse)).await.map(Reply::Answer)
    })
    .await
}

/// `type`: catalog names, or `<category>.*` for all of a category.
fn event_types(query: &mut Query) -> Result<Vec<String>, Refusal> {
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
    let lists = query.list_of("type", expand, write)?;
    let mut names: Vec<String> = lists.into_iter().flatten().map(|event| event.as_str().to_owned()).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

async fn events_list(State(roots): State<Roots>, request: Request) -> Response {
    merchant(roots, operation("events.list", &[Scope::EventsRead]), request, async |app, entered| {
        let Entered { who, mut query, .. } = entered;
        let filter = EventFilter {
            types: event_types(&mut query)?,
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
