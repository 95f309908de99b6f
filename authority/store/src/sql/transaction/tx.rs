//! [`Tx`]: one connection and the state of the job that runs, and the small pieces that statements share.

use std::collections::BTreeSet;
use std::sync::Arc;

use authority_domain::{DeliveryId, EndpointId, MerchantId, Tenant, Timestamp};

use crate::driver::Connection;
use crate::error::{Result, StoreError};
use crate::hand_off::{CommitEffects, DispatchHandle, HandedOff};
use crate::shards::ShardSet;
use crate::sql::transaction::write_buffer::BufferedConnection;

/// What a job can reach, inside its transaction; for a job that reads, without one. Its methods are declared beside the
/// SQL of what they are about.
///
/// Every method on tenant data takes the [`Tenant`](authority_domain::tenant::Tenant); methods without one belong to
/// the operator side, to authentication or to the dispatcher, which act for all tenants.
///
/// `*_put` writes one version of a record: version 1 inserts it, a later one replaces the version before it. They are
/// called by [`crate::commit`] alone, which writes the events from the same list.
#[derive(Debug)]
pub struct Tx {
    pub(crate) conn: BufferedConnection,
    pub(crate) job: JobState,
}

/// A record that a job wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The record's id.
    pub resource_id: String,
    /// Its merchant; `None` for the operator's own records.
    pub merchant_id: Option<MerchantId>,
    /// Its mode; `None` for a record without one.
    pub livemode: Option<bool>,
    /// Its version before; `None` when it was made or has no versions.
    pub before: Option<i64>,
    /// Its version after; `None` when it has no versions.
    pub after: Option<i64>,
}

impl Written {
    /// A record of this tenant; what is the operator's has neither merchant nor mode.
    pub(crate) fn of(tenant: &Tenant, resource_id: &str, before: Option<i64>, after: Option<i64>) -> Self {
        let of_merchant = !tenant.is_operator();
        Self {
            resource_id: resource_id.to_owned(),
            merchant_id: of_merchant.then(|| tenant.merchant_id.clone()),
            livemode: of_merchant.then_some(tenant.livemode),
            before,
            after,
        }
    }
}

/// What a job has noted beside its rows.
#[derive(Debug, Default)]
pub(crate) struct JobState {
    /// The effects to publish after the commit and not before.
    pub(crate) effects: CommitEffects,
    /// What the job wrote, for the audit log.
    pub(crate) written: Vec<Written>,
    /// The dispatcher of this instance.
    pub(crate) dispatch: Option<Arc<DispatchHandle>>,
    /// Endpoints with due deliveries of this job whose capacity has not been checked yet, and the job's time.
    pub(crate) unasked: Option<(BTreeSet<EndpointId>, Timestamp)>,
    /// Deliveries that go as probes if their endpoints are held back.
    pub(crate) probes: Vec<(DeliveryId, EndpointId, Timestamp)>,
    /// The record that the job is about to make, and the idempotency key and fingerprint that are kept with it.
    pub(crate) kept_key: Option<(String, (String, [u8; 32]))>,
    /// Turns that the job demanded and the transaction does not hold.
    missing: ShardSet,
}

impl JobState {
    /// That of a job which may lease deliveries to this dispatcher.
    pub(crate) fn with(dispatch: Option<Arc<DispatchHandle>>) -> Self {
        Self { dispatch, ..Self::default() }
    }
}

impl<C: Into<Connection>> From<C> for Tx {
    fn from(conn: C) -> Self {
        Self { conn: conn.into().into(), job: JobState::default() }
    }
}

impl Tx {
    /// The dispatch handle of this instance; `None` without a dispatcher, and for a job that only reads.
    pub fn dispatch(&self) -> Option<Arc<DispatchHandle>> {
        self.job.dispatch.clone()
    }

    /// Hands off a delivery whose row this job has leased: after the commit, and not at all when the job is undone.
    pub fn hand_off(&mut self, delivery: HandedOff) {
        self.job.effects.handed_off.push(delivery);
    }

    /// Requests this delivery now: if its endpoint is held back, it goes as the probe (contract 18.4-6).
    pub fn probe(&mut self, delivery: &DeliveryId, endpoint: &EndpointId, now: Timestamp) {
        self.job.probes.push((delivery.clone(), endpoint.clone(), now));
    }

    /// Whether the transaction holds the turn of this merchant. A job that only reads needs no turns and holds all.
    pub fn holds(&self, merchant: &MerchantId) -> bool {
        self.conn.held().contains(ShardSet::of(merchant))
    }

    /// Demands the turns of these shards.
    ///
    /// # Errors
    /// [`StoreError::TurnMissing`] when the transaction does not hold them all. The job then ends, whatever it returns,
    /// and runs again with them.
    pub fn need_turns(&mut self, shards: ShardSet) -> Result<()> {
        let missing = shards.without(self.conn.held());
        self.job.missing = self.job.missing.or(missing);
        if missing.is_empty() { Ok(()) } else { Err(StoreError::TurnMissing) }
    }

    /// The turns that were demanded in vain.
    pub(crate) fn missing_turns(&self) -> Option<ShardSet> {
        (!self.job.missing.is_empty()).then_some(self.job.missing)
    }

    /// The idempotency key and fingerprint that are kept with this record.
    pub(crate) fn take_key_of(&mut self, record: &str) -> Option<(String, [u8; 32])> {
        self.job.kept_key.take_if(|(id, _)| id == record).map(|(_, key)| key)
    }

    /// Recalls the deliveries in the dispatcher's queue for this endpoint: they were leased for the endpoint as it
    /// was before the change.
    pub(crate) fn recall(&mut self, endpoint: &EndpointId) {
        if self.job.dispatch.is_some() {
            self.job.effects.recalled.push(endpoint.clone());
        }
    }

    /// Notes a due delivery to this endpoint that nobody holds, either for lack of capacity or because capacity has
    /// not been checked.
    pub(crate) fn leave_behind(&mut self, endpoint: &EndpointId) {
        if let Some(dispatch) = &self.job.dispatch {
            dispatch.slots.leave_behind(endpoint);
            self.job.effects.left_behind.push(endpoint.clone());
        }
    }

    /// The same where there may be capacity: the delivery is claimed at the end of the job.
    pub(crate) fn ask_for_room(&mut self, endpoint: &EndpointId, now: Timestamp) {
        self.leave_behind(endpoint);
        if self.job.dispatch.is_some() {
            let (endpoints, at) = self.job.unasked.get_or_insert_with(|| (BTreeSet::new(), now));
            endpoints.insert(endpoint.clone());
            *at = now;
        }
    }
}
