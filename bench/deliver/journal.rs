//! When each checkout was asked for, when its answer came, and when its deliveries arrived.
//!
//! The answer names the checkout and the delivery's body does, so the two are matched by its id. All times are read in
//! this process, from one monotonic clock, when it gets to the bytes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use authority_domain::CheckoutId;
use tokio::sync::Notify;

/// One checkout.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// When it should have been asked for: with a fixed load the plan's time, not the time when a client was free.
    due: Option<Instant>,
    answered: Option<Instant>,
    arrived: Vec<Instant>,
}

#[derive(Debug, Default)]
struct Entries {
    by_checkout: HashMap<Box<str>, Entry>,
    arrived: usize,
    last: Option<Instant>,
}

/// Clones are one journal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    entries: Arc<Mutex<Entries>>,
    arrival: Arc<Notify>,
}

/// What a turn's entries tell, in milliseconds and sorted.
#[derive(Debug)]
pub(crate) struct Waits {
    /// From the moment the request was due to the delivery's arrival.
    pub(crate) from_due: Vec<f64>,
    /// From the answer's arrival to the delivery's. Negative when the delivery came first.
    pub(crate) from_answer: Vec<f64>,
    /// When the last delivery arrived.
    pub(crate) last: Instant,
}

impl Journal {
    pub(crate) fn answered(&self, due: Instant, answer: &[u8]) {
        let now = Instant::now();
        let mut entries = self.entries.lock().unwrap();
        let entry = entries.by_checkout.entry(checkout_id(answer).into()).or_default();
        entry.due = Some(due);
        entry.answered = Some(now);
    }

    pub(crate) fn arrived(&self, body: &[u8]) {
        let now = Instant::now();
        let mut entries = self.entries.lock().unwrap();
        entries.by_checkout.entry(checkout_id(body).into()).or_default().arrived.push(now);
        entries.arrived += 1;
        entries.last = Some(now);
        drop(entries);
        self.arrival.notify_one();
    }

    /// Deliveries that have arrived since the last turn.
    pub(crate) fn arrived_by_now(&self) -> usize {
        self.entries.lock().unwrap().arrived
    }

    /// Waits until so many deliveries have arrived, and forgets what it tells.
    ///
    /// # Panics
    /// When nothing arrives for half a minute: something was lost.
    pub(crate) async fn take(&self, expected: usize) -> Waits {
        loop {
            let arrived = self.entries.lock().unwrap().arrived;
            if arrived >= expected {
                break;
            }
            let more =
                tokio::time::timeout(std::time::Duration::from_secs(30), self.arrival.notified()).await;
            assert!(more.is_ok(), "{arrived} of {expected} deliveries arrived");
        }
        let entries = std::mem::take(&mut *self.entries.lock().unwrap());
        let mut waits = Waits {
            from_due: Vec::with_capacity(expected),
            from_answer: Vec::with_capacity(expected),
            last: entries.last.unwrap_or_else(Instant::now),
        };
        for entry in entries.by_checkout.values() {
            let (Some(due), Some(answered)) = (entry.due, entry.answered) else { continue };
            for arrived in &entry.arrived {
                waits.from_due.push(ms_between(due, *arrived));
                waits.from_answer.push(ms_between(answered, *arrived));
            }
        }
        waits.from_due.sort_unstable_by(f64::total_cmp);
        waits.from_answer.sort_unstable_by(f64::total_cmp);
        waits
    }
}

fn ms_between(earlier: Instant, later: Instant) -> f64 {
    let forwards = later.saturating_duration_since(earlier).as_secs_f64();
    let backwards = earlier.saturating_duration_since(later).as_secs_f64();
    (forwards - backwards) * 1e3
}

/// The first checkout's id in a body, without reading the rest.
fn checkout_id(body: &[u8]) -> &str {
    let text = std::str::from_utf8(body).unwrap();
    let mark = format!("\"{}_", CheckoutId::PREFIX);
    let at = text.find(&mark).unwrap_or_else(|| panic!("no checkout: {text}")) + 1;
    &text[at..at + CheckoutId::PREFIX.len() + 1 + 26]
}
