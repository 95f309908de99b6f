//! Subscriptions (contract 4.1, 4.5).

use authority_domain::Scope;
use authority_domain::list_filter::SubscriptionFilter;

use crate::app::Caller;
use crate::http::{Operation, Routes, ok, page};

const LIST: Operation =
    Operation::get("/subscriptions", "subscriptions.list", "List subscriptions, newest first.")
        .scopes(&[Scope::SubscriptionsRead])
        .filter::<SubscriptionFilter>()
        .answers(&[page("Subscription", "Subscriptions.")]);

const GET: Operation =
    Operation::get("/subscriptions/{subscription}", "subscriptions.get", "Read a subscription.")
        .scopes(&[Scope::SubscriptionsRead])
        .answers(&[ok("Subscription", "The subscription.").conditional()]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&LIST, async |app, who: Caller, (), list, filter| {
            app.subscriptions_list(&who, &list, filter).await
        })
        .read(&GET, async |app, who: Caller, id| app.subscription_get(&who, id).await)
}
