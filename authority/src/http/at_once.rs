//! How much of one client is under way at the same time: its requests, and the list pages, with what else reads as
//! much, that are built for it.
//!
//! A request holds a connection until it is answered, and such a connection is never closed for others. So the
//! requests of a merchant that are under way are at most a quarter of all connections, whatever they wait for.
//!
//! Pages are the largest answers, and the store has few read connections for lists. A merchant gets half of them,
//! however many keys and connections it uses, and some of its further requests queue behind its own; an operator's
//! share is per key. So a client that requests many pages at once leaves read connections for others.
//!
//! A pasted body of a delivery is the largest that a form has, and is held while it is read, parsed and judged. So each
//! client sends two of them at a time.
//!
//! Whoever asks for more is refused at once and told to ask again in a second. Deliberately absent: a queue that all
//! clients share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use authority_domain::{ErrorCode, Refusal, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests under way for one merchant: a quarter of the connections of its listener.
const REQUESTS: usize = 256;
/// Pages built at the same time for one client: half of the store's read connections for lists.
const PAGES: usize = 2;
/// Requests of one client that wait for a page of its own to be built: a few seconds' work.
const WAITING: usize = 128;
/// Forms with a body of a delivery that one client sends at the same time.
const LARGE_FORMS: usize = 2;
/// Above this number of clients, those that have nothing under way are removed.
const CLIENTS_KEPT: usize = 1_024;
/// Seconds after which whoever was refused may ask again.
const RETRY_AFTER_S: u32 = 1;

/// What all clients have under way, by merchant or by operator key.
pub struct AtOnce {
    requests: Places,
    /// Those who wait for a page, and those for whom one is built.
    takers: Places,
    pages: Places,
    large_forms: Places,
}

/// A page is built while this is held.
pub struct PageTurn {
    _taker: OwnedSemaphorePermit,
    _page: OwnedSemaphorePermit,
}

impl Default for AtOnce {
    fn default() -> Self {
        let (requests, takers) = (Places::new(REQUESTS), Places::new(WAITING + PAGES));
        Self { requests, takers, pages: Places::new(PAGES), large_forms: Places::new(LARGE_FORMS) }
    }
}

impl AtOnce {
    /// Begins a request of this merchant, which is under way while the permit is held.
    ///
    /// # Errors
    /// `rate_limited` when as many as there may be are under way.
    pub fn request(&self, merchant: &str) -> Result<OwnedSemaphorePermit> {
        let detail =
            "As many requests of this merchant as there may be are under way: wait for some of them.";
        self.requests.of(merchant).try_acquire_owned().map_err(|_| too_many(detail))
    }

    /// Begins a form with a body of a delivery, which may be read and answered while the permit is held.
    ///
    /// # Errors
    /// `rate_limited` when as many as there may be are under way.
    pub fn large_form(&self, client: &str) -> Result<OwnedSemaphorePermit> {
        let detail = "As many of your forms with a body as there may be are under way: wait for one of them.";
        self.large_forms.of(client).try_acquire_owned().map_err(|_| too_many(detail))
    }

    /// Waits until a page may be built for this client.
    ///
    /// # Errors
    /// `rate_limited` when as many as there may be wait already.
    pub async fn page(&self, client: &str) -> Result<PageTurn> {
        let detail = "As many of your requests as there may be wait for lists: wait for some of them.";
        let taker = self.takers.of(client).try_acquire_owned().map_err(|_| too_many(detail))?;
        let page = self.pages.of(client).acquire_owned().await.map_err(|_| Refusal::internal())?;
        Ok(PageTurn { _taker: taker, _page: page })
    }
}

fn too_many(detail: &str) -> Refusal {
    Refusal::new(ErrorCode::RateLimited, detail).retry_after(RETRY_AFTER_S)
}

/// So many places for each client, whatever the others have.
struct Places {
    each: usize,
    clients: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Places {
    fn new(each: usize) -> Self {
        Self { each, clients: Mutex::default() }
    }

    fn of(&self, client: &str) -> Arc<Semaphore> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = clients.get(client) {
            return Arc::clone(places);
        }
        if clients.len() >= CLIENTS_KEPT {
            // Whoever holds a place, or waits for one, holds its client's places.
            clients.retain(|_, places| Arc::strong_count(places) > 1);
        }
        let places = Arc::new(Semaphore::new(self.each));
        clients.insert(client.to_owned(), Arc::clone(&places));
        places
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    /// As many pages as there may be, for a client.
    fn built(at_once: &AtOnce, client: &str) -> Vec<PageTurn> {
        (0..PAGES).map(|_| at_once.page(client).now_or_never().unwrap().unwrap()).collect()
    }

    #[test]
    fn a_client_waits_for_itself_and_keeps_nobody_else_waiting() {
        let at_once = AtOnce::default();
        let mut made = built(&at_once, "a");
        let mut next = Box::pin(at_once.page("a"));
        assert!((&mut next).now_or_never().is_none());
        assert!(at_once.page("b").now_or_never().unwrap().is_ok());
        made.pop();
        assert!(next.now_or_never().unwrap().is_ok());
    }

    #[test]
    fn so_many_wait_for_a_page_and_the_next_is_refused_at_once() {
        let at_once = AtOnce::default();
        let mut made = built(&at_once, "a");
        let mut waiting: Vec<_> = (0..WAITING).map(|_| Box::pin(at_once.page("a"))).collect();
        assert!(waiting.iter_mut().all(|one| one.now_or_never().is_none()));
        let refused = at_once.page("a").now_or_never().unwrap().err().unwrap();
        assert_eq!((refused.code, refused.retry_after_s), (ErrorCode::RateLimited, Some(1)));
        assert!(at_once.page("b").now_or_never().unwrap().is_ok());
        // One that is given up leaves its place, and so does one that is done.
        waiting.pop();
        waiting.push(Box::pin(at_once.page("a")));
        assert!(waiting[WAITING - 1].as_mut().now_or_never().is_none());
        made.pop();
        let next = waiting.remove(0).now_or_never().unwrap().unwrap();
        assert!(at_once.page("a").now_or_never().is_none());
        drop((made, next));
    }

    #[test]
    fn a_merchant_has_so_many_requests_under_way_and_the_others_theirs() {
        let at_once = AtOnce::default();
        let mut under_way: Vec<_> = (0..REQUESTS).map(|_| at_once.request("a").unwrap()).collect();
        let refused = at_once.request("a").unwrap_err();
        assert_eq!((refused.code, refused.retry_after_s), (ErrorCode::RateLimited, Some(1)));
        assert!(at_once.request("b").is_ok());
        under_way.pop();
        assert!(at_once.request("a").is_ok());
    }

    #[test]
    fn a_client_sends_two_large_forms_at_a_time() {
        let at_once = AtOnce::default();
        let (first, _second) = (at_once.large_form("a").unwrap(), at_once.large_form("a").unwrap());
        assert_eq!(at_once.large_form("a").unwrap_err().code, ErrorCode::RateLimited);
        assert!(at_once.large_form("b").is_ok());
        drop(first);
        assert!(at_once.large_form("a").is_ok());
    }

    #[test]
    fn clients_with_nothing_under_way_are_forgotten_and_the_others_are_not() {
        let at_once = AtOnce::default();
        let made = built(&at_once, "a");
        for client in 0..2 * CLIENTS_KEPT {
            at_once.pages.of(&client.to_string());
        }
        assert!(at_once.pages.clients.lock().unwrap().len() <= CLIENTS_KEPT);
        assert!(at_once.page("a").now_or_never().is_none());
        drop(made);
        assert!(at_once.page("a").now_or_never().is_some());
    }
}
