//! Deliveries of all merchants (contract 6.2, 15.3).

use authority_domain::delivery::DeliveryStatus;
use authority_domain::id::{DeliveryId, EndpointId, EventId, MerchantId};
use authority_domain::scope::OperatorScope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};

use super::{Segment, mode_filter, parsed};
use crate::app::operator_deliveries::AllDeliveriesFilter;
use crate::http::entry::{BodyRule, Reply, Roots, operator};
use crate::http::list_query::{ROWS, list_request, words};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/deliveries", get(deliveries_list))
        .route("/deliveries/{delivery}", get(delivery_get))
        .route("/deliveries/{delivery}/retry", post(delivery_retry))
}

async fn deliveries_list(State(roots): State<Roots>, request: Request) -> Response {
    operator(roots, "deliveries.list", &[OperatorScope::OperatorRead], request, async |app, entered| {
        let mut query = entered.query;
        let filter = AllDeliveriesFilter {
            merchant_id: query.parsed("merchant", "a merchant's id", MerchantId::parse)?,
            livemode: mode_filter(&mut query)?,
            endpoint_id: query.parsed("endpoint_id", "an endpoint's id", EndpointId::parse)?,
            status: words::<DeliveryStatus>(&mut query, "status")?,
            event_id: query.parsed("event_id", "an event's id", EventId::parse)?,
        };
        let list = list_request(query, ROWS)?;
        app.all_deliveries_list(&list, filter).await.map(Reply::List)
    })
    .await
}

async fn delivery_get(State(roots): State<Roots>, delivery: Segment, request: Request) -> Response {
    operator(roots, "deliveries.get", &[OperatorScope::OperatorRead], request, async |app, entered| {
        entered.query.finish()?;
        app.delivery_find(parsed(delivery, DeliveryId::parse)).await.map(Reply::Answer)
    })
    .await
}

async fn delivery_retry(State(roots): State<Roots>, delivery: Segment, request: Request) -> Response {
    operator(roots, "deliveries.retry", &[OperatorScope::KeysWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Optional)?;
        app.delivery_retry(mutation, parsed(delivery, DeliveryId::parse), body).await.map(Reply::Answer)
    })
    .await
}
