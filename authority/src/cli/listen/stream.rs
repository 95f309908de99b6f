//! The event stream as `authority listen` reads it: `GET /events` with a cursor, one event after the other (contract
//! 4.5, 4.9, 8).
//!
//! The position moves when an event has been forwarded, so what is printed at the end is where to go on. While the
//! authority does not answer, or asks for patience, it is asked again every second, and the trouble is told once.

use std::collections::VecDeque;
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::dev::client::{Api, CallError};

/// Time between two looks at the end of the stream.
const POLL: Duration = Duration::from_secs(1);

/// Where to begin.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StartPosition {
    /// With what happens from now on.
    Now,
    /// With the oldest event.
    Start,
    /// Behind an earlier position.
    Cursor(String),
}

impl StartPosition {
    /// What `--from` says.
    pub(super) fn parse(text: &str) -> Self {
        match text {
            "now" => Self::Now,
            "start" => Self::Start,
            cursor => Self::Cursor(cursor.to_owned()),
        }
    }
}

/// An event of the stream.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) id: String,
    pub(super) event_type: String,
    pub(super) sequence: i64,
    pub(super) api_version: String,
    /// The stored bytes, which are those of a delivery.
    pub(super) body: String,
}

#[derive(Deserialize)]
struct Page {
    data: Vec<Box<RawValue>>,
    next_cursor: Option<String>,
    resume_cursor: String,
}

#[derive(Deserialize)]
struct Head {
    id: String,
    #[serde(rename = "type")]
    event_type: String,
    sequence: i64,
    api_version: String,
}

#[derive(Deserialize)]
struct Health {
    generated_at: String,
}

/// A reader of the stream.
pub(super) struct Stream {
    api: Api,
    /// Filters, the same on every page: `&type=…`, `&created_from=…`.
    filters: String,
    /// Behind the last page that was read.
    cursor: String,
    /// Whether another page follows at once.
    more: bool,
    read: VecDeque<Event>,
    /// Behind the last event that was forwarded, where every event of its page was.
    done: Option<String>,
    troubled: bool,
}

impl Stream {
    /// Opens the stream.
    ///
    /// # Errors
    /// [`CallError`]: the authority is not there, or the key does not open it.
    pub(super) async fn open(
        api: Api,
        beginning: StartPosition,
        types: Option<String>,
    ) -> Result<Self, CallError> {
        let mut filters = types.map(|types| format!("&type={}", encoded(&types))).unwrap_or_default();
        let mut cursor = String::new();
        match beginning {
            // By the clock of the authority: this machine's may be another.
            StartPosition::Now => {
                let now: Health = api.get_as("/integration-health").await?;
                filters.push_str(&format!("&created_from={}", encoded(&now.generated_at)));
            }
            StartPosition::Start => {}
            StartPosition::Cursor(given) => cursor = given,
        }
        let mut stream =
            Self { api, filters, cursor, more: false, read: VecDeque::new(), done: None, troubled: false };
        stream.look().await?;
        Ok(stream)
    }

    /// The next event, however long it takes. `tell` is told of trouble that may pass.
    ///
    /// # Errors
    /// [`CallError`]: the authority refuses.
    pub(super) async fn next(&mut self, tell: &mut impl FnMut(&str)) -> Result<Event, CallError> {
        loop {
            if let Some(event) = self.read.pop_front() {
                return Ok(event);
            }
            if !self.more {
                tokio::time::sleep(POLL).await;
            }
            match self.look().await {
                Ok(()) => self.troubled = false,
                Err(error) if !passes(&error) => return Err(error),
                Err(error) => {
                    self.more = false;
                    if !std::mem::replace(&mut self.troubled, true) {
                        tell(&error.to_string());
                    }
                }
            }
        }
    }

    /// Notes that the event was forwarded.
    pub(super) fn done(&mut self, _event: Event) {
        if self.read.is_empty() {
            self.done = Some(self.cursor.clone());
        }
    }

    /// Where another session may go on, behind what was forwarded; `None` while that cannot be said, or while a filter
    /// that belongs to this session alone is part of the position.
    pub(super) fn position(&self) -> Option<&str> {
        self.done.as_deref().filter(|_| !self.filters.contains("created_from"))
    }

    /// Reads the next page.
    async fn look(&mut self) -> Result<(), CallError> {
        let path = format!("/events?limit=100&cursor={}{}", encoded(&self.cursor), self.filters);
        let page: Page = self.api.get_as(&path).await?;
        for body in page.data {
            let unexpected = |_| CallError::Unexpected { call: "GET /events".to_owned() };
            let Head { id, event_type, sequence, api_version } =
                serde_json::from_str(body.get()).map_err(unexpected)?;
            let body = body.get().to_owned();
            self.read.push_back(Event { id, event_type, sequence, api_version, body });
        }
        self.more = page.next_cursor.is_some();
        self.cursor = page.resume_cursor;
        Ok(())
    }
}

/// Whether it may be otherwise in a second.
fn passes(error: &CallError) -> bool {
    match error {
        CallError::NoAnswer { .. } => true,
        CallError::Refused { status, .. } => *status == 429 || *status >= 500,
        CallError::Unexpected { .. } => false,
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
