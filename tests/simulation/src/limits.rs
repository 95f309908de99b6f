//! What one dispatcher may have in flight to one endpoint, by what its answers have shown (contract 18.4-8).
//!
//! The judge does not know what the limit is, only the most that it can be: a refusal halves it, a success adds one. A
//! request that began before the halving belongs to the same refusal.

use std::collections::BTreeMap;

use crate::model::endpoint::CAP;
use crate::model::schedule;
use crate::network::Call;
use crate::receiver::Reply;

/// A request whose answer has not come.
#[derive(Clone, Debug)]
pub(crate) struct UnderWay {
    pub(crate) delivery: String,
    pub(crate) endpoint: String,
    /// Where it went.
    pub(crate) url: String,
    /// The place of its instance.
    pub(crate) place: usize,
    /// Its dispatcher, which no other one is called.
    pub(crate) dispatcher: u64,
    /// When it began, in elapsed time.
    pub(crate) began: i64,
}

/// Requests without an answer.
pub(crate) type Calls = BTreeMap<Call, UnderWay>;

/// A limit that was halved.
#[derive(Clone, Copy, Debug)]
struct Limit {
    most: i64,
    /// In elapsed time.
    halved_at: i64,
}

/// The limits that were halved, by dispatcher and endpoint.
#[derive(Debug, Default)]
pub(crate) struct Limits(BTreeMap<(u64, String), Limit>);

impl Limits {
    /// The answer to `call` reached its dispatcher at `elapsed`.
    pub(crate) fn ended(&mut self, call: &UnderWay, reply: &Reply, elapsed: i64) {
        let key = (call.dispatcher, call.endpoint.clone());
        if schedule::is_success(reply) {
            if let Some(limit) = self.0.get_mut(&key) {
                limit.most = (limit.most + 1).min(CAP);
            }
        } else if schedule::holds_back(reply) {
            let limit = self.0.entry(key).or_insert(Limit { most: CAP, halved_at: i64::MIN });
            if call.began >= limit.halved_at {
                *limit = Limit { most: (limit.most / 2).max(1), halved_at: elapsed };
            }
        }
    }

    /// The most that the dispatcher may have to the endpoint when a request arrives at `elapsed`; `None` when it was
    /// halved at this very moment: what arrives may have begun before.
    pub(crate) fn most(&self, dispatcher: u64, endpoint: &str, elapsed: i64) -> Option<i64> {
        let limit = self.0.get(&(dispatcher, endpoint.to_owned()));
        limit.map_or(Some(CAP), |limit| (limit.halved_at < elapsed).then_some(limit.most))
    }

    /// Somebody changed the endpoint: there may be another receiver behind it.
    pub(crate) fn forget(&mut self, endpoint: &str) {
        self.0.retain(|(_, of), _| of != endpoint);
    }
}
