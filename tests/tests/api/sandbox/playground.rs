//! Where the tests play.

use serde_json::Value;
use tests::{Api, Authority, Merchant, checkout_body, text};

/// A merchant, and the sandbox asked with a key that could read nothing of what happens in it.
pub(crate) struct Playground {
    pub(crate) merchant: Merchant,
    pub(crate) sandbox: Api,
}

impl Playground {
    /// Opens one as the only merchant of a service.
    pub(crate) async fn alone(slug: &str) -> (Authority, Self) {
        let authority = Authority::start(&[]).await;
        let playground = Self::open(&authority, slug).await;
        (authority, playground)
    }

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
        self.merchant.types_after(known).await.join(" ")
    }
}

/// What is told when a checkout is paid at once.
pub(crate) const PAID: &str =
    "checkout.created payment.created checkout.completed order.created payment.succeeded order.confirmed";
