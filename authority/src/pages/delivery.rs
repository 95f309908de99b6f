//! Deliveries as pages tell them: rows of a list, and one with every attempt and why it failed, in words.

use askama::Template;
use authority_domain::delivery::{Attempt, Delivery};
use authority_domain::{DeliveryStatus, Result};
use serde_json::Value;

use super::api_call::ApiCall;
use super::links::Links;
use super::shell::Shell;
use super::view::{Cell, Fact, Table, fact, member, read, time_of};
use super::visit::{Outcome, Visit};
use super::{Visitor, filters};

#[derive(Template)]
#[template(path = "delivery.html")]
struct Page {
    shell: Shell,
    id: String,
    path: String,
    facts: Vec<Fact>,
    why: String,
    attempts: Table,
    /// The receiver's answers, with the number of the attempt.
    answers: Vec<(i64, String)>,
    may_retry: bool,
    call: ApiCall,
}

/// The page of one delivery; `more` is what the site knows of it besides.
///
/// # Errors
/// `internal_error` when it cannot be rendered.
pub(crate) fn page<W: Visitor>(
    visit: &Visit<W>,
    shell: Shell,
    delivery: &Delivery,
    attempts: &[Attempt],
    more: Vec<Fact>,
) -> Result<Outcome> {
    let links = &W::SITE.links;
    let mut facts = vec![
        fact("Status", Cell::state(delivery.status)),
        fact("Event", visit.who.link(delivery.event_id.as_str())),
        fact("Event type", Cell::text(&delivery.event_type)),
        fact("Endpoint", links.id(&delivery.endpoint_id)),
        fact("Made by", Cell::state(delivery.trigger)),
        fact("Created", Cell::at(delivery.created_at)),
        fact("Next attempt", Cell::maybe_at(delivery.next_attempt_at)),
        fact("Arrived", Cell::maybe_at(delivery.succeeded_at)),
    ];
    facts.splice(4..4, more);
    let answers = attempts.iter().filter_map(|attempt| {
        let excerpt = attempt.response_excerpt.clone().filter(|excerpt| !excerpt.is_empty())?;
        Some((attempt.number, excerpt))
    });
    visit.page(&Page {
        shell,
        id: delivery.id.to_string(),
        path: links.record("deliveries", delivery.id.as_str()),
        facts,
        why: reason(delivery),
        attempts: attempts_table(attempts.iter()),
        answers: answers.collect(),
        call: ApiCall::retry(W::SITE.api, delivery.id.as_str()),
        may_retry: delivery.status != DeliveryStatus::Succeeded && visit.may(W::MANAGES),
    })
}

/// Deliveries as the API lists them.
pub(crate) fn table(items: &[String], links: &Links) -> Result<Table> {
    let row = |item: &String| {
        let delivery: Value = read(item)?;
        let text = |name: &str| member(&delivery, name);
        Ok(vec![
            links.id(text("id")),
            Cell::text(text("event_type")),
            Cell::state(text("status")),
            Cell::text(text("attempt_count")),
            Cell::text(text("last_response_status")),
            links.id(text("endpoint_id")),
            time_of(&delivery, "created_at"),
        ])
    };
    Ok(Table {
        caption: "Deliveries, newest first",
        head: &["Delivery", "Event", "Status", "Attempts", "Last answer", "Endpoint", "Created"],
        rows: items.iter().map(row).collect::<Result<_>>()?,
        empty: "There are none.",
    })
}

/// Attempts in this order, with how long each took and what the receiver answered.
pub(crate) fn attempts_table<'a>(attempts: impl Iterator<Item = &'a Attempt>) -> Table {
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
pub(crate) fn reason(delivery: &Delivery) -> String {
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
