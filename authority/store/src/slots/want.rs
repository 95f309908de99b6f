//! How many deliveries of which endpoints this instance would lease, and within which bounds.

use std::collections::BTreeMap;

use authority_domain::endpoint::in_flight_limit::FIRST_LIMIT;
use authority_domain::{EndpointId, MerchantId};

/// How much more of an endpoint's deliveries this instance would lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want {
    /// The most that this instance would lease by its own limits.
    pub most: i64,
    /// How many it would lease beyond what other instances leave of the endpoint's `max_in_flight`; negative when
    /// this instance already holds that many.
    pub beyond: i64,
}

impl Default for Want {
    /// For an endpoint that this instance knows nothing of.
    fn default() -> Self {
        Self { most: i64::from(FIRST_LIMIT), beyond: 0 }
    }
}

/// What a claim may lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Free {
    /// Deliveries in all.
    pub slots: usize,
    /// The most that one merchant may have of them.
    pub each: usize,
    /// The merchants that may have less, because they hold some.
    pub less: BTreeMap<MerchantId, usize>,
    /// What this instance wants of each known endpoint.
    pub endpoints: BTreeMap<EndpointId, Want>,
}

/// How many requests an endpoint may have in flight, as it was when one of its deliveries was leased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// A hold or its health bounds it ([`authority_domain::endpoint::hold::cap`]): leased deliveries may begin at
    /// once.
    pub capped: bool,
    /// Its `max_in_flight`.
    pub max_in_flight: i64,
    /// How much of that other instances leave.
    pub ceiling: i64,
    /// Its merchant's share of each instance's capacity, in percent; `None` for the default.
    pub share_percent: Option<i64>,
}

/// A count as SQL has it.
pub(crate) fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
