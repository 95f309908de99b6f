//! The limit on list pages, and on what else reads as much, that are built at the same time for one client.
//!
//! Pages are the largest answers, and the store has few read connections for lists. A merchant gets half of them,
//! however many keys and connections it uses, and its further requests queue behind its own; an operator's share
//! is per key. So a client that requests many pages at once leaves read connections for others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use authority_domain::{Refusal, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Pages built at the same time for one client: half of the store's read connections for lists.
const PAGES_AT_ONCE: usize = 2;
/// Above this number of clients, those without a page are removed.
const CLIENTS_KEPT: usize = 1_024;

/// The permits of all clients, by merchant or by operator key.
#[derive(Default)]
pub struct PagesAtOnce(Mutex<HashMap<String, Arc<Semaphore>>>);

impl PagesAtOnce {
    /// Waits until a page may be built for this client. The permit is held while it is built.
    ///
    /// # Errors
    /// None in practice: `internal_error` if the semaphore were closed.
    pub async fn turn(&self, client: &str) -> Result<OwnedSemaphorePermit> {
        self.turns(client).acquire_owned().await.map_err(|_| Refusal::internal())
    }

    fn turns(&self, client: &str) -> Arc<Semaphore> {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= CLIENTS_KEPT {
            clients.retain(|_, turns| Arc::strong_count(turns) > 1);
        }
        let turns = || Arc::new(Semaphore::new(PAGES_AT_ONCE));
        Arc::clone(clients.entry(client.to_owned()).or_insert_with(turns))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_client_waits_for_itself_and_keeps_nobody_else_waiting() {
        let pages = PagesAtOnce::default();
        let mut made: Vec<_> =
            (0..PAGES_AT_ONCE).map(|_| pages.turn("a").now_or_never().unwrap().unwrap()).collect();
        let mut next = Box::pin(pages.turn("a"));
        assert!((&mut next).now_or_never().is_none());
        assert!(pages.turn("b").now_or_never().unwrap().is_ok());
        made.pop();
        assert!(next.now_or_never().unwrap().is_ok());
    }

    #[test]
    fn clients_without_a_page_are_forgotten_and_those_with_one_are_not() {
        let pages = PagesAtOnce::default();
        let made: Vec<_> =
            (0..PAGES_AT_ONCE).map(|_| pages.turn("a").now_or_never().unwrap().unwrap()).collect();
        for client in 0..2 * CLIENTS_KEPT {
            pages.turns(&client.to_string());
        }
        assert!(pages.0.lock().unwrap().len() <= CLIENTS_KEPT);
        assert!(pages.turn("a").now_or_never().is_none());
        drop(made);
        assert!(pages.turn("a").now_or_never().is_some());
    }
}
