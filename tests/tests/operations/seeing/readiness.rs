//! `GET /healthz` says that the process lives; `GET /readyz` says whether it can do its work, and why not (contract
//! 15.10). A database that is away, and one with a schema that nobody knows, are fault F.

use tests::{Answer, Database, Gate, InProcess, Merchant, Receiver, eventually, on_both_databases, retries};

on_both_databases!(deliveries_that_nobody_sends_are_not_ready, a_receivers_fault_is_not_this_services);

const VARIABLES: [(&str, &str); 4] = [
    ("AUTHORITY_READY_MAX_DELAY_SECONDS", "60"),
    ("AUTHORITY_DELIVERY_CONCURRENCY", "1"),
    ("AUTHORITY_DELIVERY_TIMEOUT_MS", "50000"),
    retries("0,3600"),
];

async fn readyz(service: &InProcess) -> u16 {
    let reply = service.probe("/readyz").await;
    match reply.status {
        200 => assert_eq!(reply.text(), "ready\n"),
        _ => {
            reply.refused(503, "service_unavailable");
            assert!(reply.header("retry-after").is_some());
        }
    }
    reply.status
}

/// The only slot is held, and another endpoint's delivery has been due for longer than it may be.
async fn deliveries_that_nobody_sends_are_not_ready(database: Database) {
    let service = InProcess::start(database, &VARIABLES).await;
    let gate = Gate::closed();
    let held = gate.clone();
    let receiver = Receiver::start(move |arrival| {
        let answer = Answer::status(200);
        if arrival.path == "/held" { answer.held_by(&held) } else { answer }
    })
    .await;
    let merchant = Merchant::create(&service, "late").await;
    merchant.endpoint(&receiver.url("/held"), &["checkout.created"]).await;
    merchant.checkout().await;
    receiver.until("the request that is held", |arrivals| arrivals.all.len() == 1).await;
    merchant.endpoint(&receiver.url("/waits"), &["payment.*"]).await;
    merchant.paid_order().await;
    assert_eq!(readyz(&service).await, 200);
    service.clock.turn(60_000);
    assert_eq!(readyz(&service).await, 200, "a minute is what it may be");
    service.clock.turn(1);
    assert_eq!(readyz(&service).await, 503);
    let health = service.probe("/healthz").await;
    assert_eq!((health.status, health.text()), (200, "ok\n"));
    gate.open();
    service.play_out().await;
    assert_eq!(readyz(&service).await, 200);
    service.stop().await;
}

/// A retry that waits for its time, and an endpoint that is held back for an hour by its receiver's own wish.
async fn a_receivers_fault_is_not_this_services(database: Database) {
    let (service, merchant) = Merchant::inside(database, &VARIABLES, "patient").await;
    let receiver = Receiver::start(|_| Answer::status(503).with("retry-after", "3600")).await;
    merchant.endpoint(&receiver.url("/busy"), &["checkout.created"]).await;
    merchant.checkout().await;
    receiver.until("an attempt", |arrivals| arrivals.all.len() == 1).await;
    let start = service.clock.shown();
    service.play_until(start + 1).await;
    // This one is due at once, and held back with its endpoint.
    merchant.checkout().await;
    service.play_until(start + 3_599_000).await;
    assert_eq!((readyz(&service).await, receiver.arrivals().all.len()), (200, 1));
    service.stop().await;
}

/// Reads go on, and it says why it is not ready; it recovers by itself.
#[tokio::test]
async fn a_server_that_takes_no_writes_is_not_ready_until_it_does() {
    let service = InProcess::start(Database::Postgres, &VARIABLES).await;
    assert_eq!(readyz(&service).await, 200);
    let url = service.database_url();
    let set = async |read_only: &str| {
        let statements = format!(
            "BEGIN READ WRITE; DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = {read_only}', \
             current_database()); END $$; COMMIT; \
             SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE datname = current_database() AND pid <> pg_backend_pid()"
        );
        tests::damage::execute(url, &statements).await;
    };
    set("on").await;
    eventually("not ready, and why", async || {
        service.probe("/readyz").await.text().contains("The database takes no writes.").then_some(())
    })
    .await;
    assert_eq!(readyz(&service).await, 503);
    set("off").await;
    eventually("ready again", async || (readyz(&service).await == 200).then_some(())).await;
    service.stop().await;
}
