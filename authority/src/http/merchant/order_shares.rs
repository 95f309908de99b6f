//! Shares of orders, and the orders that partners share (contract 4.1, 4.14).

use authority_domain::list_filter::{PartnerOrderFilter, ShareFilter};
use authority_domain::{ErrorCode, Scope};

use super::Routes;
use crate::http::{Operation, created, ok, page};

const SHARE: Operation = Operation::post("/orders/{order}/shares", "order_shares.create")
    .summary("Share an order with a partner.")
    .details("The share hides what it does not include: e-mail, telephone and billing address; money.")
    .scopes(&[Scope::PartnersWrite])
    .body("ShareRequest", r#"{"connection_id":"pcn_01k3zqa7t0e9h8w8r1v0c2n5xk","include_amounts":true}"#)
    .answers(&[created("OrderShare", "The share.")])
    .refuses(&[ErrorCode::ConnectionNotActive, ErrorCode::ShareExists]);

const LIST: Operation = Operation::get("/order-shares", "order_shares.list")
    .summary("List the shares of your own orders, newest first.")
    .scopes(&[Scope::PartnersRead])
    .filter::<ShareFilter>()
    .answers(&[page("OrderShare", "Shares.")]);

const REVOKE: Operation = Operation::post("/order-shares/{share}/revoke", "order_shares.revoke")
    .summary("Revoke a share.")
    .details(
        "Only the owner can do this. From then on the partner can read nothing and gets no events by it.",
    )
    .scopes(&[Scope::PartnersWrite])
    .optional_body("NoMembers", "{}")
    .answers(&[ok("OrderShare", "The share as it ended.")]);

const SEEN_LIST: Operation = Operation::get("/partner-orders", "partner_orders.list")
    .summary("List the orders that partners share with you, newest share first.")
    .scopes(&[Scope::PartnersRead])
    .filter::<PartnerOrderFilter>()
    .answers(&[page("PartnerOrder", "Orders, each as the reader may see it.")]);

const SEEN: Operation = Operation::get("/partner-orders/{share}", "partner_orders.get")
    .summary("Read an order that a partner shares.")
    .scopes(&[Scope::PartnersRead])
    .answers(&[ok("PartnerOrder", "The order as the reader may see it.")]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .write(&SHARE, async |app, who, mutation, number| app.share_create(&who, mutation, number).await)
        .list(&LIST, async |app, who, (), list, filter| app.shares_list(&who, &list, filter).await)
        .write(&REVOKE, async |app, who, mutation, id| app.share_revoke(&who, mutation, id).await)
        .list(&SEEN_LIST, async |app, who, (), list, filter: PartnerOrderFilter| {
            app.partner_orders_list(&who, &list, filter.into()).await
        })
        .read(&SEEN, async |app, who, id| app.partner_order_get(&who, id).await)
}
