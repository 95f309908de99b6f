//! A PostgreSQL server that is lost under load, and its standby that takes over (contract 21): nothing that was
//! answered is lost, what was under way is answered with 503 and succeeds when it is repeated, and the service goes on
//! by itself.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::future::join_all;
use postgres_cluster::{Cluster, Durability};
use tests::database_proxy::DatabaseProxy;
use tests::{Authority, Merchant, Receiver, checkout_body, eventually, now_ms, sequences, text};

/// Clients that write all the time, while something happens to the database.
#[derive(Default)]
pub(crate) struct Load {
    pub(crate) stop: AtomicBool,
    pub(crate) made: AtomicUsize,
    pub(crate) refused: AtomicUsize,
}

impl Load {
    /// Opens checkouts until it is stopped, each under a key of its own until it is made; those that were answered.
    pub(crate) async fn client(&self, merchant: &Merchant, client: usize) -> Vec<String> {
        let mut answered = Vec::new();
        while !self.stop.load(Ordering::SeqCst) {
            let key = format!("{client}-{}", answered.len());
            let path = merchant.platform_path("checkouts");
            let reply = merchant.operator.post_as(&key, &path, &checkout_body()).await;
            if reply.status == 503 {
                assert!(reply.headers.contains_key("retry-after"), "{reply:?}");
                self.refused.fetch_add(1, Ordering::SeqCst);
                continue; // the same request again
            }
            answered.push(text(&reply.expect(201), "id"));
            self.made.fetch_add(1, Ordering::SeqCst);
        }
        answered
    }

    /// Waits until one of the counts has grown by so many.
    pub(crate) async fn grows(&self, count: &AtomicUsize, more: usize) {
        let target = count.load(Ordering::SeqCst) + more;
        eventually("progress", async || (count.load(Ordering::SeqCst) >= target).then_some(())).await;
    }
}

/// From the promotion of the standby to the first write that is answered, in milliseconds.
const BACK_WITHIN_MS: i64 = 5_000;

#[tokio::test]
async fn a_standby_takes_over_and_nothing_that_was_answered_is_lost() {
    const CLIENTS: usize = 8;
    let primary = Cluster::start(Durability::Off);
    let standby = Arc::new(primary.standby().await);
    let database = primary.database().await;
    let proxy = DatabaseProxy::start(&database);
    let authority = Authority::start(&[("AUTHORITY_DATABASE_URL", proxy.url())]).await;
    let merchants: Vec<_> = join_all(["a", "b", "c"].map(|slug| Merchant::create(&authority, slug))).await;
    let receiver = Receiver::accepting().await;
    for merchant in &merchants {
        merchant.endpoint(&receiver.url("/hooks"), &["*"]).await;
    }
    let load = Load::default();
    let client = |client: usize| load.client(&merchants[client % merchants.len()], client);
    let conductor = async {
        load.grows(&load.made, 50).await;
        primary.kill();
        load.grows(&load.refused, CLIENTS).await;
        let server = Arc::clone(&standby);
        tokio::task::spawn_blocking(move || server.promote()).await.unwrap();
        proxy.lead_to(&standby.address_of(&database));
        let promoted = now_ms();
        load.grows(&load.made, 1).await;
        let back = now_ms() - promoted;
        assert!(back <= BACK_WITHIN_MS, "{back} ms from the promotion to the first answer");
        load.grows(&load.made, 50).await;
        load.stop.store(true, Ordering::SeqCst);
    };
    let (answered, ()) = tokio::join!(join_all((0..CLIENTS).map(client)), conductor);

    let mut answered: Vec<_> = answered.into_iter().flatten().collect();
    let (mut told, mut missing) = (Vec::new(), BTreeSet::new());
    for merchant in &merchants {
        let events = merchant.events().await;
        assert_eq!(sequences(&events), Vec::from_iter(1..=events.len() as u64));
        told.extend(events.iter().map(|event| text(&event["data"]["object"], "id")));
        missing.extend(events.iter().map(|event| text(event, "id")));
    }
    answered.sort_unstable();
    told.sort_unstable();
    assert_eq!(answered, told, "what was answered, and nothing else, has happened once");
    authority.nothing_pending().await;
    for arrival in &receiver.arrivals().all {
        missing.remove(&arrival.event_id);
    }
    assert_eq!(missing, BTreeSet::new(), "every event has arrived");
    let doctor = authority.run(&["doctor"]).await;
    assert!(doctor.status.success(), "{doctor:?}");
}
