//! Outcomes for a merchant whose turn somebody else has (contract 21-2, 21-6). Where every instance writes for it all
//! the time, its turn is never free.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};
use tests::{Authority, Merchant, Receiver, eventually};

/// Notes by which transactions checkouts are made and deliveries have succeeded.
const NOTES: &str = "\
    CREATE TABLE notes (what TEXT, merchant TEXT, made_by BIGINT DEFAULT txid_current()); \
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
        INSERT INTO notes (what, merchant) VALUES (TG_TABLE_NAME, NEW.merchant_id); RETURN NULL; END $$; \
    CREATE TRIGGER note AFTER INSERT ON checkouts FOR EACH ROW EXECUTE FUNCTION note(); \
    CREATE TRIGGER note AFTER UPDATE ON deliveries FOR EACH ROW WHEN (NEW.status = 'succeeded') \
        EXECUTE FUNCTION note()";

/// Transactions that wait for turns.
const WAITING: &str = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
    AND wait_event_type = 'Lock' AND query LIKE '%FROM turns%' AND pid <> pg_backend_pid()";

async fn number(conn: &mut PgConnection, sql: &str) -> i64 {
    sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(conn).await.unwrap()
}

async fn connect(database: &str) -> PgConnection {
    database.parse::<PgConnectOptions>().unwrap().connect().await.unwrap()
}

async fn shard(conn: &mut PgConnection, merchant: &Merchant) -> i64 {
    number(conn, &format!("SELECT shard_of('{}')::BIGINT", merchant.id)).await
}

/// Merchants of two shards.
async fn two_merchants(authority: &Authority, conn: &mut PgConnection) -> (Merchant, Merchant) {
    let busy = Merchant::create(authority, "busy").await;
    let mut other = Merchant::create(authority, "other").await;
    let shard_of_busy = shard(conn, &busy).await;
    for n in 0.. {
        if shard(conn, &other).await != shard_of_busy {
            break;
        }
        other = Merchant::create(authority, &format!("other-{n}")).await;
    }
    (busy, other)
}

/// Begins a transaction that has the turn of this merchant.
async fn hold(conn: &mut PgConnection, merchant: &Merchant) {
    let shard = shard(conn, merchant).await;
    let hold = format!("BEGIN; SELECT shard FROM turns WHERE shard = {shard} FOR UPDATE");
    conn.execute(AssertSqlSafe(hold)).await.unwrap();
}

/// Waits until so many transactions wait for turns.
async fn waiting(conn: &mut PgConnection, count: i64) {
    let what = format!("{count} that wait for turns");
    eventually(what, async || (number(conn, WAITING).await == count).then_some(())).await;
}

/// Waits until so many outcomes of a merchant are written.
async fn written(conn: &mut PgConnection, merchant: &Merchant, count: i64) {
    let of_merchant = outcomes(merchant);
    let what = format!("{count} outcomes of {}", merchant.id);
    eventually(what, async || (number(conn, &of_merchant).await == count).then_some(())).await;
}

fn outcomes(merchant: &Merchant) -> String {
    format!("SELECT COUNT(*) FROM notes WHERE what = 'deliveries' AND merchant = '{}'", merchant.id)
}

/// The outcomes of others, whose turns are free, do not wait; that of this merchant goes along with the request.
#[tokio::test]
async fn an_outcome_goes_along_with_whoever_waits_for_the_turn_of_its_merchant() {
    let database = postgres_cluster::database().await;
    let authority = Authority::start(&[("AUTHORITY_DATABASE_URL", database.as_str())]).await;
    let (mut looking, mut holding) = (connect(&database).await, connect(&database).await);
    looking.execute(NOTES).await.unwrap();
    let (busy, other) = two_merchants(&authority, &mut looking).await;
    let ((slow, gate), quick) = (Receiver::gated(200).await, Receiver::accepting().await);
    busy.endpoint(&slow.url("/busy"), &["*"]).await;
    other.endpoint(&quick.url("/other"), &["*"]).await;
    busy.checkout().await;
    slow.until("the first delivery", |arrivals| arrivals.all.len() == 1).await;

    hold(&mut holding, &busy).await;
    let request = tokio::spawn({
        let busy = busy.clone();
        async move { busy.checkout().await }
    });
    waiting(&mut looking, 1).await;
    let ended = Arc::new(AtomicBool::new(false));
    let others: Vec<_> = (0..4)
        .map(|_| {
            let (other, ended) = (other.clone(), Arc::clone(&ended));
            tokio::spawn(async move {
                while !ended.load(Ordering::Relaxed) {
                    other.checkout().await;
                }
            })
        })
        .collect();
    gate.open();
    let arrived = quick.arrivals().accepted("/other");
    quick.until("those of others", |arrivals| arrivals.accepted("/other") >= arrived + 20).await;
    holding.execute("ROLLBACK").await.unwrap();
    request.await.unwrap();
    ended.store(true, Ordering::Relaxed);
    for other in others {
        other.await.unwrap();
    }
    written(&mut looking, &busy, 2).await;
    let together = format!(
        "SELECT COUNT(*) FROM notes request JOIN notes outcome ON outcome.made_by = request.made_by \
         WHERE request.what = 'checkouts' AND outcome.what = 'deliveries' \
         AND request.merchant = '{}' AND outcome.merchant = request.merchant",
        busy.id
    );
    assert_eq!(number(&mut looking, &together).await, 1, "in the transaction of the request that waited");
}

/// A turn that cannot be had for long keeps the outcomes of its own shard waiting, and no others: neither those whose
/// turn is free, nor those whose turn is missed for a moment.
#[tokio::test]
async fn an_outcome_waits_for_no_other_shard() {
    let database = postgres_cluster::database().await;
    let authority = Authority::start(&[("AUTHORITY_DATABASE_URL", database.as_str())]).await;
    let mut looking = connect(&database).await;
    looking.execute(NOTES).await.unwrap();
    let (busy, other) = two_merchants(&authority, &mut looking).await;
    let (slow, gate) = Receiver::gated(200).await;
    busy.endpoint(&slow.url("/busy"), &["*"]).await;
    busy.checkout().await;
    slow.until("the first delivery", |arrivals| arrivals.all.len() == 1).await;
    let others = [Receiver::gated(200).await, Receiver::gated(200).await, Receiver::gated(200).await];
    for (receiver, _) in &others {
        other.endpoint(&receiver.url("/other"), &["*"]).await;
    }
    other.checkout().await;
    for (receiver, _) in &others {
        receiver.until("a delivery", |arrivals| arrivals.all.len() == 1).await;
    }
    let (mut of_busy, mut of_other) = (connect(&database).await, connect(&database).await);
    hold(&mut of_busy, &busy).await;
    let request = tokio::spawn({
        let busy = busy.clone();
        async move { busy.checkout().await }
    });
    waiting(&mut looking, 1).await;
    gate.open();
    let [(_, free), (_, missed), (_, missed_again)] = &others;
    free.open();
    written(&mut looking, &other, 1).await;
    for (answers, count) in [(missed, 2), (missed_again, 3)] {
        hold(&mut of_other, &other).await;
        answers.open();
        waiting(&mut looking, 2).await;
        of_other.execute("ROLLBACK").await.unwrap();
        written(&mut looking, &other, count).await;
    }
    assert_eq!(number(&mut looking, &outcomes(&busy)).await, 0, "its turn is held");
    of_busy.execute("ROLLBACK").await.unwrap();
    request.await.unwrap();
    written(&mut looking, &busy, 2).await;
}

/// No request of this instance waits for the turn, so nobody would take the outcome along.
#[tokio::test]
async fn an_outcome_waits_for_its_turn_where_nobody_else_does() {
    let database = postgres_cluster::database().await;
    let authority = Authority::start(&[("AUTHORITY_DATABASE_URL", database.as_str())]).await;
    let (mut looking, mut holding) = (connect(&database).await, connect(&database).await);
    looking.execute(NOTES).await.unwrap();
    let merchant = Merchant::create(&authority, "quiet").await;
    let (receiver, gate) = Receiver::gated(200).await;
    merchant.endpoint(&receiver.url("/quiet"), &["*"]).await;
    merchant.checkout().await;
    receiver.until("the delivery", |arrivals| arrivals.all.len() == 1).await;
    hold(&mut holding, &merchant).await;
    gate.open();
    waiting(&mut looking, 1).await;
    holding.execute("ROLLBACK").await.unwrap();
    written(&mut looking, &merchant, 1).await;
}
