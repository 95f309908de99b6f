//! A PostgreSQL server that is lost under load, and its standby that takes over (contract 21): nothing that was
//! answered is lost, what was under way is answered with 503 and succeeds when it is repeated, and the service goes on
//! by itself.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::future::join_all;
use http::Method;
use postgres_cluster::{Cluster, Durability};
use tests::authority::Authority;
use tests::clock::now_ms;
use tests::database_proxy::DatabaseProxy;
use tests::eventually::eventually;
use tests::merchant::{Merchant, checkout_body, text};
use tests::receiver::Receiver;

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
    let (stop, made, refused) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let client = async |client: usize| {
        let merchant = &merchants[client % merchants.len()];
        let mut answered = Vec::new();
        while !stop.load(Ordering::SeqCst) {
            let key = format!("{client}-{}", answered.len());
            let call = merchant.operator.call(Method::POST, &merchant.platform_path("checkouts"));
            let reply = call.json(&checkout_body()).header("idempotency-key", &key).send().await;
            if reply.status == 503 {
                assert!(reply.headers.contains_key("retry-after"), "{reply:?}");
                refused.fetch_add(1, Ordering::SeqCst);
                continue; // the same request again
            }
            answered.push(text(&reply.expect(201), "id"));
            made.fetch_add(1, Ordering::SeqCst);
        }
        answered
    };
    let grows = async |count: &AtomicUsize, more: usize| {
        let target = count.load(Ordering::SeqCst) + more;
        eventually("progress", async || (count.load(Ordering::SeqCst) >= target).then_some(())).await;
    };
    let conductor = async {
        grows(&made, 50).await;
        primary.kill();
        grows(&refused, CLIENTS).await;
        let server = Arc::clone(&standby);
        tokio::task::spawn_blocking(move || server.promote()).await.unwrap();
        proxy.lead_to(&standby.address_of(&database));
        let promoted = now_ms();
        grows(&made, 1).await;
        let back = now_ms() - promoted;
        assert!(back <= BACK_WITHIN_MS, "{back} ms from the promotion to the first answer");
        grows(&made, 50).await;
        stop.store(true, Ordering::SeqCst);
    };
    let (answered, ()) = tokio::join!(join_all((0..CLIENTS).map(client)), conductor);

    let mut answered: Vec<_> = answered.into_iter().flatten().collect();
    let (mut told, mut missing) = (Vec::new(), BTreeSet::new());
    for merchant in &merchants {
        let events = merchant.events().await;
        let sequences: Vec<_> = events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
        assert_eq!(sequences, Vec::from_iter(1..=events.len() as u64));
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
