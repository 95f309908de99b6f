//! Database figures about the service as a whole, for monitoring (contract 15.11).
//!
//! Monitoring needs no key, so the figures are cached for a few seconds: however often they are requested, the
//! database is queried once. While it does not answer, monitoring works without these figures.

use std::fmt;
use std::time::Duration;

use authority_domain::time::Timestamp;
use authority_store::tx::QueueFigures;
use authority_store::{ReaderCount, StoreError};
use tokio::sync::Mutex;

use super::App;

/// How long the figures are cached.
const KEPT: Duration = Duration::from_secs(5);

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
pub struct RecentFigures(Mutex<Option<(Duration, Figures)>>);

impl fmt::Debug for RecentFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecentFigures").finish_non_exhaustive()
    }
}

impl RecentFigures {
    /// The figures, at most `KEPT` old; `None` while the database does not answer.
    pub async fn get(&self, app: &App) -> Option<Figures> {
        let mut kept = self.0.lock().await;
        let moment = app.clock.monotonic();
        if let Some((at, figures)) = kept.as_ref()
            && moment.saturating_sub(*at) < KEPT
        {
            return Some(figures.clone());
        }
        match read(app).await {
            Ok(figures) => {
                *kept = Some((moment, figures.clone()));
                Some(figures)
            }
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

async fn read(app: &App) -> Result<Figures, StoreError> {
    let now = app.now();
    let (queue, endpoints): (QueueFigures, Vec<(String, i64)>) = app
        .read_list(async move |tx| {
            Ok::<_, StoreError>((tx.queue_figures(now).await?, tx.endpoint_states().await?))
        })
        .await?;
    let since = |at: Timestamp| now.as_ms().saturating_sub(at.as_ms());
    Ok(Figures { oldest_due_ms: queue.oldest_due_at.map_or(0, since), queue, endpoints })
}
