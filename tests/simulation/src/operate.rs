//! What people and machines do: one thing at a time, chosen by the dice, done through the product's use cases.
//!
//! What is asked for may have to be refused; then the model says with which code.

use std::collections::BTreeSet;

use authority::app::access::Caller;
use authority::app::{Answer, Mutation};
use authority_domain::{Author, Refusal, RequestId, Timestamp};
use rand::RngExt as _;
use serde_json::{Value, json};

use crate::journal::{Violation, hold};
use crate::judge::short;
use crate::network::host_of;
use crate::receiver::{Mood, chance};
use crate::world::World;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The merchant's backend.
    Merchant,
    /// The platform.
    Operator,
}

impl World {
    /// Does one thing.
    pub(crate) async fn operate(&mut self) -> Result<(), Violation> {
        let merchant = self.dice.random_range(0..self.model.shops.len());
        match self.dice.random_range(0..100) {
            0..46 => self.commit_events(merchant).await,
            46..49 => self.test_endpoint(merchant).await,
            49..53 => self.replay(merchant).await,
            53..57 => self.retry_now(merchant).await,
            57..60 => self.rotate(merchant).await,
            60..61 => self.retire(merchant).await,
            61..67 => self.switch(merchant).await,
            67..70 => self.create_endpoint(merchant).await,
            70..71 => self.delete_endpoint(merchant).await,
            71..73 => self.change_endpoint(merchant).await,
            73..88 => {
                self.change_a_mood(merchant);
                Ok(())
            }
            88..93 => {
                self.kill_an_instance();
                Ok(())
            }
            93..95 => {
                self.stop_an_instance();
                Ok(())
            }
            95..96 => self.restart_everything().await,
            96..98 => {
                self.slow_an_instance_down();
                Ok(())
            }
            _ => {
                self.step_the_clock();
                Ok(())
            }
        }
    }

    /// What a writing request brings.
    pub(crate) fn mutation(&mut self, by: By) -> Mutation {
        let now = Timestamp::from_ms(self.time.wall());
        Mutation {
            operation: "simulation",
            request_id: RequestId::generate(now, &mut self.dice),
            trace: None,
            idempotency: None,
            if_match: None,
            author: (by == By::Operator).then_some(Author::CommandLine),
            body: json!({}),
        }
    }

    /// The merchant as it asks.
    pub(crate) fn caller(&self, merchant: usize) -> Caller {
        self.callers[merchant].clone()
    }

    /// What chance alone would hardly bring about. From now on one receiver answers 500 until all is well, and nobody
    /// changes its endpoint, but for enabling it: so there are days without a success (contract 4.10). Another one
    /// has room for a single request, so that some are refused while others wait (18.4-8).
    pub(crate) fn arrange_the_unlikely(&mut self) {
        let mut all = self.model.endpoints.iter().filter(|(_, endpoint)| endpoint.wants("checkout.created"));
        if let Some((id, endpoint)) = all.next() {
            self.network.put_in_mood(host_of(&endpoint.url), Mood::Answers(500), i64::MAX);
            self.left_alone.push(id.clone());
        }
        if let Some((id, endpoint)) = all.next() {
            self.network.put_in_mood(host_of(&endpoint.url), Mood::Crowded(1), i64::MAX);
            self.left_alone.push(id.clone());
        }
    }

    /// One of the merchant's endpoints that are not deleted.
    pub(crate) fn any_endpoint(&mut self, merchant: usize) -> Option<String> {
        let all = self.model.endpoints.iter();
        let its: Vec<String> = all
            .filter(|(_, endpoint)| endpoint.merchant == merchant && !endpoint.deleted)
            .map(|(id, _)| id.clone())
            .filter(|id| !self.left_alone.contains(id))
            .collect();
        (!its.is_empty()).then(|| its[self.dice.random_range(0..its.len())].clone())
    }

    fn change_a_mood(&mut self, merchant: usize) {
        let Some(id) = self.any_endpoint(merchant) else { return };
        let Some(host) = self.model.endpoints.get(&id).map(|endpoint| host_of(&endpoint.url).to_owned())
        else {
            return;
        };
        let mood = Mood::any(&mut self.dice);
        let minute = 60_000;
        let lasts = match self.dice.random_range(0..10) {
            0..3 => self.dice.random_range(1_000..minute),
            3..6 => self.dice.random_range(minute..60 * minute),
            6..9 => self.dice.random_range(60 * minute..36 * 60 * minute),
            _ => self.dice.random_range(24 * 60 * minute..7 * 24 * 60 * minute),
        };
        self.note(format_args!("{host} is {mood:?} for {} s", lasts / 1000));
        self.network.put_in_mood(&host, mood, self.time.elapsed() + lasts);
    }

    fn any_place(&mut self) -> usize {
        self.dice.random_range(0..self.places.len())
    }

    fn kill_an_instance(&mut self) {
        let number = self.any_place();
        let steps = if chance(&mut self.dice, 30) { 0 } else { self.dice.random_range(1..12) };
        let Some(instance) = &self.places[number].instance else { return };
        if steps == 0 {
            instance.life.die();
        } else {
            instance.life.die_after(steps);
        }
        self.tally.deaths += 1;
        self.note(format_args!("instance {number} dies after {steps} steps"));
    }

    fn stop_an_instance(&mut self) {
        let number = self.any_place();
        if let Some(instance) = &mut self.places[number].instance {
            instance.stop();
            self.note(format_args!("instance {number} is stopped in order"));
        }
    }

    /// All instances die; the next one begins as the only one does that has the database for itself.
    async fn restart_everything(&mut self) -> Result<(), Violation> {
        for place in &mut self.places {
            if let Some(instance) = place.instance.take() {
                instance.life.die();
                self.tally.deaths += 1;
            }
            place.comes_back = None;
        }
        self.note(format_args!("everything dies"));
        self.rest().await;
        self.judge().await?;
        let released = self.app.store.take_back_leases().await;
        hold!(released.is_ok(), "leases could not be taken back");
        let off = self.model.endpoints.iter().filter(|(_, endpoint)| !endpoint.enabled());
        let off: Vec<String> = off.map(|(id, _)| id.clone()).collect();
        for delivery in self.model.deliveries.values_mut() {
            delivery.lease = None;
        }
        for id in &off {
            self.cancel_waiting(id, &BTreeSet::new());
        }
        for number in 0..self.places.len() {
            self.start_instance(number);
        }
        Ok(())
    }

    fn slow_an_instance_down(&mut self) {
        let number = self.any_place();
        let lasts = self.dice.random_range(20_000..150_000);
        self.note(format_args!("answers to instance {number} are held up for {} s", lasts / 1000));
        self.network.slow_down(number, self.time.elapsed() + lasts);
    }

    fn step_the_clock(&mut self) {
        let by = self.dice.random_range(-20_000..20_000);
        self.time.step(by);
        self.note(format_args!("the clock steps by {by} ms"));
    }

    /// The answer, or a violation when it is not what was expected: a refusal with this code, or none.
    pub(crate) fn as_expected(
        &mut self,
        what: &str,
        about: &str,
        answered: Result<Answer, Refusal>,
        refused: Option<&str>,
    ) -> Result<Option<Value>, Violation> {
        match answered {
            Ok(answer) => {
                hold!(refused.is_none(), "{what} of {about} was not refused with {refused:?}");
                self.note(format_args!("{what} of {}", short(about)));
                let body = serde_json::from_str(&answer.body);
                body.map(Some).map_err(|_| Violation(format!("{what}: the answer is not JSON")))
            }
            Err(refusal) => {
                let code = refusal.code.as_str();
                hold!(refused == Some(code), "{what} of {about} was refused: {code}, {}", refusal.detail);
                self.note(format_args!("{what} of {} is refused: {code}", short(about)));
                Ok(None)
            }
        }
    }
}

/// A member of an answer that is a string.
pub(crate) fn member(record: &Value, name: &str) -> String {
    record.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}
