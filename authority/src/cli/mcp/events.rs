//! `trigger_event`: produces an event of a catalog type in test mode, by the same paths as `authority trigger`.

use serde_json::json;
use verify_core::catalog::EventType;

use super::arguments::{Arguments, Kind, Parameter, required};
use super::outcome::ToolError;
use super::server::Connection;
use crate::cli::trigger::{Unproduced, produce};

/// The arguments of `trigger_event`.
pub(super) const TRIGGER: &[Parameter] = &[required("type", Kind::Word(types), "The event type.")];

fn types() -> Vec<&'static str> {
    EventType::ALL.iter().map(|event| event.as_str()).collect()
}

/// Produces the event and answers its id.
pub(super) async fn trigger(connection: &Connection, arguments: &Arguments) -> Result<String, ToolError> {
    let name = arguments.required("type");
    let event = EventType::parse(name).ok_or_else(|| ToolError::argument("type", "is no event type"))?;
    let Connection { http, url, key, .. } = connection;
    let id = produce(http, url, key, event).await?;
    Ok(json!({ "id": id, "type": event.as_str() }).to_string())
}

impl From<Unproduced> for ToolError {
    fn from(error: Unproduced) -> Self {
        let detail = error.to_string();
        match error {
            Unproduced::Call(error) => error.into(),
            // No tool changes a body, so this cannot happen here.
            Unproduced::Change(_) => Self::argument("type", detail),
            Unproduced::NoEndpoint => Self::new("no_eligible_endpoint", detail),
            Unproduced::Missing(_) => Self::new("event_not_found", detail),
        }
    }
}
