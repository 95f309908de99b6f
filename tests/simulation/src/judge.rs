//! The judge: what happened on the network, against what is believed.
//!
//! Every request is judged when it arrives (`judge_requests`): that its delivery waits and nobody else holds it, that
//! its time has come, that its endpoint may have it, and that it says what it must, signed with the secrets of this
//! moment. Every answer that reaches its dispatcher moves the model on, provided that the dispatcher still holds the
//! delivery; otherwise it must change nothing. Then the rows are compared (`compare`).

use std::collections::BTreeSet;

use crate::journal::Violation;
use crate::limits::UnderWay;
use crate::model::delivery::{LEASE_MS, QUEUED_MS, Reason, Status};
use crate::model::endpoint::Endpoint;
use crate::model::schedule;
use crate::network::{Arrival, Call, Happened};
use crate::receiver::{Reply, Word};
use crate::world::World;

impl World {
    /// Judges what happened since the last time.
    pub(crate) async fn judge(&mut self) -> Result<(), Violation> {
        let mut deliveries = BTreeSet::new();
        let mut endpoints = BTreeSet::new();
        let all = self.network.happened();
        for (place, happened) in all.iter().enumerate() {
            match happened {
                Happened::Arrived(arrival) => {
                    self.learn_whose_hold_was_lifted(arrival).await;
                    deliveries.insert(self.arrived(arrival)?);
                }
                Happened::Ended { call, wall, reply, life } => {
                    let (call, wall) = (*call, *wall);
                    self.learn_what_was_put_away(call).await;
                    self.learn_whose_retry_was_asked(call).await;
                    let may_not_count = life.is_dead() || self.lease_may_be_over(call, wall);
                    if may_not_count && self.was_not_written(call).await {
                        self.lost(call);
                    } else if let Some((delivery, endpoint)) =
                        self.ended(call, wall, reply, all.get(place + 1..).unwrap_or_default())
                    {
                        deliveries.insert(delivery);
                        endpoints.insert(endpoint);
                    }
                }
                Happened::Lost { call } => self.lost(*call),
            }
        }
        self.compare_endpoints(&endpoints).await?;
        self.compare_deliveries(&deliveries).await?;
        self.check_neglect().await
    }

    /// The dispatcher that sent the request has died, and what came of it is not known to anybody.
    fn lost(&mut self, call: Call) {
        if let Some(UnderWay { delivery, place, .. }) = self.calls.remove(&call) {
            self.note(format_args!("call {call} of {} is lost with instance {place}", short(&delivery)));
            self.tally.lost_calls += 1;
        }
    }

    /// It was leased some time before its request: somebody else may hold it by now and send it in a moment.
    fn lease_may_be_over(&self, call: Call, wall: i64) -> bool {
        let delivery = self.calls.get(&call).and_then(|call| self.model.deliveries.get(&call.delivery));
        let lease = delivery.and_then(|delivery| delivery.lease);
        lease.is_some_and(|lease| lease.call == Some(call) && wall >= lease.started + LEASE_MS - QUEUED_MS)
    }

    /// A dispatcher died when the answer had reached it: only the row says whether it came to write it.
    async fn was_not_written(&mut self, call: Call) -> bool {
        let Some(UnderWay { delivery: id, .. }) = self.calls.get(&call) else { return false };
        let Some(attempts) = self.model.deliveries.get(id).map(|delivery| delivery.attempts) else {
            return false;
        };
        let rows = self.rows.deliveries([id]).await;
        rows.first().is_some_and(|row| row.attempt_count == attempts)
    }

    /// A lease ran out while the endpoint was off, or that was off and is on again: somebody may have put the delivery
    /// away before its holder came back.
    async fn learn_what_was_put_away(&mut self, call: Call) {
        let wall = self.time.wall();
        let Some(UnderWay { delivery: id, .. }) = self.calls.get(&call).cloned() else { return };
        let Some(delivery) = self.model.deliveries.get(&id) else { return };
        let Some(endpoint) = self.model.endpoints.get(&delivery.endpoint) else { return };
        let is_on = endpoint.enabled() && !delivery.called_off;
        if delivery.status != Status::Pending || delivery.leased(wall) || is_on {
            return;
        }
        let reason = endpoint.reason_to_cancel();
        let put_away = self.rows.deliveries([&id]).await.first().is_some_and(|row| row.status == "cancelled");
        // What the outcome itself cancelled tells of it.
        let attempts = self.rows.attempts(&id).await.len();
        if let Some(delivery) = self.model.deliveries.get_mut(&id)
            && put_away
            && i64::try_from(attempts) == Ok(delivery.attempts)
        {
            delivery.cancel(reason);
            self.model.end(&id);
        }
    }

    /// A retry was asked for while a dispatcher held the delivery and had not sent it. Only the row shows whether it
    /// sent it then, or whether somebody took it anew, who had the retry with it.
    async fn learn_whose_retry_was_asked(&mut self, call: Call) {
        let Some(UnderWay { delivery: id, .. }) = self.calls.get(&call).cloned() else { return };
        let Some(delivery) = self.model.deliveries.get_mut(&id) else { return };
        let Some(asked) = delivery.retry_asked.filter(|asked| asked.during.is_none()) else { return };
        let rows = self.rows.deliveries([&id]).await;
        let follows = rows
            .first()
            .is_some_and(|row| row.status != "failed" && row.next_attempt_at.is_none_or(|at| at == asked.at));
        if !follows {
            delivery.retry_asked = None;
        }
    }

    /// A retry that was asked for lifts the hold of its endpoint. While no dispatcher runs, only the row shows it,
    /// and the next dispatcher may begin with another delivery of the endpoint.
    async fn learn_whose_hold_was_lifted(&mut self, arrival: &Arrival) {
        let Some(id) = arrival.headers.get("service-delivery-id") else { return };
        let Some(delivery) = self.model.deliveries.get(id) else { return };
        let Some(endpoint) = self.model.endpoints.get_mut(&delivery.endpoint) else { return };
        if endpoint.probe_asked && endpoint.hold.until.is_some() {
            let rows = self.rows.endpoints([&delivery.endpoint]).await;
            if rows.first().is_some_and(|row| row.held_until.is_none()) {
                endpoint.hold.until = None;
            }
        }
    }

    /// An answer reached the dispatcher that had sent the request; `later` is what else happened at the same moment and
    /// may have been written with it. Returns whose rows may have changed.
    fn ended(
        &mut self,
        call: Call,
        wall: i64,
        reply: &Reply,
        later: &[Happened],
    ) -> Option<(String, String)> {
        let under_way = self.calls.remove(&call)?;
        let elapsed = self.time.elapsed();
        self.limits.ended(&under_way, reply, elapsed);
        let id = under_way.delivery.clone();
        let delivery = self.model.deliveries.get_mut(&id)?;
        let endpoint_id = delivery.endpoint.clone();
        let held =
            delivery.lease.filter(|lease| delivery.status == Status::Pending && lease.call == Some(call));
        let Some(lease) = held else {
            self.tally.stale_outcomes += 1;
            self.note(format_args!("call {call} of {} ends as {reply}, too late to count", short(&id)));
            return Some((id, endpoint_id));
        };
        let then = schedule::then(delivery, reply, wall);
        let off = self.model.endpoints.get(&endpoint_id).map_or(Reason::Disabled, Endpoint::reason_to_cancel);
        delivery.settle(reply, then, off);
        let probe = delivery.probe;
        let event = delivery.event.clone();
        let ended = delivery.status != Status::Pending;
        self.note(format_args!("call {call} of {} ends as {reply}: {then:?}", short(&id)));
        let switched_off = self.model.endpoints.get_mut(&endpoint_id).is_none_or(|endpoint| {
            endpoint.changed = elapsed;
            endpoint.note(&event, reply, lease.started, wall);
            endpoint.probe_asked |= probe && endpoint.hold.step > 0;
            let word = disables(&under_way, reply, endpoint);
            if endpoint.enabled() {
                (endpoint.disabled, endpoint.told) = (word, word.is_some());
            }
            !endpoint.enabled()
        });
        if ended {
            self.model.end(&id);
        }
        if switched_off {
            // Of these the rows tell whether their outcome was written before the rest was put away. What left in the
            // place of this answer was leased, and left before the outcome was written.
            let coming: BTreeSet<String> = later
                .iter()
                .filter_map(|happened| match happened {
                    Happened::Ended { call, .. } => self.calls.get(call).map(|call| call.delivery.clone()),
                    Happened::Arrived(arrival) => arrival.headers.get("service-delivery-id").cloned(),
                    Happened::Lost { .. } => None,
                })
                .collect();
            self.cancel_waiting(&endpoint_id, &coming);
        }
        Some((id, endpoint_id))
    }

    /// The endpoint gets nothing more: what nobody holds is cancelled, except for `coming`, and of the rest no further
    /// attempt is made.
    pub(crate) fn cancel_waiting(&mut self, endpoint_id: &str, coming: &BTreeSet<String>) {
        let wall = self.time.wall();
        let Some(endpoint) = self.model.endpoints.get(endpoint_id) else { return };
        let reason = endpoint.reason_to_cancel();
        let pending: Vec<String> = self.model.pending_of(endpoint_id).map(|(id, _)| id.clone()).collect();
        for id in pending {
            let Some(delivery) = self.model.deliveries.get_mut(&id) else { continue };
            if delivery.leased(wall) || coming.contains(&id) {
                delivery.called_off = true;
            } else {
                delivery.cancel(reason);
                self.model.end(&id);
            }
        }
    }
}

/// Why this answer disables its endpoint, in the contract's word. Who is gone from a former URL says nothing of the
/// present one.
fn disables(under_way: &UnderWay, reply: &Reply, endpoint: &Endpoint) -> Option<&'static str> {
    let asked = reply.word == Some(Word::Disable) && !schedule::is_success(reply);
    let word = if schedule::is_gone(reply) { Some("gone") } else { asked.then_some("merchant") };
    word.filter(|_| under_way.url == endpoint.url)
}

/// The end of an id: its beginning is the time.
pub(crate) fn short(id: &str) -> &str {
    id.get(id.len().saturating_sub(8)..).unwrap_or(id)
}
