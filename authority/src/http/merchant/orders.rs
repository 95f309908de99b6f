//! Orders (contract 4.1, 4.5).

use authority_domain::list_filter::OrderFilter;
use authority_domain::merchant::scope::Scope;

use crate::app::access::Caller;
use crate::http::operation::{Operation, ok, page};
use crate::http::routes::Routes;

const LIST: Operation = Operation::get("/orders", "orders.list", "List orders, newest first.")
    .scopes(&[Scope::OrdersRead])
    .filter::<OrderFilter>()
    .answers(&[page("Order", "Orders.")]);

const GET: Operation = Operation::get("/orders/{order}", "orders.get", "Read an order.")
    .scopes(&[Scope::OrdersRead])
    .answers(&[ok("Order", "The order.").conditional()]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&LIST, async |app, who: Caller, (), list, filter| {
            app.orders_list(&who.tenant, &list, filter).await
        })
        .read(&GET, async |app, who: Caller, id| app.order_get(&who, id).await)
}
