//! Deliveries: the list of all merchants, and one with every attempt and why it failed, in words.

use askama::Template;
use authority_domain::delivery::{Attempt, Delivery, DeliveryStatus};
use authority_domain::id::{DeliveryId, EndpointId};
use authority_domain::refusal::Refusal;
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::event::MANAGES;
use super::shell::Shell;
use super::view::{Cell, Fact, Table, fact, member, time_of};
use super::visit::{Outcome, Visit, done, show, submit};
use super::{filters, links};
use crate::app::console::order_story::DeliveryStory;
use crate::app::delivery::operator::AllDeliveriesFilter;
use crate::http::entry::AppState;

#[derive(Template)]
#[template(path = "delivery.html")]
struct Page {
    shell: Shell,
    id: String,
    facts: Vec<Fact>,
    why: String,
    attempts: Table,
    /// The receiver's answers, with the number of the attempt.
    answers: Vec<(i64, String)>,
    may_retry: bool,
}

#[derive(Template)]
#[template(path = "deliveries.html")]
struct List {
    shell: Shell,
    status: &'static str,
    statuses: Vec<&'static str>,
    table: Table,
    next: Option<String>,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/console/deliveries", get(list))
        .route("/console/deliveries/{delivery}", get(delivery))
        .route("/console/deliveries/{delivery}/retry", post(retry))
}

async fn list(State(state): State<AppState>, request: Request) -> Response {
    show(state, request, async |visit| {
        let status = DeliveryStatus::parse(visit.asked("status")).map_or("", |status| status.as_str());
        let endpoint = EndpointId::parse(visit.asked("endpoint"));
        let of = endpoint.as_ref().map_or("", |endpoint| endpoint.as_str());
        let filter = AllDeliveriesFilter {
            status: Some(status.to_owned()).filter(|status| !status.is_empty()).into_iter().collect(),
            endpoint_id: endpoint.clone(),
            ..AllDeliveriesFilter::default()
        };
        let query = format!("endpoint={of}&status={status}");
        let found = visit.app.all_deliveries_list(&visit.list_request(&query), filter).await?;
        let next = found
            .next_cursor
            .map(|cursor| format!("/console/deliveries?{query}&cursor={}", links::encoded(&cursor)));
        visit.page(&List {
            shell: visit.shell.clone(),
            status,
            statuses: DeliveryStatus::ALL.iter().map(|status| status.as_str()).collect(),
            table: table(&found.items)?,
            next,
        })
    })
    .await
}

/// Deliveries as the API lists them.
pub(super) fn table(items: &[String]) -> Result<Table, Refusal> {
    let row = |item: &String| {
        let delivery: Value = serde_json::from_str(item).map_err(|_| Refusal::internal())?;
        let text = |name: &str| member(&delivery, name);
        Ok(vec![
            Cell::id(text("id")),
            Cell::text(text("event_type")),
            Cell::state(text("status")),
            Cell::text(text("attempt_count")),
            Cell::text(text("last_response_status")),
            Cell::id(text("endpoint_id")),
            time_of(&delivery, "created_at"),
        ])
    };
    Ok(Table {
        caption: "Deliveries, newest first",
        head: &["Delivery", "Event", "Status", "Attempts", "Last answer", "Endpoint", "Created"],
        rows: items.iter().map(row).collect::<Result<_, Refusal>>()?,
        empty: "There are none.",
    })
}

async fn delivery(State(state): State<AppState>, Path(id): Path<String>, request: Request) -> Response {
    show(state, request, async |visit| page(&visit, &id).await).await
}

async fn retry(State(state): State<AppState>, Path(id): Path<String>, request: Request) -> Response {
    submit(state, request, MANAGES, async |mut visit, form| {
        let mutation = visit.mutation("deliveries.retry", &form);
        match visit.app.delivery_retry(mutation, DeliveryId::parse(&id), json!({})).await {
            Ok(answer) => {
                let sent: Value = serde_json::from_str(&answer.body).map_err(|_| Refusal::internal())?;
                Ok(done(&links::record("deliveries", &member(&sent, "id")), "retried"))
            }
            Err(refusal) => {
                visit.refused(refusal);
                page(&visit, &id).await
            }
        }
    })
    .await
}

async fn page(visit: &Visit, id: &str) -> Result<Outcome, Refusal> {
    let DeliveryStory { found, attempts, url } = visit.app.delivery_story(DeliveryId::parse(id)).await?;
    let delivery = &found.delivery;
    let facts = vec![
        fact("Status", Cell::state(delivery.status)),
        fact("Event", Cell::id(&delivery.event_id)),
        fact("Event type", Cell::text(&delivery.event_type)),
        fact("Endpoint", Cell::id(&delivery.endpoint_id)),
        fact("Sent to", Cell::text(url)),
        fact("Merchant", Cell::id(&found.merchant_id)),
        fact("Made by", Cell::state(delivery.trigger)),
        fact("Created", Cell::at(delivery.created_at)),
        fact("Next attempt", Cell::maybe_at(delivery.next_attempt_at)),
        fact("Arrived", Cell::maybe_at(delivery.succeeded_at)),
    ];
    let answers = attempts.iter().filter_map(|attempt| {
        let excerpt = attempt.response_excerpt.clone().filter(|excerpt| !excerpt.is_empty())?;
        Some((attempt.number, excerpt))
    });
    visit.page(&Page {
        shell: visit.shell.clone(),
        id: id.to_owned(),
        facts,
        why: reason(delivery),
        attempts: attempts_table(attempts.iter()),
        answers: answers.collect(),
        may_retry: delivery.status != DeliveryStatus::Succeeded && visit.may(MANAGES),
    })
}

/// Attempts in this order, with how long each took and what the receiver answered.
pub(super) fn attempts_table<'a>(attempts: impl Iterator<Item = &'a Attempt>) -> Table {
    let rows = attempts.map(|attempt| {
        vec![
            Cell::text(attempt.number),
            Cell::at(attempt.started_at),
            Cell::state(attempt.outcome),
            Cell::some(attempt.response_status),
            Cell::text(format!("{} ms", attempt.duration_ms)),
            Cell::some(attempt.response_excerpt.as_deref().map(beginning)),
            Cell::maybe_at(attempt.retry_at),
        ]
    });
    Table {
        caption: "Attempts",
        head: &["No.", "Begun", "Outcome", "Status", "Took", "Answer", "Next"],
        rows: rows.collect(),
        empty: "Not tried yet.",
    }
}

/// The beginning of an answer, for a row.
fn beginning(excerpt: &str) -> String {
    const SHOWN: usize = 120;
    match excerpt.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", excerpt.get(..end).unwrap_or_default()),
        None => excerpt.to_owned(),
    }
}

/// Why a delivery has not arrived, and what that usually means; empty when it has, or was not tried yet.
pub(super) fn reason(delivery: &Delivery) -> String {
    let end = delivery.failure_reason.map(|reason| match reason.as_str() {
        "attempts_exhausted" => "All attempts were used. ",
        "rejected" => "The receiver refused it for good. ",
        "gone" => "The receiver said that it is gone, which disabled the endpoint. ",
        "endpoint_disabled" => "The endpoint was disabled while it waited. ",
        "endpoint_deleted" => "The endpoint was deleted while it waited. ",
        _ => "",
    });
    if delivery.status == DeliveryStatus::Succeeded {
        return String::new();
    }
    let status = delivery.last_response_status.map_or(String::new(), |status| status.to_string());
    let last = match delivery.last_outcome.map(|outcome| outcome.as_str()) {
        Some("http_error") => format!("The receiver answered {status}: its log says why."),
        Some("redirect") => format!("The receiver answered {status}: redirects are not followed, so give the URL itself."),
        Some("timeout") => "The receiver did not answer in time.".to_owned(),
        Some("dns_error") => "The name of the receiver's host does not resolve: is the URL right?".to_owned(),
        Some("connect_error") => "Nothing accepts connections at the receiver's address: is the URL right, and does it run?".to_owned(),
        Some("tls_error") => "The TLS handshake failed: the receiver's certificate is not valid for its name, has expired, or its chain is not complete.".to_owned(),
        Some("blocked_address") => "The name of the receiver's host leads to an address that events are not sent to.".to_owned(),
        Some("protocol_error") => "What the receiver answered is not HTTP.".to_owned(),
        _ => String::new(),
    };
    format!("{}{last}", end.unwrap_or_default())
}
