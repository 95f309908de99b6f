//! What a write transaction has read and need not read again: merchants, streams, counters, orders with what belongs
//! to them, payments with their checkouts, and processors' messages.
//!
//! The transaction holds the turns of what it reads, so that stays true until its end, except for what its own jobs
//! write. The cached counter of a stream advances with every job that takes sequence numbers, and goes back when the
//! job is undone. A statement that writes rows of which nothing is cached leaves it as it is
//! ([`Query::write_beside_cache`](crate::driver::Query::write_beside_cache)). Any other statement that may write clears
//! the whole cache. So does undoing a job that sent a write.
//!
//! The free capacity of an endpoint is updated likewise, with every delivery that a job takes capacity for. It is
//! cached apart from the streams, because the platform's endpoint subscribes to all of them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use authority_domain::{EndpointId, Merchant, MerchantId, Tenant};

use crate::hand_off::Subscriber;

/// A stream as the running job finds it.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) last_sequence: i64,
    /// Milliseconds since the Unix epoch.
    pub(crate) last_created_at: i64,
    /// How many active shares its owner has, including those of connections that have just been ended.
    pub(crate) active_shares: i64,
    pub(crate) subscribers: Vec<Subscriber>,
}

impl Stream {
    /// One without events, to which nobody subscribes.
    pub(crate) const NEW: Self =
        Self { last_sequence: 0, last_created_at: i64::MIN, active_shares: 0, subscribers: Vec::new() };
}

/// A checkout as it was read.
pub(crate) struct FoundCheckout {
    pub(crate) tenant: Tenant,
    pub(crate) body: String,
    /// The terms of the subscription that it begins.
    pub(crate) terms: Option<String>,
}

/// A checkout that is to be paid.
pub(crate) struct FoundPayable {
    pub(crate) tenant: Tenant,
    pub(crate) body: String,
    /// A payment of it is under way.
    pub(crate) under_way: bool,
}

/// An order as it was read, and what belongs to it.
#[derive(Default)]
pub(crate) struct OrderSurroundings {
    /// The order's text and version, if there is such an order.
    pub(crate) order: Option<(String, i64)>,
    pub(crate) confirmed_by_operator: bool,
    /// The texts of its payments, oldest first.
    pub(crate) payments: Vec<String>,
    /// Payments and amounts of its open refunds.
    pub(crate) open_refunds: Vec<(String, i64)>,
    /// The texts of its shipments, oldest first.
    pub(crate) shipments: Vec<String>,
    /// Its lines that are marked, with the quantities that are marked as fulfilled and as shipped.
    pub(crate) marks: Vec<(String, i64, i64)>,
}

/// An earlier message of a processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownMessage {
    /// The record it was about.
    pub resource_id: String,
    /// Its content; `None` where that was not stored yet.
    pub said: Option<String>,
}

/// A record as it was read.
pub(crate) struct FoundRecord {
    pub(crate) tenant: Tenant,
    pub(crate) body: String,
}

/// The answer under an idempotency key, expired or not.
pub(crate) struct FoundKey {
    pub(crate) fingerprint: Vec<u8>,
    pub(crate) answer: String,
    /// Milliseconds since the Unix epoch.
    pub(crate) expires_at: i64,
}

/// The cached reads. An inner `None`: there is no such record.
#[derive(Default)]
pub(crate) struct TransactionCache {
    pub(crate) merchants: HashMap<MerchantId, Merchant>,
    pub(crate) streams: HashMap<Tenant, Stream>,
    /// By their ids.
    pub(super) checkouts: HashMap<String, FoundCheckout>,
    /// By the ids of the checkouts.
    pub(crate) payables: HashMap<String, Option<FoundPayable>>,
    /// Payments, refunds and shipments by their ids.
    pub(crate) records: HashMap<String, Option<FoundRecord>>,
    /// By the keys that they are buffered under.
    pub(crate) orders: HashMap<String, Arc<OrderSurroundings>>,
    /// Keys under which no record is stored: generated order numbers that are free, and idempotency keys that no
    /// refund or shipment was made with.
    pub(crate) unused: HashSet<String>,
    /// By the key that they are buffered under, and so are the answers.
    pub(crate) messages: HashMap<String, Option<KnownMessage>>,
    pub(crate) keys: HashMap<String, Option<FoundKey>>,
    /// The last generated order numbers.
    pub(crate) counters: HashMap<Tenant, i64>,
    /// The free capacity of endpoints.
    rooms: HashMap<EndpointId, i64>,
    /// The values that the running job changed, as they were before.
    moved: Vec<Moved>,
    /// Whether it was cleared since the last prefetch.
    is_cleared: bool,
}

enum Moved {
    Stream { tenant: Tenant, last_sequence: i64, last_created_at: i64 },
    Counter { tenant: Tenant, last_number: i64 },
    Room { endpoint: EndpointId, room: i64 },
}

impl TransactionCache {
    pub(crate) fn checkout(&self, tenant: &Tenant, id: &str) -> Option<&FoundCheckout> {
        self.checkouts.get(id).filter(|found| found.tenant == *tenant)
    }

    /// Drops a record that is being written.
    pub(crate) fn forget(&mut self, key: &str) {
        self.checkouts.remove(key);
        self.payables.remove(key);
        self.records.remove(key);
        self.orders.remove(key);
        self.unused.remove(key);
        self.messages.remove(key);
        self.keys.remove(key);
    }

    /// Notes that the running job has taken sequence numbers of a stream.
    pub(crate) fn move_stream(&mut self, tenant: &Tenant, last_sequence: i64, last_created_at: i64) {
        if let Some(stream) = self.streams.get_mut(tenant) {
            self.moved.push(Moved::Stream {
                tenant: tenant.clone(),
                last_sequence: std::mem::replace(&mut stream.last_sequence, last_sequence),
                last_created_at: std::mem::replace(&mut stream.last_created_at, last_created_at),
            });
        }
    }

    /// Notes that the running job has taken an order number.
    pub(crate) fn move_counter(&mut self, tenant: &Tenant, number: i64) {
        if let Some(counter) = self.counters.get_mut(tenant) {
            let last_number = std::mem::replace(counter, number);
            self.moved.push(Moved::Counter { tenant: tenant.clone(), last_number });
        }
    }

    /// Replaces the capacity that was read by what the jobs of this transaction left of it.
    pub(crate) fn room_as_it_is_now(&mut self, subscribers: &mut [Subscriber]) {
        for subscriber in subscribers {
            if let Some(reach) = &mut subscriber.reach {
                reach.room = *self.rooms.entry(subscriber.endpoint_id.clone()).or_insert(reach.room);
            }
        }
    }

    /// Notes that the running job takes one unit of this endpoint's capacity.
    pub(crate) fn fill_place(&mut self, endpoint: &EndpointId) {
        let room = self.rooms.get(endpoint).copied().unwrap_or(0);
        self.leave_room(endpoint, room - 1);
    }

    /// Notes how much of this endpoint's capacity the running job leaves.
    pub(crate) fn leave_room(&mut self, endpoint: &EndpointId, room: i64) {
        if let Some(before) = self.rooms.insert(endpoint.clone(), room) {
            self.moved.push(Moved::Room { endpoint: endpoint.clone(), room: before });
        }
    }

    /// Ends a job whose writes stay.
    pub(crate) fn keep(&mut self) {
        self.moved.clear();
    }

    /// Ends a job whose writes are undone.
    pub(crate) fn undo(&mut self) {
        for moved in std::mem::take(&mut self.moved).into_iter().rev() {
            match moved {
                Moved::Stream { tenant, last_sequence, last_created_at } => {
                    if let Some(stream) = self.streams.get_mut(&tenant) {
                        (stream.last_sequence, stream.last_created_at) = (last_sequence, last_created_at);
                    }
                }
                Moved::Counter { tenant, last_number } => {
                    self.counters.insert(tenant, last_number);
                }
                Moved::Room { endpoint, room } => {
                    self.rooms.insert(endpoint, room);
                }
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self { is_cleared: true, ..Self::default() };
    }

    /// Whether it was cleared since the last call.
    pub(crate) fn take_cleared(&mut self) -> bool {
        std::mem::take(&mut self.is_cleared)
    }
}
