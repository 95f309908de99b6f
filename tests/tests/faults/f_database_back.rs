//! Fault F: the store comes back, once with what it held and once without. The peer accepted messages, delivered none
//! until somebody restarted it, and said all the while that it was healthy.

use std::sync::Arc;

use postgres_cluster::{Cluster, Durability, Stop};
use tests::damage::{Locked, execute};
use tests::{Answer, Authority, Database, Gate, Merchant, Receiver, eventually, on_both_databases};

on_both_databases!(a_schema_that_nobody_knows_is_not_ready_and_deliveries_go_on_when_it_is_right_again);

async fn readyz(authority: &Authority) -> u16 {
    authority.probe("/readyz").await.status
}

async fn becomes(authority: &Authority, status: u16) {
    eventually(format!("readyz {status}"), async || (readyz(authority).await == status).then_some(())).await;
}

/// A service with a delivery in flight whose answer waits at the gate, and a merchant that wants everything.
async fn in_flight(authority: &Authority) -> (Receiver, Merchant, Gate) {
    let gate = Gate::closed();
    let held = gate.clone();
    let receiver = Receiver::start(move |arrival| {
        let answer = Answer::status(200);
        if arrival.number == 1 { answer.held_by(&held) } else { answer }
    })
    .await;
    let merchant = Merchant::create(authority, "back").await;
    merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    merchant.checkout().await;
    receiver.until("a request in flight", |arrivals| arrivals.all.len() == 1).await;
    (receiver, merchant, gate)
}

/// Everything that was committed has arrived, once, and new things are taken and delivered.
async fn goes_on(authority: &Authority, receiver: &Receiver, merchant: &Merchant) {
    eventually("a new checkout", async || {
        let reply = merchant
            .operator
            .post_as("new", &merchant.platform_path("checkouts"), &tests::checkout_body())
            .await;
        (reply.status == 201).then_some(())
    })
    .await;
    authority.nothing_pending().await;
    let arrivals = receiver.arrivals();
    assert_eq!((arrivals.accepted("/hook"), arrivals.all.len()), (2, 2), "each of them once");
}

#[tokio::test]
async fn a_server_that_comes_back_is_worked_with_at_once() {
    let cluster = Arc::new(Cluster::start(Durability::Off));
    let database = cluster.database().await;
    let authority = Authority::start(&[("AUTHORITY_DATABASE_URL", database.as_str())]).await;
    let pid = authority.pid();
    assert_eq!(readyz(&authority).await, 200);
    let (receiver, merchant, gate) = in_flight(&authority).await;
    let server = Arc::clone(&cluster);
    tokio::task::spawn_blocking(move || server.stop(Stop::Immediate)).await.unwrap();
    becomes(&authority, 503).await;
    assert_eq!(authority.probe("/healthz").await.status, 200, "the process lives");
    // The receiver's answer comes while there is nowhere to write it: it is written when there is.
    gate.open();
    eventually("figures without a database", async || {
        let text = authority.probe("/metrics").await.text().to_owned();
        text.contains("\nauthority_database_up 0\n").then_some(())
    })
    .await;
    let server = Arc::clone(&cluster);
    tokio::task::spawn_blocking(move || server.start_again()).await.unwrap();
    becomes(&authority, 200).await;
    goes_on(&authority, &receiver, &merchant).await;
    assert_eq!(authority.pid(), pid, "the same process");
    authority.is_sound().await;
}

#[tokio::test]
async fn a_file_that_is_free_again_is_worked_with_at_once() {
    let authority = Authority::start(&[]).await;
    let (receiver, merchant, gate) = in_flight(&authority).await;
    let lock = Locked::take(authority.database_url()).await;
    gate.open();
    // Reading goes on beside a writer on SQLite, and what is to be written is not.
    let ready = authority.probe("/readyz").await;
    ready.refused(503, "service_unavailable");
    assert!(ready.text().contains("The database takes no writes."), "{}", ready.text());
    merchant
        .operator
        .post(&merchant.platform_path("checkouts"), &tests::checkout_body())
        .await
        .refused(503, "service_unavailable");
    lock.release().await;
    becomes(&authority, 200).await;
    goes_on(&authority, &receiver, &merchant).await;
}

/// The database answers, and what is in it is not what this program knows: a newer version's, or nothing.
async fn a_schema_that_nobody_knows_is_not_ready_and_deliveries_go_on_when_it_is_right_again(
    database: Database,
) {
    let authority = Authority::on(database, &[]).await;
    let (receiver, merchant, gate) = in_flight(&authority).await;
    let url = authority.database_url();
    execute(
        url,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                  VALUES (9999, 'of tomorrow', true, 'x', 0)",
    )
    .await;
    becomes(&authority, 503).await;
    gate.open();
    execute(url, "DELETE FROM _sqlx_migrations WHERE version = 9999").await;
    becomes(&authority, 200).await;
    goes_on(&authority, &receiver, &merchant).await;
    // Emptied, as a volume that was not mounted: not ready, and nothing is promised.
    execute(
        url,
        "ALTER TABLE _sqlx_migrations RENAME TO kept_migrations; ALTER TABLE deliveries RENAME TO kept",
    )
    .await;
    becomes(&authority, 503).await;
    assert_eq!(authority.probe("/healthz").await.status, 200);
    let reply = merchant.operator.post(&merchant.platform_path("checkouts"), &tests::checkout_body()).await;
    assert!(reply.status >= 500, "{}", reply.text());
    execute(
        url,
        "ALTER TABLE kept RENAME TO deliveries; ALTER TABLE kept_migrations RENAME TO _sqlx_migrations",
    )
    .await;
    becomes(&authority, 200).await;
    merchant.checkout().await;
    receiver.until("the next event", |arrivals| arrivals.accepted("/hook") == 3).await;
}
