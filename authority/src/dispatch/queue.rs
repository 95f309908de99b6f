//! The queue of deliveries that are leased and have not begun (contract 18.4-8).
//!
//! An endpoint's deliveries leave in the order in which they were leased, each as soon as it gets a slot. An
//! endpoint that is blocked by the limits of the whole instance joins a line, in which merchants take turns, and so
//! do the endpoints of each merchant. An endpoint that is blocked by its own requests is tried again when one of
//! them has ended.
//!
//! No delivery stays queued for long. One that could not begin within [`STALE_AFTER_MS`] is given back, and so are
//! all deliveries of an endpoint that was changed or is held back.

use std::collections::{HashMap, VecDeque};

use authority_domain::{EndpointId, MerchantId};
use authority_store::hand_off::HandedOff;
use authority_store::slots::{Blocked, Moment};

/// A delivery queued for longer than this is given back, in milliseconds: its URL and its secrets must be current
/// when it is sent.
const STALE_AFTER_MS: u64 = 1_000;

/// The deliveries that are queued.
#[derive(Default)]
pub(super) struct SendQueue {
    endpoints: HashMap<EndpointId, VecDeque<Waiting>>,
    line: Line,
}

struct Waiting {
    since_ms: u64,
    delivery: HandedOff,
}

/// Endpoints that wait for a slot of the instance or of their merchant.
#[derive(Default)]
struct Line {
    merchants: VecDeque<MerchantId>,
    endpoints: HashMap<MerchantId, VecDeque<EndpointId>>,
}

impl SendQueue {
    /// Adds a delivery that was handed off.
    pub(super) fn push(&mut self, delivery: HandedOff, now: Moment) {
        let waiting = Waiting { since_ms: now.monotonic_ms, delivery };
        self.endpoints.entry(waiting.delivery.delivery.endpoint_id.clone()).or_default().push_back(waiting);
    }

    /// Takes out the deliveries that may begin now that one was added for this endpoint, or a request to it has
    /// ended. If other endpoints are in line, this one joins the end of the line, and the line is tried in order.
    pub(super) fn begin(&mut self, endpoint: &EndpointId, now: Moment) -> Vec<HandedOff> {
        let mut begun = Vec::new();
        if self.line.is_empty() {
            while let Some(delivery) = self.begin_one(endpoint, now) {
                begun.push(delivery);
            }
        } else {
            self.stand_in_line(endpoint);
        }
        // One try for each merchant in line: its endpoint begins a delivery, or something of its own blocks it.
        for _ in 0..self.line.merchants.len() {
            let Some((merchant, next)) = self.line.pop() else { break };
            match self.begin_front(&next, now) {
                Ok(Some(delivery)) => {
                    begun.push(delivery);
                    self.line.push(merchant, next);
                }
                Ok(None) | Err(Blocked::Endpoint) => {}
                Err(Blocked::Merchant) => self.line.push(merchant, next),
                Err(Blocked::Pool) => {
                    self.line.push_front(merchant, next);
                    break;
                }
            }
        }
        begun
    }

    fn begin_one(&mut self, endpoint: &EndpointId, now: Moment) -> Option<HandedOff> {
        match self.begin_front(endpoint, now) {
            Ok(begun) => begun,
            Err(Blocked::Endpoint) => None,
            Err(Blocked::Merchant | Blocked::Pool) => {
                self.stand_in_line(endpoint);
                None
            }
        }
    }

    fn begin_front(&mut self, endpoint: &EndpointId, now: Moment) -> Result<Option<HandedOff>, Blocked> {
        let Some(waiting) = self.endpoints.get_mut(endpoint) else { return Ok(None) };
        let Some(front) = waiting.front_mut() else { return Ok(None) };
        front.delivery.slot.begin(now)?;
        let begun = waiting.pop_front().map(|waiting| waiting.delivery);
        if waiting.is_empty() {
            self.endpoints.remove(endpoint);
        }
        Ok(begun)
    }

    fn stand_in_line(&mut self, endpoint: &EndpointId) {
        let front = self.endpoints.get(endpoint).and_then(VecDeque::front);
        if let Some(front) = front {
            self.line.push(front.delivery.delivery.merchant_id.clone(), endpoint.clone());
        }
    }

    /// Takes out all deliveries of one endpoint.
    pub(super) fn take(&mut self, endpoint: &EndpointId) -> Vec<HandedOff> {
        let waiting = self.endpoints.remove(endpoint).unwrap_or_default();
        waiting.into_iter().map(|waiting| waiting.delivery).collect()
    }

    /// Takes out the deliveries that have been queued for too long.
    pub(super) fn take_stale(&mut self, now: Moment) -> Vec<HandedOff> {
        let mut stale = Vec::new();
        self.endpoints.retain(|_, waiting| {
            // The oldest is at the front.
            while let Some(front) = waiting.front()
                && now.monotonic_ms.saturating_sub(front.since_ms) >= STALE_AFTER_MS
            {
                stale.extend(waiting.pop_front().map(|waiting| waiting.delivery));
            }
            !waiting.is_empty()
        });
        stale
    }

    /// Takes out all deliveries.
    pub(super) fn take_all(&mut self) -> Vec<HandedOff> {
        let all = std::mem::take(&mut self.endpoints).into_values().flatten();
        all.map(|waiting| waiting.delivery).collect()
    }
}

impl Line {
    fn is_empty(&self) -> bool {
        self.merchants.is_empty()
    }

    fn push(&mut self, merchant: MerchantId, endpoint: EndpointId) {
        let endpoints = self.endpoints.entry(merchant.clone()).or_default();
        if endpoints.is_empty() {
            self.merchants.push_back(merchant);
        }
        if !endpoints.contains(&endpoint) {
            endpoints.push_back(endpoint);
        }
    }

    fn push_front(&mut self, merchant: MerchantId, endpoint: EndpointId) {
        let endpoints = self.endpoints.entry(merchant.clone()).or_default();
        if !endpoints.is_empty() {
            self.merchants.retain(|other| *other != merchant);
        }
        self.merchants.push_front(merchant);
        endpoints.retain(|other| *other != endpoint);
        endpoints.push_front(endpoint);
    }

    /// Takes the next endpoint of the next merchant. A merchant with further endpoints goes to the end of the line.
    fn pop(&mut self) -> Option<(MerchantId, EndpointId)> {
        let merchant = self.merchants.pop_front()?;
        let endpoints = self.endpoints.get_mut(&merchant)?;
        let endpoint = endpoints.pop_front()?;
        if endpoints.is_empty() {
            self.endpoints.remove(&merchant);
        } else {
            self.merchants.push_back(merchant.clone());
        }
        Some((merchant, endpoint))
    }
}
