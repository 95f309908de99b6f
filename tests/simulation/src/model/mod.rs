//! What the judge believes: the endpoints, events and deliveries as the contract would have them, kept without asking
//! the product how it decides.
//!
//! The rules are written here once more, from the contract: who gets an event (`fan-out`, I12), how an attempt moves
//! its delivery (`delivery`, `schedule`), and what attempts make of an endpoint (`endpoint`). Where the product
//! throws dice the model says the bounds and takes over what was thrown. Deliberately absent: the product's code, its
//! words for classes, and its SQL.

pub(crate) mod delivery;
pub(crate) mod endpoint;
pub(crate) mod schedule;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use delivery::Delivery;
use endpoint::Endpoint;

/// Events per merchant that may still be asked for again.
const REMEMBERED: usize = 24;

/// An event.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) event_type: String,
    pub(crate) merchant: usize,
    /// Exactly what is to be sent.
    pub(crate) body: String,
    /// The endpoint a test event was made for.
    pub(crate) tested: Option<String>,
    /// Deliveries that carry it and are still known.
    pub(crate) deliveries: usize,
    /// It can be chosen for a replay.
    pub(crate) remembered: bool,
}

/// A merchant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shop {
    pub(crate) id: String,
    /// The last event's place in the stream.
    pub(crate) sequence: i64,
    /// Events that can be chosen, the newest last.
    pub(crate) recent: VecDeque<String>,
    /// Deliveries that can be chosen, the newest last.
    pub(crate) made: VecDeque<String>,
    /// Checkouts that can be cancelled.
    pub(crate) checkouts: Vec<String>,
}

/// How many deliveries have ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryCounts {
    /// Acknowledged.
    pub succeeded: u64,
    /// Given up.
    pub failed: u64,
    /// Their endpoint was disabled or deleted.
    pub cancelled: u64,
}

/// Everything that is believed.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) shops: Vec<Shop>,
    /// Deleted ones too, while something of theirs is under way.
    pub(crate) endpoints: BTreeMap<String, Endpoint>,
    pub(crate) events: BTreeMap<String, Event>,
    /// Those that have not ended, and those that can be chosen.
    pub(crate) deliveries: BTreeMap<String, Delivery>,
    pub(crate) ended: DeliveryCounts,
    /// Deliveries that have ended and are not compared with what is stored yet.
    pub(crate) to_compare: BTreeSet<String>,
}

impl Model {
    /// Adds an event that was committed.
    pub(crate) fn event(&mut self, id: &str, event: Event) {
        let shop = &mut self.shops[event.merchant];
        shop.recent.push_back(id.to_owned());
        let forgotten = if shop.recent.len() > REMEMBERED { shop.recent.pop_front() } else { None };
        self.events.insert(id.to_owned(), event);
        if let Some(old) = forgotten {
            if let Some(event) = self.events.get_mut(&old) {
                event.remembered = false;
            }
            self.forget_event(&old);
        }
    }

    /// Adds a delivery that was made.
    pub(crate) fn delivery(&mut self, id: &str, delivery: Delivery) {
        if let Some(event) = self.events.get_mut(&delivery.event) {
            event.deliveries += 1;
            let shop = &mut self.shops[event.merchant];
            shop.made.push_back(id.to_owned());
            let forgotten = if shop.made.len() > REMEMBERED { shop.made.pop_front() } else { None };
            self.deliveries.insert(id.to_owned(), delivery);
            if let Some(old) = forgotten {
                self.forget_delivery(&old);
            }
        }
    }

    /// The delivery has ended.
    pub(crate) fn end(&mut self, id: &str) {
        let Some(delivery) = self.deliveries.get(id) else { return };
        match delivery.status {
            delivery::Status::Succeeded => self.ended.succeeded += 1,
            delivery::Status::Failed(_) => self.ended.failed += 1,
            delivery::Status::Cancelled(_) => self.ended.cancelled += 1,
            delivery::Status::Pending => return,
        }
        self.to_compare.insert(id.to_owned());
    }

    /// What is stored has been compared: what has ended and cannot be chosen any more is forgotten.
    pub(crate) fn compared(&mut self, id: &str) {
        self.to_compare.remove(id);
        self.forget_delivery(id);
    }

    fn forget_event(&mut self, id: &str) {
        if self.events.get(id).is_some_and(|event| event.deliveries == 0 && !event.remembered) {
            self.events.remove(id);
        }
    }

    fn forget_delivery(&mut self, id: &str) {
        let Some(delivery) = self.deliveries.get(id) else { return };
        let chosen = self.shops.iter().any(|shop| shop.made.iter().any(|made| made == id));
        if delivery.status != delivery::Status::Pending && !chosen && !self.to_compare.contains(id) {
            let event = delivery.event.clone();
            self.deliveries.remove(id);
            if let Some(event) = self.events.get_mut(&event) {
                event.deliveries -= 1;
            }
            self.forget_event(&event);
        }
    }

    /// The deliveries of `endpoint` that have not ended.
    pub(crate) fn pending_of<'m>(
        &'m self,
        endpoint: &'m str,
    ) -> impl Iterator<Item = (&'m String, &'m Delivery)> {
        self.deliveries.iter().filter(move |(_, delivery)| {
            delivery.endpoint == endpoint && delivery.status == delivery::Status::Pending
        })
    }

    /// Requests that count as in flight to `endpoint` at `wall`: those whose lease holds.
    pub(crate) fn in_flight(&self, endpoint: &str, wall: i64) -> i64 {
        let leased = self.pending_of(endpoint).filter(|(_, delivery)| delivery.under_way(wall));
        i64::try_from(leased.count()).unwrap_or(i64::MAX)
    }
}
