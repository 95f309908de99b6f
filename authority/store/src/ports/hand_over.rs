//! What a job leases to the dispatcher of its own instance (contract 15.9; see [`crate::hand_over`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use authority_domain::id::EndpointId;
use authority_domain::time::Timestamp;

use crate::hand_over::{Desk, HandedOver};

/// The way to the dispatcher.
pub trait HandOver {
    /// What the dispatcher of this instance says; `None` where there is none, and for a job that only reads.
    fn desk(&self) -> Option<Arc<Desk>>;

    /// Says whose job this is, before it runs.
    fn set_desk(&mut self, desk: Option<Arc<Desk>>);

    /// Passes a delivery on whose row this job has leased: after the commit, and not at all when the job is undone.
    fn hand_over(&mut self, delivery: HandedOver);

    /// The endpoints for which this job made or hastened deliveries without asking whether there is room, and the job's
    /// time; once.
    fn take_unasked(&mut self) -> Option<(BTreeMap<EndpointId, usize>, Timestamp)>;
}
