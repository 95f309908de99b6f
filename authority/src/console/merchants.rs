//! Merchants: the list, and one with its endpoints and newest orders.

use askama::Template;
use authority_domain::list_filter::{MerchantFilter, OrderFilter};
use authority_domain::{MerchantId, Mode, Result, Tenant};
use axum::Router;
use serde_json::Value;

use super::links;
use super::visit::{Outcome, Visit};
use crate::app::amount;
use crate::http::AppState;
use crate::pages::filters;
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, Fact, Table, fact, member, read, time_of};
use crate::pages::visit::shows;

#[derive(Template)]
#[template(path = "list.html")]
struct List {
    shell: Shell,
    title: &'static str,
    table: Table,
    next: Option<String>,
}

#[derive(Template)]
#[template(path = "merchant.html")]
struct Page {
    shell: Shell,
    path: String,
    name: String,
    mode: &'static str,
    facts: Vec<Fact>,
    endpoints: Table,
    orders: Table,
    next: Option<String>,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new().route("/console/merchants", shows(list)).route(
        "/console/merchants/{merchant}",
        shows(async |visit: Visit, id: String| page(&visit, &id).await),
    )
}

async fn list(visit: Visit, (): ()) -> Result<Outcome> {
    let found = visit.app.merchants_list(&visit.list_request(""), MerchantFilter::default()).await?;
    let row = |item: &String| {
        let merchant: Value = read(item)?;
        let text = |name: &str| member(&merchant, name);
        Ok(vec![
            Cell::link(text("name"), links::record("merchants", &text("id"))),
            Cell::text(text("slug")),
            Cell::state(text("status")),
            time_of(&merchant, "created_at"),
        ])
    };
    let table = Table {
        caption: "Merchants, newest first",
        head: &["Merchant", "Slug", "Status", "Created"],
        rows: found.items.iter().map(row).collect::<Result<_>>()?,
        empty: "There is no merchant yet.",
    };
    let next = found.next_cursor;
    let next = next.map(|cursor| format!("/console/merchants?cursor={}", links::encoded(&cursor)));
    visit.page(&List { shell: visit.shell.clone(), title: "Merchants", table, next })
}

async fn page(visit: &Visit, id: &str) -> Result<Outcome> {
    let merchant_id = MerchantId::named(id)?;
    let merchant: Value = read(&visit.app.merchant_get(merchant_id.clone()).await?.body)?;
    let livemode = Mode::parse(visit.asked("mode")) != Some(Mode::Test);
    let tenant = Tenant { merchant_id, livemode };
    let mode = links::mode(livemode);
    let endpoints = visit.app.endpoints_of(tenant.clone()).await?;
    let request = visit.list_request(mode);
    let orders = visit.app.orders_list(&tenant, &request, OrderFilter::default()).await?;
    let path = links::record("merchants", id);
    let next =
        orders.next_cursor.map(|cursor| format!("{path}?mode={mode}&cursor={}", links::encoded(&cursor)));
    let text = |name: &str| member(&merchant, name);
    visit.page(&Page {
        shell: visit.shell.clone(),
        path,
        name: text("name"),
        mode,
        facts: vec![
            fact("Id", Cell::text(text("id"))),
            fact("Slug", Cell::text(text("slug"))),
            fact("Status", Cell::state(text("status"))),
            fact("Currency", Cell::text(text("default_currency"))),
            fact("Created", time_of(&merchant, "created_at")),
        ],
        endpoints: endpoint_table(&endpoints)?,
        orders: order_table(&tenant, &orders.items)?,
        next,
    })
}

fn endpoint_table(items: &[String]) -> Result<Table> {
    let row = |item: &String| {
        let endpoint: Value = read(item)?;
        let text = |name: &str| member(&endpoint, name);
        let health = endpoint.get("health").unwrap_or(&Value::Null);
        Ok(vec![
            Cell::link(text("url"), links::record("endpoints", &text("id"))),
            Cell::state(text("status")),
            Cell::state(member(health, "state")),
            time_of(health, "last_success_at"),
        ])
    };
    Ok(Table {
        caption: "Endpoints, newest first",
        head: &["Endpoint", "Status", "Health", "Last success"],
        rows: items.iter().map(row).collect::<Result<_>>()?,
        empty: "It has no endpoint in this mode.",
    })
}

fn order_table(tenant: &Tenant, items: &[String]) -> Result<Table> {
    let row = |item: &String| {
        let order: Value = read(item)?;
        let text = |name: &str| member(&order, name);
        let total = order.pointer("/amounts/total").and_then(Value::as_i64).unwrap_or(0);
        Ok(vec![
            Cell::link(text("order_number"), links::order(tenant, &text("order_number"))),
            Cell::state(text("status")),
            Cell::state(text("payment_status")),
            Cell::state(text("fulfillment_status")),
            Cell::text(amount::written(total, &text("currency"))),
            time_of(&order, "created_at"),
        ])
    };
    Ok(Table {
        caption: "Orders, newest first",
        head: &["Order", "Status", "Payment", "Fulfilment", "Total", "Created"],
        rows: items.iter().map(row).collect::<Result<_>>()?,
        empty: "It has no order in this mode.",
    })
}
