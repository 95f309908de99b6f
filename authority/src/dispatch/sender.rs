//! Sends one request: judges the URL, signs, makes the attempt and reports the outcome (contract 7.1, 7.2, 7.6).

use std::sync::Arc;
use std::time::Duration;

use authority_domain::delivery::outcome::classify;
use authority_domain::endpoint::url::UrlRulesByOwner;
use authority_domain::event::cause::TraceParent;
use authority_domain::{AttemptOutcome, Timestamp};
use authority_store::Store;
use authority_store::hand_off::{HandedOff, LeasedDelivery};
use authority_store::slots::{AttemptEnd, Moment, SLOW_AFTER, Slot, Slots};
use bytes::Bytes;
use http::HeaderValue;
use tokio::sync::mpsc;

use super::attempts::{AttemptsHandle, Leases, moment, release};
use super::identity::Identities;
use super::settle::SentAttempt;
use super::signing;
use super::transport::{AttemptReport, AttemptRequest, DEADLINE_MAX, Transport};
use crate::clock::Clock;
use crate::metrics::Metrics;
use crate::secret_box::SecretBox;
use crate::traces::{TRACEPARENT, Traces};

/// The longest that an attempt may take: 50 s for the request, which is the most that can be configured (an endpoint's
/// own deadline is at most [`DEADLINE_MAX`]), and 2 s for the response's body. No attempt begins under a lease that
/// would run out sooner.
const LONGEST_ATTEMPT_MS: i64 = 52_000;

const _: () =
    assert!(DEADLINE_MAX.as_millis() + 2_000 <= LONGEST_ATTEMPT_MS as u128, "an attempt outlives its lease");

/// What the tasks of all attempts share.
pub(super) struct Sender {
    pub(super) store: Store,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) secrets: Arc<SecretBox>,
    pub(super) identities: Identities,
    pub(super) transport: Arc<dyn Transport>,
    pub(super) urls: UrlRulesByOwner,
    pub(super) metrics: Arc<Metrics>,
    pub(super) traces: Traces,
    /// The dispatcher's slots.
    pub(super) slots: Arc<Slots>,
    pub(super) finished: mpsc::Sender<SentAttempt>,
}

impl Sender {
    pub(super) fn now(&self) -> Moment {
        moment(self.clock.as_ref())
    }

    pub(super) async fn send(&self, handed_off: HandedOff, begin: &AttemptsHandle) {
        let HandedOff { mut delivery, token, until, mut slot, .. } = handed_off;
        let number = delivery.attempt_count + 1;
        let started_at = Timestamp::from_ms(self.clock.now_ms());
        if until.as_ms().saturating_sub(started_at.as_ms()) < LONGEST_ATTEMPT_MS {
            tracing::warn!(delivery_id = %delivery.id, "not begun: its lease is too old");
            release(&self.store, Leases::of_one(&token, &delivery)).await;
            drop(slot);
            begin.go_on(&delivery.endpoint_id);
            return;
        }
        if number == 1 {
            self.metrics.first_attempt(between(delivery.created_at, started_at));
        }
        let body = Bytes::from(std::mem::take(&mut delivery.body));
        let mut span = self.traces.attempt(&delivery, number);
        let report = self.attempt(&delivery, body, number, started_at, span.trace(), &mut slot).await;
        span.ended(report.outcome, report.status);
        drop(span);
        self.metrics
            .attempt(classify(report.outcome, report.status), Duration::from_millis(report.duration_ms));
        let at = self.now();
        let AttemptReport { outcome, status, retry_after_ms, .. } = report;
        slot.ended(&AttemptEnd { at, outcome, status, retry_after_ms });
        // The endpoint's next request is sent before this outcome is written.
        begin.go_on(&delivery.endpoint_id);
        // The settler outlives every sender.
        let Ok(place) = self.finished.reserve().await else { return };
        place.send(SentAttempt {
            delivery,
            token,
            leased_until: until,
            number,
            started_at,
            finished_at: at.wall,
            report,
            _slot: slot,
        });
    }

    async fn attempt(
        &self,
        delivery: &LeasedDelivery,
        body: Bytes,
        number: i64,
        now: Timestamp,
        trace: Option<TraceParent>,
        slot: &mut Slot,
    ) -> AttemptReport {
        // The rules may have changed since the endpoint was created.
        let Ok(url) = self.urls.of(&delivery.merchant_id).parse(&delivery.url, delivery.livemode) else {
            return not_sent(AttemptOutcome::BlockedAddress);
        };
        let opened = signing::headers(delivery, &body, number, now, &self.secrets)
            .and_then(|headers| Ok((headers, self.identities.of(delivery, &self.secrets)?)));
        let (mut headers, identity) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                tracing::error!(delivery_id = %delivery.id, endpoint_id = %delivery.endpoint_id, %error, "not sent");
                return not_sent(AttemptOutcome::ProtocolError);
            }
        };
        // The receiver goes on with the trace of the request that caused the event.
        if let Some(trace) = trace.and_then(|trace| HeaderValue::try_from(trace.to_string()).ok()) {
            headers.insert(TRACEPARENT, trace);
        }
        let deadline =
            delivery.options.timeout_ms.and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis);
        let request = AttemptRequest { url: &url, headers, body, identity, deadline };
        let mut attempt = self.transport.attempt(request);
        tokio::select! {
            biased;
            report = &mut attempt => return report,
            () = tokio::time::sleep(SLOW_AFTER) => slot.turn_slow(),
        }
        attempt.await
    }
}

fn not_sent(outcome: AttemptOutcome) -> AttemptReport {
    AttemptReport { outcome, status: None, retry_after_ms: None, wish: None, excerpt: None, duration_ms: 0 }
}

/// The clock may have stepped back in between.
fn between(earlier: Timestamp, later: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(later.as_ms().saturating_sub(earlier.as_ms())).unwrap_or(0))
}
