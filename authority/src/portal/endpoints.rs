//! The merchant's endpoints: the list, and a new one, whose secret is shown once.

use askama::Template;
use authority_domain::Result;
use authority_domain::list_filter::EndpointFilter;
use axum::Router;
use serde_json::Value;

use super::{LINKS, Visit};
use crate::app::portal::sessions::PortalVisitor;
use crate::http::AppState;
use crate::http::rate_limit::Policy;
use crate::pages::Visitor as _;
use crate::pages::endpoint::actions::secret_page;
use crate::pages::endpoint::kept;
use crate::pages::filters;
use crate::pages::form::{self, Form};
use crate::pages::links::encoded;
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, Table, member, read, time_of};
use crate::pages::visit::{Outcome, shows, submits};

const PATH: &str = "/portal/endpoints";

#[derive(Template)]
#[template(path = "endpoints.html")]
struct Page {
    shell: Shell,
    table: Table,
    next: Option<String>,
    url: String,
    events: String,
    description: String,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new().route(
        PATH,
        shows(async |visit: Visit, ()| page(&visit, None).await).merge(submits(
            PortalVisitor::MANAGES,
            Policy::Write,
            create,
        )),
    )
}

async fn page(visit: &Visit, typed: Option<&Form>) -> Result<Outcome> {
    let caller = &visit.who.caller;
    caller.check_scope(PortalVisitor::MANAGES)?;
    let found = visit.app.endpoints_list(caller, &visit.list_request(""), EndpointFilter::default()).await?;
    visit.page(&Page {
        shell: visit.shell.clone(),
        table: table(&found.items)?,
        next: found.next_cursor.map(|cursor| format!("{PATH}?cursor={}", encoded(&cursor))),
        url: kept(typed, "url", ""),
        events: kept(typed, "events", "*"),
        description: kept(typed, "description", ""),
    })
}

fn table(items: &[String]) -> Result<Table> {
    let row = |item: &String| {
        let endpoint: Value = read(item)?;
        let text = |name: &str| member(&endpoint, name);
        let health = endpoint.get("health").unwrap_or(&Value::Null);
        Ok(vec![
            Cell::link(text("url"), LINKS.record("endpoints", &text("id"))),
            Cell::text(text("description")),
            Cell::state(text("status")),
            Cell::state(member(health, "state")),
            time_of(health, "last_success_at"),
        ])
    };
    Ok(Table {
        caption: "Endpoints, newest first",
        head: &["Endpoint", "Description", "Status", "Health", "Last success"],
        rows: items.iter().map(row).collect::<Result<_>>()?,
        empty: "There is no endpoint yet.",
    })
}

async fn create(mut visit: Visit, form: Form, (): ()) -> Result<Outcome> {
    let mutation = visit.mutation("endpoints.create", &form);
    let body = form::body([
        ("url", Some(form.text("url").into())),
        ("enabled_events", Some(events(&form))),
        ("description", form.given("description")),
    ]);
    match visit.app.endpoint_create(&visit.who.caller, mutation.with(body)).await {
        Ok(answer) => secret_page(&visit, &answer, "created"),
        Err(refusal) => page(visit.refused(refusal), Some(&form)).await,
    }
}

/// The event types that were typed, between blanks or commas.
pub(super) fn events(form: &Form) -> Value {
    let typed = form.text("events").split([',', ' ', '\n', '\r']);
    typed.filter(|name| !name.is_empty()).map(Value::from).collect()
}
