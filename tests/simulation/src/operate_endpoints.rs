//! What merchants and the platform do with endpoints: make, change, switch off and on, delete, rotate (contract 4.10).

use std::collections::BTreeSet;

use authority_domain::{EndpointId, EndpointStatus};
use rand::RngExt as _;
use serde_json::json;

use crate::journal::{Violation, hold};
use crate::model::endpoint::Endpoint;
use crate::operate::{By, member};
use crate::receiver::chance;
use crate::world::World;

/// Endpoints of one merchant that are not deleted; far below what it may have.
const ENDPOINTS_MOST: usize = 5;

/// What an endpoint may ask for.
const FILTERS: [&[&str]; 5] = [
    &["*"],
    &["checkout.*"],
    &["checkout.created"],
    &["order.*", "payment.succeeded"],
    &["checkout.cancelled", "order.created"],
];

impl World {
    fn new_url(&mut self) -> String {
        self.names += 1;
        format!("https://receiver-{}.example.com/hook", self.names)
    }

    fn any_filters(&mut self) -> Vec<&'static str> {
        FILTERS[self.dice.random_range(0..FILTERS.len())].to_vec()
    }

    /// Makes an endpoint.
    pub(crate) async fn create_endpoint(&mut self, merchant: usize) -> Result<(), Violation> {
        let all = self.model.endpoints.values();
        if all.filter(|endpoint| endpoint.merchant == merchant && !endpoint.deleted).count() >= ENDPOINTS_MOST
        {
            return Ok(());
        }
        let (url, filters) = (self.new_url(), self.any_filters());
        let body = json!({ "url": url, "enabled_events": filters });
        let (caller, mutation) = (self.caller(merchant), self.mutation(By::Merchant));
        let answered = self.app.endpoint_create(&caller, mutation.with(body)).await;
        let Some(made) = self.as_expected("creation", &url, answered, None)? else { return Ok(()) };
        let endpoint = Endpoint::new(merchant, url, filters, member(&made, "secret"));
        self.model.endpoints.insert(member(&made, "id"), endpoint);
        Ok(())
    }

    /// Rotates the secret of an endpoint.
    pub(crate) async fn rotate(&mut self, merchant: usize) -> Result<(), Violation> {
        let Some(id) = self.any_endpoint(merchant) else { return Ok(()) };
        let wall = self.time.wall();
        let open = self.model.endpoints.get(&id).is_some_and(|endpoint| endpoint.overlap_open(wall));
        let force = chance(&mut self.dice, 40);
        let overlap_s =
            [None, Some(0), Some(1), Some(60), Some(7_200), Some(604_800)][self.dice.random_range(0..6)];
        let mut body = json!({ "force": force });
        if let Some(overlap_s) = overlap_s {
            body["overlap_seconds"] = json!(overlap_s);
        }
        let (caller, mutation) = (self.caller(merchant), self.mutation(By::Merchant));
        let answered =
            self.app.endpoint_rotate_secret(&caller, mutation.with(body), EndpointId::named(&id)).await;
        let refused = (open && !force).then_some("rotation_in_progress");
        let Some(shown) = self.as_expected("rotation", &id, answered, refused)? else { return Ok(()) };
        self.limits.forget(&id);
        if let Some(endpoint) = self.model.endpoints.get_mut(&id) {
            endpoint.rotate(member(&shown, "secret"), overlap_s.unwrap_or(86_400) * 1000, wall);
        }
        Ok(())
    }

    /// Ends the overlap of an endpoint.
    pub(crate) async fn retire(&mut self, merchant: usize) -> Result<(), Violation> {
        let Some(id) = self.any_endpoint(merchant) else { return Ok(()) };
        let (caller, mutation) = (self.caller(merchant), self.mutation(By::Merchant));
        let answered = self.app.endpoint_retire_secret(&caller, mutation, EndpointId::named(&id)).await;
        self.as_expected("retirement", &id, answered, None)?;
        self.limits.forget(&id);
        let wall = self.time.wall();
        if let Some(endpoint) = self.model.endpoints.get_mut(&id)
            && endpoint.overlap_open(wall)
        {
            endpoint.retire();
        }
        Ok(())
    }

    /// Switches an endpoint off, or on again.
    pub(crate) async fn switch(&mut self, merchant: usize) -> Result<(), Violation> {
        let Some(id) = self.any_endpoint(merchant) else { return Ok(()) };
        let mut off = self.model.endpoints.iter();
        let off = off.find(|(_, endpoint)| endpoint.disabled.is_some() && !endpoint.deleted);
        // Those that are off do not stay so for long.
        let id = off.map_or(id, |(id, _)| id.clone());
        let merchant = self.model.endpoints.get(&id).map_or(merchant, |endpoint| endpoint.merchant);
        self.compare_endpoints(&BTreeSet::from([id.clone()])).await?;
        let enabled = self.model.endpoints.get(&id).is_some_and(Endpoint::enabled);
        if enabled && chance(&mut self.dice, 60) {
            return Ok(());
        }
        let status = if enabled { EndpointStatus::Disabled } else { EndpointStatus::Enabled };
        let by = if chance(&mut self.dice, 25) { By::Operator } else { By::Merchant };
        let mutation = self.mutation(by);
        let answered = match by {
            By::Operator => {
                let body = json!({ "reason": "simulated" });
                self.app.endpoint_switch(mutation.with(body), EndpointId::named(&id), status).await
            }
            By::Merchant => {
                let body = json!({ "status": status.as_str() });
                self.app
                    .endpoint_change(&self.caller(merchant), mutation.with(body), EndpointId::named(&id))
                    .await
            }
        };
        self.as_expected(if enabled { "disabling" } else { "enabling" }, &id, answered, None)?;
        self.limits.forget(&id);
        let (elapsed, wall) = (self.time.elapsed(), self.time.wall());
        self.cancel_waiting(&id, &BTreeSet::new());
        let Some(endpoint) = self.model.endpoints.get_mut(&id) else { return Ok(()) };
        endpoint.changed = elapsed;
        if enabled {
            endpoint.disabled = Some(if by == By::Operator { "operator" } else { "merchant" });
            endpoint.told = by == By::Operator;
        } else {
            endpoint.disabled = None;
            endpoint.forget_failures(wall);
        }
        Ok(())
    }

    /// Deletes an endpoint.
    pub(crate) async fn delete_endpoint(&mut self, merchant: usize) -> Result<(), Violation> {
        let Some(id) = self.any_endpoint(merchant) else { return Ok(()) };
        let (caller, mutation) = (self.caller(merchant), self.mutation(By::Merchant));
        let answered = self.app.endpoint_delete(&caller, mutation, EndpointId::named(&id)).await;
        self.as_expected("deletion", &id, answered, None)?;
        self.limits.forget(&id);
        if let Some(endpoint) = self.model.endpoints.get_mut(&id) {
            endpoint.deleted = true;
        }
        self.cancel_waiting(&id, &BTreeSet::new());
        Ok(())
    }

    /// Gives an endpoint another URL or another filter.
    pub(crate) async fn change_endpoint(&mut self, merchant: usize) -> Result<(), Violation> {
        let Some(id) = self.any_endpoint(merchant) else { return Ok(()) };
        self.compare_endpoints(&BTreeSet::from([id.clone()])).await?;
        let (url, filters) = if chance(&mut self.dice, 60) {
            (Some(self.new_url()), None)
        } else {
            (None, Some(self.any_filters()))
        };
        let mut body = json!({});
        if let Some(url) = &url {
            body["url"] = json!(url);
        }
        if let Some(filters) = &filters {
            body["enabled_events"] = json!(filters);
        }
        let (caller, mutation) = (self.caller(merchant), self.mutation(By::Merchant));
        let answered = self.app.endpoint_change(&caller, mutation.with(body), EndpointId::named(&id)).await;
        let shown = self.as_expected("change", &id, answered, None)?;
        self.limits.forget(&id);
        hold!(shown.is_some(), "a change of {id} was not shown");
        let wall = self.time.wall();
        let Some(endpoint) = self.model.endpoints.get_mut(&id) else { return Ok(()) };
        if let Some(url) = url {
            endpoint.url = url;
            // Another receiver: what the former one asked for does not count.
            endpoint.lift_hold(wall);
        }
        if let Some(filters) = filters {
            endpoint.filters = filters;
        }
        Ok(())
    }
}
