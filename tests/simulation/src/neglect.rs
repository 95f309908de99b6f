//! Whether anything waits for nothing: what is due at an endpoint that has room is sent within two polls.

use std::collections::BTreeSet;

use crate::journal::{Violation, hold};
use crate::model::delivery::{LEASE_MS, Lease, QUEUED_MS};
use crate::model::endpoint::Endpoint;
use crate::world::{POLL_MS, World};

/// What is due may wait so long: until it is given back by a queue, and until it is looked for, twice.
const NEGLECTED_MS: i64 = 2 * POLL_MS + QUEUED_MS;

/// By how much a lease may seem longer after the clock has stepped back.
const STEPS_MS: i64 = 60_000;

impl World {
    /// Nothing that is due waits for longer than a poll while its endpoint has room and an instance does.
    pub(crate) async fn check_neglect(&mut self) -> Result<(), Violation> {
        let (elapsed, wall) = (self.time.elapsed(), self.time.wall());
        let merchants = 0..self.model.shops.len();
        let free: Vec<bool> = merchants.map(|merchant| self.somebody_has_room_for(merchant)).collect();
        let all = self.model.endpoints.iter();
        let ids: Vec<(String, bool)> =
            all.map(|(id, endpoint)| (id.clone(), free[endpoint.merchant])).collect();
        for (id, free) in ids {
            if !self.is_neglected(&id, wall, free) {
                self.set_neglected(&id, None);
                continue;
            }
            // Time may just have disabled the endpoint, or an instance have died between taking and sending.
            self.compare_endpoints(&BTreeSet::from([id.clone()])).await?;
            self.learn_of_leases(&id).await?;
            if !self.is_neglected(&id, wall, free) {
                self.set_neglected(&id, None);
                continue;
            }
            let since = self
                .model
                .endpoints
                .get(&id)
                .and_then(|endpoint| endpoint.neglected_since)
                .unwrap_or(elapsed);
            if elapsed - since > NEGLECTED_MS {
                return Err(self.neglected(&id, elapsed - since).await);
            }
            self.set_neglected(&id, Some(since));
        }
        Ok(())
    }

    /// In words, with what waits there.
    async fn neglected(&mut self, id: &str, for_ms: i64) -> Violation {
        let wall = self.time.wall();
        let waiting: Vec<String> = self.model.pending_of(id).map(|(id, _)| id.clone()).collect();
        let rows = self.rows.deliveries(&waiting).await;
        let due = rows.iter().map(|row| {
            let since = row.next_attempt_at.map(|at| wall - at);
            format!(
                "{} due since {since:?} ms, taken for {:?} ms",
                row.id,
                row.lease_until.map(|at| at - wall)
            )
        });
        let due: Vec<String> = due.collect();
        let endpoint = self.model.endpoints.get(id);
        Violation(format!(
            "for {for_ms} ms nothing was sent to {id}, which has room and deliveries due: {due:?}; {endpoint:?}"
        ))
    }

    fn set_neglected(&mut self, id: &str, since: Option<i64>) {
        if let Some(endpoint) = self.model.endpoints.get_mut(id) {
            endpoint.neglected_since = since;
        }
    }

    fn is_neglected(&self, id: &str, wall: i64, free: bool) -> bool {
        let Some(endpoint) = self.model.endpoints.get(id).filter(|endpoint| endpoint.enabled() && free)
        else {
            return false;
        };
        // A refusal may have left it a single request at a time, and one that is held up counts beyond its lease.
        // What an instance had leased when it died counts against its endpoint until the leases run out.
        !self.model.pending_of(id).any(|(_, delivery)| delivery.leased(wall))
            && !self.calls.values().any(|call| call.endpoint == id)
            && endpoint.cap(wall).0 > 0
            && self.model.pending_of(id).any(|(_, delivery)| !delivery.leased(wall) && delivery.due <= wall)
    }

    /// Believes the leases of deliveries that nobody has sent; none may be longer than a lease is. One that was held
    /// when the endpoint was switched off, and given back since, is put away.
    async fn learn_of_leases(&mut self, endpoint: &str) -> Result<(), Violation> {
        let wall = self.time.wall();
        let waiting: Vec<String> = self.model.pending_of(endpoint).map(|(id, _)| id.clone()).collect();
        for row in self.rows.deliveries(&waiting).await {
            if row.status == "cancelled" {
                self.learn_of_put_away(&row.id, endpoint);
                continue;
            }
            let Some(until) = row.lease_until.filter(|until| *until >= wall) else { continue };
            hold!(until <= wall + LEASE_MS + STEPS_MS, "{} is taken for {} ms", row.id, until - wall);
            if let Some(delivery) = self.model.deliveries.get_mut(&row.id)
                && !delivery.leased(wall)
            {
                // The request that is under way may hold it still; one that died with its instance does not.
                let Lease { call, started, .. } =
                    delivery.lease.unwrap_or(Lease { call: None, until, started: wall });
                let call = call.filter(|call| self.calls.contains_key(call));
                delivery.lease = Some(Lease { call, until, started });
            }
        }
        Ok(())
    }

    fn learn_of_put_away(&mut self, id: &str, endpoint: &str) {
        let Some(reason) = self.model.endpoints.get(endpoint).map(Endpoint::reason_to_cancel) else { return };
        if let Some(delivery) = self.model.deliveries.get_mut(id).filter(|delivery| delivery.called_off) {
            delivery.cancel(reason);
            self.model.end(id);
        }
    }
}
