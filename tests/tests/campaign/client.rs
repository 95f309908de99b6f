//! A client as clients should be: every logical write has a key of its own and is repeated until it is answered. Where
//! the id of a processor's event names the write as well, half of them have no other key.

use http::Method;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::Value;
use tests::{Api, Call, Merchant, text};
use tokio::sync::watch;

/// A write that was answered with success.
#[derive(Debug)]
pub(crate) struct Acknowledged {
    pub(crate) merchant_id: String,
    pub(crate) answer: Value,
    api: Api,
    method: Method,
    path: String,
    key: Option<String>,
    body: Value,
}

impl Acknowledged {
    /// Sends it again: the answer is the same, or shows what became of the record that the processor's event made.
    pub(crate) async fn again(&self) {
        let reply = call(&self.api, &self.method, &self.path, &self.body, self.key.as_deref()).send().await;
        if self.key.is_some() {
            assert_eq!(reply.json(), self.answer, "{self:?}");
            assert_eq!(reply.header("idempotent-replayed"), Some("true"), "{self:?}");
            return;
        }
        let (now, then) = (reply.expect(200), &self.answer);
        let shown =
            |answer: &Value| text(answer.get("payment").or(answer.get("refund")).unwrap_or(answer), "id");
        assert_eq!(shown(&now), shown(then), "{self:?}");
        assert_ne!(now["applied"], true, "{self:?}");
    }
}

fn call(api: &Api, method: &Method, path: &str, body: &Value, key: Option<&str>) -> Call {
    let call = api.call(method.clone(), path).json(body);
    match key {
        Some(key) => call.header("idempotency-key", key),
        None => call,
    }
}

/// One of many, with dice of its own.
pub(crate) struct Client {
    pub(crate) dice: StdRng,
    pub(crate) merchant: Merchant,
    pub(crate) acknowledged: Vec<Acknowledged>,
    name: usize,
    writes: usize,
    answers: watch::Sender<usize>,
}

/// Which root a write goes to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    Operator,
    Merchant,
}

impl Client {
    pub(crate) fn new(name: usize, seed: u64, merchant: Merchant, answers: watch::Sender<usize>) -> Self {
        let dice = StdRng::seed_from_u64(seed + 1 + name as u64);
        Self { dice, merchant, acknowledged: Vec::new(), name, writes: 0, answers }
    }

    /// True in `percent` of a hundred.
    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.dice.random_range(0..100) < percent
    }

    /// One of these.
    pub(crate) fn one_of<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.dice.random_range(0..of.len())]
    }

    /// A name that nothing else has.
    pub(crate) fn fresh(&mut self, what: &str) -> String {
        self.writes += 1;
        format!("{what}-{}-{}", self.name, self.writes)
    }

    /// Writes until it is answered; `None` when the state is against it (409), which is as good an answer.
    pub(crate) async fn write(
        &mut self,
        root: Root,
        method: Method,
        path: &str,
        body: Value,
    ) -> Option<Value> {
        let named = body.get("processor_event_id").is_some();
        let key = if named && self.chance(50) { None } else { Some(self.fresh("write")) };
        let api = match root {
            Root::Operator => self.merchant.operator.clone(),
            Root::Merchant => self.merchant.api.clone(),
        };
        let reply = loop {
            if let Ok(reply) = call(&api, &method, path, &body, key.as_deref()).try_send().await {
                break reply;
            }
        };
        self.answers.send_modify(|count| *count += 1);
        if reply.status == 409 {
            return None;
        }
        assert!(reply.status < 300, "{method} {path} {body}: {}", reply.text());
        let answer = reply.json();
        let merchant_id = self.merchant.id.clone();
        let path = path.to_owned();
        self.acknowledged.push(Acknowledged {
            merchant_id,
            answer: answer.clone(),
            api,
            method,
            path,
            key,
            body,
        });
        Some(answer)
    }

    /// What the platform writes for this merchant.
    pub(crate) async fn platform(&mut self, collection: &str, body: Value) -> Option<Value> {
        let path = self.merchant.platform_path(collection);
        self.write(Root::Operator, Method::POST, &path, body).await
    }

    /// What somebody reports about a record.
    pub(crate) async fn report(&mut self, record: &str, body: Value) -> Option<Value> {
        self.write(Root::Operator, Method::POST, &format!("{record}/reports"), body).await
    }

    /// What the merchant does.
    pub(crate) async fn merchant_does(&mut self, method: Method, path: &str, body: Value) -> Option<Value> {
        self.write(Root::Merchant, method, path, body).await
    }
}

/// What names a record.
pub(crate) fn name_of(record: &Value) -> String {
    text(record, if record["object"] == "order" { "order_number" } else { "id" })
}
