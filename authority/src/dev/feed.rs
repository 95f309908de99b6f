//! The events of a run, read over the merchant API: `GET /events` with a cursor (contract 4.5, 4.9, 8); and the end of
//! the stream before it, from `GET /integration-health` (contract 2.12).

use serde::Deserialize;

use super::client::{Api, CallError, encoded};

/// A part of the stream.
pub(crate) struct Feed {
    /// The events' ids in the order of their sequences.
    pub(crate) ids: Vec<String>,
    /// The cursor after them.
    pub(crate) cursor: String,
}

#[derive(Deserialize)]
struct Page {
    data: Vec<Item>,
    next_cursor: Option<String>,
    resume_cursor: String,
}

#[derive(Deserialize)]
struct Item {
    id: String,
}

#[derive(Deserialize)]
struct Health {
    outbox: Outbox,
}

#[derive(Deserialize)]
struct Outbox {
    latest_sequence: u64,
}

/// The sequence of the newest event; 0 when there is none.
///
/// # Errors
/// [`CallError`].
pub(crate) async fn latest_sequence(merchant: &Api) -> Result<u64, CallError> {
    let health: Health = merchant.get_as("/integration-health").await?;
    Ok(health.outbox.latest_sequence)
}

/// Reads the events after `cursor` to the end of the stream. An empty cursor is the beginning.
///
/// # Errors
/// [`CallError`].
pub(crate) async fn read(merchant: &Api, cursor: &str) -> Result<Feed, CallError> {
    let mut feed = Feed { ids: Vec::new(), cursor: cursor.to_owned() };
    loop {
        let path = format!("/events?limit=100&cursor={}", encoded(&feed.cursor));
        let page: Page = merchant.get_as(&path).await?;
        feed.ids.extend(page.data.into_iter().map(|event| event.id));
        feed.cursor = page.resume_cursor;
        if page.next_cursor.is_none() {
            return Ok(feed);
        }
    }
}
