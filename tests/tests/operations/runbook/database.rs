//! A database that is away, harmed, locked by somebody else, or asked too much.

use std::sync::Arc;

use http::Method;
use postgres_cluster::{Cluster, Durability, Stop};
use serde_json::json;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use tests::damage::damage;
use tests::{Authority, Database, Merchant, checkout_body, eventually, on_both_databases};

use super::{Section, said};

#[tokio::test]
async fn a_database_that_is_away_comes_back_without_a_restart() {
    let (down, restarts) = (Section::of("AuthorityDatabaseDown"), Section::of("AuthorityRestarts"));
    let cluster = Arc::new(Cluster::start(Durability::Off));
    let database = cluster.database().await;
    let (authority, merchant) =
        Merchant::alone_with(&[("AUTHORITY_DATABASE_URL", database.as_str())], "waits").await;
    let (pid, server) = (authority.pid(), Arc::clone(&cluster));
    tokio::task::spawn_blocking(move || server.stop(Stop::Fast)).await.unwrap();

    eventually("the metric", async || {
        authority.probe("/metrics").await.text().contains("\nauthority_database_up 0\n").then_some(())
    })
    .await;
    let refused = merchant.api.get("/events").await;
    refused.refused(503, "service_unavailable");
    assert!(refused.header("retry-after").is_some());
    // A probe for life and one for traffic: only the second one fails.
    assert_eq!(authority.probe(restarts.code("/healthz")).await.status, 200);
    assert_eq!(authority.probe(restarts.code("/readyz")).await.status, 503);
    let doctor = down.runs(&authority, "authority doctor", &[]).await;
    assert_eq!(doctor.status.code(), Some(1), "{}", said(&doctor));
    assert!(authority.log().contains("database"), "the log names it");

    let server = Arc::clone(&cluster);
    tokio::task::spawn_blocking(move || server.start_again()).await.unwrap();
    eventually("the service", async || (authority.probe("/readyz").await.status == 200).then_some(())).await;
    merchant.checkout().await;
    assert_eq!(authority.pid(), pid);
}

/// A record that cannot be read: a 500 with an id, which leads to the line in the log, and the doctor reports the harm.
async fn a_500_is_found_by_its_request_id(database: Database) {
    let section = Section::of("AuthorityRequestsFail");
    let (authority, merchant) = Merchant::on(database, "harmed").await;
    let number = merchant.paid_order().await;
    authority.nothing_pending().await;
    assert_eq!(damage(authority.database_url(), "UPDATE orders SET body = 'torn'").await, 1);
    let call = merchant.api.call(Method::PATCH, &format!("/orders/{number}/fulfillment"));
    let failed = call.json(&json!({ "note": "gift" })).send().await;
    failed.refused(500, "internal_error");
    let request_id = failed.header(&section.code("Service-Request-Id").to_lowercase()).unwrap();
    let log = authority.log();
    let line = section.code("a request could not be served");
    let line = log.lines().find(|found| found.contains(line) && found.contains(request_id)).unwrap();
    for part in ["route=\"/v1/merchant/orders/{order}/fulfillment\"", "status=500"] {
        assert!(line.contains(part), "{line}");
    }
    let doctor = section.runs(&authority, "authority doctor", &[]).await;
    assert_eq!(doctor.status.code(), Some(1), "{}", said(&doctor));
}

/// Somebody's open transaction locks a table. The query of the runbook says who it is; its end lets the writes go on.
#[tokio::test]
async fn a_foreign_lock_is_seen_and_ended() {
    let section = Section::of("AuthorityWritesQueue");
    let database = postgres_cluster::database().await;
    let (_authority, merchant) =
        Merchant::alone_with(&[("AUTHORITY_DATABASE_URL", database.as_str())], "queued").await;
    let connect = async || database.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    let mut foreign: PgConnection = connect().await;
    sqlx::raw_sql("BEGIN; LOCK TABLE checkouts IN ACCESS EXCLUSIVE MODE")
        .execute(&mut foreign)
        .await
        .unwrap();
    let holder: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut foreign).await.unwrap();

    let create = async || {
        merchant.operator.post_as("queued", &merchant.platform_path("checkouts"), &checkout_body()).await
    };
    let mend = async || {
        let mut operator = connect().await;
        let query = "SELECT pid, state, wait_event_type, wait_event, pg_blocking_pids(pid) AS waits_for, left(query, 80) \
                     FROM pg_stat_activity WHERE application_name = 'authority'";
        let waits = format!(
            "SELECT waits_for[1] FROM ({}) AS shown WHERE wait_event_type = 'Lock' AND {holder} = ANY (waits_for)",
            section.code(query)
        );
        let found = eventually("who waits", async || {
            let rows: Vec<i32> =
                sqlx::query_scalar(AssertSqlSafe(waits.clone())).fetch_all(&mut operator).await.unwrap();
            rows.first().copied()
        })
        .await;
        let end = section.code("SELECT pg_terminate_backend(PID)").replace("PID", &found.to_string());
        let ended: bool = sqlx::query_scalar(AssertSqlSafe(end)).fetch_one(&mut operator).await.unwrap();
        assert!(ended);
        operator.close().await.unwrap();
    };
    let (_, ()) = tokio::join!(create(), mend());
    // Whichever answer the first one got, the same request under its key is done once.
    eventually("the write", async || Some(create().await).filter(|reply| reply.status == 201)).await;
    assert_eq!(merchant.events().await.len(), 1);
}

/// Whoever lists too much gets a lower rate, which holds without a restart.
async fn one_merchant_is_bounded_by_its_rates(database: Database) {
    let (slow, busy) = (Section::of("AuthorityRequestsSlow"), Section::of("AuthorityReadersBusy"));
    let (authority, merchant) =
        Merchant::on_with(database, &[("AUTHORITY_RATE_LIMITS", "on")], "lists").await;
    let path = slow.request("PATCH /merchants/:m", &[&merchant.id]);
    let limits =
        json!({ slow.code("limits"): { busy.code("read_live_per_second"): 1, "read_test_per_second": 1 } });
    merchant.operator.patch(&path, &limits).await.expect(200);
    eventually("the limit", async || {
        let reply = merchant.api.get("/events").await;
        (reply.status == 429).then(|| reply.refused(429, "rate_limited"))
    })
    .await;
    let metrics = authority.probe("/metrics").await;
    for pool in ["lists", "records"] {
        let busy = format!("authority_database_connections{{pool=\"{}\",state=\"busy\"}} ", busy.code(pool));
        assert!(metrics.text().contains(&busy), "{busy}");
    }
    let listed = format!(
        "{}{{api=\"merchant-api\",method=\"GET\",route=\"/v1/merchant/events\",status=\"200\"}}",
        busy.code("authority_http_requests_total")
    );
    assert!(metrics.text().contains(&listed), "{listed}");
}

/// Who asks so much stands in the log of an instance that was started with what the runbook names.
#[tokio::test]
async fn who_lists_so_much_is_in_the_log() {
    let section = Section::of("AuthorityReadersBusy");
    let setting = section.code("AUTHORITY_LOG=info,authority::http=debug");
    let (variable, value) = setting.split_once('=').unwrap();
    let (mut authority, merchant) = Merchant::alone_with(&[(variable, "info")], "lists").await;
    let listed = async |authority: &Authority| {
        merchant.api.get("/events").await.expect(200);
        let log = authority.log();
        log.lines().find(|line| line.contains(section.code("answered"))).map(ToOwned::to_owned)
    };
    assert_eq!(listed(&authority).await, None);
    authority.terminate().await;
    authority.set(variable, value);
    authority.restart().await;
    let line = eventually("the line", async || listed(&authority).await).await;
    for said in [
        format!("{}={}", section.code("merchant"), merchant.id),
        format!("{}=\"/v1/merchant/events\"", section.code("route")),
    ] {
        assert!(line.contains(&said), "{said}: {line}");
    }
}

on_both_databases!(a_500_is_found_by_its_request_id, one_merchant_is_bounded_by_its_rates);
