//! Events, and asking for them again: what fans out to whom (contract 7.7, 7.8, 15.3; I12).

use std::collections::BTreeSet;

use authority::app::checkout::end::CheckoutAction;
use authority::app::{Answer, Mutation};
use authority_domain::{CheckoutEnd, CheckoutId, DeliveryId, EndpointId, EventId, Refusal};
use futures_util::future::{BoxFuture, join_all};
use rand::RngExt as _;
use serde_json::{Value, json};

use crate::journal::{Violation, hold};
use crate::judge::short;
use crate::model::Event;
use crate::model::delivery::{Delivery, Status};
use crate::operate::{By, member};
use crate::receiver::chance;
use crate::rows::EventRow;
use crate::world::World;

impl World {
    /// One to three requests at the same time, each with events of its own.
    pub(crate) async fn commit_events(&mut self, merchant: usize) -> Result<(), Violation> {
        // Who is enabled at this moment, also by what time alone has done.
        let its = self.endpoints_of(merchant);
        self.compare_endpoints(&its).await?;
        let requests: Vec<BoxFuture<'static, Result<Answer, Refusal>>> =
            (0..self.dice.random_range(1..4)).map(|_| self.request(merchant)).collect();
        let asked = requests.len();
        let answers = join_all(requests.into_iter().map(tokio::spawn)).await;
        for answer in answers {
            let answer = answer.map_err(|_| Violation("a request panicked".to_owned()))?;
            let answer =
                answer.map_err(|refusal| Violation(format!("an event was refused: {}", refusal.detail)))?;
            let record: Value = serde_json::from_str(&answer.body).unwrap_or_default();
            if record.get("object").and_then(Value::as_str) == Some("checkout")
                && record.get("status").and_then(Value::as_str) == Some("open")
            {
                self.model.shops[merchant].checkouts.push(member(&record, "id"));
            }
        }
        self.note(format_args!("{asked} requests of merchant {merchant}"));
        let wall = self.time.wall();
        for event in self.new_events(merchant, None).await? {
            let expected: BTreeSet<String> = self
                .model
                .endpoints
                .iter()
                .filter(|(_, endpoint)| endpoint.merchant == merchant && endpoint.enabled())
                .filter(|(_, endpoint)| endpoint.wants(&event.event_type))
                .map(|(id, _)| id.clone())
                .collect();
            let made = self.rows.fanned_out(&event.id).await;
            let got: BTreeSet<String> = made.iter().map(|row| row.endpoint_id.clone()).collect();
            hold!(
                got == expected && made.len() == expected.len(),
                "{} ({}) was fanned out to {:?}, not to {expected:?}",
                event.id,
                event.event_type,
                made.iter().map(|row| &row.endpoint_id).collect::<Vec<_>>()
            );
            for row in made {
                self.note(format_args!(
                    "{} makes {} for {}",
                    event.event_type,
                    short(&row.id),
                    short(&row.endpoint_id)
                ));
                self.model.delivery(&row.id, Delivery::new(&event.id, &row.endpoint_id, "event", wall));
            }
        }
        Ok(())
    }

    fn request(&mut self, merchant: usize) -> BoxFuture<'static, Result<Answer, Refusal>> {
        let (app, tenant) = (self.app.clone(), Ok(self.caller(merchant).tenant));
        let mutation: Mutation = self.mutation(By::Operator);
        self.names += 1;
        let name = self.names;
        let line =
            json!({ "name": format!("Shirt {name}"), "sku": "SHIRT", "quantity": 1, "unit_amount": 2400 });
        let open = self.model.shops[merchant].checkouts.len();
        match self.dice.random_range(0..10) {
            0..3 if open > 0 => {
                let checkout =
                    self.model.shops[merchant].checkouts.swap_remove(self.dice.random_range(0..open));
                let (id, how) = (CheckoutId::named(&checkout), CheckoutAction::End(CheckoutEnd::Cancelled));
                Box::pin(async move { app.checkout_end(mutation, id, how).await })
            }
            3..5 => {
                let payment = json!({
                    "amount": 2400,
                    "status": "succeeded",
                    "method": { "type": "cash" },
                    "processor": { "name": "till" },
                    "processor_event_id": format!("sale-{name}"),
                });
                let body = json!({ "currency": "USD", "line_items": [line], "source": "pos", "payments": [payment] });
                Box::pin(async move { app.order_ingest(mutation.with(body), tenant).await })
            }
            _ => {
                let body = json!({ "currency": "USD", "line_items": [line] });
                Box::pin(async move { app.checkout_open(mutation.with(body), tenant).await })
            }
        }
    }

    /// The events since the last time, numbered without a gap.
    async fn new_events(
        &mut self,
        merchant: usize,
        tested: Option<&str>,
    ) -> Result<Vec<EventRow>, Violation> {
        let (id, sequence) = (self.model.shops[merchant].id.clone(), self.model.shops[merchant].sequence);
        let events = self.rows.events_after(&id, sequence).await;
        for (event, expected) in events.iter().zip(sequence + 1..) {
            hold!(
                event.sequence == expected,
                "{} has the place {}, not {expected}",
                event.id,
                event.sequence
            );
            self.tally.events += 1;
            let known = Event {
                event_type: event.event_type.clone(),
                merchant,
                body: event.body.clone(),
                tested: tested.map(str::to_owned),
                deliveries: 0,
                remembered: true,
            };
            self.model.event(&event.id, known);
            self.model.shops[merchant].sequence = event.sequence;
        }
        Ok(events)
    }

    fn endpoints_of(&self, merchant: usize) -> BTreeSet<String> {
        let all = self.model.endpoints.iter();
        all.filter(|(_, endpoint)| endpoint.merchant == merchant).map(|(id, _)| id.clone()).collect()
    }

    /// A test event, for this endpoint alone.
    pub(crate) async fn test_endpoint(&mut self, merchant: usize) -> Result<(), Violation> {
        let Some(endpoint) = self.any_endpoint(merchant) else { return Ok(()) };
        self.compare_endpoints(&BTreeSet::from([endpoint.clone()])).await?;
        let enabled = self.model.endpoints.get(&endpoint).is_some_and(|endpoint| endpoint.enabled());
        let (caller, mutation) = (self.caller(merchant), self.mutation(By::Merchant));
        let answered =
            self.app.endpoint_test(&caller, mutation, &caller.key_id, EndpointId::named(&endpoint)).await;
        let refused = (!enabled).then_some("endpoint_disabled");
        let Some(asked) = self.as_expected("test", &endpoint, answered, refused)? else { return Ok(()) };
        let events = self.new_events(merchant, Some(&endpoint)).await?;
        let (delivery, event) = (member(&asked, "delivery_id"), member(&asked, "event_id"));
        hold!(
            events.len() == 1 && events[0].id == event && events[0].resource_id == endpoint,
            "a test of {endpoint} made the events {events:?}"
        );
        let wall = self.time.wall();
        self.model.delivery(&delivery, Delivery::new(&event, &endpoint, "test", wall));
        if let Some(endpoint) = self.model.endpoints.get_mut(&endpoint) {
            endpoint.probe_asked = endpoint.hold.step > 0;
        }
        Ok(())
    }

    /// An event once more: for all that want it, or for one endpoint.
    pub(crate) async fn replay(&mut self, merchant: usize) -> Result<(), Violation> {
        let recent = self.model.shops[merchant].recent.len();
        if recent == 0 {
            return Ok(());
        }
        let its = self.endpoints_of(merchant);
        self.compare_endpoints(&its).await?;
        let id = self.model.shops[merchant].recent[self.dice.random_range(0..recent)].clone();
        let Some(event) = self.model.events.get(&id).cloned() else { return Ok(()) };
        let named = if chance(&mut self.dice, 50) { self.any_endpoint(merchant) } else { None };
        let may_get = |endpoint: &String| event.tested.as_ref().is_none_or(|tested| tested == endpoint);
        let enabled = |world: &Self, id: &String| {
            world.model.endpoints.get(id).is_some_and(|endpoint| endpoint.enabled())
        };
        let (expected, refused) = match &named {
            Some(one) if !enabled(self, one) => (Vec::new(), Some("endpoint_disabled")),
            Some(one) => (vec![one.clone()], (!may_get(one)).then_some("no_eligible_endpoint")),
            None => {
                let wants = |id: &&String| {
                    let wants = self
                        .model
                        .endpoints
                        .get(*id)
                        .is_some_and(|endpoint| endpoint.wants(&event.event_type));
                    enabled(self, id) && may_get(id) && (wants || event.tested.is_some())
                };
                let all: Vec<String> = its.iter().filter(wants).cloned().collect();
                let refused = all.is_empty().then_some("no_eligible_endpoint");
                (all, refused)
            }
        };
        let body = named.map_or(json!({}), |one| json!({ "endpoint_ids": [one] }));
        let (caller, mutation) = (self.caller(merchant), self.mutation(By::Merchant));
        let answered = self.app.event_replay(&caller, mutation.with(body), EventId::named(&id)).await;
        let Some(made) = self.as_expected("replay", &id, answered, refused)? else { return Ok(()) };
        let made = made.get("deliveries").and_then(Value::as_array).cloned().unwrap_or_default();
        let got: BTreeSet<String> = made.iter().map(|made| member(made, "endpoint_id")).collect();
        let expected: BTreeSet<String> = expected.into_iter().collect();
        hold!(
            got == expected && made.len() == expected.len(),
            "{id} was replayed for {got:?}, not for {expected:?}"
        );
        let wall = self.time.wall();
        for one in &made {
            let (delivery, endpoint) = (member(one, "id"), member(one, "endpoint_id"));
            self.model.delivery(&delivery, Delivery::new(&id, &endpoint, "replay", wall));
        }
        Ok(())
    }

    /// A delivery now: earlier than planned, or once more when it has failed.
    pub(crate) async fn retry_now(&mut self, merchant: usize) -> Result<(), Violation> {
        let made = self.model.shops[merchant].made.len();
        if made == 0 {
            return Ok(());
        }
        let id = self.model.shops[merchant].made[self.dice.random_range(0..made)].clone();
        let Some(delivery) = self.model.deliveries.get(&id).cloned() else { return Ok(()) };
        self.compare_endpoints(&BTreeSet::from([delivery.endpoint.clone()])).await?;
        self.compare_deliveries(&BTreeSet::from([id.clone()])).await?;
        let Some(delivery) = self.model.deliveries.get(&id).cloned() else { return Ok(()) };
        let enabled = self.model.endpoints.get(&delivery.endpoint).is_some_and(|endpoint| endpoint.enabled());
        let refused = match delivery.status {
            Status::Succeeded => Some("invalid_state_transition"),
            _ if !enabled => Some("endpoint_disabled"),
            _ => None,
        };
        let held = self.rows.deliveries([&id]).await.first().is_some_and(|row| row.lease_until.is_some());
        let mutation = self.mutation(By::Operator);
        let answered = self.app.delivery_retry(mutation, DeliveryId::named(&id)).await;
        let Some(shown) = self.as_expected("retry", &id, answered, refused)? else { return Ok(()) };
        let wall = self.time.wall();
        if let Some(endpoint) = self.model.endpoints.get_mut(&delivery.endpoint) {
            endpoint.probe_asked = endpoint.hold.step > 0;
        }
        if delivery.status == Status::Pending {
            if let Some(delivery) = self.model.deliveries.get_mut(&id) {
                delivery.hasten(wall, held);
            }
        } else {
            let again = member(&shown, "id");
            hold!(again != id, "{id} has ended and was begun again");
            let again_now = Delivery::new(&delivery.event, &delivery.endpoint, "replay", wall);
            self.model.delivery(&again, Delivery { probe: true, ..again_now });
        }
        Ok(())
    }
}
