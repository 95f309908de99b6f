//! A dispatcher that sends nothing and keeps what it is given, for cases about what is leased to an instance.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use authority_domain::EndpointId;
use authority_store::Store;
use authority_store::hand_off::{DispatchHandle, DispatchRegistration, HandedOff};
use authority_store::slots::{Capacity, Moment, Slots};
use tokio::sync::watch;

use super::at;

/// A dispatcher that sends nothing and keeps what it is given.
pub(crate) struct Counter {
    pub(crate) slots: Arc<Slots>,
    given: Arc<Mutex<Vec<HandedOff>>>,
    recalled: Arc<Mutex<Vec<EndpointId>>>,
    returned: Arc<Mutex<Vec<HandedOff>>>,
    panics: Arc<AtomicBool>,
    open: Option<DispatchRegistration>,
}

/// What begins all tokens of a [`Counter`].
const INSTANCE: &str = "counter-instance";

/// The token of what is leased as it is made.
pub(crate) const FRESH: &str = "counter-instance-fresh";

/// That of its nth claim.
pub(crate) fn claimed(nth: u32) -> String {
    format!("{INSTANCE}-{nth}")
}

/// Room for a test: of everything so much.
pub(crate) fn capacity(places: usize) -> Capacity {
    Capacity { quick: places, slow: places, leased: places, bytes: usize::MAX }
}

/// The moment `s` seconds after noon.
pub(crate) fn moment(s: i64) -> Moment {
    Moment { monotonic_ms: u64::try_from(s).unwrap() * 1_000, wall: at(s) }
}

impl Counter {
    /// With so many places of each kind, of which a merchant has a quarter, and so many requests at a time for an
    /// endpoint.
    pub(crate) fn registered(store: &Store, places: usize, max_in_flight: i64) -> Self {
        let (slots, given) = (Slots::new(capacity(places)), Arc::new(Mutex::new(Vec::new())));
        let recalled = Arc::new(Mutex::new(Vec::new()));
        let (taking, recalling, count) = (Arc::clone(&given), Arc::clone(&recalled), Mutex::new(0));
        let returned = Arc::new(Mutex::new(Vec::new()));
        let returning = Arc::clone(&returned);
        let panics = Arc::new(AtomicBool::new(false));
        let panicking = Arc::clone(&panics);
        let dispatch = DispatchHandle {
            slots: Arc::clone(&slots),
            token: FRESH.to_owned(),
            lease_ms: 60_000,
            max_in_flight,
            new_token: Box::new(move || {
                let mut count = count.lock().unwrap();
                *count += 1;
                claimed(*count)
            }),
            begin: Box::new(move |handed_off| {
                assert!(!panicking.load(Ordering::Relaxed), "a test panics on purpose, behind a commit");
                taking.lock().unwrap().push(handed_off);
            }),
            recall: Box::new(move |endpoint| recalling.lock().unwrap().push(endpoint.clone())),
            give_back: Box::new(move |outdated| returning.lock().unwrap().extend(outdated)),
            jobs: watch::Sender::new(()),
        };
        let open = Some(store.register_dispatch(Arc::new(dispatch)));
        Self { slots, given, recalled, returned, panics, open }
    }

    /// The endpoints that were changed since it was asked last.
    pub(crate) fn recalled(&self) -> Vec<EndpointId> {
        std::mem::take(&mut self.recalled.lock().unwrap())
    }

    /// What was leased to it since it was asked last, and is not to be sent as it was leased.
    pub(crate) fn returned(&self) -> Vec<HandedOff> {
        std::mem::take(&mut self.returned.lock().unwrap())
    }

    /// What it was given since it was asked last.
    pub(crate) fn given(&self) -> Vec<HandedOff> {
        std::mem::take(&mut self.given.lock().unwrap())
    }

    /// The same, as the sequences of the events in the order they came.
    pub(crate) fn sequences(&self) -> Vec<i64> {
        self.given().iter().map(sequence).collect()
    }

    /// From now on it panics when it is given something.
    pub(crate) fn panic(&self) {
        self.panics.store(true, Ordering::Relaxed);
    }

    pub(crate) fn close(&mut self) {
        self.open = None;
    }
}

pub(crate) fn sequence(given: &HandedOff) -> i64 {
    serde_json::from_str::<serde_json::Value>(&given.delivery.body).unwrap()["sequence"].as_i64().unwrap()
}
