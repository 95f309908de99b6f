//! What is stored, against what is believed: deliveries, endpoints and alerts.

use std::collections::BTreeSet;

use crate::journal::{Violation, hold};
use crate::judge::short;
use crate::model::delivery::{Lease, Status};
use crate::model::endpoint::LOOKED_AT_BY_THEN_MS;
use crate::rows::{DeliveryRow, EndpointRow};
use crate::world::World;

impl World {
    /// Compares these endpoints.
    pub(crate) async fn compare_endpoints(&mut self, ids: &BTreeSet<String>) -> Result<(), Violation> {
        if ids.is_empty() {
            return Ok(());
        }
        for row in self.rows.endpoints(ids).await {
            self.compare_endpoint(&row)?;
        }
        Ok(())
    }

    fn compare_endpoint(&mut self, row: &EndpointRow) -> Result<(), Violation> {
        let (wall, elapsed) = (self.time.wall(), self.time.elapsed());
        let Some(endpoint) = self.model.endpoints.get_mut(&row.id) else { return Ok(()) };
        let id = &row.id;
        hold!(row.url == endpoint.url, "{id} has the URL {}, not {}", row.url, endpoint.url);
        hold!(row.deleted == endpoint.deleted, "{id}: deleted is {}", row.deleted);
        if row.deleted {
            return Ok(());
        }
        let mut disabled_now = false;
        if row.status == "disabled" && endpoint.enabled() {
            let from = endpoint.disabled_from();
            hold!(
                row.disabled_reason.as_deref() == Some("failing") && from.is_some_and(|from| from <= wall),
                "{id} is disabled ({:?}) without a reason: {} failures of {} events, the first one {:?} ms ago",
                row.disabled_reason,
                endpoint.failures,
                endpoint.failed_events.len(),
                endpoint.first_failure.map(|at| wall - at)
            );
            (endpoint.disabled, endpoint.told) = (Some("failing"), true);
            endpoint.changed = elapsed;
            disabled_now = true;
        }
        let expected = if endpoint.disabled.is_some() { "disabled" } else { "enabled" };
        hold!(row.status == expected, "{id} is {}, not {expected}", row.status);
        hold!(
            row.disabled_reason.as_deref() == endpoint.disabled,
            "{id} is disabled for {:?}, not for {:?}",
            row.disabled_reason,
            endpoint.disabled
        );
        if endpoint.enabled() {
            let late = endpoint.disabled_from().map_or(0, |from| wall - from);
            hold!(late <= LOOKED_AT_BY_THEN_MS, "{id} should have been disabled {late} ms ago");
            hold!(
                row.consecutive_failures == endpoint.failures,
                "{id} counts {} failures, not {}",
                row.consecutive_failures,
                endpoint.failures
            );
            let may_be = endpoint.may_be(wall);
            hold!(
                may_be.contains(&row.health_state.as_str()),
                "{id} is {}, not {may_be:?}",
                row.health_state
            );
            endpoint.known_failing = row.health_state == "failing";
            // Somebody asked for a delivery while no dispatcher could take it: whoever comes next may begin the probe.
            if row.held_until.is_none() && endpoint.probe_asked {
                endpoint.hold.until = None;
            }
            hold!(
                (row.held_until, row.hold_step) == (endpoint.hold.until, endpoint.hold.step),
                "{id} is held back until {:?} at step {}, not {:?}",
                row.held_until,
                row.hold_step,
                endpoint.hold
            );
        }
        if disabled_now {
            self.tally.disabled_for_failing += 1;
            self.note(format_args!("{} is disabled for failing", short(&row.id)));
            self.cancel_waiting(&row.id, &BTreeSet::new());
        }
        Ok(())
    }

    /// Compares these deliveries, and those that have ended.
    pub(crate) async fn compare_deliveries(&mut self, ids: &BTreeSet<String>) -> Result<(), Violation> {
        let mut all = std::mem::take(&mut self.model.to_compare);
        all.extend(ids.iter().filter(|id| self.model.deliveries.contains_key(*id)).cloned());
        if all.is_empty() {
            return Ok(());
        }
        let rows = self.rows.deliveries(&all).await;
        hold!(rows.len() == all.len(), "of the deliveries {all:?} only {} are stored", rows.len());
        for row in &rows {
            self.compare_delivery(row)?;
            self.compare_attempts(row).await?;
            self.model.compared(&row.id);
        }
        Ok(())
    }

    fn compare_delivery(&mut self, row: &DeliveryRow) -> Result<(), Violation> {
        let wall = self.time.wall();
        let id = &row.id;
        let Some(delivery) = self.model.deliveries.get_mut(id) else { return Ok(()) };
        hold!(
            (&row.event_id, &row.endpoint_id, row.triggered_by.as_str())
                == (&delivery.event, &delivery.endpoint, delivery.trigger),
            "{id} has become another delivery"
        );
        let switched_off =
            self.model.endpoints.get(&delivery.endpoint).is_none_or(|endpoint| !endpoint.enabled());
        if row.status == "cancelled"
            && delivery.status == Status::Pending
            && (switched_off || delivery.called_off)
            && !delivery.under_way(wall)
        {
            // Its holder gave it back, or let the lease run out and housekeeping has put it away.
            let reason =
                self.model.endpoints.get(&delivery.endpoint).map(|endpoint| endpoint.reason_to_cancel());
            if let Some(reason) = reason {
                delivery.cancel(reason);
                self.model.end(id);
            }
        }
        let Some(delivery) = self.model.deliveries.get_mut(id) else { return Ok(()) };
        if let (Status::Cancelled(_), "pending", Some(until)) =
            (delivery.status, row.status.as_str(), row.lease_until.filter(|until| *until >= wall))
            && switched_off
        {
            // It waits in the queue of a dispatcher, and is cancelled when that gives it back.
            (delivery.status, delivery.called_off) = (Status::Pending, true);
            delivery.lease = Some(Lease { call: None, until, started: wall });
            self.model.ended.cancelled -= 1;
        }
        let Some(delivery) = self.model.deliveries.get_mut(id) else { return Ok(()) };
        let (status, reason) = delivery.status.words();
        hold!(
            (row.status.as_str(), row.failure_reason.as_deref()) == (status, reason),
            "{id} is {} ({:?}), not {status} ({reason:?})",
            row.status,
            row.failure_reason
        );
        hold!(
            row.attempt_count == delivery.attempts,
            "{id} counts {} attempts, not {}",
            row.attempt_count,
            delivery.attempts
        );
        let last = delivery.last.as_ref();
        let told = (row.last_outcome.as_deref(), row.last_response_status);
        let expected =
            (last.map(|reply| reply.outcome.as_str()), last.and_then(|reply| reply.status).map(i64::from));
        hold!(told == expected, "{id} tells of {told:?} as the last outcome, not of {expected:?}");
        hold!(
            status != "succeeded" || delivery.acknowledged,
            "{id} succeeded, and nobody has acknowledged it"
        );
        if delivery.status == Status::Pending {
            let at = row.next_attempt_at.unwrap_or(i64::MIN);
            hold!(
                (delivery.due..=delivery.due_at_most).contains(&at),
                "{id} is due in {} ms, not in {} to {} ms",
                at - wall,
                delivery.due - wall,
                delivery.due_at_most - wall
            );
            (delivery.due, delivery.due_at_most) = (at, at);
        }
        Ok(())
    }

    /// The attempts of one that has ended are numbered from 1, the last one as the delivery tells.
    async fn compare_attempts(&mut self, row: &DeliveryRow) -> Result<(), Violation> {
        if row.status == "pending" {
            return Ok(());
        }
        let attempts = self.rows.attempts(&row.id).await;
        let numbers: Vec<i64> = attempts.iter().map(|attempt| attempt.number).collect();
        let expected: Vec<i64> = (1..=row.attempt_count).collect();
        hold!(numbers == expected, "{} has the attempts {numbers:?}, not {expected:?}", row.id);
        let told = attempts.last().map(|last| (Some(last.outcome.as_str()), last.response_status));
        hold!(
            told.unwrap_or_default() == (row.last_outcome.as_deref(), row.last_response_status),
            "{}: its last attempt tells something else than itself",
            row.id
        );
        Ok(())
    }

    /// Everything that waits, every endpoint and every alert.
    pub(crate) async fn look_at_everything(&mut self) -> Result<(), Violation> {
        let endpoints: BTreeSet<String> = self.model.endpoints.keys().cloned().collect();
        self.compare_endpoints(&endpoints).await?;
        self.compare_deliveries(&BTreeSet::new()).await?;
        let stored = self.rows.pending().await;
        let believed =
            self.model.deliveries.iter().filter(|(_, delivery)| delivery.status == Status::Pending);
        let believed: BTreeSet<String> = believed.map(|(id, _)| id.clone()).collect();
        let ids: BTreeSet<String> = stored.iter().map(|row| row.id.clone()).collect();
        if let Some(id) = ids.difference(&believed).next() {
            return Err(Violation(format!("{id} waits, which nobody has made or which has ended")));
        }
        // Those that are missing have ended, which is right or wrong.
        self.compare_deliveries(&believed).await?;
        for id in &endpoints {
            self.compare_alerts(id).await?;
        }
        Ok(())
    }

    /// Contract 2.12: what must be open, and what must not.
    async fn compare_alerts(&mut self, id: &str) -> Result<(), Violation> {
        let Some(endpoint) = self.model.endpoints.get(id) else { return Ok(()) };
        let merchant = self.model.shops[endpoint.merchant].id.clone();
        let open = self.rows.alerts(&merchant, id).await;
        let Some(endpoint) = self.model.endpoints.get(id) else { return Ok(()) };
        let has =
            |code: &str| open.iter().find(|(open, _)| open == code).map(|(_, severity)| severity.as_str());
        if endpoint.deleted {
            hold!(open.is_empty(), "{id} is deleted, and there are alerts: {open:?}");
            return Ok(());
        }
        let may_be = endpoint.may_be(self.time.wall());
        if endpoint.enabled() {
            let severities: Vec<&str> = may_be
                .iter()
                .filter_map(|state| match *state {
                    "degraded" => Some("warning"),
                    "failing" => Some("critical"),
                    _ => None,
                })
                .collect();
            match has("endpoint_failing") {
                Some(severity) => hold!(
                    severities.contains(&severity),
                    "{id} has the alert endpoint_failing ({severity}) and is {may_be:?}"
                ),
                None => hold!(severities.is_empty(), "{id} is {may_be:?} without an alert"),
            }
        }
        let told = endpoint.disabled.is_some() && endpoint.told;
        hold!(
            has("endpoint_disabled").is_some() == told,
            "{id} is disabled for {:?}, and the alert is {:?}",
            endpoint.disabled,
            has("endpoint_disabled")
        );
        Ok(())
    }

    /// At the end everything that was made has ended, each as it was believed to.
    pub(crate) async fn compare_counts(&mut self) -> Result<(), Violation> {
        let ended = self.model.ended;
        let expected =
            [("cancelled", ended.cancelled), ("failed", ended.failed), ("succeeded", ended.succeeded)];
        let expected: Vec<(String, i64)> = expected
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(status, count)| (status.to_owned(), i64::try_from(count).unwrap_or(i64::MAX)))
            .collect();
        let standing = self.rows.standing().await;
        hold!(standing == expected, "the deliveries stand at {standing:?}, not at {expected:?}");
        Ok(())
    }
}
