//! What a batch of attempts writes: the outcomes, the conditions of the endpoints, which endpoints are disabled, and
//! the alerts that open and close (contract 2.12, 7.5, 15.6).
//!
//! Everything is decided from the batch and what the store answers, in one transaction. Only attempts that this
//! transaction settles count. So nothing counts twice when a batch is tried again because the result of its commit
//! is unknown.

use std::collections::{BTreeMap, BTreeSet};

use authority_domain::alert::NewAlert;
use authority_domain::delivery::outcome::{OutcomeClass, ReceiverWish};
use authority_domain::endpoint::alerts::{OVER_WITH_ITS_ENDPOINT, Said, disabled};
use authority_domain::endpoint::condition::{DisablePolicy, EndedAttempt};
use authority_domain::endpoint::hold::Hold;
use authority_domain::integration_health::RECENT_MS;
use authority_domain::{
    AlertId, AttemptId, AttemptOutcome, DisabledReason, EndpointId, EndpointStatus, EventId, FailureReason,
    MerchantId, Timestamp,
};
use authority_store::StoreError;
use authority_store::tx::{ConditionOf, SettledAs, Settlement, Tx};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::settle::SentAttempt;
use super::symptoms::Symptoms;

/// The most waiting deliveries that are cancelled in the transaction that disables their endpoint; housekeeping
/// cancels the rest. A longer transaction would delay every other write.
const CANCELLED_AT_ONCE: i64 = 1_000;

/// What a batch writes.
pub(super) struct Verdict {
    settlements: Vec<Settlement>,
    attempts: BTreeMap<EndpointId, Vec<Attempted>>,
    /// The merchants of the endpoints.
    merchants: BTreeMap<EndpointId, MerchantId>,
    policy: DisablePolicy,
    /// Seeds the ids of alerts, so that they are the same when the batch is tried again.
    seed: [u8; 32],
}

/// What one attempt says about its endpoint.
pub(super) struct Attempted {
    id: AttemptId,
    event_id: EventId,
    started_at: Timestamp,
    ended_at: Timestamp,
    pub(super) outcome: AttemptOutcome,
    pub(super) class: OutcomeClass,
    pub(super) status: Option<u16>,
    retry_after_ms: Option<u64>,
    pub(super) wish: Option<ReceiverWish>,
    /// Where it went.
    pub(super) url: String,
    /// Its delivery is a replay or part of a recovery.
    pub(super) catching_up: bool,
    /// By its schedule its delivery gets no further attempt.
    given_up: bool,
}

/// What a batch means for one endpoint.
struct EndpointVerdict {
    of: ConditionOf,
    symptoms: Symptoms,
    /// When the last attempt of the batch ended.
    at: Timestamp,
    disable: Option<DisabledReason>,
}

impl Verdict {
    pub(super) fn new(policy: DisablePolicy, dice: &mut StdRng) -> Self {
        let mut seed = [0; 32];
        dice.fill_bytes(&mut seed);
        let (settlements, attempts, merchants) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Self { settlements, attempts, merchants, policy, seed }
    }

    pub(super) fn add(&mut self, finished: &SentAttempt, class: OutcomeClass, settlement: Settlement) {
        let delivery = &finished.delivery;
        self.merchants.insert(delivery.endpoint_id.clone(), delivery.merchant_id.clone());
        let attempts = self.attempts.entry(delivery.endpoint_id.clone()).or_default();
        attempts.push(Attempted::new(finished, class, &settlement));
        // In the order in which they ended; those that ended at the same time, in the order in which they were
        // reported.
        attempts.sort_by_key(|attempt| attempt.ended_at);
        self.settlements.push(settlement);
    }

    /// Writes everything about the endpoints whose turns the transaction holds. Returns these endpoints, and how they
    /// are held back now.
    pub(super) async fn write(
        &self,
        tx: &mut Tx,
        now: Timestamp,
    ) -> Result<(BTreeSet<EndpointId>, BTreeMap<EndpointId, Hold>), StoreError> {
        let done: BTreeSet<EndpointId> = self
            .merchants
            .iter()
            .filter(|(_, merchant)| tx.holds(merchant))
            .map(|(id, _)| id.clone())
            .collect();
        let settlements: Vec<&Settlement> =
            self.settlements.iter().filter(|settlement| done.contains(&settlement.endpoint_id)).collect();
        let settled = tx.delivery_settle(&settlements, now).await?;
        let settled: BTreeMap<AttemptId, bool> =
            settled.into_iter().map(|of| (of.attempt_id, of.retry_asked)).collect();
        let mut touched: BTreeMap<&EndpointId, Vec<(&Attempted, bool)>> = BTreeMap::new();
        for (id, attempts) in &self.attempts {
            let counting: Vec<(&Attempted, bool)> = attempts
                .iter()
                .filter_map(|attempt| {
                    // A delivery for which a retry was asked has not failed.
                    let retry_asked = settled.get(&attempt.id)?;
                    Some((attempt, attempt.given_up && !retry_asked))
                })
                .collect();
            if !counting.is_empty() {
                touched.insert(id, counting);
            }
        }
        let ids: Vec<EndpointId> = touched.keys().map(|id| (*id).clone()).collect();
        let mut judged = Vec::with_capacity(ids.len());
        for of in tx.conditions(&ids).await? {
            if let Some(attempts) = touched.get(&of.endpoint_id) {
                judged.push(EndpointVerdict::new(of, attempts, self.policy));
            }
        }
        let conditions: Vec<ConditionOf> = judged.iter().map(|judged| judged.of.clone()).collect();
        tx.conditions_put(&conditions).await?;
        self.act(tx, &judged).await?;
        let holds = judged.into_iter().map(|judged| (judged.of.endpoint_id, judged.of.condition.hold));
        Ok((done, holds.collect()))
    }

    /// Disables the endpoints that the batch says are to be disabled, and opens and closes alerts.
    async fn act(&self, tx: &mut Tx, judged: &[EndpointVerdict]) -> Result<(), StoreError> {
        let mut dice = StdRng::from_seed(self.seed);
        let mut closing = BTreeMap::new();
        for one in judged {
            let (id, at) = (&one.of.endpoint_id, one.at);
            let said = one.disable(tx, self.policy).await?;
            if one.of.deleted {
                continue;
            }
            let ended = said.is_some();
            for (code, severity, message) in one.raised(ended).into_iter().chain(said) {
                let alert_id = AlertId::generate(at, &mut dice);
                let alert = NewAlert { id: alert_id, code, severity, subject: id.to_string(), message };
                tx.alert_raise(Some(&one.of.tenant), &alert, at).await?;
            }
            if one.symptoms.caught_up {
                tx.alert_close_delivered(id, at.plus_ms(-RECENT_MS), at).await?;
            }
            let codes = if ended {
                OVER_WITH_ITS_ENDPOINT.to_vec()
            } else if one.of.alerted {
                one.symptoms.closed(&one.of.condition.health)
            } else {
                Vec::new()
            };
            if !codes.is_empty() {
                let (ids, latest) = closing.entry(codes).or_insert_with(|| (Vec::new(), at));
                ids.push(id.clone());
                *latest = at.max(*latest);
            }
        }
        for (codes, (ids, at)) in &closing {
            tx.alerts_close_about(ids, codes, *at).await?;
        }
        Ok(())
    }
}

impl Attempted {
    fn new(finished: &SentAttempt, class: OutcomeClass, settlement: &Settlement) -> Self {
        let (delivery, report) = (&finished.delivery, &finished.report);
        Self {
            id: settlement.attempt_id.clone(),
            event_id: delivery.event_id.clone(),
            started_at: finished.started_at,
            ended_at: finished.finished_at,
            outcome: report.outcome,
            class,
            status: report.status,
            retry_after_ms: report.retry_after_ms,
            wish: report.wish,
            url: delivery.url.clone(),
            catching_up: matches!(delivery.trigger.as_str(), "replay" | "recovery"),
            given_up: matches!(settlement.settled_as, SettledAs::Failed { .. }),
        }
    }
}

impl EndpointVerdict {
    fn new(mut of: ConditionOf, attempts: &[(&Attempted, bool)], policy: DisablePolicy) -> Self {
        let mut symptoms = Symptoms::default();
        for (attempt, given_up) in attempts {
            of.condition.note(&EndedAttempt {
                event_id: &attempt.event_id,
                started_at: attempt.started_at,
                ended_at: attempt.ended_at,
                outcome: attempt.outcome,
                status: attempt.status,
                retry_after_ms: attempt.retry_after_ms,
            });
            symptoms.note(attempt, &of.url, *given_up);
        }
        let at = attempts.last().map_or(Timestamp::from_ms(0), |(attempt, _)| attempt.ended_at);
        let failed_for_good = of.condition.has_failed_for_good(policy.for_schedule(of.retry_schedule), at);
        let disable = symptoms.refused_for_good.or(failed_for_good.then_some(DisabledReason::Failing));
        Self { of, symptoms, at, disable }
    }

    /// Disables the endpoint if the batch says so, and cancels its waiting deliveries. Returns the alert to raise,
    /// unless the endpoint was disabled already.
    async fn disable(&self, tx: &mut Tx, policy: DisablePolicy) -> Result<Option<Said>, StoreError> {
        let Some(reason) = self.disable else { return Ok(None) };
        let id = &self.of.endpoint_id;
        if !tx.endpoint_disable(id, reason, self.at).await? {
            return Ok(None);
        }
        tx.deliveries_cancel(id, FailureReason::EndpointDisabled, self.at, CANCELLED_AT_ONCE).await?;
        Ok(Some(disabled(reason, policy.for_schedule(self.of.retry_schedule))))
    }

    /// The alerts to raise. For a disabled endpoint, attempts that were still in flight raise no alert that ends
    /// with the endpoint, because nothing would close it.
    fn raised(&self, ended: bool) -> Vec<Said> {
        let mut raised = self.symptoms.raised(&self.of.condition.health);
        if ended || self.of.status == EndpointStatus::Disabled {
            raised.retain(|(code, ..)| !OVER_WITH_ITS_ENDPOINT.contains(code));
        }
        raised
    }
}
