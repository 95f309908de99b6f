//! Whoever listens for changes: at most so many, and one read for all who watch the same.
//!
//! A page that follows holds a connection ([`Listener`]) for minutes. So each session, each client (a merchant, or an
//! operator key) and all together have a bound, and whoever comes beyond it is refused at once; the slot of a listener
//! is free again when it is dropped. For each thing that is watched one task reads its mark of change once a second,
//! however many listen, and none does when nobody listens. The marks come from the database, so that what another
//! instance writes is seen. A listener that is slow finds the newest mark and no queue.
//!
//! Deliberately absent: a share of the bounds for each instance, because what they protect is the instance.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use authority_domain::{ErrorCode, Refusal, Result};
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::watch;

use crate::app::App;
use crate::app::live::{ChangeMark, Watched};
use crate::background::goes_on;

/// Of one session. A browser opens six connections to an origin, and needs some for the pages themselves.
const PER_SESSION: usize = 4;
/// Of one merchant, or of one operator key.
const PER_CLIENT: usize = 32;
/// Of one listener of the service: a quarter of its connections.
const ALL: usize = 256;
/// Seconds after which whoever was refused may ask again.
const RETRY_AFTER_S: u32 = 30;
/// How often marks are read.
const EVERY: Duration = Duration::from_secs(1);

type Marks = watch::Sender<Option<ChangeMark>>;

/// The listeners of one of the service's listening sockets.
pub struct Live {
    app: App,
    stop: watch::Receiver<bool>,
    /// How many listen, for the metrics.
    count: Gauge,
    books: Mutex<Books>,
}

#[derive(Default)]
struct Books {
    all: usize,
    of_session: HashMap<String, usize>,
    of_client: HashMap<String, usize>,
    watchers: HashMap<Watched, Marks>,
}

/// One that listens. Its slot is free again when it is dropped.
pub struct Listener {
    live: Arc<Live>,
    session: String,
    client: String,
    marks: watch::Receiver<Option<ChangeMark>>,
    stop: watch::Receiver<bool>,
}

impl Live {
    /// Nobody listens yet. Once `stop` turns true, nobody does any more.
    #[must_use]
    pub fn new(app: App, stop: watch::Receiver<bool>, count: Gauge) -> Arc<Self> {
        Arc::new(Self { app, stop, count, books: Mutex::default() })
    }

    /// Takes a slot for a session of a client.
    ///
    /// # Errors
    /// `rate_limited` when the session or the client has all of theirs; `service_unavailable` when all are taken.
    pub fn listen(self: &Arc<Self>, session: &str, client: &str, watched: Watched) -> Result<Listener> {
        let mut books = self.books();
        let beyond = |of: &HashMap<String, usize>, name, most| of.get(name).is_some_and(|held| *held >= most);
        if beyond(&books.of_session, session, PER_SESSION) || beyond(&books.of_client, client, PER_CLIENT) {
            let detail =
                "As many pages as there may be keep themselves up to date already: close one of them.";
            return Err(Refusal::new(ErrorCode::RateLimited, detail).retry_after(RETRY_AFTER_S));
        }
        if books.all >= ALL {
            return Err(Refusal::unavailable(RETRY_AFTER_S));
        }
        books.all += 1;
        self.count.inc();
        *books.of_session.entry(session.to_owned()).or_default() += 1;
        *books.of_client.entry(client.to_owned()).or_default() += 1;
        let marks = match books.watchers.get(&watched) {
            Some(marks) => {
                let mut marks = marks.subscribe();
                // What has been read already is news to this one.
                marks.mark_changed();
                marks
            }
            None => {
                let (sender, marks) = watch::channel(None);
                books.watchers.insert(watched.clone(), sender.clone());
                tokio::spawn(watch(Arc::clone(self), watched, sender));
                marks
            }
        };
        Ok(Listener {
            live: Arc::clone(self),
            session: session.to_owned(),
            client: client.to_owned(),
            marks,
            stop: self.stop.clone(),
        })
    }

    /// Forgets a watcher to whom nobody listens; true when it may end.
    fn forget(&self, watched: &Watched, marks: &Marks) -> bool {
        let mut books = self.books();
        let alone = marks.receiver_count() == 0;
        if alone {
            books.watchers.remove(watched);
        }
        alone
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads marks for as long as somebody listens.
async fn watch(live: Arc<Live>, watched: Watched, marks: Marks) {
    let mut stop = live.stop.clone();
    loop {
        match live.app.change_mark(&watched).await {
            Ok(mark) => {
                marks.send_if_modified(|newest| newest.replace(mark) != Some(mark));
            }
            Err(refusal) => tracing::debug!(%refusal, "a mark of change could not be read"),
        }
        if !goes_on(&mut stop, EVERY).await || live.forget(&watched, &marks) {
            return;
        }
    }
}

impl Listener {
    /// Waits for a mark that it has not returned yet; `None` when the service stops.
    pub async fn next(&mut self) -> Option<ChangeMark> {
        loop {
            tokio::select! {
                _ = self.stop.wait_for(|stop| *stop) => return None,
                changed = self.marks.changed() => changed.ok()?,
            }
            if let Some(mark) = *self.marks.borrow_and_update() {
                return Some(mark);
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut books = self.live.books();
        books.all = books.all.saturating_sub(1);
        self.live.count.dec();
        let Books { of_session, of_client, .. } = &mut *books;
        for (held, name) in [(of_session, &self.session), (of_client, &self.client)] {
            if let Some(count) = held.get_mut(name) {
                *count -= 1;
                if *count == 0 {
                    held.remove(name);
                }
            }
        }
    }
}
