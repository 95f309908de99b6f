//! What a job leases to the dispatcher of its own instance (contract 15.9; see [`crate::hand_off`]).

use std::collections::BTreeSet;
use std::sync::Arc;

use authority_domain::id::{DeliveryId, EndpointId};
use authority_domain::time::Timestamp;

use crate::hand_off::{DispatchHandle, HandedOff};

/// The way to the dispatcher.
pub trait HandOff {
    /// What the dispatcher of this instance says; `None` where there is none, and for a job that only reads.
    fn desk(&self) -> Option<Arc<DispatchHandle>>;

    /// Says whose job this is, before it runs.
    fn set_desk(&mut self, desk: Option<Arc<DispatchHandle>>);

    /// Passes a delivery on whose row this job has leased: after the commit, and not at all when the job is undone.
    fn hand_off(&mut self, delivery: HandedOff);

    /// Somebody has asked for this delivery now: where its endpoint is held back, it goes as the probe (contract 18.4-6).
    fn probe(&mut self, delivery: &DeliveryId, endpoint: &EndpointId, now: Timestamp);

    /// Those deliveries; once.
    fn take_probes(&mut self) -> Vec<(DeliveryId, EndpointId, Timestamp)>;

    /// The endpoints for which this job made or hastened deliveries without asking whether there is room, and the job's
    /// time; once.
    fn take_unasked(&mut self) -> Option<(BTreeSet<EndpointId>, Timestamp)>;
}
