//! Subscriptions (contract 4.1, 4.5).

use authority_domain::Scope;
use authority_domain::list_filter::SubscriptionFilter;

use super::Routes;
use crate::http::{Operation, ok, page};

const LIST: Operation = Operation::get("/subscriptions", "subscriptions.list")
    .summary("List subscriptions, newest first.")
    .scopes(&[Scope::SubscriptionsRead])
    .filter::<SubscriptionFilter>()
    .answers(&[page("Subscription", "Subscriptions.")]);

const GET: Operation = Operation::get("/subscriptions/{subscription}", "subscriptions.get")
    .summary("Read a subscription.")
    .scopes(&[Scope::SubscriptionsRead])
    .answers(&[ok("Subscription", "The subscription.").conditional()]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&LIST, async |app, who, (), list, filter| app.subscriptions_list(&who, &list, filter).await)
        .read(&GET, async |app, who, id| app.subscription_get(&who, id).await)
}
