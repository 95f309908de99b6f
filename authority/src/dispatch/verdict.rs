//! What a batch of attempts writes: the outcomes, the health of the endpoints, and the alerts that open and close
//! with them (contract 2.12, 7.5).
//!
//! Everything is decided from the batch and what the store answers, in one transaction. An alert is raised each time
//! its condition is seen, and closed when an attempt shows that the condition is gone.

use std::collections::BTreeMap;

use authority_domain::alert::{AlertCode, NewAlert, Severity};
use authority_domain::endpoint::{DEGRADED_AFTER, HealthState};
use authority_domain::id::{AlertId, DeliveryId, EndpointId};
use authority_domain::integration_health::RECENT_MS;
use authority_domain::outcome::{AttemptOutcome, FailureReason, OutcomeClass};
use authority_domain::time::Timestamp;
use authority_store::StoreError;
use authority_store::ports::{EndpointCondition, HealthUpdate, SettledAs, Settlement, Tx};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::settle::Finished;

/// Waiting deliveries that are cancelled at once with their endpoint; housekeeping cancels the rest.
const CANCELLED_AT_ONCE: i64 = 10_000;

/// What a batch writes.
pub(super) struct Verdict {
    settlements: Vec<Settlement>,
    endpoints: BTreeMap<EndpointId, OfEndpoint>,
    /// Makes the ids of alerts, the same ones when the batch is tried again.
    seed: [u8; 32],
}

/// What a batch says of one endpoint.
struct OfEndpoint {
    health: HealthUpdate,
    /// When the last attempt of the batch ended.
    at: Timestamp,
    gone: bool,
    /// What the last attempt that got far enough shows of the receiver's address.
    blocked: Option<bool>,
    /// The same of its certificate.
    bad_certificate: Option<bool>,
    /// An event arrived that had been sent before.
    caught_up: bool,
    /// Deliveries that have no attempt left.
    given_up: Vec<DeliveryId>,
}

impl Verdict {
    pub(super) fn new(dice: &mut StdRng) -> Self {
        let mut seed = [0; 32];
        dice.fill_bytes(&mut seed);
        Self { settlements: Vec::new(), endpoints: BTreeMap::new(), seed }
    }

    pub(super) fn add(&mut self, finished: &Finished, class: OutcomeClass, settlement: Settlement) {
        let id = &finished.delivery.endpoint_id;
        let endpoint = self.endpoints.entry(id.clone()).or_insert_with(|| OfEndpoint::new(id, finished));
        endpoint.note(finished, class, &settlement);
        self.settlements.push(settlement);
    }

    pub(super) async fn write(&self, tx: &mut dyn Tx) -> Result<(), StoreError> {
        let settled = tx.delivery_settle(&self.settlements).await?;
        let mut dice = StdRng::from_seed(self.seed);
        let mut closing: BTreeMap<Vec<AlertCode>, (Vec<EndpointId>, Timestamp)> = BTreeMap::new();
        for (id, endpoint) in &self.endpoints {
            let condition = tx.endpoint_health_add(&endpoint.health).await?;
            let disabled = endpoint.gone && endpoint.disable(tx).await?;
            if condition.deleted {
                continue;
            }
            let given_up = endpoint.given_up.iter().any(|delivery| settled.contains(delivery));
            for (code, severity, message) in endpoint.raised(&condition, disabled, given_up) {
                let alert = NewAlert {
                    id: AlertId::generate(endpoint.at, &mut dice),
                    code,
                    severity,
                    subject: id.to_string(),
                    message,
                };
                tx.alert_raise(Some(&condition.tenant), &alert, endpoint.at).await?;
            }
            if endpoint.caught_up {
                tx.alert_close_delivered(id, endpoint.at.plus_ms(-RECENT_MS), endpoint.at).await?;
            }
            let codes = endpoint.closed(&condition);
            if !codes.is_empty() {
                let (ids, at) = closing.entry(codes).or_insert_with(|| (Vec::new(), endpoint.at));
                ids.push(id.clone());
                *at = endpoint.at.max(*at);
            }
        }
        for (codes, (ids, at)) in &closing {
            tx.alerts_close_about(ids, codes, *at).await?;
        }
        Ok(())
    }
}

impl OfEndpoint {
    fn new(id: &EndpointId, finished: &Finished) -> Self {
        let health = HealthUpdate {
            endpoint_id: id.clone(),
            succeeded: false,
            failures: 0,
            last_success_at: None,
            first_failure_at: None,
            last_failure_at: None,
            last_response_status: None,
            last_error: None,
        };
        Self {
            health,
            at: finished.finished_at,
            gone: false,
            blocked: None,
            bad_certificate: None,
            caught_up: false,
            given_up: Vec::new(),
        }
    }

    fn note(&mut self, finished: &Finished, class: OutcomeClass, settlement: &Settlement) {
        let (report, at) = (&finished.report, finished.finished_at);
        self.at = at;
        let answered = report.status.is_some();
        match report.outcome {
            AttemptOutcome::BlockedAddress => self.blocked = Some(true),
            AttemptOutcome::TlsError => {
                self.blocked = Some(false);
                self.bad_certificate = Some(true);
            }
            _ if answered => {
                self.blocked = Some(false);
                self.bad_certificate = Some(false);
            }
            _ => {}
        }
        let health = &mut self.health;
        health.last_response_status = report.status.map(i64::from).or(health.last_response_status);
        if class == OutcomeClass::Success {
            health.succeeded = true;
            health.failures = 0;
            health.first_failure_at = None;
            health.last_success_at = Some(at);
            self.caught_up |= matches!(finished.delivery.trigger.as_str(), "replay" | "recovery");
            return;
        }
        health.failures += 1;
        health.first_failure_at = health.first_failure_at.or(Some(at));
        health.last_failure_at = Some(at);
        health.last_error = Some(report.outcome.as_str().to_owned());
        self.gone |= class == OutcomeClass::Gone;
        if matches!(settlement.settled_as, SettledAs::Failed { .. }) {
            self.given_up.push(settlement.delivery_id.clone());
        }
    }

    /// Disables the endpoint that answered 410; false when it is disabled already.
    async fn disable(&self, tx: &mut dyn Tx) -> Result<bool, StoreError> {
        let id = &self.health.endpoint_id;
        let disabled = tx.endpoint_disable_gone(id, self.at).await?;
        tx.deliveries_cancel(id, FailureReason::EndpointDisabled, self.at, CANCELLED_AT_ONCE).await?;
        Ok(disabled)
    }

    /// The alerts whose condition this batch shows.
    fn raised(
        &self,
        condition: &EndpointCondition,
        disabled: bool,
        given_up: bool,
    ) -> Vec<(AlertCode, Severity, String)> {
        let mut raised = Vec::new();
        let failures = condition.consecutive_failures;
        if self.health.failures > 0 && failures >= DEGRADED_AFTER {
            let (severity, since) = match condition.state {
                HealthState::Failing => (Severity::Critical, " and for a day none has succeeded"),
                _ => (Severity::Warning, ""),
            };
            let last = self.health.last_error.as_deref().unwrap_or("unknown");
            let message = format!("The last {failures} attempts failed{since}; the last one with {last}.");
            raised.push((AlertCode::EndpointFailing, severity, message));
        }
        let conditions = [
            (given_up, AlertCode::DeliveriesFailed, Severity::Warning, "A delivery has no attempt left."),
            (
                self.bad_certificate == Some(true),
                AlertCode::TlsCertificateInvalid,
                Severity::Warning,
                "No trusted TLS connection can be made to the receiver.",
            ),
            (
                self.blocked == Some(true),
                AlertCode::BlockedAddress,
                Severity::Warning,
                "The receiver's name leads to an address to which nothing is sent.",
            ),
            (
                disabled,
                AlertCode::EndpointDisabled,
                Severity::Critical,
                "The receiver answered 410; the endpoint is disabled.",
            ),
        ];
        let seen = conditions.into_iter().filter(|(seen, ..)| *seen);
        raised.extend(seen.map(|(_, code, severity, message)| (code, severity, message.to_owned())));
        raised
    }

    /// The alerts whose condition is seen to be gone.
    fn closed(&self, condition: &EndpointCondition) -> Vec<AlertCode> {
        let over = [
            (
                self.health.succeeded && condition.consecutive_failures < DEGRADED_AFTER,
                AlertCode::EndpointFailing,
            ),
            (self.bad_certificate == Some(false), AlertCode::TlsCertificateInvalid),
            (self.blocked == Some(false), AlertCode::BlockedAddress),
        ];
        over.into_iter().filter(|(over, _)| *over).map(|(_, code)| code).collect()
    }
}
