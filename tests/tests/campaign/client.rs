//! A client as clients should be: every logical write has a key of its own and is repeated until it is answered.

use http::Method;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::Value;
use tests::http::{Api, Reply};
use tests::merchant::{Merchant, text};
use tokio::sync::watch;

/// A write that was answered with success.
#[derive(Debug)]
pub(crate) struct Acknowledged {
    pub(crate) merchant_id: String,
    pub(crate) answer: Value,
    api: Api,
    method: Method,
    path: String,
    key: String,
    body: Value,
}

impl Acknowledged {
    /// Sends it again.
    pub(crate) async fn again(&self) -> Reply {
        let call = self.api.call(self.method.clone(), &self.path).json(&self.body);
        call.header("idempotency-key", &self.key).send().await
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
        let key = self.fresh("write");
        let api = match root {
            Root::Operator => self.merchant.operator.clone(),
            Root::Merchant => self.merchant.api.clone(),
        };
        let reply = loop {
            let call = api.call(method.clone(), path).json(&body).header("idempotency-key", &key);
            if let Ok(reply) = call.try_send().await {
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
