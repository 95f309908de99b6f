//! The calls of a run: the sandbox and the merchant API with one key, and an idempotency key for every write.

use std::sync::atomic::{AtomicU32, Ordering};

use http::Method;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::dev::client::{Api, CallError, Http};

/// The two API roots that are called, with the same key. Has no `Debug`: it holds the key.
pub(super) struct Calls {
    sandbox: Api,
    merchant: Api,
    /// New for every run. The idempotency key of a write is this text and the number of the write.
    run: String,
    writes: AtomicU32,
}

impl Calls {
    /// Calls to the authority at `url`.
    pub(super) fn new(http: &Http, url: &str, key: &str, run: String) -> Self {
        let api = |root: &str| Api::new(http.clone(), url, root, key.to_owned());
        Self { sandbox: api("/v1/sandbox"), merchant: api("/v1/merchant"), run, writes: AtomicU32::new(0) }
    }

    /// Reads from the merchant API.
    pub(super) async fn read<T: DeserializeOwned>(&self, path: &str) -> Result<T, CallError> {
        self.merchant.get_as(path).await
    }

    /// Sends a write to the sandbox.
    pub(super) async fn play<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, CallError> {
        self.sandbox.post(path, body, &headers(&self.next_key())).await
    }

    /// Sends a write to the merchant API.
    pub(super) async fn write<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, CallError> {
        self.merchant.post(path, body, &headers(&self.next_key())).await
    }

    /// Sends a write to a whole path, which begins with one of the two roots.
    pub(super) async fn send(&self, method: &Method, path: &str, body: &Value) -> Result<Value, CallError> {
        let (api, path) = match path.strip_prefix("/v1/sandbox") {
            Some(path) => (&self.sandbox, path),
            None => (&self.merchant, path.strip_prefix("/v1/merchant").unwrap_or(path)),
        };
        api.write(method, path, body, &headers(&self.next_key())).await
    }

    fn next_key(&self) -> String {
        let write = self.writes.fetch_add(1, Ordering::Relaxed);
        format!("trigger:{}:{write}", self.run)
    }
}

/// The headers that merchants in strict mode require: an idempotency key, and `If-Match: *` for any version.
fn headers(key: &str) -> [(&'static str, &str); 2] {
    [("Idempotency-Key", key), ("If-Match", "*")]
}
