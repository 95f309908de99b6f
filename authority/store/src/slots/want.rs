//! How many deliveries of which endpoints this instance would lease.

use std::collections::BTreeMap;

use authority_domain::endpoint::in_flight_limit::FIRST_LIMIT;
use authority_domain::{EndpointId, MerchantId};

use super::State;
use super::endpoint::Pace;
use super::pools::Pool;

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

impl State {
    /// How much of each known endpoint may be leased. Endpoints that need slow capacity take turns at what is left of
    /// that pool. Otherwise a claim would fill up with their deliveries, which are mostly older, and could not send
    /// any of them.
    pub(super) fn wants(&mut self) -> BTreeMap<EndpointId, Want> {
        let mut slow: Vec<&EndpointId> = Vec::new();
        let mut wants = BTreeMap::new();
        // An endpoint without slots that was not left behind is treated like an unknown one.
        for (id, of) in self.endpoints.iter().filter(|(_, of)| of.own() > 0 || of.behind) {
            let want = of.want();
            // It is slow, or may turn out to be.
            if of.pace != Pace::Quick && want.most > 0 {
                slow.push(id);
            }
            wants.insert(id.clone(), want);
        }
        let places = self.pools.free_of(Pool::Slow);
        if slow.len() > places {
            self.short = true;
            slow.sort_unstable();
            let first = self.turn % slow.len();
            self.turn = first + places;
            let (before, from) = slow.split_at(first);
            for id in from.iter().chain(before).skip(places) {
                if let Some(want) = wants.get_mut(*id) {
                    want.most = 0;
                }
            }
        }
        let each = i64::try_from(places / slow.len().max(1)).unwrap_or(i64::MAX).max(1);
        for id in slow {
            if let Some(want) = wants.get_mut(id) {
                want.most = want.most.min(each);
            }
        }
        wants
    }
}
