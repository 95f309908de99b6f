//! An endpoint as the model believes it to be: who signs, who may send how much, and what attempts make of its health
//! (contract 4.10, 7.4, 7.5, 15.6).

use std::collections::BTreeSet;

use super::delivery::Reason;
use super::schedule;
use crate::receiver::Reply;

/// Requests in flight to one endpoint; the dispatchers are told the same.
pub(crate) const CAP: i64 = 3;

const HOUR_MS: i64 = 3_600_000;
/// Failures in a row that make an endpoint `degraded`.
const DEGRADED_AFTER: i64 = 5;
/// Failures that, with a day, make it `failing`, and with five days disable it.
const FAILING_AFTER: i64 = 10;
const FAILING_AFTER_MS: i64 = 24 * HOUR_MS;
const DISABLED_AFTER_MS: i64 = 120 * HOUR_MS;
/// Different events among the failures of an endpoint that is disabled.
const DISABLED_AFTER_EVENTS: usize = 3;
/// Housekeeping comes by once a minute; a clock may step meanwhile.
pub(crate) const LOOKED_AT_BY_THEN_MS: i64 = 120_000;
/// The longest hold.
const HOLD_MOST_MS: i64 = 300_000;

/// A signing secret.
#[derive(Clone, Debug)]
pub(crate) struct Secret {
    pub(crate) text: String,
    /// The first moment at which it does not sign; `None` for the newest.
    pub(crate) until: Option<i64>,
}

/// How far it is held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) until: Option<i64>,
    pub(crate) step: i64,
    /// What began before says nothing new.
    pub(crate) since: Option<i64>,
    /// The receiver named the time.
    pub(crate) asked: bool,
    /// Successes since it ended: 2, 4, then 8 requests at a time; 0 when nothing is to be given back.
    pub(crate) regained: u32,
}

/// An endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) merchant: usize,
    pub(crate) url: String,
    pub(crate) filters: Vec<&'static str>,
    /// Why it is disabled, in the contract's word; `None` when it is enabled.
    pub(crate) disabled: Option<&'static str>,
    /// It was not its merchant's backend that disabled it: an alert says so.
    pub(crate) told: bool,
    pub(crate) deleted: bool,
    /// Newest first.
    pub(crate) secrets: Vec<Secret>,
    pub(crate) failures: i64,
    pub(crate) first_failure: Option<i64>,
    pub(crate) last_failure: Option<i64>,
    pub(crate) last_success: Option<i64>,
    /// It was seen to be failing; only a success ends that.
    pub(crate) known_failing: bool,
    /// Different events that failed since the last success.
    pub(crate) failed_events: BTreeSet<String>,
    /// Something succeeded since it was made or enabled.
    pub(crate) tried: bool,
    pub(crate) hold: Hold,
    /// A delivery was asked for while it was held back.
    pub(crate) probe_asked: bool,
    /// When its health, hold or status last changed, in elapsed time: what was taken at that very moment may not have
    /// known.
    pub(crate) changed: i64,
    /// Since when, in elapsed time, something due waits although nothing holds it back.
    pub(crate) neglected_since: Option<i64>,
}

impl Endpoint {
    /// A fresh one.
    pub(crate) fn new(merchant: usize, url: String, filters: Vec<&'static str>, secret: String) -> Self {
        Self {
            merchant,
            url,
            filters,
            disabled: None,
            told: false,
            deleted: false,
            secrets: vec![Secret { text: secret, until: None }],
            failures: 0,
            first_failure: None,
            last_failure: None,
            last_success: None,
            known_failing: false,
            failed_events: BTreeSet::new(),
            tried: false,
            hold: Hold::default(),
            probe_asked: false,
            changed: i64::MIN,
            neglected_since: None,
        }
    }

    /// Whether deliveries are made and sent.
    pub(crate) fn enabled(&self) -> bool {
        self.disabled.is_none() && !self.deleted
    }

    /// Why what waits for it is cancelled.
    pub(crate) fn reason_to_cancel(&self) -> Reason {
        if self.deleted { Reason::Deleted } else { Reason::Disabled }
    }

    /// Whether an event of this type goes to it.
    pub(crate) fn wants(&self, event_type: &str) -> bool {
        self.filters.iter().any(|filter| {
            *filter == "*"
                || *filter == event_type
                || filter
                    .strip_suffix(".*")
                    .is_some_and(|category| event_type.split('.').next() == Some(category))
        })
    }

    /// The secrets that sign at `wall`, newest first.
    pub(crate) fn signing(&self, wall: i64) -> Vec<&str> {
        let valid = self.secrets.iter().filter(|secret| secret.until.is_none_or(|until| until > wall));
        valid.map(|secret| secret.text.as_str()).collect()
    }

    /// Requests that it may have at a time at `wall`, at the least and at the most: time alone makes it failing, and
    /// whoever looks at the time looks once a minute.
    pub(crate) fn cap(&self, wall: i64) -> (i64, i64) {
        if self.hold.until.is_some_and(|until| until > wall) {
            (0, 0)
        } else if self.hold.step > 0
            || self.known_failing
            || self.failing_since(wall).is_some_and(|ms| ms >= LOOKED_AT_BY_THEN_MS)
        {
            (1, 1)
        } else if self.hold.regained > 0 {
            (1, CAP.min(1 << self.hold.regained))
        } else if self.failing_since(wall).is_some() {
            (1, CAP)
        } else {
            (CAP, CAP)
        }
    }

    /// For how long it has been true at `wall` that a day and ten failures have passed.
    fn failing_since(&self, wall: i64) -> Option<i64> {
        let enough = self.failures >= FAILING_AFTER;
        self.first_failure.filter(|_| enough).map(|at| wall - at - FAILING_AFTER_MS).filter(|ms| *ms >= 0)
    }

    /// The states of health that it may be in at `wall`.
    pub(crate) fn may_be(&self, wall: i64) -> &'static [&'static str] {
        match (self.failing_since(wall), self.failures) {
            _ if self.known_failing => &["failing"],
            (Some(LOOKED_AT_BY_THEN_MS..), _) => &["failing"],
            (Some(_), _) => &["degraded", "failing"],
            (None, DEGRADED_AFTER..) => &["degraded"],
            (None, _) if self.tried => &["healthy"],
            // Before anything has succeeded, a few failures leave it as it was.
            _ => &["unknown"],
        }
    }

    /// The time, by the wall, from which failing for so long disables it; `None` when other conditions are missing.
    pub(crate) fn disabled_from(&self) -> Option<i64> {
        let enough = self.failures >= FAILING_AFTER && self.failed_events.len() >= DISABLED_AFTER_EVENTS;
        self.first_failure.filter(|_| enough && self.enabled()).map(|at| at + DISABLED_AFTER_MS)
    }

    /// The outcome of an attempt that began at `started` and ended at `ended` counted. The clock may have stepped: of
    /// two outcomes the one that ended later, by the wall, is the newer.
    pub(crate) fn note(&mut self, event: &str, reply: &Reply, started: i64, ended: i64) {
        if schedule::is_success(reply) {
            self.note_success(started, ended);
        } else {
            self.note_failure(event, reply, started, ended);
        }
    }

    fn note_success(&mut self, started: i64, ended: i64) {
        let is_the_newest = self.last_success.is_none_or(|last| last <= ended);
        self.last_success = self.last_success.max(Some(ended));
        self.lift(started, ended);
        if !is_the_newest || self.first_failure.is_some_and(|first| first > ended) {
            return;
        }
        self.tried = true;
        self.failed_events.clear();
        let newer_failure = self.last_failure.filter(|last| *last > ended);
        self.first_failure = newer_failure;
        self.failures = i64::from(newer_failure.is_some());
        self.known_failing = false;
    }

    fn note_failure(&mut self, event: &str, reply: &Reply, started: i64, ended: i64) {
        self.last_failure = self.last_failure.max(Some(ended));
        if self.last_success.is_some_and(|last| last > ended) {
            return;
        }
        self.failures += 1;
        self.first_failure = Some(self.first_failure.map_or(ended, |first| first.min(ended)));
        self.failed_events.insert(event.to_owned());
        self.lengthen_hold(reply, started, ended);
    }

    /// Contract 18.4-5. A success that began under the hold ends it, and gives requests back one success at a time;
    /// one that was in flight when it began ends it at once, unless the receiver had named a time.
    fn lift(&mut self, started: i64, ended: i64) {
        let began_since = self.hold.since.is_none_or(|since| since <= started);
        let ended_since = self.hold.since.is_none_or(|since| since <= ended);
        if self.hold.step > 0 && began_since {
            self.hold = Hold { since: self.hold.since, regained: 1, ..Hold::default() };
        } else if self.hold.step > 0 && ended_since && !self.hold.asked {
            self.hold = Hold::default();
        } else if self.hold.regained > 0 && began_since {
            self.hold.regained += 1;
            if self.hold.regained == 4 {
                self.hold = Hold::default();
            }
        }
    }

    /// Contract 15.6. What was in flight when the hold began adds nothing but what it asks for; what the receiver
    /// asks for takes the place of the doubled time, and of any time when the request was asked for during the hold.
    fn lengthen_hold(&mut self, reply: &Reply, started: i64, ended: i64) {
        if !schedule::holds_back(reply) {
            return;
        }
        let asked = schedule::asked_ms(reply, ended);
        let from_before_the_change =
            self.hold.step == 0 && self.hold.since.is_some_and(|since| started < since);
        if self.hold.until.is_some_and(|until| started < until) {
            let was_in_flight = self.hold.since.is_none_or(|since| started <= since);
            let until = asked.map(|ms| ended + ms);
            if until > self.hold.until || (!was_in_flight && asked > Some(0)) {
                (self.hold.until, self.hold.asked) = (until, true);
            }
        } else if !from_before_the_change && asked != Some(0) {
            self.hold.step += 1;
            let doubled = (1_000_i64 << (self.hold.step - 1).min(20)).min(HOLD_MOST_MS);
            self.hold.until = Some(ended + asked.unwrap_or(doubled));
            self.hold.since = Some(ended);
            (self.hold.asked, self.hold.regained) = (asked.is_some(), 0);
        }
    }

    /// It begins anew: somebody enabled it.
    pub(crate) fn forget_failures(&mut self, now: i64) {
        self.failures = 0;
        self.first_failure = None;
        self.failed_events.clear();
        self.tried = false;
        self.known_failing = false;
        self.lift_hold(now);
    }

    /// There is another receiver now: it begins without a hold.
    pub(crate) fn lift_hold(&mut self, now: i64) {
        self.hold = Hold { since: Some(now), ..Hold::default() };
    }

    /// A rotation at `now`.
    pub(crate) fn rotate(&mut self, secret: String, overlap_ms: i64, now: i64) {
        self.secrets.truncate(1);
        if let Some(newest) = self.secrets.first_mut() {
            newest.until = Some(now + overlap_ms);
        }
        if overlap_ms == 0 {
            self.secrets.clear();
        }
        self.secrets.insert(0, Secret { text: secret, until: None });
    }

    /// Whether two secrets are valid at `now`.
    pub(crate) fn overlap_open(&self, now: i64) -> bool {
        self.signing(now).len() > 1
    }

    /// The overlap ends.
    pub(crate) fn retire(&mut self) {
        self.secrets.truncate(1);
    }
}
