//! Subscriptions (contract 4.1, 4.5).

use authority_domain::id::SubscriptionId;
use authority_domain::list_filter::SubscriptionFilter;
use authority_domain::merchant::scope::Scope;
use authority_domain::subscription::SubscriptionStatus;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{ROWS, Segment, list_request, parsed, words};
use crate::http::entry::{AppState, AuthorizedRequest, Reply, merchant};
use crate::http::operation::{self, Operation, ok, page, text, time};
use crate::http::routes::Routes;

const LIST: Operation =
    Operation::get("/subscriptions", "subscriptions.list", "List subscriptions, newest first.")
        .scopes(&[Scope::SubscriptionsRead])
        .query(&[
            operation::words::<SubscriptionStatus>("status", "With any of these statuses."),
            text("customer_reference", "Of this customer, by the platform's id."),
            time("created_from", "Created at this time or later."),
            time("created_to", "Created before this time."),
        ])
        .answers(&[page("Subscription", "Subscriptions.")]);

const GET: Operation =
    Operation::get("/subscriptions/{subscription}", "subscriptions.get", "Read a subscription.")
        .scopes(&[Scope::SubscriptionsRead])
        .answers(&[ok("Subscription", "The subscription.").conditional()]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new().add(&LIST, subscriptions_list).add(&GET, subscription_get)
}

async fn subscriptions_list(State(state): State<AppState>, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let AuthorizedRequest { who, mut query, .. } = entered;
        let filter = SubscriptionFilter {
            status: words::<SubscriptionStatus>(&mut query, "status")?,
            customer_reference: query.text("customer_reference")?,
            created_from: query.time("created_from")?,
            created_to: query.time("created_to")?,
        };
        let list = list_request(query, ROWS)?;
        app.subscriptions_list(&who, &list, filter).await.map(Reply::List)
    })
    .await
}

async fn subscription_get(
    State(state): State<AppState>,
    subscription: Segment,
    request: Request,
) -> Response {
    merchant(state, request, async |app, entered| {
        entered.query.finish()?;
        let id = parsed(subscription, SubscriptionId::parse);
        app.subscription_get(&entered.who, id).await.map(Reply::Answer)
    })
    .await
}
