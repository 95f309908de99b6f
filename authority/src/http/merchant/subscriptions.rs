//! Subscriptions (contract 4.1, 4.5).

use authority_domain::list_filter::SubscriptionFilter;
use authority_domain::merchant::scope::Scope;
use authority_domain::refusal::Refusal;
use authority_domain::subscription::SubscriptionStatus;

use crate::app::access::Caller;
use crate::http::list_query::words;
use crate::http::operation::{self, Operation, ok, page, text, time};
use crate::http::query::Query;
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
    Routes::new()
        .list(&LIST, filter, async |app, who: Caller, (), list, filter| {
            app.subscriptions_list(&who, &list, filter).await
        })
        .read(&GET, async |app, who: Caller, id| app.subscription_get(&who, id).await)
}

fn filter(query: &mut Query) -> Result<SubscriptionFilter, Refusal> {
    Ok(SubscriptionFilter {
        status: words::<SubscriptionStatus>(query, "status")?,
        customer_reference: query.text("customer_reference")?,
        created_from: query.time("created_from")?,
        created_to: query.time("created_to")?,
    })
}
