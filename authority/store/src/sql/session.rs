//! The base of the ports of every database: one connection, and the small pieces that statements share.

use std::collections::BTreeSet;
use std::sync::Arc;

use authority_domain::id::{DeliveryId, EndpointId, MerchantId};
use authority_domain::time::Timestamp;

use super::DbConnection;
use crate::StoreError;
use crate::hand_off::{DispatchHandle, HandedOff};
use crate::job::CommitEffects;
use crate::ports::{HandOff, TurnHolder, Written};
use crate::shards::ShardSet;

/// The ports over one connection: inside a transaction for jobs that write, without one for jobs that read.
pub(crate) struct Session<'c> {
    pub(crate) conn: &'c mut DbConnection,
    /// The effects to publish after the commit and not before.
    pub(crate) effects: CommitEffects,
    /// What the job wrote, for the audit log.
    pub(crate) written: Vec<Written>,
    /// The dispatcher of this instance.
    pub(super) dispatch: Option<Arc<DispatchHandle>>,
    /// Endpoints with due deliveries of this job whose capacity has not been checked yet, and the job's time.
    unasked: Option<(BTreeSet<EndpointId>, Timestamp)>,
    /// Deliveries that go as probes if their endpoints are held back.
    probes: Vec<(DeliveryId, EndpointId, Timestamp)>,
    /// The record that the job is about to make, and the idempotency key and fingerprint that are kept with it.
    kept_key: Option<(String, (String, [u8; 32]))>,
    /// Turns that the job demanded and the transaction does not hold.
    missing: ShardSet,
}

impl<'c> Session<'c> {
    pub(crate) fn new(conn: &'c mut DbConnection) -> Self {
        Self {
            conn,
            effects: CommitEffects::default(),
            written: Vec::new(),
            dispatch: None,
            unasked: None,
            probes: Vec::new(),
            kept_key: None,
            missing: ShardSet::NONE,
        }
    }
}

impl HandOff for Session<'_> {
    fn dispatch(&self) -> Option<Arc<DispatchHandle>> {
        self.dispatch.clone()
    }

    fn set_dispatch(&mut self, dispatch: Option<Arc<DispatchHandle>>) {
        self.dispatch = dispatch;
    }

    fn hand_off(&mut self, delivery: HandedOff) {
        self.effects.handed_off.push(delivery);
    }

    fn not_left_behind(&mut self, endpoints: &BTreeSet<EndpointId>) {
        self.effects.left_behind.retain(|endpoint| !endpoints.contains(endpoint));
    }

    fn probe(&mut self, delivery: &DeliveryId, endpoint: &EndpointId, now: Timestamp) {
        self.probes.push((delivery.clone(), endpoint.clone(), now));
    }

    fn take_probes(&mut self) -> Vec<(DeliveryId, EndpointId, Timestamp)> {
        std::mem::take(&mut self.probes)
    }

    fn take_unasked(&mut self) -> Option<(BTreeSet<EndpointId>, Timestamp)> {
        self.unasked.take()
    }
}

impl TurnHolder for Session<'_> {
    fn holds(&self, merchant: &MerchantId) -> bool {
        self.conn.held().contains(ShardSet::of(merchant))
    }

    fn need_turns(&mut self, shards: ShardSet) -> Result<(), StoreError> {
        let missing = shards.without(self.conn.held());
        self.missing = self.missing.or(missing);
        if missing.is_empty() { Ok(()) } else { Err(StoreError::TurnMissing) }
    }

    fn missing_turns(&self) -> Option<ShardSet> {
        (!self.missing.is_empty()).then_some(self.missing)
    }
}

impl Session<'_> {
    /// Notes the key to be kept with a record that is not written yet.
    pub(super) fn keep_key(&mut self, record: &str, key: &str, fingerprint: &[u8; 32]) {
        self.kept_key = Some((record.to_owned(), (key.to_owned(), *fingerprint)));
    }

    /// The idempotency key and fingerprint that are kept with this record.
    pub(super) fn take_key_of(&mut self, record: &str) -> Option<(String, [u8; 32])> {
        self.kept_key.take_if(|(id, _)| id == record).map(|(_, key)| key)
    }

    /// Recalls the deliveries in the dispatcher's queue for this endpoint: they were leased for the endpoint as it
    /// was before the change.
    pub(super) fn recall(&mut self, endpoint: &EndpointId) {
        if self.dispatch.is_some() {
            self.effects.recalled.push(endpoint.clone());
        }
    }

    /// Notes a due delivery to this endpoint that nobody holds, either for lack of capacity or because capacity has
    /// not been checked.
    pub(super) fn leave_behind(&mut self, endpoint: &EndpointId) {
        if let Some(dispatch) = &self.dispatch {
            dispatch.slots.leave_behind(endpoint);
            self.effects.left_behind.push(endpoint.clone());
        }
    }

    /// The same where there may be capacity: the delivery is claimed at the end of the job.
    pub(super) fn ask_for_room(&mut self, endpoint: &EndpointId, now: Timestamp) {
        self.leave_behind(endpoint);
        if self.dispatch.is_some() {
            let (endpoints, at) = self.unasked.get_or_insert_with(|| (BTreeSet::new(), now));
            endpoints.insert(endpoint.clone());
            *at = now;
        }
    }
}

/// Checks a write that must touch one row. If it touched none, the previous version is not the one that was read, or
/// the row is another tenant's, and the transaction cannot continue.
pub(super) fn one_row(touched: u64, what: &str) -> Result<(), StoreError> {
    if touched == 1 {
        Ok(())
    } else {
        Err(StoreError::Broken(format!("the {what}: expected one row, found a version or tenant mismatch")))
    }
}
