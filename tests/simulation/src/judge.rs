//! The judge: what happened on the network, against what is believed.
//!
//! Every request is judged when it arrives: that its delivery waits and nobody else holds it, that its time has come,
//! that its endpoint may have it, and that it says what it must, signed with the secrets of this moment. Every answer
//! that reaches its dispatcher moves the model on, provided that the dispatcher still holds the delivery; otherwise
//! it must change nothing. Then the rows are compared (`compare`).

use std::collections::BTreeSet;

use verify_core::verify::{Headers, Tolerance, Verifier};

use crate::journal::{Violation, hold};
use crate::limits::UnderWay;
use crate::model::delivery::{LEASE_MS, Lease, QUEUED_MS, Status};
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

    /// A lease ran out while the endpoint was off: housekeeping may have put the delivery away before its holder came
    /// back.
    async fn learn_what_was_put_away(&mut self, call: Call) {
        let wall = self.time.wall();
        let Some(UnderWay { delivery: id, .. }) = self.calls.get(&call).cloned() else { return };
        let Some(delivery) = self.model.deliveries.get(&id) else { return };
        let Some(endpoint) = self.model.endpoints.get(&delivery.endpoint) else { return };
        if delivery.status != Status::Pending || delivery.leased(wall) || endpoint.enabled() {
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

    /// A request came in. Returns its delivery.
    fn arrived(&mut self, arrival: &Arrival) -> Result<String, Violation> {
        let header = |name: &str| arrival.headers.get(name).map(String::as_str).unwrap_or_default();
        let id = header("service-delivery-id").to_owned();
        let (call, wall) = (arrival.call, arrival.wall);
        let number: i64 = header("service-attempt").parse().unwrap_or(-1);
        self.note(format_args!(
            "call {call} by instance {}: {} attempt {number} to {}, will be {}",
            arrival.instance,
            short(&id),
            arrival.url,
            arrival.reply
        ));
        self.tally.attempts += 1;
        self.check_says(&id, arrival, number)?;
        self.check_may_be_sent(&id, arrival)?;
        // It was leased when it came into the queue.
        let lease = Lease { call: Some(call), until: wall + LEASE_MS - QUEUED_MS, started: wall };
        let Some(delivery) = self.model.deliveries.get_mut(&id) else { return Ok(id) };
        delivery.lease = Some(lease);
        delivery.arrived += 1;
        if delivery.acknowledged {
            self.tally.duplicates += 1;
        }
        delivery.acknowledged |= schedule::is_success(&arrival.reply);
        if let Some(endpoint) = self.model.endpoints.get_mut(&delivery.endpoint) {
            endpoint.neglected_since = None;
        }
        let endpoint = delivery.endpoint.clone();
        let Arrival { instance: place, dispatcher, elapsed: began, .. } = *arrival;
        self.calls.insert(call, UnderWay { delivery: id.clone(), endpoint, place, dispatcher, began });
        Ok(id)
    }

    /// The request is about what it should be about, and signed by whoever may sign now.
    fn check_says(&self, id: &str, arrival: &Arrival, number: i64) -> Result<(), Violation> {
        let header = |name: &str| arrival.headers.get(name).map(String::as_str).unwrap_or_default();
        let Some(delivery) = self.model.deliveries.get(id) else {
            return Err(Violation(format!("{id} was sent, which nobody has made or which has ended")));
        };
        let (Some(event), Some(endpoint)) =
            (self.model.events.get(&delivery.event), self.model.endpoints.get(&delivery.endpoint))
        else {
            return Err(Violation(format!("{id} was sent for an event or to an endpoint that is not there")));
        };
        let expected = delivery.attempts + 1;
        hold!(number == expected, "{id} calls itself attempt {number}, not {expected}");
        hold!(arrival.url == endpoint.url, "{id} was sent to {}, not to {}", arrival.url, endpoint.url);
        hold!(arrival.body == event.body.as_bytes(), "{id} does not carry the bytes of {}", delivery.event);
        hold!(header("service-event-id") == delivery.event, "{id} names another event");
        let timestamp = header("service-timestamp");
        let seconds = arrival.wall.div_euclid(1000);
        hold!(timestamp == format!("{seconds:010}"), "{id} is dated {timestamp}, not {seconds}");
        let signature = header("service-signature");
        let signing = endpoint.signing(arrival.wall);
        let candidates: Vec<&str> = signature.split(',').collect();
        hold!(
            candidates.len() == signing.len(),
            "{id} has {} signatures, not one for each of {} secrets",
            candidates.len(),
            signing.len()
        );
        for (place, (candidate, secret)) in candidates.iter().zip(&signing).enumerate() {
            let verifier =
                Verifier::new(&[*secret], Tolerance::DEFAULT).map_err(|_| Violation("no verifier".into()))?;
            let headers = Headers {
                timestamp: Some(timestamp.as_bytes()),
                signature: Some(candidate.as_bytes()),
                event_id: Some(delivery.event.as_bytes()),
            };
            let verified = verifier.verify(Some(&arrival.body), &headers, seconds);
            hold!(verified.is_ok(), "{id}: signature {place} does not verify with the secret of its place");
        }
        Ok(())
    }

    /// Its time has come, nobody else holds it, and its endpoint has room.
    fn check_may_be_sent(&self, id: &str, arrival: &Arrival) -> Result<(), Violation> {
        let wall = arrival.wall;
        let Some(delivery) = self.model.deliveries.get(id) else { return Ok(()) };
        let Some(endpoint) = self.model.endpoints.get(&delivery.endpoint) else { return Ok(()) };
        // What was taken in the moment of a change may not have known of it.
        let just_now = endpoint.changed == arrival.elapsed;
        hold!(
            delivery.status == Status::Pending,
            "{id} was sent although it has ended as {:?}",
            delivery.status
        );
        hold!(endpoint.enabled() || just_now, "{id} was sent to an endpoint that is disabled or deleted");
        hold!(!delivery.under_way(wall), "{id} was sent while another attempt of it may be under way");
        // It was due by the clock of the moment in which it was leased.
        let early = delivery.due - wall - self.time.set_back_within(QUEUED_MS);
        hold!(early <= 0, "{id} was sent {early} ms before its time");
        if !just_now {
            let in_flight = self.model.in_flight(&delivery.endpoint, wall);
            let asked_for = delivery.probe && endpoint.hold.step > 0;
            let cap = if asked_for { 1 } else { endpoint.cap(wall).1 };
            hold!(
                in_flight < cap,
                "{id} was sent to an endpoint that has {in_flight} requests of at most {cap}; it is held back: {:?}",
                endpoint.hold
            );
            self.check_limit(id, &delivery.endpoint, arrival)?;
        }
        Ok(())
    }

    /// Its dispatcher has not more requests to the endpoint than the answers allow that came to it.
    fn check_limit(&self, id: &str, endpoint: &str, arrival: &Arrival) -> Result<(), Violation> {
        let dispatcher = arrival.dispatcher;
        let Some(most) = self.limits.most(dispatcher, endpoint, arrival.elapsed) else { return Ok(()) };
        // What is held up beyond its lease is sent again beside itself.
        let holds = |call: Call, delivery: &str| {
            let delivery = self.model.deliveries.get(delivery);
            delivery.and_then(|delivery| delivery.lease).is_some_and(|lease| lease.call == Some(call))
                && delivery.is_some_and(|delivery| delivery.leased(arrival.wall))
        };
        let its = self.calls.iter().filter(|(call, under_way)| {
            under_way.dispatcher == dispatcher
                && under_way.endpoint == endpoint
                && holds(**call, &under_way.delivery)
        });
        let in_flight = i64::try_from(its.count()).unwrap_or(i64::MAX);
        hold!(
            in_flight < most,
            "{id} was sent by a dispatcher that has {in_flight} requests there; refusals have left it {most}"
        );
        Ok(())
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
        let id = under_way.delivery;
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
        delivery.settle(reply, then);
        let event = delivery.event.clone();
        let ended = delivery.status != Status::Pending;
        self.note(format_args!("call {call} of {} ends as {reply}: {then:?}", short(&id)));
        let switched_off = self.model.endpoints.get_mut(&endpoint_id).is_none_or(|endpoint| {
            endpoint.changed = elapsed;
            endpoint.note(&event, reply, lease.started, wall);
            let word = if schedule::is_gone(reply) {
                Some("gone")
            } else {
                reply
                    .word
                    .filter(|word| *word == Word::Disable && !schedule::is_success(reply))
                    .map(|_| "merchant")
            };
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

    /// The endpoint gets nothing more: what nobody holds is cancelled, except for `coming`.
    pub(crate) fn cancel_waiting(&mut self, endpoint_id: &str, coming: &BTreeSet<String>) {
        let wall = self.time.wall();
        let Some(endpoint) = self.model.endpoints.get(endpoint_id) else { return };
        let reason = endpoint.reason_to_cancel();
        let waiting: Vec<String> = self
            .model
            .pending_of(endpoint_id)
            .filter(|(id, delivery)| !delivery.leased(wall) && !coming.contains(id.as_str()))
            .map(|(id, _)| id.clone())
            .collect();
        for id in waiting {
            if let Some(delivery) = self.model.deliveries.get_mut(&id) {
                delivery.cancel(reason);
            }
            self.model.end(&id);
        }
    }
}

/// The end of an id: its beginning is the time.
pub(crate) fn short(id: &str) -> &str {
    id.get(id.len().saturating_sub(8)..).unwrap_or(id)
}
