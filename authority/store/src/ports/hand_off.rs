//! What a job leases to the dispatcher of its own instance (contract 15.9; see [`crate::hand_off`]).

use std::collections::BTreeSet;
use std::sync::Arc;

use authority_domain::id::{DeliveryId, EndpointId};
use authority_domain::time::Timestamp;

use crate::hand_off::{DispatchHandle, HandedOff};

/// The connection of a job to the dispatcher.
pub trait HandOff {
    /// The dispatch handle of this instance; `None` without a dispatcher, and for a job that only reads.
    fn dispatch(&self) -> Option<Arc<DispatchHandle>>;

    /// Sets the dispatch handle of the job, before it runs.
    fn set_dispatch(&mut self, dispatch: Option<Arc<DispatchHandle>>);

    /// Hands off a delivery whose row this job has leased: after the commit, and not at all when the job is undone.
    fn hand_off(&mut self, delivery: HandedOff);

    /// Notes that a claim of this job has found no more due deliveries to these endpoints.
    fn not_left_behind(&mut self, endpoints: &BTreeSet<EndpointId>);

    /// Requests this delivery now: if its endpoint is held back, it goes as the probe (contract 18.4-6).
    fn probe(&mut self, delivery: &DeliveryId, endpoint: &EndpointId, now: Timestamp);

    /// Takes the deliveries that were requested as probes; a second call returns none.
    fn take_probes(&mut self) -> Vec<(DeliveryId, EndpointId, Timestamp)>;

    /// Takes the endpoints for which this job made or hastened deliveries without checking capacity, and the job's
    /// time; a second call returns none.
    fn take_unasked(&mut self) -> Option<(BTreeSet<EndpointId>, Timestamp)>;
}
