//! Orders (contract 4.1, 4.5).

use authority_domain::Scope;
use authority_domain::list_filter::OrderFilter;

use crate::app::Caller;
use crate::http::{Operation, Routes, ok, page};

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
