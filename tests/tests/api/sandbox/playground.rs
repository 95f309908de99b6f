//! Where the tests play.

use serde_json::Value;
use tests::authority::Authority;
use tests::http::Api;
use tests::merchant::{Merchant, checkout_body, text};

/// A merchant, and the sandbox asked with a key that could read nothing of what happens in it.
pub(crate) struct Playground {
    pub(crate) merchant: Merchant,
    pub(crate) sandbox: Api,
}

impl Playground {
    pub(crate) async fn open(authority: &Authority, slug: &str) -> Self {
        let merchant = Merchant::create(authority, slug).await;
        // Any scope suffices.
        let sandbox = authority.sandbox(&merchant.issue_key("test", &["partners:read"]).await);
        Self { merchant, sandbox }
    }

    pub(crate) async fn play(&self, path: &str, body: Value, status: u16) -> Value {
        self.sandbox.post(path, &body).await.expect(status)
    }

    pub(crate) async fn pay(&self, body: Value) -> Value {
        let checkout = self.play("/checkouts", checkout_body(), 201).await;
        self.play(&format!("/checkouts/{}/pay", text(&checkout, "id")), body, 201).await
    }

    /// The names of the events behind the first `known`.
    pub(crate) async fn events_after(&self, known: usize) -> String {
        let events = self.merchant.events_after(known).await;
        events.into_iter().map(|event| event.event_type).collect::<Vec<_>>().join(" ")
    }
}

/// What is told when a checkout is paid at once.
pub(crate) const PAID: &str =
    "checkout.created payment.created checkout.completed order.created payment.succeeded order.confirmed";
