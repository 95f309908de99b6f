//! Subscriptions (contract 4.1, 4.5).

use authority_domain::id::SubscriptionId;
use authority_domain::list_filter::SubscriptionFilter;
use authority_domain::scope::Scope;
use authority_domain::subscription::SubscriptionStatus;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::get;

use super::{ROWS, Segment, list_request, operation, parsed, words};
use crate::http::entry::{Entered, Reply, Roots, merchant};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/subscriptions", get(subscriptions_list))
        .route("/subscriptions/{subscription}", get(subscription_get))
}

async fn subscriptions_list(State(roots): State<Roots>, request: Request) -> Response {
    merchant(
        roots,
        operation("subscriptions.list", &[Scope::SubscriptionsRead]),
        request,
        async |app, entered| {
            let Entered { who, mut query, .. } = entered;
            let filter = SubscriptionFilter {
                status: words::<SubscriptionStatus>(&mut query, "status")?,
                customer_reference: query.text("customer_reference")?,
                created_from: query.time("created_from")?,
                created_to: query.time("created_to")?,
            };
            let list = list_request(query, ROWS)?;
            app.subscriptions_list(&who, &list, filter).await.map(Reply::List)
        },
    )
    .await
}

async fn subscription_get(State(roots): State<Roots>, subscription: Segment, request: Request) -> Response {
    merchant(
        roots,
        operation("subscriptions.get", &[Scope::SubscriptionsRead]),
        request,
        async |app, entered| {
            entered.query.finish()?;
            let id = parsed(subscription, SubscriptionId::parse);
            app.subscription_get(&entered.who, id).await.map(Reply::Answer)
        },
    )
    .await
}
