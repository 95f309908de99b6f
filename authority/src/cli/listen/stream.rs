//! The event stream as `authority listen` reads it: `GET /events` with a cursor, one event after the other (contract
//! 4.5, 4.9, 8).
//!
//! The position advances when an event has been forwarded, so a later session can continue from the position that is
//! printed at the end. While the authority does not answer, or answers 429 or 5xx, the request is repeated every
//! second, or as late as the authority asks for, and the problem is reported once.

use std::collections::VecDeque;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::dev::client::{Api, CallError, encoded};

/// Time between two polls at the end of the stream.
const POLL: Duration = Duration::from_secs(1);

/// Where to begin.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StartPosition {
    /// Only events from now on.
    Now,
    /// From the oldest event.
    Start,
    /// After an earlier position.
    Cursor(String),
}

impl StartPosition {
    /// Parses the value of `--from`.
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
    /// The stored bytes, the same as in a delivery.
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
    /// Query filters, the same for every page: `&type=…`, `&created_from=…`.
    filters: String,
    /// The cursor after the last page that was read.
    cursor: String,
    /// Whether another page can be read at once.
    more: bool,
    read: VecDeque<Event>,
    /// The cursor after the last page of which every event was forwarded.
    done: Option<String>,
    troubled: bool,
    /// How long to wait before the next request when there is nothing more to read.
    wait: Duration,
}

impl Stream {
    /// Opens the stream.
    ///
    /// # Errors
    /// [`CallError`]: the authority does not answer, or refuses the key.
    pub(super) async fn open(
        api: Api,
        beginning: StartPosition,
        types: Option<String>,
    ) -> Result<Self, CallError> {
        let mut filters = types.map(|types| format!("&type={}", encoded(&types))).unwrap_or_default();
        let mut cursor = String::new();
        match beginning {
            // "Now" is the authority's time: this machine's clock may differ.
            StartPosition::Now => {
                let now: Health = api.get_as("/integration-health").await?;
                filters.push_str(&format!("&created_from={}", encoded(&now.generated_at)));
            }
            StartPosition::Start => {}
            StartPosition::Cursor(given) => cursor = given,
        }
        let mut stream = Self {
            api,
            filters,
            cursor,
            more: false,
            read: VecDeque::new(),
            done: None,
            troubled: false,
            wait: POLL,
        };
        stream.look().await?;
        Ok(stream)
    }

    /// Waits for the next event, without a time limit. `tell` receives the errors that may be temporary.
    ///
    /// # Errors
    /// [`CallError`]: the authority refuses the request.
    pub(super) async fn next(&mut self, tell: &mut impl FnMut(&str)) -> Result<Event, CallError> {
        loop {
            if let Some(event) = self.read.pop_front() {
                return Ok(event);
            }
            if !self.more {
                tokio::time::sleep(std::mem::replace(&mut self.wait, POLL)).await;
            }
            match self.look().await {
                Ok(()) => self.troubled = false,
                Err(error) if !passes(&error) => return Err(error),
                Err(error) => {
                    self.more = false;
                    self.wait = asked_for(&error).max(POLL);
                    if !std::mem::replace(&mut self.troubled, true) {
                        tell(&error.to_string());
                    }
                }
            }
        }
    }

    /// Records that the event was forwarded.
    pub(super) fn done(&mut self, _event: Event) {
        if self.read.is_empty() {
            self.done = Some(self.cursor.clone());
        }
    }

    /// The position after the last complete page, where another session can continue. `None` while no page is complete,
    /// or when the position depends on a filter that only this session has.
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

/// Whether the error may be temporary, so that a retry can succeed.
fn passes(error: &CallError) -> bool {
    match error {
        CallError::NoAnswer { .. } => true,
        CallError::Refused { status, .. } => *status == 429 || *status >= 500,
        CallError::Unexpected { .. } => false,
    }
}

/// How long the authority asks not to be asked.
fn asked_for(error: &CallError) -> Duration {
    match error {
        CallError::Refused { retry_after, .. } => retry_after.unwrap_or_default(),
        CallError::NoAnswer { .. } | CallError::Unexpected { .. } => Duration::ZERO,
    }
}
