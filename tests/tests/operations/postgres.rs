//! The service on PostgreSQL: several instances on one database, a network that takes time, a server that is restarted
//! under load, and a schema that is changed only when asked (contract 8.3, 12 T1 and T4, 16).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::{join, join_all};
use http::Method;
use postgres_cluster::{Cluster, Durability, Stop};
use serde_json::json;
use tests::database_proxy::DatabaseProxy;
use tests::{
    Authority, ConsoleUrls as _, KEK, Merchant, Receiver, checkout_body, eventually, rows, sequences, text,
};

use crate::failover::Load;

/// The same merchant, asked through another instance.
fn through(authority: &Authority, merchant: &Merchant) -> Merchant {
    Merchant { api: authority.merchant(&merchant.key), operator: authority.operator(), ..merchant.clone() }
}

#[tokio::test]
async fn serve_changes_the_schema_only_when_asked() {
    let elsewhere = Authority::start(&[]).await;
    let database = postgres_cluster::database().await;
    let variables = [("AUTHORITY_DATABASE_URL", database.as_str()), ("AUTHORITY_SECRET_KEK", KEK)];
    for command in [&["serve"][..], &["operator-key", "create", "--name", "x"]] {
        let said = elsewhere.refuses(&variables, command, 1).await;
        assert!(said.contains("authority migrate") && !said.contains(&database), "{said}");
    }
    for _ in 0..2 {
        let migrated = elsewhere.run_with(&variables, &["migrate"]).await;
        assert_eq!(migrated.status.code(), Some(0), "{migrated:?}");
    }
    let migrated = elsewhere.run_with(&variables, &["migrate", "--json"]).await;
    assert_eq!(String::from_utf8(migrated.stdout).unwrap(), "{\"distribution\":null,\"up_to_date\":true}\n");
    let made = elsewhere.run_with(&variables, &["operator-key", "create", "--name", "x"]).await;
    assert_eq!(made.status.code(), Some(0), "{made:?}");
}

/// Neither a file nor a server without Citus is distributed; one line says so, and nothing was made.
#[tokio::test]
async fn what_has_no_citus_is_not_distributed() {
    let elsewhere = Authority::start(&[]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("none.db");
    let database = postgres_cluster::database().await;
    for (url, name) in [(format!("sqlite://{}", file.display()), "SQLite"), (database, "Citus")] {
        let variables = [("AUTHORITY_DATABASE_URL", url.as_str())];
        let said = elsewhere.refuses(&variables, &["migrate", "--distribute"], 1).await;
        assert!(said.contains(name), "{said}");
    }
    assert!(!file.exists());
}

/// What new merchants' first events need is read for all of them at once: their streams have no rows yet.
#[tokio::test]
async fn first_events_of_new_merchants_share_their_round_trips() {
    const MERCHANTS: u64 = 48;
    let proxy = DatabaseProxy::start(&postgres_cluster::database().await);
    let authority = Authority::start(&[("AUTHORITY_DATABASE_URL", proxy.url())]).await;
    let receiver = Receiver::accepting().await;
    let merchants = join_all((0..MERCHANTS).map(async |n| {
        let merchant = Merchant::create(&authority, &format!("new-{n}")).await;
        merchant.endpoint(&receiver.url("/hooks"), &["*"]).await;
        merchant
    }))
    .await;
    let _ = proxy.take_trips();
    // So that the others wait together while the first transactions are under way.
    proxy.delay(Duration::from_millis(20));
    join_all(merchants.iter().map(Merchant::checkout)).await;
    proxy.delay(Duration::ZERO);
    let kinds = proxy.take_trips().kinds;
    let trips = kinds.iter().filter(|(tables, _)| tables.contains("checkouts")).map(|(_, kind)| kind.trips);
    let trips: u64 = trips.sum();
    assert!(trips < 3 * MERCHANTS, "{trips} round trips: {kinds:#?}");
}

/// A payment behind thousands of imported orders passes over all their numbers in one round trip.
#[tokio::test]
async fn imported_order_numbers_are_passed_over_at_once() {
    let proxy = DatabaseProxy::start(&postgres_cluster::database().await);
    let authority = Authority::start(&[("AUTHORITY_DATABASE_URL", proxy.url())]).await;
    let merchant = Merchant::create(&authority, "moved-here").await;
    let first = merchant.paid_order().await;
    authority.import_orders(&merchant.id, &first, 100_002..=105_001).await;
    let _ = proxy.take_trips();
    assert_eq!(merchant.paid_order().await, "ORD-105002");
    let trips = proxy.take_trips();
    // Nine, and one more for each statement that a connection has not prepared yet.
    assert!(trips.most() < 30, "{trips:#?}");
    assert_eq!(merchant.paid_order().await, "ORD-105003");
}

#[tokio::test]
async fn two_instances_are_one_service() {
    const ORDERS_EACH: usize = 8;
    let database = postgres_cluster::database().await;
    let variables = [("AUTHORITY_DATABASE_URL", database.as_str())];
    let first = Authority::start(&variables).await;
    let mut second = Authority::start(&variables).await;
    let receiver = Receiver::accepting().await;
    let here = Merchant::create(&first, "both").await;
    let there = through(&second, &here);
    here.endpoint(&receiver.url("/hooks"), &["*"]).await;

    let orders = (0..2 * ORDERS_EACH).map(async |n| {
        let merchant = if n % 2 == 0 { &here } else { &there };
        merchant.paid_order().await
    });
    let orders = join_all(orders).await;
    let events = here.events().await;
    assert_eq!(events, there.events().await);
    assert_eq!(
        sequences(&events),
        Vec::from_iter(1..=6 * 2 * ORDERS_EACH as u64),
        "six events for each order"
    );
    let mut numbers: Vec<_> =
        orders.iter().map(|number| number.replace("ORD-", "").parse::<usize>().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, Vec::from_iter(100_001..100_001 + 2 * ORDERS_EACH));

    // One idempotency key, asked of both at once: one checkout.
    let path = here.platform_path("checkouts");
    let asked = join_all([&here, &there].map(|merchant| {
        merchant
            .operator
            .call(Method::POST, &path)
            .json(&checkout_body())
            .header("idempotency-key", "both-at-once")
            .send()
    }));
    let ids: Vec<_> = asked.await.iter().map(|reply| text(&reply.expect(201), "id")).collect();
    assert_eq!(ids[0], ids[1]);

    // One name for an order of each, asked of both at once: one order has it, and both say which.
    let named = join_all([(&here, &orders[0]), (&there, &orders[1])].map(|(merchant, order)| {
        let path = format!("/orders/{order}/external-references/erp");
        merchant.api.call(Method::PUT, &path).json(&json!({ "id": "SO-1" })).send()
    }));
    let named = named.await;
    let winner = named.iter().position(|reply| reply.status == 200).unwrap();
    let holder = &named[1 - winner].refused(409, "external_reference_conflict")["order_number"];
    assert_eq!(holder, orders[winner].as_str());
    // One consumer in two processes: the further of the two acknowledgements stays.
    let feed = here.api.get("/events?limit=5").await.expect(200);
    let further = there.api.get("/events?limit=9").await.expect(200);
    let said = [(&here, &feed), (&there, &further)].map(async |(merchant, page)| {
        let body = json!({ "name": "projection", "cursor": page["next_cursor"] });
        merchant.api.post("/sync/checkpoints", &body).await.status
    });
    let said = join_all(said).await;
    assert!(said[0] == 200 || said[0] == 409, "{said:?}");
    assert_eq!(said[1], 200);
    let checkpoints = here.api.get("/sync/checkpoints").await.expect(200);
    assert_eq!((rows(&checkpoints).len(), &checkpoints["data"][0]["position"]), (1, &json!(9)));

    // One goes; the other keeps serving, and every event arrives.
    second.terminate().await;
    here.paid_order().await;
    let expected = here.events().await.len();
    receiver.until("every event at the receiver", |arrivals| arrivals.all.len() >= expected).await;
    first.nothing_pending().await;
    assert_eq!(receiver.arrivals().all.len(), expected, "each of them once");
}

/// What an instance says that it lets through at once, where the policy is this one.
async fn left(merchant: &Merchant, policy: &str) -> Option<u32> {
    let reply = merchant.api.get("/orders?limit=1").await;
    let standing = reply.header("ratelimit").unwrap();
    let left = standing.split(';').find_map(|part| part.strip_prefix("r=")).unwrap().parse().unwrap();
    (reply.header("ratelimit-policy") == Some(policy)).then_some(left)
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the instances have clocks of their own")]
async fn instances_divide_what_a_merchant_may_do() {
    const PER_MINUTE: usize = 30;
    let database = postgres_cluster::database().await;
    let variables = [("AUTHORITY_DATABASE_URL", database.as_str()), ("AUTHORITY_RATE_LIMITS", "on")];
    let first = Authority::start(&variables).await;
    let mut second = Authority::start(&variables).await;
    let here = Merchant::create(&first, "divided").await;
    let there = through(&second, &here);
    // The operator sets the limits on one instance, and they hold on both; each has half of a burst of 2000.
    let limits = json!({ "limits": { "read_test_per_second": 1000, "delivery_per_minute": PER_MINUTE } });
    let path = format!("/merchants/{}", here.id);
    first.operator().patch(&path, &limits).await.expect(200);
    let policy = "\"read\";q=1000;w=1";
    for merchant in [&here, &there] {
        eventually("half of the limit", async || left(merchant, policy).await.filter(|left| *left < 1000))
            .await;
    }
    // Both are asked for more than the whole.
    let since = std::time::Instant::now();
    let mut granted = 0;
    for _ in 0..2 * PER_MINUTE {
        for merchant in [&here, &there] {
            let reply = merchant.api.post("/webhook-endpoints/nobody/test", &json!({})).await;
            granted += usize::from(reply.status != 429);
        }
    }
    let elapsed = since.elapsed().as_secs_f64();
    let most = PER_MINUTE as f64 * (1.0 + elapsed / 60.0);
    assert!(granted >= PER_MINUTE, "{granted} were let through of a full bucket of {PER_MINUTE}");
    assert!(granted as f64 <= most, "{granted} were let through in {elapsed} s");
    // One goes: the other has all of it. The buckets that were empty are not filled by that.
    second.terminate().await;
    eventually("all of the limit", async || left(&here, policy).await.filter(|left| *left >= 1000)).await;
    let reply = here.api.post("/webhook-endpoints/nobody/test", &json!({})).await;
    let refill = since.elapsed().as_secs_f64() / 60.0 * PER_MINUTE as f64;
    assert!(reply.status == 429 || refill >= 1.0, "{refill} tokens came back");
}

#[tokio::test]
async fn a_server_restart_under_load_is_503_and_heals() {
    const CLIENTS: usize = 6;
    let cluster = Arc::new(Cluster::start(Durability::Off));
    let database = cluster.database().await;
    let (_authority, merchant) =
        Merchant::alone_with(&[("AUTHORITY_DATABASE_URL", database.as_str())], "restarted").await;
    let load = Load::default();
    let conductor = async {
        for how in [Stop::Fast, Stop::Immediate] {
            load.grows(&load.made, 20).await;
            let server = Arc::clone(&cluster);
            tokio::task::spawn_blocking(move || server.stop(how)).await.unwrap();
            load.grows(&load.refused, CLIENTS).await;
            let server = Arc::clone(&cluster);
            tokio::task::spawn_blocking(move || server.start_again()).await.unwrap();
            load.grows(&load.made, 20).await;
        }
        load.stop.store(true, Ordering::SeqCst);
    };
    let (answered, ()) =
        tokio::join!(join_all((0..CLIENTS).map(|client| load.client(&merchant, client))), conductor);

    let mut answered: Vec<_> = answered.into_iter().flatten().collect();
    let events = merchant.events().await;
    let mut told: Vec<_> = events.iter().map(|event| text(&event["data"]["object"], "id")).collect();
    assert_eq!(sequences(&events), Vec::from_iter(1..=events.len() as u64));
    answered.sort_unstable();
    told.sort_unstable();
    assert_eq!(answered, told, "what was answered, and nothing else, has happened once");
}

/// Nobody tells the service that its connections are dead: it asks, gets no answer, and opens others.
#[tokio::test]
async fn connections_that_fall_silent_are_replaced() {
    /// More than an instance has of each kind.
    const AT_ONCE: usize = 12;
    let proxy = DatabaseProxy::start(&postgres_cluster::database().await);
    let (authority, merchant) =
        Merchant::alone_with(&[("AUTHORITY_DATABASE_URL", proxy.url())], "acme").await;
    let order = format!("/orders/{}", merchant.paid_order().await);
    let ask = async || {
        let asked = (0..AT_ONCE).map(async |_| {
            let (order, events) = join(merchant.api.get(&order), merchant.api.get("/events")).await;
            [order.status, events.status]
        });
        let statuses: BTreeSet<u16> = join_all(asked).await.into_iter().flatten().collect();
        let body = checkout_body();
        let written = merchant.operator.post(&merchant.platform_path("checkouts"), &body).await;
        (statuses, written.status)
    };
    let all_is_well = (BTreeSet::from([200]), 201);
    assert_eq!(ask().await, all_is_well);
    proxy.silence();
    let (statuses, _) = ask().await;
    assert!(statuses.is_subset(&BTreeSet::from([200, 503])), "{statuses:?}");
    eventually("new connections", async || (ask().await == all_is_well).then_some(())).await;
    // What readiness asks may be the last to meet a connection that is silent.
    let ready = async || (authority.operator_listener().get("/readyz").await.status == 200).then_some(());
    eventually("readiness", ready).await;
}
