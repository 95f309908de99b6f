//! An event as pages tell it: what it says, where it went, and what became of it there.

use askama::Template;
use authority_domain::{EndpointId, Refusal, Result, Tenant};
use serde_json::Value;

use super::api_call::ApiCall;
use super::delivery::{attempts_table, reason};
use super::links::Links;
use super::shell::Shell;
use super::view::{Cell, Fact, Table, fact, member, time_of};
use super::visit::{Outcome, Visit};
use super::{Visitor, filters};
use crate::app::console::FoundDelivery;
use crate::app::console::stories::EventHistory;

/// An event and what became of it.
pub(crate) struct ShownEvent {
    pub(crate) kind: String,
    pub(crate) path: String,
    pub(crate) at: Cell,
    pub(crate) fates: Vec<Fate>,
}

/// The events of a record, oldest first, with what became of each.
pub(crate) struct Story {
    pub(crate) shown: Vec<ShownEvent>,
    /// Where the events before these are.
    pub(crate) older: Option<String>,
    /// Where the newest are, when these are not.
    pub(crate) newest: Option<String>,
}

impl Story {
    /// That of the record at `path`, before the sequence that the visitor asked for.
    ///
    /// # Errors
    /// `internal_error` for an event that cannot be read.
    pub(crate) fn of<V: Visitor>(
        history: &EventHistory,
        tenant: &Tenant,
        visit: &Visit<V>,
        path: &str,
        before: Option<i64>,
    ) -> Result<Self> {
        let mut shown = shown_events(history, tenant, visit)?;
        shown.reverse();
        let first = history.events.last().filter(|_| history.truncated);
        let older = first.and_then(|event| event.get("sequence"));
        Ok(Self {
            shown,
            older: older.map(|sequence| format!("{path}?before={sequence}")),
            newest: before.map(|_| path.to_owned()),
        })
    }
}

/// One delivery of it.
pub(crate) struct Fate {
    pub(crate) url: String,
    pub(crate) endpoint_path: String,
    pub(crate) endpoint: String,
    pub(crate) delivery_path: String,
    pub(crate) status: String,
    /// Why it has not arrived.
    pub(crate) why: String,
    pub(crate) attempts: Table,
    /// How it can be sent once more by this visitor: `retry` of the delivery, or `replay` of the event.
    pub(crate) again: Option<&'static str>,
}

#[derive(Template)]
#[template(path = "event.html")]
struct Page {
    shell: Shell,
    id: String,
    facts: Vec<Fact>,
    shown: ShownEvent,
    json: String,
    /// It has older deliveries than are shown.
    more_deliveries: bool,
    /// The visitor may see where it went.
    sees_fates: bool,
    may_replay: bool,
    call: ApiCall,
}

/// The page of the first event of a history; `more` is what the site knows of it besides.
///
/// # Errors
/// `internal_error` when it cannot be rendered.
pub(crate) fn page<W: Visitor>(
    visit: &Visit<W>,
    shell: Shell,
    history: &EventHistory,
    owner: &Tenant,
    more: Vec<Fact>,
    sees_fates: bool,
) -> Result<Outcome> {
    let event = history.events.first().ok_or_else(Refusal::internal)?;
    let shown = shown_events(history, owner, visit)?.pop().ok_or_else(Refusal::internal)?;
    let mut facts = vec![
        fact("Type", Cell::text(member(event, "type"))),
        fact("Created", time_of(event, "created_at")),
        fact("Sequence", Cell::text(member(event, "sequence"))),
        fact("Record", W::SITE.links.id(member(about(event), "id"))),
    ];
    facts.splice(3..3, more);
    visit.page(&Page {
        shell,
        id: member(event, "id"),
        facts,
        shown,
        json: serde_json::to_string_pretty(event).map_err(|_| Refusal::internal())?,
        more_deliveries: history.more_deliveries,
        sees_fates,
        may_replay: visit.may(W::MANAGES),
        call: ApiCall::replay(&member(event, "id")),
    })
}

/// The record that an event is about.
pub(crate) fn about(event: &Value) -> &Value {
    event.pointer("/data/object").unwrap_or(&Value::Null)
}

/// The events with their deliveries and attempts, newest first.
///
/// # Errors
/// None in practice.
pub(crate) fn shown_events<W: Visitor>(
    history: &EventHistory,
    owner: &Tenant,
    visit: &Visit<W>,
) -> Result<Vec<ShownEvent>> {
    let manages = visit.may(W::MANAGES);
    let links = &W::SITE.links;
    let shown = |event: &Value| {
        let id = member(event, "id");
        let of_event = history.deliveries.iter().rev().filter(|found| found.delivery.event_id.as_str() == id);
        Ok(ShownEvent {
            kind: member(event, "type"),
            path: links.record("events", &id),
            at: time_of(event, "created_at"),
            fates: of_event.map(|found| fate(history, found, owner, links, manages)).collect(),
        })
    };
    history.events.iter().map(shown).collect()
}

fn fate(history: &EventHistory, found: &FoundDelivery, owner: &Tenant, links: &Links, manages: bool) -> Fate {
    let delivery = &found.delivery;
    let url = |id: &EndpointId| history.urls.get(id).cloned().unwrap_or_default();
    let attempts = history.attempts.iter().rev().filter(|attempt| attempt.delivery_id == delivery.id);
    let status = delivery.status.as_str();
    let again = match status {
        "succeeded" => (found.owner == *owner).then_some("replay"),
        _ => Some("retry"),
    };
    Fate {
        url: url(&delivery.endpoint_id),
        endpoint_path: links.record("endpoints", delivery.endpoint_id.as_str()),
        endpoint: delivery.endpoint_id.to_string(),
        delivery_path: links.record("deliveries", delivery.id.as_str()),
        status: status.to_owned(),
        why: reason(delivery),
        attempts: attempts_table(attempts),
        again: again.filter(|_| manages),
    }
}
