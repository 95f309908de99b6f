//! A request on its arrival: whether its time has come, whether its endpoint may have it, and what it says.

use verify_core::verify::{Headers, Tolerance, Verifier};

use crate::journal::{Violation, hold};
use crate::judge::short;
use crate::limits::UnderWay;
use crate::model::delivery::{LEASE_MS, Lease, QUEUED_MS, Status};
use crate::model::schedule;
use crate::network::{Arrival, Call};
use crate::world::World;

impl World {
    /// A request came in. Returns its delivery.
    pub(crate) fn arrived(&mut self, arrival: &Arrival) -> Result<String, Violation> {
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
        delivery.retry_asked = delivery.retry_asked.filter(|asked| asked.during.is_none());
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
        self.calls.insert(
            call,
            UnderWay { delivery: id.clone(), endpoint, url: arrival.url.clone(), place, dispatcher, began },
        );
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
}
