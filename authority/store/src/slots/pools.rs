//! The capacity of an instance, and the share that one merchant may have of it.

use std::collections::{BTreeMap, HashMap};

use authority_domain::MerchantId;

/// The part of each pool that one merchant may hold unless another share is set, in percent. It leaves most of the
/// capacity to the others even while two merchants are busy.
const DEFAULT_SHARE_PERCENT: usize = 25;

/// Slow requests for each quick one: a slow attempt costs memory and a connection, and nothing else.
const SLOW_PER_QUICK: usize = 2;

/// The slow pool is short when less than this part of it is free.
const SLOW_IS_SHORT_BELOW: usize = 8;

/// Deliveries leased for each quick request in flight: in flight or queued.
const LEASED_PER_QUICK: usize = 4;

/// Bytes of bodies held in memory: 48 MiB, a quarter of what the service may use.
const LEASED_BYTES: usize = 48 * 1024 * 1024;

/// How much an instance may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Quick requests in flight.
    pub quick: usize,
    /// Slow requests in flight.
    pub slow: usize,
    /// Deliveries leased for the quick pool.
    pub leased: usize,
    /// Bytes of their bodies, of both pools.
    pub bytes: usize,
}

impl Capacity {
    /// The capacity that goes with this many quick requests in flight.
    #[must_use]
    pub fn of(quick: usize) -> Self {
        Self {
            quick,
            slow: quick.saturating_mul(SLOW_PER_QUICK),
            leased: quick.saturating_mul(LEASED_PER_QUICK),
            bytes: LEASED_BYTES,
        }
    }
}

/// Why a request cannot begin now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// Its endpoint has reached its limit: wait until one of its requests ends.
    Endpoint,
    /// Its merchant has used up its share: wait until one of its requests ends.
    Merchant,
    /// The pool is full: wait until any request ends.
    Pool,
}

/// Which pool a delivery belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pool {
    Quick,
    Slow,
}

/// The pools and what is used of them.
pub(super) struct Pools {
    capacity: Capacity,
    /// Quick deliveries that are leased, in flight or not.
    quick_leased: usize,
    quick_in_flight: usize,
    /// Reserved and in flight; exceeds the capacity when quick requests turned out to be slow.
    slow: usize,
    bytes: usize,
    merchants: HashMap<MerchantId, OfMerchant>,
}

#[derive(Default)]
struct OfMerchant {
    quick_leased: usize,
    quick_in_flight: usize,
    slow: usize,
    share_percent: Option<usize>,
}

impl OfMerchant {
    fn share(&self, of: usize) -> usize {
        (of * self.share_percent.unwrap_or(DEFAULT_SHARE_PERCENT) / 100).max(1)
    }
}

impl Pools {
    pub(super) fn new(capacity: Capacity) -> Self {
        Self { capacity, quick_leased: 0, quick_in_flight: 0, slow: 0, bytes: 0, merchants: HashMap::new() }
    }

    pub(super) fn set_share(&mut self, merchant: &MerchantId, percent: Option<i64>) {
        let percent = percent.and_then(|percent| usize::try_from(percent).ok());
        self.merchants.entry(merchant.clone()).or_default().share_percent = percent;
    }

    /// Leases one more delivery for this pool, if there is capacity. A quick delivery counts as in flight only when
    /// it begins.
    pub(super) fn lease(&mut self, merchant: &MerchantId, pool: Pool, bytes: usize) -> bool {
        let Capacity { slow, leased, bytes: bytes_max, .. } = self.capacity;
        let of = self.merchants.entry(merchant.clone()).or_default();
        let share = of.share(if pool == Pool::Quick { leased } else { slow });
        let (used, all, own) = match pool {
            Pool::Quick => (&mut self.quick_leased, leased, &mut of.quick_leased),
            Pool::Slow => (&mut self.slow, slow, &mut of.slow),
        };
        if *used >= all || *own >= share || self.bytes >= bytes_max {
            return false;
        }
        *used += 1;
        *own += 1;
        self.bytes += bytes;
        true
    }

    /// Whether the merchant has slow capacity left, in case a request turns out to need it.
    pub(super) fn has_slow_place(&self, merchant: &MerchantId) -> bool {
        let share = |of: &OfMerchant| of.slow < of.share(self.capacity.slow);
        self.slow < self.capacity.slow && self.merchants.get(merchant).is_none_or(share)
    }

    /// Takes quick capacity for a request that begins.
    pub(super) fn begin_quick(&mut self, merchant: &MerchantId) -> Result<(), Blocked> {
        let of = self.merchants.entry(merchant.clone()).or_default();
        if of.quick_in_flight >= of.share(self.capacity.quick) {
            return Err(Blocked::Merchant);
        }
        if self.quick_in_flight >= self.capacity.quick {
            return Err(Blocked::Pool);
        }
        self.quick_in_flight += 1;
        of.quick_in_flight += 1;
        Ok(())
    }

    /// Moves a leased delivery from the quick pool to the slow one before it begins, if there is capacity.
    pub(super) fn begin_slow(&mut self, merchant: &MerchantId) -> Result<(), Blocked> {
        let of = self.merchants.entry(merchant.clone()).or_default();
        if self.slow >= self.capacity.slow || of.slow >= of.share(self.capacity.slow) {
            return Err(Blocked::Endpoint);
        }
        self.quick_leased -= 1;
        of.quick_leased -= 1;
        self.slow += 1;
        of.slow += 1;
        Ok(())
    }

    /// Moves a quick request that has become slow. It is already under way, so this always succeeds.
    pub(super) fn turn_slow(&mut self, merchant: &MerchantId) {
        self.quick_in_flight -= 1;
        self.quick_leased -= 1;
        self.slow += 1;
        let of = self.merchants.entry(merchant.clone()).or_default();
        of.quick_in_flight -= 1;
        of.quick_leased -= 1;
        of.slow += 1;
    }

    /// Removes a delivery from its pool: its request has ended, or never began.
    pub(super) fn give_back(&mut self, merchant: &MerchantId, pool: Pool, in_flight: bool) {
        let Some(of) = self.merchants.get_mut(merchant) else { return };
        match pool {
            Pool::Quick => {
                self.quick_leased -= 1;
                of.quick_leased -= 1;
                self.quick_in_flight -= usize::from(in_flight);
                of.quick_in_flight -= usize::from(in_flight);
            }
            Pool::Slow => {
                self.slow -= 1;
                of.slow -= 1;
            }
        }
        if of.quick_leased == 0 && of.slow == 0 {
            self.merchants.remove(merchant);
        }
    }

    /// Notes that a body is no longer held in memory.
    pub(super) fn drop_body(&mut self, bytes: usize) {
        self.bytes -= bytes;
    }

    pub(super) fn may_lease(&self) -> bool {
        self.free() > 0 && self.bytes < self.capacity.bytes
    }

    /// Deliveries that may be leased, of both pools.
    pub(super) fn free(&self) -> usize {
        self.capacity.leased.saturating_sub(self.quick_leased) + self.free_of(Pool::Slow)
    }

    pub(super) fn free_of(&self, pool: Pool) -> usize {
        match pool {
            Pool::Quick => self.capacity.quick.saturating_sub(self.quick_in_flight),
            Pool::Slow => self.capacity.slow.saturating_sub(self.slow),
        }
    }

    /// Whether slow endpoints have to take turns at what is free.
    pub(super) fn slow_is_short(&self) -> bool {
        self.free_of(Pool::Slow) * SLOW_IS_SHORT_BELOW < self.capacity.slow
    }

    /// What a merchant without leases may lease, and what those may lease that hold some or have their own share.
    pub(super) fn of_merchants(&self) -> (usize, BTreeMap<MerchantId, usize>) {
        let all = self.capacity.leased + self.capacity.slow;
        let rest = |of: &OfMerchant| of.share(all).saturating_sub(of.quick_leased + of.slow);
        let less = self.merchants.iter().map(|(id, of)| (id.clone(), rest(of))).collect();
        (OfMerchant::default().share(all), less)
    }
}
