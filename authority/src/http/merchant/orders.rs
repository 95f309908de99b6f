//! Orders (contract 4.1, 4.5).

use authority_domain::error_code::ErrorCode;
use authority_domain::list_filter::OrderFilter;
use authority_domain::merchant::scope::Scope;
use authority_domain::order::OrderStatus;
use authority_domain::order::external_references::{ExternalName, SystemName};
use authority_domain::order::fulfillment_status::FulfillmentStatus;
use authority_domain::order::payment_status::PaymentStatus;
use authority_domain::refusal::Refusal;

use crate::app::access::Caller;
use crate::http::list_query::words;
use crate::http::operation::{self, Operation, ok, page, text, time};
use crate::http::query::Query;
use crate::http::routes::Routes;

const LIST: Operation = Operation::get("/orders", "orders.list", "List orders, newest first.")
    .scopes(&[Scope::OrdersRead])
    .query(&[
        operation::words::<OrderStatus>("status", "With any of these statuses."),
        operation::words::<PaymentStatus>("payment_status", "With any of these payment statuses."),
        operation::words::<FulfillmentStatus>("fulfillment_status", "With any of these fulfilment statuses."),
        time("created_from", "Created at this time or later."),
        time("created_to", "Created before this time."),
        time("updated_from", "Changed at this time or later."),
        time("updated_to", "Changed before this time."),
        text("external_system", "External system; requires `external_id`."),
        text("external_id", "Id in the external system; requires `external_system`."),
        text("customer_reference", "Of this customer, by the platform's id."),
    ])
    .answers(&[page("Order", "Orders.")]);

const GET: Operation = Operation::get("/orders/{order}", "orders.get", "Read an order.")
    .scopes(&[Scope::OrdersRead])
    .answers(&[ok("Order", "The order.").conditional()]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&LIST, filter, async |app, who: Caller, (), list, filter| {
            app.orders_list(&who.tenant, &list, filter).await
        })
        .read(&GET, async |app, who: Caller, id| app.order_get(&who, id).await)
}

fn filter(query: &mut Query) -> Result<OrderFilter, Refusal> {
    Ok(OrderFilter {
        status: words::<OrderStatus>(query, "status")?,
        payment_status: words::<PaymentStatus>(query, "payment_status")?,
        fulfillment_status: words::<FulfillmentStatus>(query, "fulfillment_status")?,
        created_from: query.time("created_from")?,
        created_to: query.time("created_to")?,
        updated_from: query.time("updated_from")?,
        updated_to: query.time("updated_to")?,
        customer_reference: query.text("customer_reference")?,
        external_name: external_name(query)?,
    })
}

/// `external_system` and `external_id`, which are only valid together.
fn external_name(query: &mut Query) -> Result<Option<ExternalName>, Refusal> {
    let system = query.parsed("external_system", "a system's name, such as erp", SystemName::parse)?;
    let missing = match (system, query.text("external_id")?) {
        (Some(system), Some(id)) => return Ok(Some(ExternalName { system, id })),
        (None, None) => return Ok(None),
        (Some(_), None) => "external_id",
        (None, Some(_)) => "external_system",
    };
    let detail = "external_system and external_id are given together.";
    Err(Refusal::new(ErrorCode::InvalidParameter, detail).param(missing))
}
