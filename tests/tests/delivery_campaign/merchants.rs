//! Merchants as clients of several instances: every write has an idempotency key, goes to one instance after the other,
//! and is repeated until it is answered. What was promised in an answer is written down.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Method;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use tests::{Api, Merchant, Reply, now_ms, text, within};
use tokio::time::MissedTickBehavior;

use crate::fleet::Fleet;
use crate::history::{Era, State};
use crate::pace::after_ms;
use crate::plan::Plan;

/// What an answer said is so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    /// There is an event of this type about this record.
    Event { merchant: String, resource: String, event_type: String },
    /// There is a delivery of this event to this endpoint.
    Delivery { delivery: String, event: String, endpoint: String },
}

/// A promise, when the write was first sent and when it was answered, Unix milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Acknowledged {
    pub(crate) asked_at: i64,
    pub(crate) answered_at: i64,
    pub(crate) promise: Promise,
}

/// What all clients write down.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger(Arc<Mutex<Vec<Acknowledged>>>);

impl Ledger {
    pub(crate) fn add(&self, acknowledged: Acknowledged) {
        self.0.lock().unwrap().push(acknowledged);
    }

    pub(crate) fn entries(&self) -> Vec<Acknowledged> {
        self.0.lock().unwrap().clone()
    }
}

/// Which root a write goes to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    Operator,
    Merchant,
}

/// An answer, when the write was first sent and when it was answered, Unix milliseconds.
pub(crate) struct Answered {
    pub(crate) reply: Reply,
    pub(crate) asked_at: i64,
    pub(crate) answered_at: i64,
}

impl Answered {
    /// What the endpoint that it is about has been since.
    pub(crate) fn era(&self, state: State, sets_standing: bool) -> Era {
        Era { asked_at: self.asked_at, answered_at: self.answered_at, state, sets_standing }
    }
}

/// A merchant behind a proxy that asks one instance after the other.
#[derive(Clone)]
pub(crate) struct Balanced {
    /// The same merchant, through each instance.
    through: Arc<Vec<Merchant>>,
    turn: Arc<AtomicUsize>,
}

impl Balanced {
    pub(crate) async fn create(fleet: &Fleet, slug: &str) -> Self {
        let made = Merchant::create(&fleet.instances[0], slug).await;
        let through = fleet.instances.iter().map(|instance| Merchant {
            api: instance.merchant(&made.key),
            operator: instance.operator(),
            ..made.clone()
        });
        Self { through: Arc::new(through.collect()), turn: Arc::default() }
    }

    /// `mer_…`
    pub(crate) fn id(&self) -> &str {
        &self.through[0].id
    }

    /// The path on the operator root of a collection of the merchant.
    pub(crate) fn platform_path(&self, collection: &str) -> String {
        self.through[0].platform_path(collection)
    }

    /// Writes until there is an answer that is not `not now`.
    pub(crate) async fn write(
        &self,
        root: Root,
        method: Method,
        path: &str,
        body: &Value,
        key: &str,
    ) -> Answered {
        let asked_at = now_ms();
        let insisting = async {
            loop {
                let api = self.next(root);
                let call = api.call(method.clone(), path).json(body).header("idempotency-key", key);
                match call.try_send().await {
                    Ok(reply) if ![429, 503].contains(&reply.status) && !still_running(&reply) => {
                        return reply;
                    }
                    // Soon enough, and no busy loop beside a database that is away.
                    Ok(_) => after_ms(50).await,
                    Err(_) => {}
                }
            }
        };
        let reply = within(format!("{method} {path}"), insisting).await;
        Answered { reply, asked_at, answered_at: now_ms() }
    }

    /// Reads as the merchant does, until there is an answer.
    pub(crate) async fn read(&self, path: &str) -> Value {
        let reading = async {
            loop {
                match self.next(Root::Merchant).call(Method::GET, path).try_send().await {
                    Ok(reply) if reply.status == 200 => return reply.json(),
                    _ => after_ms(50).await,
                }
            }
        };
        within(path, reading).await
    }

    /// The next instance that is up, as a proxy's health check knows; any when none is.
    fn next(&self, root: Root) -> &Api {
        let count = self.through.len();
        let apis = (0..count).map(|_| {
            let merchant = &self.through[self.turn.fetch_add(1, Ordering::Relaxed) % count];
            if root == Root::Operator { &merchant.operator } else { &merchant.api }
        });
        let mut last = None;
        for api in apis {
            if api.is_up() {
                return api;
            }
            last = Some(api);
        }
        last.expect("an instance")
    }
}

/// The same key is being worked on, for a request whose answer was lost.
fn still_running(reply: &Reply) -> bool {
    reply.status == 409 && reply.text().contains("idempotency_key_in_use")
}

/// One client of a merchant: opens checkouts, cancels some, imports an order now and then, at an even pace.
pub(crate) async fn shop(
    plan: &Plan,
    name: usize,
    merchant: Balanced,
    ledger: Ledger,
    enough: Arc<AtomicBool>,
) {
    let mut dice = StdRng::seed_from_u64(plan.seed ^ (name as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let clients = (plan.merchants * plan.clients) as f64;
    let mut pace = tokio::time::interval(Duration::from_secs_f64(clients / f64::from(plan.rate)));
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut open: Vec<String> = Vec::new();
    let mut writes = 0;
    while !enough.load(Ordering::Relaxed) {
        pace.tick().await;
        writes += 1;
        let key = format!("client-{name}-{writes}");
        let cancelled = dice.random_bool(0.25).then(|| open.pop()).flatten();
        let (path, body) = match &cancelled {
            Some(checkout) => (format!("/checkouts/{checkout}/cancel"), json!({})),
            None => (merchant.platform_path("checkouts"), checkout_of_1_kb(&mut dice)),
        };
        let answered = merchant.write(Root::Operator, Method::POST, &path, &body, &key).await;
        let reply = &answered.reply;
        assert!(reply.status < 300, "{path}: {} {}", reply.status, reply.text());
        let resource = text(&reply.json(), "id");
        let event_type = if cancelled.is_some() { "checkout.cancelled" } else { "checkout.created" };
        if cancelled.is_none() {
            open.push(resource.clone());
        }
        let merchant = merchant.id().to_owned();
        ledger.add(Acknowledged {
            asked_at: answered.asked_at,
            answered_at: answered.answered_at,
            promise: Promise::Event { merchant, resource, event_type: event_type.to_owned() },
        });
    }
}

/// A checkout whose event is about a kilobyte.
fn checkout_of_1_kb(dice: &mut StdRng) -> Value {
    let line = json!({
        "name": "T-shirt", "sku": format!("TSHIRT-{}", dice.random_range(0..100_000)),
        "quantity": dice.random_range(1..5), "unit_amount": dice.random_range(100..10_000),
    });
    json!({ "currency": "USD", "line_items": [line], "shipping": 500 })
}
