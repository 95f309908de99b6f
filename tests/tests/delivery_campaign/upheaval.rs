//! What merchants do to their endpoints while everything else happens: disable, enable, rotate, retire, move, delete,
//! make new ones, test them, and have events sent once more.
//!
//! One task per merchant, one change at a time, so that the order of the changes of an endpoint is known. What each was
//! asked and answered goes into its [`History`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::Method;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use tests::text;

use crate::history::{History, Standing, State};
use crate::merchants::{Acknowledged, Answered, Balanced, Ledger, Promise, Root};
use crate::pace::after_ms;
use crate::receiver::Receiver;

/// Milliseconds between two changes of one merchant.
const PAUSE_MS: std::ops::Range<u64> = 200..1_200;

/// What each endpoint of a merchant wants; the first two want everything, so that every event goes to more than one.
const WANTED: [&str; 4] = ["*", "*", "checkout.*", "checkout.created"];

/// A merchant's hand on its endpoints.
pub(crate) struct Hand {
    merchant: Balanced,
    receiver: Arc<Receiver>,
    ledger: Ledger,
    dice: StdRng,
    name: usize,
    writes: usize,
    /// Those that are there, then those that are deleted.
    histories: Vec<History>,
}

impl Hand {
    /// With an endpoint for each of [`WANTED`].
    pub(crate) async fn start(
        seed: u64,
        name: usize,
        merchant: Balanced,
        receiver: Arc<Receiver>,
        ledger: Ledger,
    ) -> Self {
        let dice = StdRng::seed_from_u64(seed ^ (name as u64 + 1).wrapping_mul(0xD1B5_4A32_D192_ED03));
        let mut hand = Self { merchant, receiver, ledger, dice, name, writes: 0, histories: Vec::new() };
        for wanted in WANTED {
            hand.make(wanted).await;
        }
        hand
    }

    /// Changes things until it is enough.
    pub(crate) async fn upheave(mut self, enough: Arc<AtomicBool>) -> Self {
        while !enough.load(Ordering::Relaxed) {
            after_ms(self.dice.random_range(PAUSE_MS)).await;
            let alive: Vec<usize> =
                (0..self.histories.len()).filter(|at| self.now(*at).standing != Standing::Deleted).collect();
            let at = alive[self.dice.random_range(0..alive.len())];
            match self.dice.random_range(0..100) {
                0..8 => self.set(at, Standing::Disabled).await,
                8..40 => self.set(at, Standing::Enabled).await,
                40..55 => self.rotate(at).await,
                55..60 => self.retire(at).await,
                60..72 => self.move_elsewhere(at).await,
                72..75 => self.replace(at).await,
                75..90 => self.test(at).await,
                _ => self.replay().await,
            }
        }
        self
    }

    /// Enables every endpoint and has it catch up on all that it missed (contract 15.2).
    pub(crate) async fn recover(&mut self) {
        for at in self.alive() {
            self.set(at, Standing::Enabled).await;
            let path = self.path(at, "/recover");
            let answered =
                self.ask(Method::POST, &path, json!({ "since": "2020-01-01T00:00:00.000Z" })).await;
            assert_eq!(answered.reply.status, 202, "{}", answered.reply.text());
            self.histories[at].recovered = true;
        }
    }

    /// How many events the service says have not arrived yet, at endpoints that were not deleted (contract 15.1).
    pub(crate) async fn undelivered(&self) -> usize {
        let mut count = 0;
        for at in self.alive() {
            let page = self.merchant.read(&self.path(at, "/undelivered")).await;
            count += page["data"].as_array().expect("a page").len();
        }
        count
    }

    /// What the endpoints were, in the end.
    pub(crate) fn into_histories(self) -> Vec<History> {
        self.histories
    }

    fn alive(&self) -> Vec<usize> {
        (0..self.histories.len()).filter(|at| self.now(*at).standing != Standing::Deleted).collect()
    }

    fn now(&self, at: usize) -> &State {
        &self.histories[at].eras.last().expect("an era").state
    }

    fn path(&self, at: usize, rest: &str) -> String {
        format!("/webhook-endpoints/{}{rest}", self.histories[at].endpoint)
    }

    async fn ask(&mut self, method: Method, path: &str, body: Value) -> Answered {
        self.writes += 1;
        let key = format!("hand-{}-{}", self.name, self.writes);
        let answered = self.merchant.write(Root::Merchant, method.clone(), path, &body, &key).await;
        let (status, said) = (answered.reply.status, answered.reply.text());
        assert!(status < 300 || status == 409, "{method} {path} {body}: {status} {said}");
        answered
    }

    /// Asks for a change of an endpoint, and notes what it is from then on. A refusal changes nothing.
    async fn change(
        &mut self,
        at: usize,
        (method, path, body): (Method, String, Value),
        becomes: impl FnOnce(&mut State, &Value),
    ) {
        let answered = self.ask(method, &path, body.clone()).await;
        if answered.reply.status >= 300 {
            return;
        }
        let mut state = self.now(at).clone();
        becomes(&mut state, &answered.reply.json());
        let sets_standing = !body["status"].is_null();
        self.histories[at].eras.push(answered.era(state, sets_standing));
    }

    async fn make(&mut self, wanted: &str) {
        self.writes += 1;
        let path = format!("/{}/{}", self.name, self.writes);
        let body = json!({ "url": self.receiver.url(&path), "enabled_events": [wanted] });
        let answered = self.ask(Method::POST, "/webhook-endpoints", body).await;
        let made = answered.reply.expect(201);
        let state = State { standing: Standing::Enabled, path, secrets: vec![text(&made, "secret")] };
        self.histories.push(History {
            endpoint: text(&made, "id"),
            merchant: self.merchant.id().to_owned(),
            enabled_events: vec![wanted.to_owned()],
            eras: vec![answered.era(state, true)],
            recovered: false,
        });
    }

    async fn set(&mut self, at: usize, standing: Standing) {
        let status = if standing == Standing::Enabled { "enabled" } else { "disabled" };
        let request = (Method::PATCH, self.path(at, ""), json!({ "status": status }));
        self.change(at, request, |state, _| state.standing = standing).await;
    }

    /// With the usual overlap, with none (a leak), or with an overlap that is open already.
    async fn rotate(&mut self, at: usize) {
        let bodies = [json!({}), json!({ "overlap_seconds": 0, "force": true }), json!({ "force": true })];
        let body = bodies[self.dice.random_range(0..bodies.len())].clone();
        let overlaps = body["overlap_seconds"] != 0;
        let request = (Method::POST, self.path(at, "/rotate-secret"), body);
        self.change(at, request, |state, answer| {
            state.secrets.truncate(usize::from(overlaps));
            state.secrets.insert(0, text(answer, "secret"));
        })
        .await;
    }

    async fn retire(&mut self, at: usize) {
        let request = (Method::POST, self.path(at, "/retire-secret"), json!({}));
        self.change(at, request, |state, _| state.secrets.truncate(1)).await;
    }

    async fn move_elsewhere(&mut self, at: usize) {
        self.writes += 1;
        let path = format!("/{}/{}", self.name, self.writes);
        let request = (Method::PATCH, self.path(at, ""), json!({ "url": self.receiver.url(&path) }));
        self.change(at, request, |state, _| state.path = path).await;
    }

    async fn replace(&mut self, at: usize) {
        let wanted = self.histories[at].enabled_events[0].clone();
        let request = (Method::DELETE, self.path(at, ""), json!({}));
        self.change(at, request, |state, _| state.standing = Standing::Deleted).await;
        self.make(&wanted).await;
    }

    /// Refused while the endpoint is disabled.
    async fn test(&mut self, at: usize) {
        let path = self.path(at, "/test");
        let answered = self.ask(Method::POST, &path, json!({})).await;
        if answered.reply.status == 202 {
            let made = answered.reply.json();
            self.promised(&answered, text(&made, "delivery_id"), &made, &made);
        }
    }

    /// Has one of the merchant's first events sent once more; refused when nobody wants it.
    async fn replay(&mut self) {
        let page = self.merchant.read("/events?limit=20").await;
        let events = page["data"].as_array().expect("a page");
        if events.is_empty() {
            return;
        }
        let event = text(&events[self.dice.random_range(0..events.len())], "id");
        let answered = self.ask(Method::POST, &format!("/events/{event}/replay"), json!({})).await;
        if answered.reply.status == 202 {
            let made = answered.reply.json();
            for delivery in made["deliveries"].as_array().expect("deliveries") {
                self.promised(&answered, text(delivery, "id"), &made, delivery);
            }
        }
    }

    fn promised(&self, answered: &Answered, delivery: String, of_event: &Value, of_endpoint: &Value) {
        let (event, endpoint) = (text(of_event, "event_id"), text(of_endpoint, "endpoint_id"));
        self.ledger.add(Acknowledged {
            asked_at: answered.asked_at,
            answered_at: answered.answered_at,
            promise: Promise::Delivery { delivery, event, endpoint },
        });
    }
}
