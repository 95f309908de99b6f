//! Fault E: the store is away during a create. The peer's request hung for more than 20 s; its row was stored, a retry
//! with the same id got 409, and the event was never delivered.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use postgres_cluster::{Cluster, Durability, Stop};
use serde_json::Value;
use tests::damage::Locked;
use tests::{Authority, Endpoint, Merchant, Receiver, Reply, checkout_body, eventually, text};

/// How long a refusal may take. The peer's client was still waiting after 20 s.
const AT_ONCE: Duration = Duration::from_secs(15);

struct Shop {
    merchant: Merchant,
    receiver: Receiver,
    endpoint: Endpoint,
}

impl Shop {
    async fn open(authority: &Authority) -> Self {
        let receiver = Receiver::accepting().await;
        let merchant = Merchant::create(authority, "shop").await;
        let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
        Self { merchant, receiver, endpoint }
    }

    async fn create(&self, key: &str) -> Reply {
        let asked = self
            .merchant
            .operator
            .call(Method::POST, &self.merchant.platform_path("checkouts"))
            .header("idempotency-key", key)
            .json(&checkout_body())
            .send();
        tokio::time::timeout(AT_ONCE, asked).await.expect("an answer within bounds")
    }

    async fn is_refused(&self, key: &str) {
        refused_for_now(&self.create(key).await);
    }

    /// The request that was refused, once more under its key: it succeeds once and is delivered once.
    async fn succeeds_once(&self, authority: &Authority, key: &str) {
        let made = eventually("the database", async || {
            let reply = self.create(key).await;
            (reply.status != 503).then_some(reply)
        })
        .await;
        let checkout = made.expect(201);
        let again = self.create(key).await;
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        assert_eq!(again.expect(201), checkout);
        authority.nothing_pending().await;
        let told = |event: &&Value| event["data"]["object"]["id"] == checkout["id"];
        let events = self.merchant.events().await;
        let [event] = events.iter().filter(told).collect::<Vec<_>>()[..] else { panic!("{events:?}") };
        let arrivals = self.receiver.arrivals();
        let arrived: Vec<_> =
            arrivals.all.iter().filter(|arrival| arrival.event_id == text(event, "id")).collect();
        assert_eq!(arrived.len(), 1);
        arrived[0].verify(&self.endpoint.secret).unwrap();
        assert_eq!(events.len(), arrivals.all.len(), "and nothing else has happened");
    }
}

/// The answer says that the service is away, and for how long.
fn refused_for_now(reply: &Reply) {
    reply.refused(503, "service_unavailable");
    let seconds: u32 = reply.header("retry-after").expect("how long to wait").parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
}

#[tokio::test]
async fn on_postgres_a_stopped_server_is_503_and_the_retry_is_delivered_once() {
    let cluster = Arc::new(Cluster::start(Durability::Off));
    let database = cluster.database().await;
    let authority = Authority::start(&[("AUTHORITY_DATABASE_URL", database.as_str())]).await;
    let shop = Shop::open(&authority).await;
    shop.create("before").await.expect(201);
    authority.nothing_pending().await;
    for (how, key) in [(Stop::Fast, "fast"), (Stop::Immediate, "immediate")] {
        let server = Arc::clone(&cluster);
        tokio::task::spawn_blocking(move || server.stop(how)).await.unwrap();
        for _ in 0..3 {
            shop.is_refused(key).await;
        }
        let server = Arc::clone(&cluster);
        tokio::task::spawn_blocking(move || server.start_again()).await.unwrap();
        shop.succeeds_once(&authority, key).await;
    }
    authority.is_sound().await;
}

#[tokio::test]
async fn on_sqlite_a_locked_file_is_503_and_the_retry_is_delivered_once() {
    let authority = Authority::start(&[]).await;
    let shop = Shop::open(&authority).await;
    shop.create("before").await.expect(201);
    authority.nothing_pending().await;
    let lock = Locked::take(authority.database_url()).await;
    shop.is_refused("locked").await;
    lock.release().await;
    shop.succeeds_once(&authority, "locked").await;
}

/// Room for a little more than there is; the deliveries of what was taken before the end arrive all the same.
#[tokio::test]
async fn on_sqlite_a_full_disk_is_503_and_the_retry_is_delivered_once() {
    let mut authority = Authority::start(&[("AUTHORITY_LOG", "off")]).await;
    let shop = Shop::open(&authority).await;
    authority.nothing_pending().await;
    authority.terminate().await;
    let largest = authority.files().iter().map(|(_, bytes)| bytes.len() as u64).max().unwrap();
    authority.restart_with_files_of_at_most(largest + 256 * 1024).await;
    let mut made = 0;
    let refused = loop {
        let key = format!("checkout-{made}");
        let reply = shop.create(&key).await;
        if reply.status != 201 {
            // Once: SQLite may make room in its log at any moment, and the next is taken.
            refused_for_now(&reply);
            break key;
        }
        made += 1;
        assert!(made < 10_000, "the disk does not fill up");
    };
    authority.kill().await;
    authority.restart().await;
    shop.create(&refused).await.expect(201);
    authority.nothing_pending().await;
    let arrivals = shop.receiver.arrivals();
    assert_eq!(
        arrivals.accepted("/hook"),
        made + 1,
        "every one that was answered, and the one that was repeated"
    );
    assert_eq!(shop.merchant.events().await.len(), made + 1);
}
