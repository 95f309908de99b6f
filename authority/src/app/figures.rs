//! Database figures about the service as a whole, for monitoring (contract 15.11).
//!
//! Monitoring needs no key, so the figures are cached for a few seconds: however often they are requested, the
//! database is queried once. The endpoints are counted one by one, so their count is kept for longer where there are
//! many. While the database does not answer, monitoring works without these figures.

use std::time::Duration;

use authority_domain::Timestamp;
use authority_store::tx::QueueFigures;
use authority_store::{ReaderCount, StoreError};
use tokio::sync::Mutex;

use super::App;

/// How long the figures are cached.
const KEPT: Duration = Duration::from_secs(5);

/// After the endpoints were counted, they are not counted again for so many times as long as that took.
const COUNTED_AGAIN_AFTER: u32 = 50;

/// The figures as read at one time.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The delivery queue.
    pub queue: QueueFigures,
    /// How long the oldest due delivery has been due, in milliseconds; 0 when none is due.
    pub oldest_due_ms: i64,
    /// Endpoints in each state of health, and `disabled`.
    pub endpoints: Vec<(String, i64)>,
}

/// The cached figures.
#[derive(Default)]
pub struct RecentFigures(Mutex<Option<Kept>>);

struct Kept {
    /// When they were read.
    at: Duration,
    figures: Figures,
    /// The endpoints are not counted again before.
    count_at: Duration,
}

impl RecentFigures {
    /// The figures, at most `KEPT` old, except for the endpoints; `None` while the database does not answer.
    pub async fn get(&self, app: &App) -> Option<Figures> {
        let mut kept = self.0.lock().await;
        let moment = app.clock.monotonic();
        if let Some(kept) = kept.as_ref().filter(|kept| moment.saturating_sub(kept.at) < KEPT) {
            return Some(kept.figures.clone());
        }
        match read(app, kept.as_ref().filter(|kept| moment < kept.count_at)).await {
            Ok(read) => Some(kept.insert(read).figures.clone()),
            Err(error) => {
                tracing::warn!(error = %error, "no figures from the database");
                None
            }
        }
    }
}

impl App {
    /// Writes of this process that are not answered yet.
    #[must_use]
    pub fn writes_unanswered(&self) -> usize {
        self.store.writes_unanswered()
    }

    /// The read connections, for monitoring.
    #[must_use]
    pub fn readers(&self) -> [ReaderCount; 2] {
        self.store.readers()
    }

    /// Events that this process has committed.
    #[must_use]
    pub fn events_committed(&self) -> u64 {
        self.store.events_committed()
    }
}

/// Reads the figures; takes the endpoints from `counted` where that is given.
async fn read(app: &App, counted: Option<&Kept>) -> Result<Kept, StoreError> {
    let (at, now) = (app.clock.monotonic(), app.now());
    let queue: QueueFigures = app.read_list(async move |tx| tx.queue_figures(now).await).await?;
    let (endpoints, count_at) = match counted {
        Some(kept) => (kept.figures.endpoints.clone(), kept.count_at),
        None => {
            let begun = app.clock.monotonic();
            let counted = app.read_list(async move |tx| tx.endpoint_states().await).await?;
            let ended = app.clock.monotonic();
            (counted, ended + ended.saturating_sub(begun) * COUNTED_AGAIN_AFTER)
        }
    };
    let since = |at: Timestamp| now.as_ms().saturating_sub(at.as_ms());
    let oldest_due_ms = queue.oldest_due_at.map_or(0, since);
    Ok(Kept { at, figures: Figures { queue, oldest_due_ms, endpoints }, count_at })
}
