//! A merchant whose endpoints have names that never answer, each name another one.
//!
//! It makes endpoints for all events and deletes them again, side by side, while it makes events. So the authority
//! looks up new names for requests and for deliveries all the time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use http::Method;
use serde_json::json;
use tests::authority::Authority;
use tests::http::Api;
use tests::merchant::{Merchant, text};

/// Endpoints that stay.
const STANDING: usize = 8;
/// Clients that make an endpoint and delete it, again and again: with those that stay, as many as a merchant may have.
const CLIENTS: usize = 8;
/// Between two events: twenty a second, each for every endpoint.
const BETWEEN_EVENTS: Duration = Duration::from_millis(50);

pub(crate) struct Names {
    merchant: Merchant,
    clients: Vec<Api>,
    names: AtomicU64,
}

pub(crate) async fn prepare(authority: &Authority) -> Names {
    let merchant = Merchant::create(authority, "nameless").await;
    let clients = (0..CLIENTS).map(|_| authority.merchant(&merchant.key)).collect();
    let names = Names { merchant, clients, names: AtomicU64::new(0) };
    join_all((0..STANDING).map(|_| names.make(&names.merchant.api))).await;
    names
}

impl Names {
    pub(crate) async fn run(&self) {
        tokio::join!(join_all(self.clients.iter().map(|api| self.come_and_go(api))), self.events());
    }

    async fn come_and_go(&self, api: &Api) {
        loop {
            let id = self.make(api).await;
            let path = format!("/webhook-endpoints/{id}");
            api.call(Method::DELETE, &path).send().await.expect(200);
        }
    }

    async fn make(&self, api: &Api) -> String {
        let name = self.names.fetch_add(1, Ordering::Relaxed);
        let url = format!("https://{name}.hangs.example.com/hook");
        let body = json!({ "url": url, "enabled_events": ["*"] });
        text(&api.post("/webhook-endpoints", &body).await.expect(201), "id")
    }

    async fn events(&self) {
        loop {
            self.merchant.checkout().await;
            tokio::time::sleep(BETWEEN_EVENTS).await;
        }
    }
}
