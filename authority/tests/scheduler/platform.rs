//! The platform's side of the use cases, without HTTP, at a time that stands still until it is turned.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use authority::app::lists::ListRequest;
use authority::app::{App, Mutation};
use authority::clock::Clock;
use authority::config::Config;
use authority::dice::{Dice, SystemDice};
use authority::service::{migrate_store, open_app};
use authority_domain::list_filter::{AlertFilter, EventFilter};
use authority_domain::{AlertStatus, MerchantId, PaymentId, Refusal, RequestId, Tenant};
use authority_store::tx::{Page, Tx};
use authority_store::{Access, StoreError};
use serde_json::{Value, json};

pub(crate) const HOUR_MS: i64 = 3_600_000;
pub(crate) const DAY_MS: i64 = 24 * HOUR_MS;

/// 2026-09-01T12:00:00.000Z
const NOON_MS: i64 = 1_788_264_000_000;

/// A kind of database.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

struct Hand(AtomicI64);

impl Clock for Hand {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.now_ms()).unwrap())
    }
}

pub(crate) struct Platform {
    pub(crate) app: App,
    pub(crate) url: String,
    hand: Arc<Hand>,
    /// Gone with the last user of the file.
    folder: Arc<tempfile::TempDir>,
}

/// The configuration of a service on this database, on free ports.
pub(crate) fn config(url: &str) -> Config {
    let variables = [
        ("AUTHORITY_DATABASE_URL", url),
        ("AUTHORITY_SECRET_KEK", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="),
        ("AUTHORITY_LISTEN", "127.0.0.1:0"),
        ("AUTHORITY_OPERATOR_LISTEN", "127.0.0.1:0"),
    ];
    let lookup =
        |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(*value));
    Config::read(&lookup).unwrap()
}

impl Platform {
    pub(crate) async fn start(kind: Kind) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let url = match kind {
            Kind::Sqlite => format!("sqlite://{}", folder.path().join("authority.db").display()),
            Kind::Postgres => postgres_cluster::database().await,
        };
        migrate_store(&config(&url).database_url).await.unwrap();
        Self::open(url, folder).await
    }

    /// Another instance on the same database, with a clock of its own that shows the same time.
    pub(crate) async fn beside(&self) -> Self {
        Self::open(self.url.clone(), Arc::clone(&self.folder)).await
    }

    async fn open(url: String, folder: Arc<tempfile::TempDir>) -> Self {
        let hand = Arc::new(Hand(AtomicI64::new(NOON_MS)));
        let clock: Arc<dyn Clock> = Arc::clone(&hand) as _;
        let app = open_app(&config(&url), Access::Shared, clock, Arc::new(SystemDice)).await.unwrap();
        Self { app, url, hand, folder }
    }

    /// The same platform, asking another instance.
    pub(crate) fn through(self, app: App) -> Self {
        Self { app, ..self }
    }

    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.hand) as _
    }

    pub(crate) fn dice(&self) -> Arc<dyn Dice> {
        Arc::new(SystemDice)
    }

    /// Turns the clock.
    pub(crate) fn wait(&self, ms: i64) {
        self.hand.0.fetch_add(ms, Ordering::SeqCst);
    }

    /// The time in `ms`, as bodies write it.
    pub(crate) fn at(&self, ms: i64) -> String {
        self.app.now().plus_ms(ms).to_string()
    }

    /// A merchant's test data.
    pub(crate) async fn merchant(&self, settings: Value) -> Tenant {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let slug = format!("shop-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let body = json!({"slug": slug, "name": slug, "default_currency": "USD", "settings": settings});
        let made = read(&self.app.merchant_create(mutation().with(body)).await.unwrap().body);
        let merchant_id = MerchantId::parse(made["id"].as_str().unwrap()).unwrap();
        Tenant { merchant_id, livemode: false }
    }

    /// Opens a checkout of 10.00 USD.
    pub(crate) async fn open_checkout(&self, shop: &Tenant, more: &Value) -> Value {
        let body = with(more, basket());
        read(&self.app.checkout_open(mutation().with(body), Ok(shop.clone())).await.unwrap().body)
    }

    /// Takes in an order of 10.00 USD.
    pub(crate) async fn take_in(&self, shop: &Tenant, more: &Value) -> Value {
        let mut body = with(more, basket());
        // Processors' events are one name space for all merchants.
        for payment in body.get_mut("payments").and_then(Value::as_array_mut).into_iter().flatten() {
            let id = format!("{}:{}", shop.merchant_id, payment["processor_event_id"]);
            payment["processor_event_id"] = json!(id);
        }
        read(&self.app.order_ingest(mutation().with(body), Ok(shop.clone())).await.unwrap().body)
    }

    /// Starts a payment of a checkout.
    pub(crate) async fn start_payment(&self, shop: &Tenant, checkout: &Value, n: usize) -> Value {
        let mut body = payment("created", n);
        body.as_object_mut().unwrap().remove("status");
        body["checkout_id"] = checkout["id"].clone();
        body["currency"] = json!("USD");
        read(&self.app.payment_start(mutation().with(body), Ok(shop.clone())).await.unwrap().body)
    }

    /// Reports on a payment.
    pub(crate) async fn report(&self, payment: &Value, status: &str) -> Result<Value, Refusal> {
        let id = payment["id"].as_str().unwrap();
        let body = json!({"status": status, "processor_event_id": format!("{status}:{id}")});
        let answer = self.app.payment_report(mutation().with(body), PaymentId::named(id)).await?;
        Ok(read(&answer.body))
    }

    /// The operator's open alerts.
    pub(crate) async fn alerts(&self) -> Vec<Value> {
        let request = ListRequest { limit: 100, cursor: None, filter: String::new() };
        let filter = AlertFilter { status: vec![AlertStatus::Open], ..AlertFilter::default() };
        let found = self.app.alerts_list(&request, filter).await.unwrap();
        found.items.iter().map(|text| read(text)).collect()
    }

    /// Every event of a stream.
    pub(crate) async fn events(&self, shop: &Tenant) -> Vec<Value> {
        let shop = shop.clone();
        let page: Result<Page<String>, StoreError> = self
            .app
            .store
            .read_list(move |tx: &mut Tx| {
                Box::pin(async move { tx.events_page(&shop, &EventFilter::default(), 0, 1000).await })
            })
            .await;
        page.unwrap().rows.iter().map(|(_, text)| read(text)).collect()
    }
}

/// A payment of 10.00 USD that an order brings along.
pub(crate) fn payment(status: &str, n: usize) -> Value {
    json!({"amount": 1000, "status": status, "method": {"type": "card"}, "processor": {"name": "acme-pay"},
           "processor_event_id": format!("evt-{n}")})
}

/// Events as `type version`.
pub(crate) fn short(events: &[Value]) -> Vec<String> {
    let name = |event: &Value| event["type"].as_str().unwrap().to_owned();
    events.iter().map(|event| format!("{} {}", name(event), event["resource_version"])).collect()
}

fn basket() -> Value {
    json!({"currency": "USD", "line_items": [{"name": "Sticker", "quantity": 10, "unit_amount": 100}]})
}

fn with(more: &Value, mut body: Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn mutation() -> Mutation {
    let request_id = RequestId::from_store("req_00000000000000000000000000".to_owned());
    Mutation {
        operation: "tests",
        request_id,
        trace: None,
        idempotency: None,
        if_match: None,
        author: None,
        body: json!({}),
    }
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}
